/* gemm_wgmma.cu - large products of bf16 and fp16 on sm_90a: what gemm_wide.cu and gemm_half.cu
 * compute, with products of warpgroups (wgmma.cuh). Tiles of 128 x 128, two warpgroups of 64 x 128,
 * 64 of k at a time in stages of shared memory.
 *
 * Operands that both lie in 16 bits are copied into a stage some stages ahead. If there is more
 * than a tile for each multiprocessor, two blocks share one, so that one multiplies while the other
 * waits; else a block has more stages, and products of one stage begin before those of the last
 * have ended. Other operands pass through registers: while the products of one stage run, the
 * numbers of the next are loaded.
 *
 * An element is a sum over k = 0, 1, .. in steps of 16 and does not depend on its neighbours, nor
 * on the way. cuda_precision.cu decides when they serve. */
#include "product/wide.cuh"

/* Set by the build for code of sm_90a, the only architecture with wgmma. */
#if defined(BUILT_FOR_90A) || !defined(__CUDACC__)
#include "product/wgmma.cuh"

/* By registers; by copies, two blocks a multiprocessor or one. */
enum way { BY_REGISTERS, SHARING, ALONE };
/* For each way: groups of products that may run while waiting for the next stage; stages that
 * copies are ahead; stages. */
DEVICE constexpr int left_of(enum way w) { return w == SHARING ? 0 : 1; }
DEVICE constexpr int ahead_of(enum way w) { return w == ALONE ? 3 : 2; }
HOST_DEVICE constexpr int stages_of(enum way w) { return w == ALONE ? 5 : 3; }
enum {
    DEEP = WGMMA_TILE_DEPTH,
    TILE = SIDE * DEEP * 2, STAGE = 2 * TILE, /* bytes */
    UNITS = TILE / 16 / WIDE_LANES,           /* pieces of a line, a lane and operand */
    ACROSS = 8 * 2,                           /* pieces of one k, if rows are fast */
};
static_assert(SIDE * (SIDE + SUMS_PAD) * sizeof(float) <= stages_of(SHARING) * STAGE,
              "sums leave by the tiles");
static_assert(ahead_of(SHARING) + 1 + left_of(SHARING) == stages_of(SHARING) &&
                  ahead_of(ALONE) + 1 + left_of(ALONE) == stages_of(ALONE),
              "a stage is filled when the products of all warps have left it");
static_assert((int)SIDE == (int)WGMMA_COLUMNS && (int)WIDE_LANES == 2 * (int)WARPGROUP &&
                  (int)SIDE == 2 * (int)WGMMA_ROWS,
              "two warpgroups have a tile");

/* This lane's share of an operand's next tile, on its way. */
struct share { four v[UNITS][2]; };

/* Piece u of a tile: its line, first row and first k. */
template <bool K_FAST>
DEVICE void unit_place(uint32_t u, uint32_t *line, uint32_t *row, uint32_t *k)
{
    *line = K_FAST ? u / WGMMA_PIECES : u / WGMMA_PIECES % 2 * DEEP + u / ACROSS;
    *row = K_FAST ? *line : u % ACROSS * 8;
    *k = K_FAST ? u % WGMMA_PIECES * 8 : u / ACROSS;
}

/* --- operands that pass through registers --- */

