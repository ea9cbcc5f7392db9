/* dense.cu - the dense layer of products and what goes with them: dz, the sums of its columns, the
 * rows of the weight that belong to one-hot inputs; and activations by themselves. */
#include "gemm.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };

KERNEL_BOUNDED(LANES_OF_BLOCK, act_forward)(struct op_act a)
{
    float *y = (float *)a.y;
    const float *x = (const float *)a.x;
    for (uint64_t i = global_id(); i < (uint64_t)a.rows * a.width; i += global_count()) {
        uint64_t row = i / a.width, col = i % a.width;
        y[row * a.ldy + col] = act_value(a.act, x[row * a.ldx + col], (float)a.slope);
    }
}

/* x is what went in. */
KERNEL_BOUNDED(LANES_OF_BLOCK, act_backward)(struct op_act_back a)
{
    float *dx = (float *)a.dx;
    const float *dy = (const float *)a.dy, *x = (const float *)a.x;
    bool by_z = act_needs_z(a.act);
    for (uint64_t i = global_id(); i < (uint64_t)a.rows * a.width; i += global_count()) {
        uint64_t row = i / a.width, col = i % a.width;
        float by = x[row * a.ldx + col];
        if (!by_z)
            by = act_value(a.act, by, (float)a.slope);
        float d = dy[row * a.lddy + col] * act_derivative(a.act, by, (float)a.slope);
        float *to = &dx[row * a.lddx + col];
        *to = a.add_dx ? *to + d : d;
    }
}

/* dy becomes dz, in place. */
KERNEL_BOUNDED(LANES_OF_BLOCK, dense_dz)(float *dy, const float *by, uint32_t rows, uint32_t width,
                                         uint32_t lddy, uint32_t ldby, uint32_t act, float slope)
{
    for (uint64_t i = global_id(); i < (uint64_t)rows * width; i += global_count()) {
        uint64_t row = i / width, col = i % width;
        dy[row * lddy + col] *= act_derivative(act, by[row * ldby + col], slope);
    }
}

/* db of a shard: a block has 32 columns; its warps take rows in turn and are added in order. */
KERNEL_BOUNDED(LANES_OF_BLOCK, dense_db)(float *db, const float *dz, uint32_t rows, uint32_t width,
                                         uint32_t lddz, uint64_t shard_stride, uint32_t more)
{
    SHARED(float, sums, LANES_OF_BLOCK);
    uint32_t col = block_x() * WARP + lane_id();
    uint32_t end = part_begin(rows, grid_y(), block_y() + 1);
    float sum = 0;
    if (col < width)
        for (uint32_t r = part_begin(rows, grid_y(), block_y()) + warp_id(); r < end;
             r += WARPS_OF_BLOCK)
            sum += dz[(size_t)r * lddz + col];
    sums[thread_id()] = sum;
    sync_block();
    if (warp_id() != 0 || col >= width)
        return;
    for (uint32_t w = 1; w < WARPS_OF_BLOCK; w++)
        sum += sums[w * WARP + lane_id()];
    float *to = db + block_y() * shard_stride + col;
    *to = more ? *to + sum : sum;
}

/* dw of the rows of one-hot inputs: a warp owns one such row of one shard, looks at the ids of all
 * its batch rows in order and adds the dz of those that chose it. dw begins at those rows. */
KERNEL_BOUNDED(LANES_OF_BLOCK, dense_dw_hot)(float *dw, const float *dz, struct hot_inputs hot,
                                             uint32_t rows, uint32_t width, uint32_t lddz,
                                             uint64_t shard_stride, uint32_t more)
{
    uint32_t mine = block_x() * WARPS_OF_BLOCK + warp_id(), h = 0;
    while (h < hot.column_count && (mine < hot.columns[h].at ||
                                    mine >= hot.columns[h].at + hot.columns[h].count))
        h++;
    if (mine >= hot.width)
        return;
    uint32_t begin = part_begin(rows, grid_y(), block_y());
    uint32_t end = part_begin(rows, grid_y(), block_y() + 1);
    float *to = dw + block_y() * shard_stride + (size_t)mine * width;
    for (uint32_t col = lane_id(); col < width; col += WARP) {
        float sum = 0;
        if (h < hot.column_count)
            for (uint32_t r = begin; r < end; r++)
                if ((uint32_t)hot.ids[(size_t)r * hot.ids_ld + hot.columns[h].id] ==
                    mine - hot.columns[h].at)
                    sum += dz[(size_t)r * lddz + col];
        to[col] = more ? to[col] + sum : sum;
    }
}

