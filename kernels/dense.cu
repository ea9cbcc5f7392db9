/* dense.cu - the dense layer of products and what goes with them: dz, the sums of its columns, the
 * rows of the weight that belong to one-hot inputs. */
#include "columns.cuh"
#include "gemm.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };

/* dy becomes dz, in place, and db of a shard its sums: a block has 32 columns of a shard. */
KERNEL(dense_dz)(struct op_dense_back a)
{
    SHARED(float, room, 1024);
    uint32_t col = block_x() * WARP + lane_id();
    uint32_t begin = part_begin(a.rows, grid_y(), block_y());
    uint32_t end = part_begin(a.rows, grid_y(), block_y() + 1);
    bool by_z = act_needs_z(a.act), inside = col < a.out;
    const float *by = (const float *)(by_z ? a.z : a.y) + col;
    float *dy = (float *)a.dy + col, sum[1];
    uint32_t ldby = by_z ? a.ldz : a.ldy;
    column_sums(sum, begin, end, room, [&](uint32_t row, float(&to)[1]) {
        if (!inside)
            return;
        float d = dy[(size_t)row * a.lddy];
        if (a.act != ACT_NONE) {
            d *= act_derivative(a.act, by[(size_t)row * ldby], (float)a.slope);
            dy[(size_t)row * a.lddy] = d;
        }
        to[0] += d;
    });
    if (!a.db || !inside || warp_id() != 0)
        return;
    float *db = (float *)a.db + block_y() * a.shard_stride + col;
    *db = a.more ? *db + sum[0] : sum[0];
}

/* The rows of w that belong to one-hot inputs: a warp owns one such row of one shard, and adds the
 * dz of the batch's rows that chose it, in their order. */
KERNEL_BOUNDED(LANES_OF_BLOCK, dense_dw_hot)(struct op_dense_back a)
{
    enum { AT_ONCE = 4 };
    uint32_t mine = block_x() * WARPS_OF_BLOCK + warp_id(), h = 0;
    if (mine >= a.hot.width)
        return;
    mine += a.in;
    while (h < a.hot.column_count && (mine < a.hot.columns[h].at ||
                                      mine - a.hot.columns[h].at >= a.hot.columns[h].count))
        h++;
    uint32_t begin = part_begin(a.rows, grid_y(), block_y());
    uint32_t end = part_begin(a.rows, grid_y(), block_y() + 1);
    struct onehot_column one = {0, mine, 1};
    if (h < a.hot.column_count)
        one = a.hot.columns[h];
    else
        end = begin; /* no column's */
    float *to = (float *)a.dw + block_y() * a.shard_stride + (size_t)mine * a.out;
    const float *dz = (const float *)a.dy;
    for (uint32_t first = 0; first < a.out; first += AT_ONCE * WARP) {
        float sum[AT_ONCE] = {};
        uint32_t col = first + lane_id();
        rows_of_id(a.hot.ids + one.id, a.hot.ids_ld, begin, end, mine - one.at, one.count,
                   one.count, [&](uint32_t row) {
                       UNROLL
                       for (int i = 0; i < AT_ONCE; i++)
                           if (col + i * WARP < a.out)
                               sum[i] += dz[(size_t)row * a.lddy + col + i * WARP];
                   });
        UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            if (col + i * WARP < a.out)
                to[col + i * WARP] = a.more ? to[col + i * WARP] + sum[i] : sum[i];
    }
}

/* --- starting --- */

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
    g.hot_b = (const float *)a->w;
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
               dim3(LANES_OF_BLOCK), 0, m, *a);
}

void cuda_dense_back(struct machine *m, const struct op_dense_back *a, unsigned shards,
                     enum product how)
{
    if (!a->rows || !a->out)
        return;
    if (a->act != ACT_NONE || a->db)
        LAUNCH(dense_dz, dim3(column_tiles(a->out), shards),
               dim3(lanes_for((a->rows + shards - 1) / shards * 4)), 0, m, *a);
    if (a->dw)
        weight_gradient(m, a, shards, how);
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
