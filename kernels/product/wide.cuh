/* wide.cuh - common to large tiles on tensor cores: 128 x 128 of C a block, eight warps (two by
 * four) of 64 x 32, and their epilogue. */
#ifndef DNN_KERNELS_WIDE_CUH
#define DNN_KERNELS_WIDE_CUH

#include "product/gemm.cuh"
#include "product/mma.cuh"

enum { SIDE = 128, WIDE_LANES = 256, WM = 4, WN = 4 };

struct alignas(16) unit { uint32_t word[4]; }; /* what a lane puts into a tile at once */

/* X(row, k) = x[row * row_step + k * k_step]; the step that is not 1 is a multiple of 4, or of 8
 * for copied 16-bit operands. */
struct source_of { struct act x; uint32_t row0, rows, row_step, k_step; };

/* Four numbers as they lie in memory, widened at use: widening at once would wait for each load. */
template <bool PLAIN> DEVICE void four_ask(struct four *v, struct act x, uint64_t i)
{
    if constexpr (PLAIN) {
        *v = load4((const float *)x.at + i);
    } else {
        const uint16_t *at = (const uint16_t *)x.at + i;
        struct four_bits bits = *(const struct four_bits *)(const void *)at;
        *v = {{float_of_word(bits.word[0]), float_of_word(bits.word[1]), 0, 0}};
    }
}
DEVICE void four_widen(struct four *v, uint32_t form)
{
    uint32_t words[2] = {float_word(v->v[0]), float_word(v->v[1])};
    UNROLL
    for (int k = 0; k < 4; k++)
        v->v[k] = bits_to_float(form, (uint16_t)(words[k / 2] >> 16 * (k % 2)));
}

/* The warp's place in the tile. */
DEVICE int wide_row() { return (int)warp_id() / 4 * 16 * WM; }
DEVICE int wide_col() { return (int)warp_id() % 4 * 8 * WN; }

/* Adds the partial sums of columns in order: lane t has V columns from V t % SIDE on. room: V
 * numbers a lane. */
template <int V>
DEVICE void wide_columns(const struct gemm &g, float *room, const float (&sum)[V], uint32_t col0)
{
    UNROLL
    for (int q = 0; q < V; q++)
        room[V * thread_id() + (uint32_t)q] = sum[q];
    sync_block();
    if (thread_id() < SIDE && col0 + thread_id() < g.n) {
        float column = 0;
        for (uint32_t w = 0; w < V * WIDE_LANES / SIDE; w++)
            column += room[w * SIDE + thread_id()];
        float *to = g.sums + block_z() * g.c_part + col0 + thread_id();
        *to = g.add ? *to + column : column;
    }
    sync_block();
}

/* --- the usual ends of a layer: the bits of gemm_put (gemm.cuh), and a tenth of its work --- */

/* END_LAYER: an optional bias, then relu or nothing. END_DELTA: times relu's derivative at `by`. C,
 * and `by`, are of one form. */
enum wide_end { END_ANY, END_LAYER, END_DELTA };
DEVICE enum wide_end wide_end_of(const struct gemm &g, struct act c)
{
    bool linear = g.act == ACT_NONE, relu = g.act == ACT_RELU;
    if (g.onehot.column_count || g.z.at || g.add || !gemm_by_four(&g, c))
        return END_ANY;
    if (g.by.at)
        return relu && !g.bias && g.by.form == c.form ? END_DELTA : END_ANY;
    return linear || relu ? END_LAYER : END_ANY;
}
/* A stripe of SIDE columns: a lane has the same four of every eighth row. It reads four rows before
 * it writes them. */
template <enum wide_end END>
DEVICE void wide_stripe(const struct gemm &g, struct act c, struct act with, const float *sums,
                        struct stripe s)
{
    enum { STEP = 4 * WIDE_LANES / SIDE, AT_ONCE = 4 };
    uint32_t at = 4 * thread_id() % SIDE, col = s.col0 + at;
    float bias[4] = {-0.0f, -0.0f, -0.0f, -0.0f}; /* added, it changes nothing */
    bool relu = g.act == ACT_RELU;
    if (col >= g.n)
        return;
    UNROLL
    for (int q = 0; q < 4 && END == END_LAYER && g.bias; q++)
        bias[q] = g.bias[col + (uint32_t)q];
    ROLLED
    for (uint32_t first = 4 * thread_id() / SIDE; first < s.rows; first += AT_ONCE * STEP) {
        float sum[AT_ONCE][4], by[AT_ONCE][4];
        UNROLL
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            uint32_t r = first + i * STEP, row = s.row0 + r / s.group * s.step + r % s.group;
            run_load(sum[i], sums + r * (SIDE + s.pad) + at);
            if (END == END_DELTA && row < g.m)
                run_load(by[i], with, (size_t)row * g.by_row + col);
        }
        UNROLL
        for (uint32_t i = 0; i < AT_ONCE; i++) {
            uint32_t r = first + i * STEP, row = s.row0 + r / s.group * s.step + r % s.group;
            if (row >= g.m)
                continue;
            UNROLL
            for (int q = 0; q < 4; q++) {
                float x = sum[i][q];
                if (END == END_DELTA)
                    x = form_round(c, x) * (by[i][q] > 0 ? 1.0f : 0.0f);
                else
                    x += bias[q];
                sum[i][q] = END == END_LAYER && relu && x < 0 ? 0.0f : x;
            }
            run_store(c, (size_t)row * g.c_row + col, sum[i]);
        }
    }
}
/* As gemm_finish, for a stripe of SIDE columns. how: the product's; C is fp32, or in its 16
 * bits. */
