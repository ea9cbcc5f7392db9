/* cuda_precision.cuh - the arithmetic of products on a card, and what is kept in 16 bits. */
#ifndef DNN_KERNELS_CUDA_PRECISION_CUH
#define DNN_KERNELS_CUDA_PRECISION_CUH

#include "card/card.cuh"

/* wish: a value of backend.precision; NULL: fp32. */
void cuda_precision(struct card *m, const char *wish);
const char *cuda_precision_name(const struct card *m);
/* The precision of a plan, if this card has it. */
void cuda_precision_set(struct card *m, const char *name);
/* Kept in 16 bits by a training: activations, and a copy of the parameters for products, which
 * every writer of parameters refreshes. */
size_t cuda_act_bytes(const struct machine *m);
uint32_t cuda_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back);
bool cuda_rounds(const struct machine *m, const struct group *groups, uint32_t count);
size_t cuda_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                         uint64_t n);
void cuda_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                  uint32_t count);
struct act cuda_shadow_of(const struct machine *m, const void *shadow, uint64_t offset);

/* --- products of warpgroups --- */

/* wish: as above. */
void cuda_wgmma_begin(struct card *m, const char *wish);
void cuda_wgmma_plan(const struct card *m, struct plan *plan);
void cuda_wgmma_set_plan(struct card *m, const struct plan *plan);

#endif
