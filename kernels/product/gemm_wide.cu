/* gemm_wide.cu - large products on tensor cores: tiles of 128 x 128, eight warps of 64 x 32, and
 * sixteen words of k at a time (mma.cuh says what a word is). An operand comes four numbers a read,
 * is rounded on its way into one of two halves of shared memory, and keeps its order there:
 * [row][word] if k is fast, else [word][row], so that no lane writes across banks, and both are
 * read without a conflict. An element has the same bits as in gemm_mma.cu.
 *
 * Sums of B's columns (db) come with it: B passes by unrounded. Operands already in 16 bits go to
 * gemm_half.cu, if it takes them. */
#include "product/wide.cuh"

enum {
    DEEP = 16,
    ROW_WORDS = DEEP + 4,  /* [row][word]: the lanes of a fragment meet 32 banks */
    WORD_ROWS = SIDE + 8,  /* [word][row]: they as well */
    ROOM = SIDE * ROW_WORDS, /* the larger of the two */
    UNITS = SIDE * DEEP / 4 / WIDE_LANES /* of four words, a lane and operand */
};
/* Only the gradient of a weight comes with them. */
HOST_DEVICE constexpr bool sums_of_b(bool a_fast, bool b_fast)
{
    return !a_fast && !b_fast;
}

/* This lane's share of an operand's next tile, on its way. */
template <enum product how> struct share { four v[UNITS][tile_input<how>::PER_WORD]; };

/* K_FAST: unit u is words 4 (u % 4) .. of row u / 4, else rows 4 (u % 32) .. of word u / 32. */
template <enum product how, bool K_FAST, bool PLAIN>
DEVICE void share_ask(struct share<how> *s, const struct source_of &o, uint32_t k, uint32_t k_end)
{
    enum { PER = tile_input<how>::PER_WORD };
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t u = thread_id() + (uint32_t)i * WIDE_LANES;
        uint32_t row = o.row0 + (K_FAST ? u / 4 : 4 * (u % 32));
        uint32_t at = k + (K_FAST ? 4 * PER * (u % 4) : PER * (u / 32));
        UNROLL
        for (int j = 0; j < PER; j++, at += K_FAST ? 4 : 1)
            if (row < o.rows && at < k_end)
                four_ask<PLAIN>(&s->v[i][j], o.x,
                                (size_t)row * o.row_step + (size_t)at * o.k_step);
            else
                s->v[i][j] = four{{0, 0, 0, 0}};
    }
}
template <enum product how, bool K_FAST>
DEVICE void share_read(struct share<how> *s, const struct source_of &o, uint32_t k, uint32_t k_end)
{
    if (is_plain(o.x))
        share_ask<how, K_FAST, true>(s, o, k, k_end);
    else
        share_ask<how, K_FAST, false>(s, o, k, k_end);
}
/* Converts the words that were read to floats. */
template <enum product how> DEVICE void share_widen(struct share<how> *s, struct act x)
{
    UNROLL
    for (int i = 0; i < UNITS && !is_plain(x); i++)
        UNROLL
        for (int j = 0; j < (int)tile_input<how>::PER_WORD; j++)
            four_widen(&s->v[i][j], x.form);
}
template <enum product how, bool K_FAST>
DEVICE void share_put(const struct share<how> *s, uint32_t *tile, float scale)
{
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t u = thread_id() + (uint32_t)i * WIDE_LANES;
        const four *v = s->v[i];
        struct unit out;
        UNROLL
        for (int q = 0; q < 4; q++) {
            if constexpr (tile_input<how>::PER_WORD == 1)
                out.word[q] = tile_round<how>(v[0].v[q] * scale);
            else if constexpr (K_FAST)
                out.word[q] = tile_pair<how>(v[q / 2].v[q % 2 * 2] * scale,
                                             v[q / 2].v[q % 2 * 2 + 1] * scale);
            else
                out.word[q] = tile_pair<how>(v[0].v[q] * scale, v[1].v[q] * scale);
        }
        uint32_t at = K_FAST ? u / 4 * ROW_WORDS + 4 * (u % 4) : u / 32 * WORD_ROWS + 4 * (u % 32);
        *(struct unit *)(tile + at) = out;
    }
}
/* Sums the columns of B that this lane holds, four, k by k. B's rows are not k_fast. */
template <enum product how> DEVICE void share_sum(const struct share<how> *s, float *to)
{
    float sum[4];
    run_load(sum, to);
    UNROLL
    for (int i = 0; i < UNITS; i++)
        UNROLL
        for (int j = 0; j < (int)tile_input<how>::PER_WORD; j++)
            UNROLL
            for (int q = 0; q < 4; q++)
                sum[q] += s->v[i][j].v[q];
    run_store(to, sum);
}

template <bool K_FAST> DEVICE uint32_t word_at(const uint32_t *tile, int row, int word)
{
    return K_FAST ? tile[row * ROW_WORDS + word] : tile[word * WORD_ROWS + row];
}