template <enum product how>
DEVICE void wide_stripe_finish(const struct gemm &g, const float *sums, struct stripe s)
{
    enum { HALF = how == PRODUCT_BF16 ? FORM_BF16 : how == PRODUCT_FP16 ? FORM_FP16 : FORM_REAL };
    struct act c = form_past(g.c, s.part * g.c_part);
    enum wide_end end = wide_end_of(g, c);
    if (end == END_ANY || (!is_plain(c) && c.form != HALF)) {
        gemm_finish(&g, sums, s);
    } else if (is_plain(c)) { /* the forms are known from here on */
        struct act to = form_act(c.at, FORM_REAL), by = form_act(g.by.at, FORM_REAL);
        end == END_LAYER ? wide_stripe<END_LAYER>(g, to, by, sums, s)
                         : wide_stripe<END_DELTA>(g, to, by, sums, s);
    } else {
        struct act to = form_act(c.at, HALF), by = form_act(g.by.at, HALF);
        end == END_LAYER ? wide_stripe<END_LAYER>(g, to, by, sums, s)
                         : wide_stripe<END_DELTA>(g, to, by, sums, s);
    }
}

/* Writes the tile of C by stripes; room: 32 of its rows, each SUMS_PAD numbers longer, free for
 * use. */
template <enum product how>
DEVICE void wide_finish(const struct gemm &g, float *room, const float (&sum)[WM][WN][4],
                        float unscale, uint32_t row0, uint32_t col0)
{
    int group = (int)lane_id() / 4, place = (int)lane_id() % 4;
    UNROLL
    for (int i = 0; i < WM; i++) {
        UNROLL
        for (int j = 0; j < WN; j++)
            UNROLL
            for (int e = 0; e < 4; e++)
                room[((int)warp_id() / 4 * 16 + group + 8 * (e >> 1)) * (SIDE + SUMS_PAD) +
                     wide_col() + 8 * j + 2 * place + (e & 1)] = sum[i][j][e] * unscale;
        sync_block();
        wide_stripe_finish<how>(g, room, {32, log2_of(SIDE), row0 + 16 * (uint32_t)i, col0, 16,
                                          16 * WM, block_z(), SUMS_PAD});
        sync_block();
    }
}

/* --- host --- */

inline bool wide_operand(struct act x, uint32_t fast_step, uint32_t slow_step, uint32_t fast,
                         uint32_t run)
{
    return fast_step == 1 && slow_step % run == 0 && fast % run == 0 &&
           (uintptr_t)x.at % (run * form_bytes(x.form)) == 0;
}
/* True: both operands can be read `run` numbers at once and have the layout of a dense layer's.
 * Column sums: only with a weight's gradient. */
inline bool wide_operands(const struct gemm *g, uint32_t run)
{
    bool a = g->a_col == 1 ? wide_operand(g->a, g->a_col, g->a_row, g->k, run)
                           : wide_operand(g->a, g->a_row, g->a_col, g->m, run);
    bool b = g->b_row == 1 ? wide_operand(g->b, g->b_row, g->b_col, g->k, run)
                           : wide_operand(g->b, g->b_col, g->b_row, g->n, run);
    return a && b && (g->a_col == 1 || g->b_row != 1) &&
           (!g->sums || (g->a_col != 1 && g->b_row != 1));
}
/* A block for each tile of each part. */
inline uint64_t wide_blocks(const struct gemm *g)
{
    return (uint64_t)((g->m + SIDE - 1) / SIDE) * ((g->n + SIDE - 1) / SIDE) * g->parts;
}
#define LAUNCH_WIDE(kernel, bytes, m, g)                                                           \
    LAUNCH(kernel, dim3(((g)->m + SIDE - 1) / SIDE * (((g)->n + SIDE - 1) / SIDE), 1, (g)->parts), \
           dim3(WIDE_LANES), bytes, m, *(g))

#endif
