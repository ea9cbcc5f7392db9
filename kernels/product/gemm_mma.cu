/* gemm_mma.cu - products on tensor cores: fp32 in memory, rounded to tf32, bf16 or fp16 on the way
 * into the tile, summed in fp32. Four warps, two by two; each has WM x WN tiles of 16 x 8. An
 * element's bits follow from its row, its column and k: mma runs over k in steps of 8 words, in
 * order, in every tile. */
#include "product/gemm.cuh"
#include "product/mma.cuh"

template <enum product how, int WM, int WN, bool A_FAST, bool B_FAST>
KERNEL_BOUNDED(128, gemm_warp)(ARGUMENT(struct gemm) g)
{
    /* 32 of k at a time; rows are padded by 4 words so that loads use all 32 banks */
    enum { BM = 32 * WM, BN = 16 * WN, DEPTH = 32, PER = tile_input<how>::PER_WORD };
    enum { WORDS = DEPTH / PER + 4 };
    typedef typename tile_input<how>::stored stored;
    /* a stripe of C, in the memory of the tiles of A and B */
    enum { LDC = BN + SUMS_PAD, INPUTS = (BM + BN) * WORDS, SUMS = 32 * LDC };
    SHARED(uint32_t, tiles, (int)INPUTS > (int)SUMS ? INPUTS : SUMS);
    uint32_t *a_tile = tiles, *b_tile = tiles + BM * WORDS;
    float *c_tile = (float *)(void *)tiles;
    /* tiles are numbered along x only: no other dimension takes as many */
    uint32_t down = (g.m + BM - 1) / BM;
    uint32_t row0 = block_x() % down * BM, col0 = block_x() / down * BN;
    uint32_t k = part_begin(g.k, g.parts, block_z());
    uint32_t k_end = part_begin(g.k, g.parts, block_z() + 1);
    int row = (int)warp_id() / 2 * 16 * WM, col = (int)warp_id() % 2 * 8 * WN;
    struct piece<BM, DEPTH, 128> a;
    struct piece<BN, DEPTH, 128> b;
    float sum[WM][WN][4] = {};
    struct scales scale = scales_of<how>(g);
    if (!tile_is_native<how>())
        return;
    piece_read(&a, A_FAST, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
    piece_read(&b, B_FAST, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
    while (k < k_end) {
        UNROLL
        for (int i = 0; i < (int)a.COUNT; i++) {
            int r, d;
            piece_place(&a, A_FAST, i, &r, &d);
            ((stored *)a_tile)[r * WORDS * PER + d] = tile_round<how>(a.v[i] * scale.a);
        }
        UNROLL
        for (int i = 0; i < (int)b.COUNT; i++) {
            int r, d;
            piece_place(&b, B_FAST, i, &r, &d);
            ((stored *)b_tile)[r * WORDS * PER + d] = tile_round<how>(b.v[i] * scale.b);
        }
        sync_block();
        k += DEPTH;
        if (k < k_end) {
            piece_read(&a, A_FAST, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
            piece_read(&b, B_FAST, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
        }
        UNROLL
        for (int word = 0; word < DEPTH / PER; word += 8) {
            uint32_t x[WM][4], y[WN][2];
            UNROLL
            for (int i = 0; i < WM; i++)
                tile_load_a(x[i], a_tile, WORDS, row + 16 * i, word);
            UNROLL
            for (int j = 0; j < WN; j++)
                tile_load_b(y[j], b_tile, WORDS, col + 8 * j, word);
            UNROLL
            for (int i = 0; i < WM; i++)
                UNROLL
                for (int j = 0; j < WN; j++)
                    tile_mma<how>(sum[i][j], x[i], y[j]);
        }
        sync_block();
    }
    int group = (int)lane_id() / 4, place = (int)lane_id() % 4;
    UNROLL
    for (int i = 0; i < WM; i++) {
        UNROLL
        for (int j = 0; j < WN; j++)
            UNROLL
            for (int e = 0; e < 4; e++)
                c_tile[((int)warp_id() / 2 * 16 + group + 8 * (e >> 1)) * LDC + col + 8 * j +
                       2 * place + (e & 1)] = sum[i][j][e] * scale.back;
        sync_block();
        gemm_finish(&g, c_tile, {32, log2_of(BN), row0 + 16 * (uint32_t)i, col0, 16, 16 * WM,
                                  block_z(), SUMS_PAD});
        sync_block();
    }
}

template <enum product how, int WM, int WN>
static void start(struct machine *m, const struct gemm *g)
{
    uint32_t down = (g->m + 32 * WM - 1) / (32 * WM), across = (g->n + 16 * WN - 1) / (16 * WN);
    dim3 grid(down * across, 1, g->parts);
    bool a_fast = g->a_col == 1, b_fast = g->b_row == 1;
    if (a_fast && b_fast)
        LAUNCH((gemm_warp<how, WM, WN, true, true>), grid, dim3(128), 0, m, *g);
    else if (a_fast)
        LAUNCH((gemm_warp<how, WM, WN, true, false>), grid, dim3(128), 0, m, *g);
    else
        LAUNCH((gemm_warp<how, WM, WN, false, false>), grid, dim3(128), 0, m, *g);
}

template <enum product how> static void choose(struct machine *m, const struct gemm *g)
{
    if ((uint64_t)g->m * g->n * g->parts < 128u * 64 * 64)
        start<how, 1, 2>(m, g); /* 32 x 32 */
    else
        start<how, 2, 4>(m, g); /* 64 x 64 */
}

void gemm_mma(struct machine *m, const struct gemm *g, enum product how)
{
    if ((uint64_t)g->m * g->n * g->parts == 0)
        return;
    if (how != PRODUCT_FP32 && gemm_wide_pays(g)) {
        (gemm_wgmma_serves(m, g, how) ? gemm_wgmma_start : gemm_wide_start)(m, g, how);
        return;
    }
    switch (how) {
    case PRODUCT_TF32: choose<PRODUCT_TF32>(m, g); break;
    case PRODUCT_BF16: choose<PRODUCT_BF16>(m, g); break;
    case PRODUCT_FP16: choose<PRODUCT_FP16>(m, g); break;
    case PRODUCT_FP32: gemm_simt(m, g); break;
    default: break;
    }
}
