/* ple.cu - piecewise-linear numbers: bins and shares, components, and a dense layer's sums over
 * them. A lane has one column of the output, and adds in the order of the numbers on the way
 * forward: no two write to one place. */
#include "form.cuh"

enum { PLE_LANES = 256, PLE_WARPS = PLE_LANES / WARP, PLE_BINS = 8,
       AT_ONCE = 4 /* rows on their way */ };
static_assert((int)PLE_BINS == (int)PLE_WARPS, "a warp adds up the sums of a bin");

/* A lane has a number of a row. */
KERNEL_BOUNDED(PLE_LANES, ple_pairs)(struct op_ple a)
{
    size_t at = global_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    struct ple_column c = a.column[at / a.rows];
    float *x = (float *)a.x.at + at % a.rows * a.ld;
    const float *edges = a.edges + c.edges;
    float v = x[c.number];
    uint32_t bin = 0;
    for (uint32_t left = c.count; left > 1; left -= left / 2)
        bin += edges[bin + left / 2] <= v ? left / 2 : 0;
    float share = (v - edges[bin]) / (edges[bin + 1] - edges[bin]);
    bool none = c.missing != PLE_NONE && x[c.missing] > 0;
    share = share > 0 ? share : 0;
    a.bins[at] = none ? 0 : (int32_t)bin;
    a.shares[at] = none ? 0 : share < 1 ? share : 1;
    if (c.alone)
        x[c.number] = 0;
}

DEVICE float component(uint32_t bin, float share, uint32_t k)
{
    return k < bin ? 1.0f : k == bin ? share : 0.0f;
}

/* A warp has a number of a row. */
KERNEL_BOUNDED(PLE_LANES, ple_components)(struct op_ple_wide a)
{
    size_t at = (size_t)block_x() * PLE_WARPS + warp_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    struct ple_column c = a.column[at / a.rows];
    float *x = (float *)a.x.at + at % a.rows * a.ld + a.at + c.first;
    uint32_t bin = (uint32_t)a.bins[at];
    float share = (float)a.shares[at];
    for (uint32_t k = lane_id(); k < c.count; k += WARP)
        x[k] = component(bin, share, k);
}

/* A warp has 32 columns of a row of y. */
KERNEL_BOUNDED(PLE_LANES, ple_forward)(struct op_ple_dense a)
{
    uint32_t col = block_x() * WARP + lane_id(), row = block_y() * PLE_WARPS + warp_id();
    if (col >= a.out || row >= a.rows)
        return;
    float sum = form_get(a.y, (size_t)row * a.ldy + col);
    for (uint32_t i = 0; i < a.columns; i++) {
        size_t at = (size_t)i * a.rows + row;
        uint32_t bin = (uint32_t)a.bins[at];
        const float *w = (const float *)a.w + (size_t)a.column[i].first * a.out + col;
        float before = 0;
        for (uint32_t k = 0; k < bin; k++)
            before += w[(size_t)k * a.out];
        sum += fmaf((float)a.shares[at], w[(size_t)bin * a.out], before);
    }
    form_put(a.y, (size_t)row * a.ldy + col, sum);
}

/* A block has 32 columns of one number's rows of dw. Its warps take every eighth row, for eight
 * bins at a time, and their sums are added in order. */
KERNEL_BOUNDED(PLE_LANES, ple_backward)(struct op_ple_dense_back a)
{
    SHARED(float, room, PLE_WARPS * PLE_BINS * WARP);
    uint32_t tiles = (a.out + WARP - 1) / WARP, i = block_x() / tiles;
    uint32_t col = block_x() % tiles * WARP + lane_id();
    struct ple_column c = a.column[i];
    for (uint32_t first = 0; first < c.count; first += PLE_BINS) {
        float sum[PLE_BINS] = {};
        for (uint32_t begin = warp_id(); begin < a.rows; begin += AT_ONCE * PLE_WARPS) {
            uint32_t bin[AT_ONCE], bits[AT_ONCE];
            float share[AT_ONCE];
            UNROLL
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                uint32_t row = begin + j * PLE_WARPS < a.rows ? begin + j * PLE_WARPS : begin;
                bin[j] = (uint32_t)a.bins[(size_t)i * a.rows + row];
                share[j] = (float)a.shares[(size_t)i * a.rows + row];
                bits[j] = form_bits(a.dy, (size_t)row * a.lddy + (col < a.out ? col : 0));
            }
            UNROLL
            for (uint32_t j = 0; j < AT_ONCE; j++) {
                float dy = form_number(a.dy.form, bits[j]);
                UNROLL
                for (uint32_t k = 0; k < PLE_BINS && begin + j * PLE_WARPS < a.rows; k++)
                    sum[k] = fmaf(component(bin[j], share[j], first + k), dy, sum[k]);
            }
        }
        UNROLL
        for (uint32_t k = 0; k < PLE_BINS; k++)
            room[(warp_id() * PLE_BINS + k) * WARP + lane_id()] = sum[k];
        sync_block();
        if (first + warp_id() < c.count && col < a.out) {
            float *to = (float *)a.dw + (size_t)(c.first + first + warp_id()) * a.out + col;
            float all = a.more ? *to : 0;
            for (uint32_t w = 0; w < PLE_WARPS; w++)
                all += room[(w * PLE_BINS + warp_id()) * WARP + lane_id()];
            *to = all;
        }
        sync_block();
    }
}

void cuda_ple(struct machine *m, const struct op_ple *a)
{
    LAUNCH_EACH(ple_pairs, (size_t)a->rows * a->columns, PLE_LANES, m, *a);
}

void cuda_ple_wide(struct machine *m, const struct op_ple_wide *a)
{
    size_t pairs = (size_t)a->rows * a->columns;
    if (pairs)
        LAUNCH(ple_components, dim3(parts(pairs, PLE_WARPS)), dim3(PLE_LANES), 0, m, *a);
}

void cuda_ple_dense(struct machine *m, const struct op_ple_dense *a)
{
    if (a->rows && a->columns)
        LAUNCH(ple_forward, dim3(parts(a->out, WARP), parts(a->rows, PLE_WARPS)), dim3(PLE_LANES),
               0, m, *a);
}

void cuda_ple_dense_back(struct machine *m, const struct op_ple_dense_back *a)
{
    if (a->columns)
        LAUNCH(ple_backward, dim3(parts(a->out, WARP) * a->columns), dim3(PLE_LANES), 0, m, *a);
}
