/* gemm.cuh - common to all products: loading a tile of an operand into registers, the k range of a
 * part, and the epilogue of finished elements. */
#ifndef DNN_KERNELS_GEMM_CUH
#define DNN_KERNELS_GEMM_CUH

#include "epilogue.cuh"
#include "sheet.cuh"

/* ROWS x DEPTH elements of an operand X(row, k) = x[row * row_step + k * k_step], divided among
 * LANES lanes. Neighbouring lanes take neighbouring addresses: along k when k_fast, else along
 * rows; the elements of a lane are `step` rows, or `step` k, apart. Elements outside are 0: their
 * products add nothing. */
template <int ROWS, int DEPTH, int LANES_> struct piece {
    enum { COUNT = ROWS * DEPTH / LANES_ };
    static_assert(LANES_ % DEPTH == 0 && LANES_ % ROWS == 0 && ROWS * DEPTH % LANES_ == 0,
                  "a piece is shared out evenly");
    float v[COUNT];
};
template <class T, int ROWS, int DEPTH, int LANES_>
DEVICE void piece_read_as(struct piece<ROWS, DEPTH, LANES_> *p, bool k_fast, struct act x,
                          uint32_t row, uint32_t rows, uint32_t k, uint32_t k_end,
                          uint32_t row_step, uint32_t k_step)
{
    uint32_t along = k_fast ? DEPTH : ROWS, step = LANES_ / along;
    row += k_fast ? thread_id() / along : thread_id() % along;
    k += k_fast ? thread_id() % along : thread_id() / along;
    const T *at = (const T *)x.at + (size_t)row * row_step + (size_t)k * k_step;
    size_t stride = (size_t)step * (k_fast ? row_step : k_step);
    uint32_t left = k_fast ? (k < k_end && row < rows ? rows - row : 0)
                           : (row < rows && k < k_end ? k_end - k : 0);
    UNROLL
    for (int i = 0; i < (int)p->COUNT; i++, at += stride)
        p->v[i] = (uint32_t)i * step < left ? to_float(*at) : 0.0f;
}
template <int ROWS, int DEPTH, int LANES_>
DEVICE void piece_read(struct piece<ROWS, DEPTH, LANES_> *p, bool k_fast, struct act x,
                       uint32_t row, uint32_t rows, uint32_t k, uint32_t k_end, uint32_t row_step,
                       uint32_t k_step)
{
    if (x.form == FORM_REAL)
        piece_read_as<float>(p, k_fast, x, row, rows, k, k_end, row_step, k_step);
    else if (x.form == FORM_BF16)
        piece_read_as<bf16>(p, k_fast, x, row, rows, k, k_end, row_step, k_step);
    else
        piece_read_as<fp16>(p, k_fast, x, row, rows, k, k_end, row_step, k_step);
}
/* The place of element i of this lane in the tile. */
template <int ROWS, int DEPTH, int LANES_>
DEVICE void piece_place(const struct piece<ROWS, DEPTH, LANES_> *, bool k_fast, int i, int *row,
                        int *k)
{
    int along = k_fast ? DEPTH : ROWS;
    int slow = (int)thread_id() / along + i * (LANES_ / along), fast = (int)thread_id() % along;
    *row = k_fast ? slow : fast;
    *k = k_fast ? fast : slow;
}

/* Scales for fp16: operands are multiplied before rounding, sums divided after. Powers of two, so
 * exact. */
struct scales { float a, b, back; };
template <enum product how> DEVICE struct scales scales_of(const struct gemm &g)
{
    struct scales s = {1, 1, 1};
    if (how == PRODUCT_FP16 && g.scale && *g.scale > 0) {
        s.a = g.scaled == SCALED_A ? (float)*g.scale : 1;
        s.b = g.scaled == SCALED_B ? (float)*g.scale : 1;
        s.back = (float)(1 / *g.scale);
    }
    return s;
}

/* The epilogue of V finished sums of neighbouring columns: to C, or to one part of it. */
template <int V>
DEVICE void gemm_put(const struct gemm *g, struct act c, uint32_t row, uint32_t col,
                     float (&sum)[V])
{
    size_t to = (size_t)row * g->c_row + col;
    float with[V] = {};
    for (uint32_t h = 0; h < g->onehot.column_count; h++) {
        struct onehot_column one = g->onehot.columns[h];
        uint32_t id = (uint32_t)g->onehot.ids[(size_t)row * g->onehot.ids_ld + one.id];
        UNROLL
        for (int i = 0; i < V && id < one.count; i++)
            sum[i] += g->onehot_b[(size_t)(one.at + id) * g->b_row + col + (uint32_t)i];
    }
    UNROLL
    for (int i = 0; i < V && g->bias; i++)
        sum[i] += g->bias[col + (uint32_t)i];
    if (g->z.at)
        run_store(g->z, (size_t)row * g->z_row + col, sum);
    if (g->by.at)
        run_load(with, g->by, (size_t)row * g->by_row + col);
    UNROLL
    for (int i = 0; i < V; i++)
        sum[i] = g->by.at ? form_round(c, sum[i]) * act_derivative(g->act, with[i], g->slope)
                       : act_value(g->act, sum[i], g->slope);
    if (g->add) {
        run_load(with, c, to);
        UNROLL
        for (int i = 0; i < V; i++)
            sum[i] = with[i] + sum[i];
    }
    run_store(c, to, sum);
}

/* True: every row of C and of its companions can be accessed by four. */
DEVICE bool gemm_by_four(const struct gemm *g, struct act c)
{
    uint32_t steps = g->n | g->c_row | (g->z.at ? g->z_row : 0) | (g->by.at ? g->by_row : 0);
    return steps % 4 == 0 && form_fours(c) && (!g->z.at || form_fours(g->z)) &&
           (!g->by.at || form_fours(g->by));
}

/* Finished sums leave by stripes: each lane puts some into shared memory, then the block writes
 * whole rows. Stripe row r is row row0 + r / group * step + r % group of C; columns are 1 << shift,
 * four at least. In shared memory a row is followed by `pad` numbers, a multiple of four. */
struct stripe { uint32_t rows, shift, row0, col0, group, step, part, pad; };
/* With this padding the fragments of mma.cuh, two sums a lane, use all banks. */
enum { SUMS_PAD = 8 };
template <int V>
DEVICE void gemm_finish_by(const struct gemm *g, struct act c, const float *sums, struct stripe s)
{
    for (uint32_t e = V * thread_id(); e < s.rows << s.shift; e += V * block_size()) {
        uint32_t r = e >> s.shift, col = s.col0 + (e & ((1u << s.shift) - 1));
        uint32_t row = s.row0 + r / s.group * s.step + r % s.group;
        float sum[V];
        if (row >= g->m || col >= g->n)
            continue;
        run_load(sum, sums + e + r * s.pad);
        gemm_put(g, c, row, col, sum);
    }
}
DEVICE void gemm_finish(const struct gemm *g, const float *sums, struct stripe s)
{
    struct act c = form_past(g->c, s.part * g->c_part);
    if (gemm_by_four(g, c))
        gemm_finish_by<4>(g, c, sums, s);
    else
        gemm_finish_by<1>(g, c, sums, s);
}
DEVICE constexpr uint32_t log2_of(uint32_t n)
{
    return n <= 1 ? 0 : 1 + log2_of(n / 2);
}

#endif
