/* blend.cu - a column's own weight on its activation, or on the column itself (op_blend). */
#include "columns.cuh"
#include "epilogue.cuh"

DEVICE float blend_value(uint32_t act, float x, float w, float slope)
{
    return act == ACT_NONE ? w * x : fmaf(w, act_value(act, x, slope) - x, x);
}

template <int V> KERNEL_BOUNDED(SHEET_LANES, blend_forward)(struct sheet s, struct op_blend a)
{
    uint32_t col = sheet_unit(s) * V;
    if (col >= a.width)
        return;
    for (EACH_ROW_OF(s, row)) {
        float v[V];
        run_load(v, a.x, (size_t)row * a.ldx + col);
        UNROLL
        for (int i = 0; i < V; i++)
            v[i] = blend_value(a.act, v[i], a.w[col + i], (float)a.slope);
        run_store(a.y, (size_t)row * a.ldy + col, v);
    }
}

/* The factor on dy in dx; *away: that in dw. */
DEVICE float blend_factors(const struct op_blend_back *a, float x, float w, float *away)
{
    float slope = (float)a->slope;
    *away = x;
    if (a->act == ACT_NONE)
        return w;
    float f = act_value(a->act, x, slope);
    *away = f - x;
    return fmaf(w, act_derivative(a->act, act_needs_z(a->act) ? x : f, slope) - 1.0f, 1.0f);
}

/* A block has 32 columns and the rows of a shard: it writes their dx and sums their dw. */
KERNEL_BOUNDED(256, blend_backward)(struct op_blend_back a, uint32_t tiles)
{
    SHARED(float, room, 256);
    uint32_t shard = block_x() / tiles, col = block_x() % tiles * WARP + lane_id();
    float sum[1];
    column_sums(sum, part_begin(a.rows, a.shards, shard),
                part_begin(a.rows, a.shards, shard + 1), room,
                [&](uint32_t row, float(&to)[1]) {
                    if (col >= a.width)
                        return;
                    size_t at = (size_t)row * a.lddx + col;
                    float away, d = form_get(a.dy, (size_t)row * a.lddy + col);
                    float x = form_get(a.x, (size_t)row * a.ldx + col);
                    float factor = blend_factors(&a, x, a.w[col], &away);
                    to[0] = fmaf(d, away, to[0]);
                    if (a.dx.at)
                        form_put(a.dx, at, fmaf(d, factor, a.add_dx ? form_get(a.dx, at) : 0.0f));
                });
    if (warp_id() != 0 || col >= a.width)
        return;
    float *dw = a.dw + shard * a.shard_stride + col;
    *dw = (a.more ? *dw : 0) + sum[0];
}

void cuda_blend(struct machine *m, const struct op_blend *a)
{
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy);
    if (a->rows && a->width)
        LAUNCH_SHEET(blend_forward, wide, a->rows, a->width, m, *a);
}

void cuda_blend_back(struct machine *m, const struct op_blend_back *a)
{
    uint32_t tiles = column_tiles(a->width);
    if (a->rows && a->width)
        LAUNCH(blend_backward, dim3(tiles * a->shards), dim3(256), 0, m, *a, tiles);
}
