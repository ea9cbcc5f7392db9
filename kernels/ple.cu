/* ple.cu - piecewise-linear numbers: bins and shares, components, and a dense layer's sums over
 * them. A lane has one column of the output and adds in the order of the numbers, or of the rows:
 * no two write to one place. */
#include "form.cuh"

enum { PLE_LANES = 256, PLE_WARPS = PLE_LANES / WARP };

/* A lane has a number of a row. */
KERNEL_BOUNDED(PLE_LANES, ple_pairs)(struct op_ple a)
{
    size_t at = (size_t)block_x() * PLE_LANES + thread_id();
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

DEVICE float component(const int32_t *bins, const real *shares, size_t at, uint32_t k)
{
    uint32_t bin = (uint32_t)bins[at];
    return k < bin ? 1.0f : k == bin ? (float)shares[at] : 0.0f;
}

/* A warp has a number of a row. */
KERNEL_BOUNDED(PLE_LANES, ple_components)(struct op_ple_wide a)
{
    size_t at = (size_t)block_x() * PLE_WARPS + warp_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    struct ple_column c = a.column[at / a.rows];
    float *x = (float *)a.x.at + at % a.rows * a.ld + a.at + c.first;
    for (uint32_t k = lane_id(); k < c.count; k += WARP)
        x[k] = component(a.bins, a.shares, at, k);
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

/* A block has 32 columns of one number's rows of dw, a warp every eighth of the rows. */
KERNEL_BOUNDED(PLE_LANES, ple_backward)(struct op_ple_dense_back a)
{
    uint32_t tiles = (a.out + WARP - 1) / WARP, i = block_x() / tiles;
    uint32_t col = block_x() % tiles * WARP + lane_id();
    struct ple_column c = a.column[i];
    if (col >= a.out)
        return;
    for (uint32_t k = warp_id(); k < c.count; k += PLE_WARPS) {
        float *to = (float *)a.dw + (size_t)(c.first + k) * a.out + col;
        float sum = a.more ? *to : 0;
        for (uint32_t row = 0; row < a.rows; row++)
            sum = fmaf(component(a.bins, a.shares, (size_t)i * a.rows + row, k),
                       form_get(a.dy, (size_t)row * a.lddy + col), sum);
        *to = sum;
    }
}

static unsigned parts(size_t n, size_t of)
{
    return (unsigned)((n + of - 1) / of);
}

void cuda_ple(struct machine *m, const struct op_ple *a)
{
    size_t pairs = (size_t)a->rows * a->columns;
    if (pairs)
        LAUNCH(ple_pairs, dim3(parts(pairs, PLE_LANES)), dim3(PLE_LANES), 0, m, *a);
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