template <bool K_FAST, bool PLAIN>
DEVICE void share_ask(struct share *s, const struct source_of &o, uint32_t k0, uint32_t k_end)
{
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t line, row, k;
        unit_place<K_FAST>(thread_id() + (uint32_t)i * WIDE_LANES, &line, &row, &k);
        row += o.row0;
        k += k0;
        size_t at = (size_t)row * o.row_step + (size_t)k * o.k_step;
        UNROLL
        for (uint32_t half = 0; half < 2; half++)
            if (row + (K_FAST ? 0 : 4 * half) < o.rows && k + (K_FAST ? 4 * half : 0) < k_end)
                four_ask<PLAIN>(&s->v[i][half], o.x, at + 4 * half);
            else
                s->v[i][half] = four{{0, 0, 0, 0}};
    }
}
template <bool K_FAST>
DEVICE void share_read(struct share *s, const struct source_of &o, uint32_t k, uint32_t k_end)
{
    if (is_plain(o.x))
        share_ask<K_FAST, true>(s, o, k, k_end);
    else
        share_ask<K_FAST, false>(s, o, k, k_end);
}
/* Converts the words that were read to floats. */
DEVICE void share_widen(struct share *s, struct act x)
{
    UNROLL
    for (int i = 0; i < 2 * UNITS && !is_plain(x); i++)
        four_widen(&s->v[i / 2][i % 2], x.form);
}
template <enum product how, bool K_FAST>
DEVICE void share_put(const struct share *s, unsigned char *tile, float scale)
{
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t line, row, k, u = thread_id() + (uint32_t)i * WIDE_LANES;
        unit_place<K_FAST>(u, &line, &row, &k);
        struct unit out;
        UNROLL
        for (int q = 0; q < 4; q++) {
            const float *v = s->v[i][q / 2].v + q % 2 * 2;
            out.word[q] = tile_pair<how>(v[0] * scale, v[1] * scale);
        }
        *(struct unit *)(void *)(tile + wgmma_piece(line, u % WGMMA_PIECES)) = out;
    }
}
/* Sums the columns of B that this lane holds, eight, k by k. B's rows are not k_fast. */
DEVICE void share_sum(const struct share *s, float (&sum)[8])
{
    UNROLL
    for (int i = 0; i < UNITS; i++)
        UNROLL
        for (int q = 0; q < 8; q++)
            sum[q] += s->v[i][q / 4].v[q % 4];
}

/* --- operands that are copied --- */

template <bool K_FAST>
DEVICE void tile_fill(unsigned char *tile, const struct source_of &o, uint32_t k0, uint32_t k_end)
{
    const uint16_t *x = (const uint16_t *)o.x.at;
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t line, row, k, u = thread_id() + (uint32_t)i * WIDE_LANES;
        unit_place<K_FAST>(u, &line, &row, &k);
        unsigned char *to = tile + wgmma_piece(line, u % WGMMA_PIECES);
        row += o.row0;
        k += k0;
        if (row < o.rows && k < k_end)
            copy_async<16>(to, x + (size_t)row * o.row_step + (size_t)k * o.k_step);
        else
            *(struct unit *)(void *)to = unit{{0, 0, 0, 0}};
    }
}
/* As share_sum, of a tile. */
template <enum product how> DEVICE void tile_sum(const unsigned char *tile, float (&sum)[8])
{
    UNROLL
    for (int i = 0; i < UNITS; i++) {
        uint32_t line, row, k, u = thread_id() + (uint32_t)i * WIDE_LANES;
        unit_place<false>(u, &line, &row, &k);
        struct unit v = *(const struct unit *)(const void *)(tile +
                                                             wgmma_piece(line, u % WGMMA_PIECES));
        UNROLL
        for (int q = 0; q < 8; q++)
            sum[q] += tile_part<how>(v.word[q / 2], q % 2);
    }
}

/* --- a tile --- */

/* The products of a stage, for the 64 rows of this warpgroup. */
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void stage_products(float (&sum)[WGMMA_SUMS], const unsigned char *a)
{
    uint32_t group = shuffle(FULL_WARP, warp_id() / 4, 0); /* the compiler sees that it is one */
    uint64_t of_a = wgmma_descriptor<A_FAST>(a + group * (TILE / 2));
    uint64_t of_b = wgmma_descriptor<B_FAST>(a + TILE);
    wgmma_fence(sum);
    UNROLL
    for (uint32_t k = 0; k < DEEP; k += WGMMA_DEPTH)
        wgmma<how, A_FAST, B_FAST>(sum, of_a + wgmma_step<A_FAST>(k),
                                   of_b + wgmma_step<B_FAST>(k));
    wgmma_commit();
}

