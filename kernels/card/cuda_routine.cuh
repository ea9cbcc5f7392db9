/* cuda_routine.cuh - operations and routines on a card. */
#ifndef DNN_KERNELS_CUDA_ROUTINE_CUH
#define DNN_KERNELS_CUDA_ROUTINE_CUH

#include "card/card.cuh"

void cuda_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n);
bool cuda_reserve_bytes(struct machine *m, uint64_t bytes, struct err *e);
void cuda_issue(struct machine *m, enum op_id op, const void *arguments);
void cuda_record(struct machine *m);
struct routine *cuda_stop(struct machine *m);
void cuda_play(struct machine *m, struct routine *r, uint32_t times);
void cuda_drop(struct machine *m, struct routine *r);
bool cuda_path(const struct routine *r, struct machine_path *path);

#endif