/* --- starting --- */

void cuda_act(struct machine *m, const struct op_act *a)
{
    if (a->rows && a->width)
        LAUNCH(act_forward, spread(m, (uint64_t)a->rows * a->width, LANES_OF_BLOCK),
               dim3(LANES_OF_BLOCK), 0, m, *a);
}

void cuda_act_back(struct machine *m, const struct op_act_back *a)
{
    if (a->rows && a->width)
        LAUNCH(act_backward, spread(m, (uint64_t)a->rows * a->width, LANES_OF_BLOCK),
               dim3(LANES_OF_BLOCK), 0, m, *a);
}

static void product(struct machine *m, const struct gemm *g, enum product how)
{
    if (how == PRODUCT_FP32)
        gemm_simt(m, g);
    else
        gemm_mma(m, g, how);
}

void cuda_dense(struct machine *m, const struct op_dense *a, enum product how)
{
    struct gemm g = {};
    g.c = (float *)a->y;
    g.a = (const float *)a->x;
    g.b = (const float *)a->w;
    g.m = a->rows;
    g.n = a->out;
    g.k = a->in;
    g.parts = 1;
    g.a_row = a->ldx;
    g.a_col = 1;
    g.b_row = a->out;
    g.b_col = 1;
    g.c_row = a->ldy;
    g.act = a->act;
    g.bias = (const float *)a->b;
    g.z = (float *)a->z;
    g.z_row = a->ldz;
    g.slope = (float)a->slope;
    g.hot = a->hot;
    g.hot_b = (const float *)a->w + (size_t)a->in * a->out;
    product(m, &g, how);
}

/* dw = x' dz by shards. */
static void weight_gradient(struct machine *m, const struct op_dense_back *a, unsigned shards,
                            enum product how)
{
    struct gemm g = {};
    g.c = (float *)a->dw;
    g.a = (const float *)a->x;
    g.b = (const float *)a->dy;
    g.m = a->in;
    g.n = a->out;
    g.k = a->rows;
    g.parts = shards;
    g.a_row = 1;
    g.a_col = a->ldx;
    g.b_row = a->lddy;
    g.b_col = 1;
    g.c_row = a->out;
    g.c_part = a->shard_stride;
    g.add = a->more;
    product(m, &g, how);
    if (a->hot.column_count)
        LAUNCH(dense_dw_hot, dim3((a->hot.width + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK, shards),
               dim3(LANES_OF_BLOCK), 0, m, (float *)a->dw + (size_t)a->in * a->out,
               (const float *)a->dy, a->hot, a->rows, a->out, a->lddy, a->shard_stride, a->more);
}

void cuda_dense_back(struct machine *m, const struct op_dense_back *a, unsigned shards,
                     enum product how)
{
    if (!a->rows || !a->out)
        return;
    bool by_z = act_needs_z(a->act);
    if (a->act != ACT_NONE)
        LAUNCH(dense_dz, spread(m, (uint64_t)a->rows * a->out, LANES_OF_BLOCK),
               dim3(LANES_OF_BLOCK), 0, m, (float *)a->dy, (const float *)(by_z ? a->z : a->y),
               a->rows, a->out, a->lddy, by_z ? a->ldz : a->ldy, a->act, (float)a->slope);
    if (a->dw)
        weight_gradient(m, a, shards, how);
    if (a->db)
        LAUNCH(dense_db, dim3((a->out + WARP - 1) / WARP, shards), dim3(LANES_OF_BLOCK), 0, m,
               (float *)a->db, (const float *)a->dy, a->rows, a->out, a->lddy, a->shard_stride,
               a->more);
    if (!a->dx)
        return;
    struct gemm g = {};
    g.c = (float *)a->dx;
    g.a = (const float *)a->dy;
    g.b = (const float *)a->w;
    g.m = a->rows;
    g.n = a->in;
    g.k = a->out;
    g.parts = 1;
    g.a_row = a->lddy;
    g.a_col = 1;
    g.b_row = 1;
    g.b_col = a->out;
    g.c_row = a->lddx;
    g.add = a->add_dx;
    product(m, &g, how);
}