/* Common to both kernels: the tile, the part of k, the epilogue. */
struct work {
    struct source_of a, b;
    uint32_t k, k_end;
    struct scales scale;
    bool summing;
};

template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void through_registers(const struct work &w, unsigned char *tiles, float (&sum)[WGMMA_SUMS],
                              float (&column)[8])
{
    struct share a, b;
    share_read<A_FAST>(&a, w.a, w.k, w.k_end);
    share_read<B_FAST>(&b, w.b, w.k, w.k_end);
    unsigned char *stage = tiles, *last = tiles + (stages_of(BY_REGISTERS) - 1) * STAGE;
    for (uint32_t k = w.k; k < w.k_end; k += DEEP) {
        /* all have waited for the products that read this stage before */
        share_widen(&a, w.a.x);
        share_widen(&b, w.b.x);
        share_put<how, A_FAST>(&a, stage, w.scale.a);
        share_put<how, B_FAST>(&b, stage + TILE, w.scale.b);
        if (w.summing)
            share_sum(&b, column);
        wgmma_ready();
        sync_block();
        stage_products<how, A_FAST, B_FAST>(sum, stage);
        if (k + DEEP < w.k_end) {
            share_read<A_FAST>(&a, w.a, k + DEEP, w.k_end);
            share_read<B_FAST>(&b, w.b, k + DEEP, w.k_end);
        }
        wgmma_wait<left_of(BY_REGISTERS)>(sum);
        stage = stage == last ? tiles : stage + STAGE;
    }
    wgmma_wait<0>(sum);
}

template <enum product how, bool A_FAST, bool B_FAST, enum way WAY>
DEVICE void by_copies(const struct work &w, unsigned char *tiles, float (&sum)[WGMMA_SUMS],
                      float (&column)[8])
{
    enum { AHEAD = ahead_of(WAY) };
    unsigned char *end = tiles + stages_of(WAY) * STAGE, *stage = tiles, *filled = tiles;
    uint32_t next = w.k;
    /* the next free stage; an empty group after the end of k */
    auto fill = [&]() {
        if (next < w.k_end) {
            tile_fill<A_FAST>(filled, w.a, next, w.k_end);
            tile_fill<B_FAST>(filled + TILE, w.b, next, w.k_end);
        }
        copy_commit();
        next += DEEP;
        filled = filled + STAGE == end ? tiles : filled + STAGE;
    };
    for (int i = 0; i < AHEAD; i++)
        fill();
    for (uint32_t k = w.k; k < w.k_end; k += DEEP) {
        copy_wait<AHEAD - 1>();
        wgmma_ready();
        sync_block(); /* this stage is loaded, and all have left the one to be filled */
        stage_products<how, A_FAST, B_FAST>(sum, stage);
        fill();
        if (w.summing)
            tile_sum<how>(stage + TILE, column);
        wgmma_wait<left_of(WAY)>(sum);
        stage = stage + STAGE == end ? tiles : stage + STAGE;
    }
    wgmma_wait<0>(sum);
    copy_wait<0>();
}

/* Sums pass through shared memory, so that whole rows are written. */
template <enum product how>
DEVICE void finish(const struct gemm &g, float *room, const float (&sum)[WGMMA_SUMS],
                   float unscale, uint32_t row0, uint32_t col0)
{
    uint32_t group = lane_id() / 4, place = lane_id() % 4;
    UNROLL
    for (uint32_t i = 0; i < WGMMA_SUMS; i++)
        room[(16 * warp_id() + group + 8 * (i / 2 % 2)) * (SIDE + SUMS_PAD) + 8 * (i / 4) +
             2 * place + i % 2] = sum[i] * unscale;
    sync_block();
    wide_stripe_finish<how>(g, room, {SIDE, log2_of(SIDE), row0, col0, SIDE, 0, block_z(),
                                      SUMS_PAD});
}

