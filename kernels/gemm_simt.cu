/* gemm_simt.cu - products in fp32 on CUDA cores. Every element is one chain of fused
 * multiply-adds over k = 0, 1, 2, ... of its part: its bits depend on nothing but its row, its
 * column and k, so that tiles may be chosen by what is fast, and a row predicts the same anywhere.
 *
 * BM x BN elements a block, TM x TN of them a lane, DEPTH of k at a time: while one tile is being
 * multiplied, the next is on its way in registers. Legend: m rows, n columns, k the sum. */
#include "gemm.cuh"

/* N numbers of a tile, four at a time where N allows: rows of tiles begin at 16-byte boundaries. */
template <int N> DEVICE void read_run(float *v, const float *at)
{
    UNROLL
    for (int i = 0; i < N; i += 4) {
        if constexpr (N % 4 == 0) {
            struct four f = load4(at + i);
            UNROLL
            for (int k = 0; k < 4; k++)
                v[i + k] = f.v[k];
        } else {
            UNROLL
            for (int k = i; k < N; k++)
                v[k] = at[k];
        }
    }
}
/* One k for all elements of the lane. */
template <int TM, int TN> DEVICE void one_k(float (&sum)[TM][TN], const float *a, const float *b)
{
    float x[TM], y[TN];
    read_run<TM>(x, a);
    read_run<TN>(y, b);
    UNROLL
    for (int i = 0; i < TM; i++)
        UNROLL
        for (int j = 0; j < TN; j++)
            sum[i][j] = fmaf(x[i], y[j], sum[i][j]);
}

template <int BM, int BN, int DEPTH, int TM, int TN, bool A_FAST, bool B_FAST>
KERNEL_BOUNDED((BM / TM) * (BN / TN), gemm_tile)(ARGUMENT(struct gemm) g)
{
    enum { LANES_ = (BM / TM) * (BN / TN), LDA = BM + 4, LDB = BN + 4 };
    SHARED(float, a_tile, 2 * DEPTH * LDA);
    SHARED(float, b_tile, 2 * DEPTH * LDB);
    SHARED(float, c_tile, BM / TM * BN);
    uint32_t row0 = block_x() * BM, col0 = block_y() * BN;
    uint32_t k = part_begin(g.k, g.parts, block_z());
    uint32_t k_end = part_begin(g.k, g.parts, block_z() + 1);
    int row = (int)thread_id() / (BN / TN) * TM, col = (int)thread_id() % (BN / TN) * TN;
    struct piece<BM, DEPTH, LANES_, A_FAST> a;
    struct piece<BN, DEPTH, LANES_, B_FAST> b;
    float sum[TM][TN] = {};
    piece_read(&a, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
    piece_read(&b, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
    for (int half = 0; k < k_end; half ^= 1) {
        float *at = a_tile + half * DEPTH * LDA, *bt = b_tile + half * DEPTH * LDB;
        UNROLL
        for (int i = 0; i < (int)a.COUNT; i++) {
            int r, d;
            piece_place(&a, i, &r, &d);
            at[d * LDA + r] = a.v[i];
        }
        UNROLL
        for (int i = 0; i < (int)b.COUNT; i++) {
            int r, d;
            piece_place(&b, i, &r, &d);
            bt[d * LDB + r] = b.v[i];
        }
        /* the other half may be written before all have left it: each is met by two barriers */
        sync_block();
        uint32_t left = k_end - k, depth = left < DEPTH ? left : DEPTH;
        k += DEPTH;
        if (left > DEPTH) {
            piece_read(&a, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
            piece_read(&b, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
        }
        uint32_t d = 0;
        for (; d + 4 <= depth; d += 4)
            UNROLL
            for (uint32_t i = 0; i < 4; i++)
                one_k(sum, at + (d + i) * LDA + row, bt + (d + i) * LDB + col);
        for (; d < depth; d++)
            one_k(sum, at + d * LDA + row, bt + d * LDB + col);
    }
    UNROLL
    for (int i = 0; i < TM; i++) {
        UNROLL
        for (int j = 0; j < TN; j++)
            c_tile[row / TM * BN + col + j] = sum[i][j];
        sync_block();
        gemm_finish(&g, c_tile, {BM / TM, log2_of(BN), row0 + (uint32_t)i, col0, 1, TM});
        sync_block();
    }
}

template <int BM, int BN, int DEPTH, int TM, int TN>
static void start(struct machine *m, const struct gemm *g)
{
    dim3 grid((g->m + BM - 1) / BM, (g->n + BN - 1) / BN, g->parts), block(BM / TM * (BN / TN));
    bool a_fast = g->a_col == 1, b_fast = g->b_row == 1;
    if (a_fast && b_fast)
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, true, true>), grid, block, 0, m, *g);
    else if (a_fast)
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, true, false>), grid, block, 0, m, *g);
    else
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, false, false>), grid, block, 0, m, *g);
}

/* Small tiles fill a card when there is little to do, large ones load less. The bits are the same.
 */
void gemm_simt(struct machine *m, const struct gemm *g)
{
    uint64_t work = (uint64_t)g->m * g->n * g->parts;
    if (!work)
        return;
    if (g->n <= 8)
        start<64, 8, 32, 2, 2>(m, g);
    else if (work < 128u * 64 * 64)
        start<32, 32, 32, 2, 2>(m, g);
    else if (work < 512u * 128 * 64 || g->n <= 64)
        start<64, 64, 16, 4, 4>(m, g);
    else
        start<128, 64, 16, 8, 4>(m, g);
}
