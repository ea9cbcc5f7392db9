/* guest.cuh - cuBLASLt (backend/guests.h) in the place of our product kernels. The kernels ask; the
 * card answers (cuda_guest.cu). Exact operations never ask. */
#ifndef DNN_KERNELS_GUEST_CUH
#define DNN_KERNELS_GUEST_CUH

#include "kernels.h"

/* True: it serves all sizes on this machine, or did before it failed; then layers are not fused. */
bool device_guest(const struct machine *m);
/* True: the library can do this product. It adds no sums (g->sums). */
bool device_guest_takes(struct machine *m, const struct gemm *g, enum product how);
/* True: the product was issued, with its whole epilogue. */
bool device_guest_product(struct machine *m, const struct gemm *g, enum product how);

/* C holds A B: the rest of what g says of each element. */
void guest_finish(struct machine *m, const struct gemm *g);

#endif