/* Neighbouring blocks have tiles of the same rows: the shared part of A is read once. */
template <enum product how, bool A_FAST, bool B_FAST, enum way WAY>
KERNEL_SHARING(WIDE_LANES, WAY == SHARING ? 2 : 1, gemm_wgmma)(ARGUMENT(struct gemm) g)
{
    DYNAMIC(unsigned char, memory);
    unsigned char *tiles = wgmma_tiles(memory);
    uint32_t across = (g.n + SIDE - 1) / SIDE;
    uint32_t row0 = block_x() / across * SIDE, col0 = block_x() % across * SIDE;
    struct work w = {{g.a, row0, g.m, g.a_row, g.a_col},
                     {g.b, col0, g.n, g.b_col, g.b_row},
                     part_begin(g.k, g.parts, block_z()),
                     part_begin(g.k, g.parts, block_z() + 1),
                     WAY == BY_REGISTERS ? scales_of<how>(g) : scales{1, 1, 1},
                     !B_FAST && g.sums && row0 == 0};
    float sum[WGMMA_SUMS] = {}, column[8] = {};
    if constexpr (WAY != BY_REGISTERS)
        by_copies<how, A_FAST, B_FAST, WAY>(w, tiles, sum, column);
    else
        through_registers<how, A_FAST, B_FAST>(w, tiles, sum, column);
    sync_block();
    float *room = (float *)(void *)tiles;
    if (w.summing)
        wide_columns(g, room, column, col0);
    finish<how>(g, room, sum, w.scale.back, row0, col0);
}

/* --- starting --- */

template <enum product how, enum way WAY>
static void start(struct machine *m, const struct gemm *g)
{
    enum { BYTES = stages_of(WAY) * STAGE + WGMMA_PATTERN };
    if (g->a_col != 1)
        LAUNCH_WIDE((gemm_wgmma<how, false, false, WAY>), BYTES, m, g);
    else if (g->b_row == 1)
        LAUNCH_WIDE((gemm_wgmma<how, true, true, WAY>), BYTES, m, g);
    else
        LAUNCH_WIDE((gemm_wgmma<how, true, false, WAY>), BYTES, m, g);
}

template <enum product how>
static void choose(struct machine *m, const struct gemm *g, bool sharing)
{
    if (!gemm_half_can(g, how))
        start<how, BY_REGISTERS>(m, g);
    else if (sharing)
        start<how, SHARING>(m, g);
    else
        start<how, ALONE>(m, g);
}

bool gemm_wgmma_built(void)
{
    return true;
}
void gemm_wgmma_in(struct machine *m, const struct gemm *g, enum product how, bool sharing)
{
    if (how == PRODUCT_BF16)
        choose<PRODUCT_BF16>(m, g, sharing);
    else
        choose<PRODUCT_FP16>(m, g, sharing);
}

#else

bool gemm_wgmma_built(void)
{
    return false;
}
void gemm_wgmma_in(struct machine *m, const struct gemm *g, enum product how, bool)
{
    gemm_wide_start(m, g, how);
}

#endif

void gemm_wgmma_start(struct machine *m, const struct gemm *g, enum product how)
{
    gemm_wgmma_in(m, g, how, wide_blocks(g) > device_sms(m));
}

/* The one rule: on a machine with such products, for 16-bit numbers. By registers only for few
 * tiles: an H200 computes 128 tiles faster than the twin (123 to 91 TFLOP/s), and 2048 slower (123
 * to 140). */
bool gemm_wgmma_serves(const struct machine *m, const struct gemm *g, enum product how)
{
    enum { FEW = 128 };
    return (how == PRODUCT_BF16 || how == PRODUCT_FP16) && device_wgmma(m) &&
           (gemm_half_can(g, how) || wide_blocks(g) <= FEW);
}
