/* cuda_memory.cuh - memory of a card, transfers, marks of time. */
#ifndef DNN_KERNELS_CUDA_MEMORY_CUH
#define DNN_KERNELS_CUDA_MEMORY_CUH

#include "card/card.cuh"

/* --- memory: cuda_memory.cu --- */

/* Cleared device memory, counted for the machine's current memory kind; NULL: no room, or a
 * failure. */
void *cuda_allocate(struct card *m, size_t bytes, struct err *e);
/* Host memory for transfers, pinned if possible; false after a failure of the card. */
bool cuda_pin(struct card *m, struct pinned *p, size_t bytes);
void cuda_unpin(struct card *m, struct pinned *p); /* of nothing: nothing */
bool cuda_is_pinned(const struct card *m, const void *at, size_t bytes);
void *cuda_alloc(struct machine *m, size_t bytes, struct err *e);
void cuda_release(struct machine *m, void *memory);
void *cuda_host_alloc(struct machine *m, size_t bytes, struct err *e);
void cuda_host_release(struct machine *m, void *memory);
const void *cuda_map_host(struct machine *m, const void *host, size_t bytes, struct err *e);
void cuda_unmap_host(struct machine *m, const void *mapped);
uint64_t cuda_bytes_free(struct machine *m);
/* Releases all, and logs the peak (verbose). */
void cuda_memory_close(struct card *m);

/* --- transfers: cuda_slot.cu --- */

bool slot_open(struct card *m, struct slot *s);
void slot_close(struct card *m, struct slot *s);
void cuda_upload(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void cuda_download(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void cuda_act_download(struct machine *m, real *to, struct act from, size_t rows,
                       size_t width, size_t ld);
void cuda_fence(struct machine *m, uint32_t slot);
void cuda_join(struct machine *m, uint32_t slot);

void cuda_mark(struct machine *m, uint32_t i);
double cuda_marked(struct machine *m, uint32_t i);

#endif
