/* gemm.cuh - what the two products share: bringing a tile of an operand into registers, the range
 * of k of a part, and what happens to a finished element. */
#ifndef DNN_KERNELS_GEMM_CUH
#define DNN_KERNELS_GEMM_CUH

#include "epilogue.cuh"
#include "sheet.cuh"

/* ROWS x DEPTH elements of an operand X(row, k) = x[row * row_step + k * k_step], shared out over
 * LANES lanes. Neighbouring lanes take neighbouring addresses: along k when k_fast, else along
 * rows; from one element of a lane to its next it is `step` rows, or as many k. Elements outside
 * are 0: their products add nothing. */
template <int ROWS, int DEPTH, int LANES_> struct piece {
    enum { COUNT = ROWS * DEPTH / LANES_ };
    static_assert(LANES_ % DEPTH == 0 && LANES_ % ROWS == 0 && ROWS * DEPTH % LANES_ == 0,
                  "a piece is shared out evenly");
    float v[COUNT];
};
template <int ROWS, int DEPTH, int LANES_>
DEVICE void piece_read(struct piece<ROWS, DEPTH, LANES_> *p, bool k_fast, const float *x,
                       uint32_t row, uint32_t rows, uint32_t k, uint32_t k_end, uint32_t row_step,
                       uint32_t k_step)
{
    uint32_t along = k_fast ? DEPTH : ROWS, step = LANES_ / along;
    row += k_fast ? thread_id() / along : thread_id() % along;
    k += k_fast ? thread_id() % along : thread_id() / along;
    const float *at = x + (size_t)row * row_step + (size_t)k * k_step;
    size_t stride = (size_t)step * (k_fast ? row_step : k_step);
    uint32_t left = k_fast ? (k < k_end && row < rows ? rows - row : 0)
                           : (row < rows && k < k_end ? k_end - k : 0);
    UNROLL
    for (int i = 0; i < (int)p->COUNT; i++, at += stride)
        p->v[i] = (uint32_t)i * step < left ? *at : 0.0f;
}
/* Where element i of this lane stands in the tile. */
template <int ROWS, int DEPTH, int LANES_>
DEVICE void piece_place(const struct piece<ROWS, DEPTH, LANES_> *, bool k_fast, int i, int *row,
                        int *k)
{
    int along = k_fast ? DEPTH : ROWS;
    int slow = (int)thread_id() / along + i * (LANES_ / along), fast = (int)thread_id() % along;
    *row = k_fast ? slow : fast;
    *k = k_fast ? fast : slow;
}

/* What becomes of a finished sum, on its way to C or to one part of it. */
DEVICE void gemm_put(const struct gemm *g, float *c, uint32_t row, uint32_t col, float sum)
{
    for (uint32_t h = 0; h < g->hot.column_count; h++) {
        struct onehot_column one = g->hot.columns[h];
        uint32_t id = (uint32_t)g->hot.ids[(size_t)row * g->hot.ids_ld + one.id];
        if (id < one.count)
            sum += g->hot_b[(size_t)(one.at + id) * g->b_row + col];
    }
    if (g->bias)
        sum += g->bias[col];
    if (g->z)
        g->z[(size_t)row * g->z_row + col] = sum;
    float *to = c + (size_t)row * g->c_row + col;
    if (g->by)
        sum *= act_derivative(g->act, g->by[(size_t)row * g->by_row + col], g->slope);
    else
        sum = act_value(g->act, sum, g->slope);
    *to = g->add ? *to + sum : sum;
}

/* Finished sums leave by stripes: each lane puts some into shared memory, then the block writes
 * whole rows. Stripe row r is row row0 + r / group * step + r % group of C; columns are 1 << shift.
 */
struct stripe { uint32_t rows, shift, row0, col0, group, step, part; };
DEVICE void gemm_finish(const struct gemm *g, const float *sums, struct stripe s)
{
    float *c = g->c + s.part * g->c_part;
    for (uint32_t e = thread_id(); e < s.rows << s.shift; e += block_size()) {
        uint32_t r = e >> s.shift, col = s.col0 + (e & ((1u << s.shift) - 1));
        uint32_t row = s.row0 + r / s.group * s.step + r % s.group;
        if (row < g->m && col < g->n)
            gemm_put(g, c, row, col, sums[e]);
    }
}
DEVICE constexpr uint32_t log2_of(uint32_t n)
{
    return n <= 1 ? 0 : 1 + log2_of(n / 2);
}

#endif
