/* reduce.cu - fill, copy, a copy that is looked at, and the sum of an array. The number of partial
 * sums follows from the length, each is formed in one order, and they are added in order: the same
 * bits on every card. */
#include "device.cuh"
#include "kernels.h"

enum { LANES_OF_BLOCK = 256, PART = 8192 };

KERNEL(fill)(float *y, float value, uint64_t n)
{
    for (uint64_t i = global_id(); i < n; i += global_count())
        y[i] = value;
}

KERNEL(copy)(float *y, const float *x, uint64_t n)
{
    for (uint64_t i = global_id(); i < n; i += global_count())
        y[i] = x[i];
}

/* One block a part: a lane adds every 256th element, then the block in a fixed tree. */
KERNEL_BOUNDED(LANES_OF_BLOCK, sum_part)(double *parts, const float *x, uint64_t n)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    uint64_t begin = (uint64_t)block_x() * PART, end = begin + PART < n ? begin + PART : n;
    double sum = 0;
    for (uint64_t i = begin + thread_id(); i < end; i += LANES_OF_BLOCK)
        sum += (double)x[i];
    sum = block_sum(sum, room);
    if (thread_id() == 0)
        parts[block_x()] = sum;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, sum_all)(double *sum, const double *parts, uint64_t count)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    double mine = 0;
    for (uint64_t i = thread_id(); i < count; i += LANES_OF_BLOCK)
        mine += parts[i];
    mine = block_sum(mine, room);
    if (thread_id() == 0)
        *sum = mine;
}

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
    void (*kernel)(float *, float, uint64_t) = fill;
    launch_known("fill", kernel);
    return (const void *)kernel;
}

void cuda_fill(struct machine *m, float *y, float value, size_t n)
{
    if (n)
        LAUNCH(fill, spread(m, n, LANES_OF_BLOCK), dim3(LANES_OF_BLOCK), 0, m, y, value, n);
}

void cuda_copy(struct machine *m, float *y, const float *x, size_t n)
{
    if (n)
        LAUNCH(copy, spread(m, n, LANES_OF_BLOCK), dim3(LANES_OF_BLOCK), 0, m, y, x, n);
}

size_t reduce_parts(size_t n)
{
    return (n + PART - 1) / PART;
}

void cuda_sum(struct machine *m, double *sum, double *parts, const float *x, size_t n)
{
    size_t count = reduce_parts(n);
    if (count)
        LAUNCH(sum_part, dim3((unsigned)count), dim3(LANES_OF_BLOCK), 0, m, parts, x, n);
    LAUNCH(sum_all, dim3(1), dim3(LANES_OF_BLOCK), 0, m, sum, parts, count);
}
