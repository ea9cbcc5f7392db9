/* embed.cu - categories: one-hot columns, rows of embedding tables, and the gradients of those
 * tables. A warp plays a row of the batch, or owns a row of a table and adds what belongs to it in
 * the order of the batch: no two write to one place, and there are no atomics. */
#include "columns.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };
/* blocks of a table; numbers of a row that a lane adds up at a time */
enum { TABLE_BLOCKS = 32, AT_ONCE = 4 };

KERNEL_BOUNDED(LANES_OF_BLOCK, onehot_rows)(struct op_onehot a)
{
    uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    for (uint32_t c = 0; c < a.column_count; c++) {
        struct onehot_column one = a.columns[c];
        uint32_t id = (uint32_t)a.ids[(size_t)row * a.ids_ld + one.id];
        float *x = (float *)a.x + (size_t)row * a.ld + one.at;
        for (uint32_t k = lane_id(); k < one.count; k += WARP)
            x[k] = k == id ? 1.0f : 0.0f;
    }
}

KERNEL_BOUNDED(LANES_OF_BLOCK, embed_rows)(struct op_embed a)
{
    uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    for (uint32_t c = 0; c < a.column_count; c++) {
        struct embed_column one = a.columns[c];
        uint32_t id = (uint32_t)a.ids[(size_t)row * a.ids_ld + one.id];
        const float *from = (const float *)a.params + one.table;
        from += (size_t)(id < one.count ? id : 0) * one.dim;
        float *x = (float *)a.x + (size_t)row * a.ld + one.at;
        for (uint32_t k = lane_id(); k < one.dim; k += WARP)
            x[k] = from[k];
    }
}

KERNEL_BOUNDED(LANES_OF_BLOCK, embed_gradient)(struct op_embed_back a)
{
    struct embed_column one = a.columns[block_y()];
    const float *dx = (const float *)a.dx + one.at;
    for (uint32_t id = block_x() * WARPS_OF_BLOCK + warp_id(); id < one.count;
         id += grid_x() * WARPS_OF_BLOCK) {
        float *to = (float *)a.grads + one.table + (size_t)id * one.dim;
        for (uint32_t begin = 0; begin < one.dim; begin += AT_ONCE * WARP) {
            float sum[AT_ONCE] = {};
            uint32_t col = begin + lane_id();
            UNROLL
            for (int i = 0; i < AT_ONCE; i++)
                if (a.more && col + i * WARP < one.dim)
                    sum[i] = to[col + i * WARP];
            rows_of_id(a.ids + one.id, a.ids_ld, 0, a.rows, id, one.count, 0, [&](uint32_t row) {
                UNROLL
                for (int i = 0; i < AT_ONCE; i++)
                    if (col + i * WARP < one.dim)
                        sum[i] += dx[(size_t)row * a.ld + col + i * WARP];
            });
            UNROLL
            for (int i = 0; i < AT_ONCE; i++)
                if (col + i * WARP < one.dim)
                    to[col + i * WARP] = sum[i];
        }
    }
}

static dim3 row_blocks(uint32_t rows)
{
    return dim3((rows + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK);
}

void cuda_onehot(struct machine *m, const struct op_onehot *a)
{
    if (a->rows && a->column_count)
        LAUNCH(onehot_rows, row_blocks(a->rows), dim3(LANES_OF_BLOCK), 0, m, *a);
}

void cuda_embed(struct machine *m, const struct op_embed *a)
{
    if (a->rows && a->column_count)
        LAUNCH(embed_rows, row_blocks(a->rows), dim3(LANES_OF_BLOCK), 0, m, *a);
}

void cuda_embed_back(struct machine *m, const struct op_embed_back *a)
{
    if (a->column_count)
        LAUNCH(embed_gradient, dim3(TABLE_BLOCKS, a->column_count), dim3(LANES_OF_BLOCK), 0, m, *a);
}