/* Eight words of k for all elements of the warp. */
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void eight_words(float (&sum)[WM][WN][4], const uint32_t *a, const uint32_t *b, int word)
{
    int group = (int)lane_id() / 4, place = word + (int)lane_id() % 4;
    int row = wide_row() + group, col = wide_col() + group;
    uint32_t x[WM][4], y[WN][2];
    UNROLL
    for (int i = 0; i < WM; i++)
        UNROLL
        for (int e = 0; e < 4; e++)
            x[i][e] = word_at<A_FAST>(a, row + 16 * i + 8 * (e & 1), place + 4 * (e >> 1));
    UNROLL
    for (int j = 0; j < WN; j++)
        UNROLL
        for (int e = 0; e < 2; e++)
            y[j][e] = word_at<B_FAST>(b, col + 8 * j, place + 4 * e);
    UNROLL
    for (int i = 0; i < WM; i++)
        UNROLL
        for (int j = 0; j < WN; j++)
            tile_mma<how>(sum[i][j], x[i], y[j]);
}

/* Neighbouring blocks have tiles of the same rows: the shared part of A is read once. Column sums
 * of B wait in shared memory after the tiles: registers are scarce. */
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void wide_tile(const struct gemm &g, struct unit *tiles)
{
    enum { DEPTH = DEEP * tile_input<how>::PER_WORD };
    uint32_t across = (g.n + SIDE - 1) / SIDE;
    uint32_t row0 = block_x() / across * SIDE, col0 = block_x() % across * SIDE;
    uint32_t k = part_begin(g.k, g.parts, block_z());
    uint32_t k_end = part_begin(g.k, g.parts, block_z() + 1);
    struct source_of from_a = {g.a, row0, g.m, g.a_row, g.a_col};
    struct source_of from_b = {g.b, col0, g.n, g.b_col, g.b_row};
    float sum[WM][WN][4] = {};
    struct scales scale = scales_of<how>(g);
    bool summing = sums_of_b(A_FAST, B_FAST) && g.sums && row0 == 0;
    float *columns = (float *)(void *)(tiles + ROOM + thread_id());
    if (summing)
        run_store(columns, {0, 0, 0, 0});
    struct share<how> a, b;
    share_read<how, A_FAST>(&a, from_a, k, k_end);
    share_read<how, B_FAST>(&b, from_b, k, k_end);
    for (int half = 0; k < k_end; half ^= 1) {
        uint32_t *at = &tiles[0].word[0] + half * 2 * ROOM, *bt = at + ROOM;
        share_widen(&a, g.a);
        share_widen(&b, g.b);
        if (summing)
            share_sum<how>(&b, columns);
        share_put<how, A_FAST>(&a, at, scale.a);
        share_put<how, B_FAST>(&b, bt, scale.b);
        /* two barriers separate the last read of the other half from this write */
        sync_block();
        k += DEPTH;
        if (k < k_end) {
            share_read<how, A_FAST>(&a, from_a, k, k_end);
            share_read<how, B_FAST>(&b, from_b, k, k_end);
        }
        UNROLL
        for (int word = 0; word < DEEP; word += 8)
            eight_words<how, A_FAST, B_FAST>(sum, at, bt, word);
    }
    sync_block();
    float *room = (float *)(void *)tiles;
    if (summing) {
        float column[4];
        run_load(column, columns);
        wide_columns(g, room, column, col0);
    }
    wide_finish<how>(g, room, sum, scale.back, row0, col0);
}

/* Precisions that a card lacks are never asked of it (cuda_precision.cu). */
template <enum product how, bool A_FAST, bool B_FAST>
KERNEL_SHARING(WIDE_LANES, 2, gemm_wide)(ARGUMENT(struct gemm) g)
{
    SHARED(struct unit, tiles, ROOM + (sums_of_b(A_FAST, B_FAST) ? WIDE_LANES : 0));
    if constexpr (tile_is_native<how>())
        wide_tile<how, A_FAST, B_FAST>(g, tiles);
}

/* --- starting --- */

/* Operands readable by four, in a layout of a dense layer. */
bool gemm_wide_can(const struct gemm *g)
{
    return wide_operands(g, 4);
}

/* By shape only: enough tiles to keep a large card busy. */
bool gemm_wide_pays(const struct gemm *g)
{
    enum { TILES = 64 };
    uint64_t down = (g->m + SIDE - 1) / SIDE, across = (g->n + SIDE - 1) / SIDE;
    return g->n > SIDE / 2 && g->m > SIDE / 8 && down * across * g->parts >= TILES &&
           gemm_wide_can(g);
}

template <enum product how> static void start(struct machine *m, const struct gemm *g)
{
    if (g->a_col != 1)
        LAUNCH_WIDE((gemm_wide<how, false, false>), 0, m, g);
    else if (g->b_row == 1)
        LAUNCH_WIDE((gemm_wide<how, true, true>), 0, m, g);
    else
        LAUNCH_WIDE((gemm_wide<how, true, false>), 0, m, g);
}

void gemm_wide_start(struct machine *m, const struct gemm *g, enum product how)
{
    if (gemm_half_can(g, how)) {
        gemm_half_start(m, g, how);
        return;
    }
    switch (how) {
    case PRODUCT_TF32: start<PRODUCT_TF32>(m, g); break;
    case PRODUCT_BF16: start<PRODUCT_BF16>(m, g); break;
    case PRODUCT_FP16: start<PRODUCT_FP16>(m, g); break;
    case PRODUCT_FP32:
    default: break;
    }
}
