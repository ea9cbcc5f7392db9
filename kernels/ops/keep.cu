/* keep.cu - copies the best weights and checks that they are finite. */
#include "device.cuh"
#include "kernels.h"

enum { LANES_OF_BLOCK = 256 };

/* A block a part. */
KERNEL_BOUNDED(LANES_OF_BLOCK, keep_part)(struct op_keep a)
{
    SHARED(uint32_t, room, LANES_OF_BLOCK / WARP);
    uint64_t end = KEEP_BEGIN(a.n, block_x() + 1);
    uint32_t bad = 0;
    for (uint64_t i = KEEP_BEGIN(a.n, block_x()) + thread_id(); i < end; i += LANES_OF_BLOCK) {
        float v = a.from[i];
        bad |= v - v != 0; /* no number, or an infinity */
        if (a.to)
            a.to[i] = v;
    }
    bad = block_sum(bad, room);
    if (thread_id() == 0)
        a.bad[block_x()] = bad != 0;
}

void cuda_keep(struct machine *m, const struct op_keep *a)
{
    LAUNCH(keep_part, dim3(KEEP_PARTS), dim3(LANES_OF_BLOCK), 0, m, *a);
}

const void *kernels_any(void)
{
    void (*kernel)(struct op_keep) = keep_part;
    launch_known("keep_part", kernel);
    return (const void *)kernel;
}
