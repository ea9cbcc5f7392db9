/* gather.cu - records to the batch: some lanes of a warp take one row and copy the words of its
 * record. */
#include "gather.cuh"

enum { LANES_OF_BLOCK = 256 };

template <int G> KERNEL_BOUNDED(LANES_OF_BLOCK, gather_rows)(struct op_gather a)
{
    uint32_t row = block_x() * (LANES_OF_BLOCK / G) + thread_id() / G;
    if (row < a.rows)
        gather_row<G>(a, row, thread_id() % G, row, 0, false, nullptr);
}

template <int G> KERNEL_BOUNDED(LANES_OF_BLOCK, gather_steps)(struct op_gather a)
{
    uint32_t at = block_x() * (LANES_OF_BLOCK / G) + thread_id() / G;
    if (at < a.rows * a.steps)
        gather_step<G>(a, at / a.steps, at % a.steps, thread_id() % G);
}

template <int G> KERNEL_BOUNDED(LANES_OF_BLOCK, gather_views)(struct op_gather a)
{
    uint32_t at = block_x() * (LANES_OF_BLOCK / G) + thread_id() / G;
    if (at < a.rows * a.steps)
        gather_row<G>(a, at / a.steps, thread_id() % G, at, at % a.steps, true,
                      nullptr);
}

template <int G> static void launch_gather(struct machine *m, const struct op_gather *a)
{
    uint32_t each = LANES_OF_BLOCK / G, rows = a->steps > 1 ? a->rows * a->steps : a->rows;
    dim3 blocks((rows + each - 1) / each);
    if (a->views)
        LAUNCH(gather_views<G>, blocks, dim3(LANES_OF_BLOCK), 0, m, *a);
    else if (a->steps > 1)
        LAUNCH(gather_steps<G>, blocks, dim3(LANES_OF_BLOCK), 0, m, *a);
    else
        LAUNCH(gather_rows<G>, blocks, dim3(LANES_OF_BLOCK), 0, m, *a);
}

/* The record's size is known only on the device; the width of x approximates it. */
void cuda_gather(struct machine *m, const struct op_gather *a)
{
    if (a->rows && a->ld <= 24)
        launch_gather<8>(m, a);
    else if (a->rows && a->ld <= 48)
        launch_gather<16>(m, a);
    else if (a->rows)
        launch_gather<WARP>(m, a);
}
