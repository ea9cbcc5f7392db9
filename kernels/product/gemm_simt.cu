/* gemm_simt.cu - products in fp32 on CUDA cores. Every element is one chain of fused multiply-adds
 * over k = 0, 1, 2, ... of its part: its bits depend on its row, its column and k alone. So the
 * fastest tile may be chosen, and a row has the same answer in any batch.
 *
 * BM x BN elements a block, TM x TN of them a lane, DEPTH of k at a time: while one tile is being
 * multiplied, the next is on its way in registers. Legend: m rows, n columns, k the sum. */
#include "product/gemm.cuh"
#include "product/hot.cuh"

/* N numbers of a tile, by four if N allows: rows of tiles start at 16-byte boundaries. */
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

/* Rows of a tile are padded: when a k_fast piece is stored, at most two lanes share a bank. Runs of
 * n numbers are still read at once. */
HOST_DEVICE constexpr int pad_of(int n)
{
    return n % 4 == 0 ? 4 : 2;
}

/* Shared memory of a block: two halves of the tiles of A and B; later, in the same place, its tile
 * of C, so that sums do not wait in registers. */
template <int BM, int BN, int DEPTH, int TM, int TN> struct room {
    enum { LDA = BM + pad_of(TM), LDB = BN + pad_of(TN) };
    enum { A = 2 * DEPTH * LDA, B = 2 * DEPTH * LDB, C = BM * BN };
    enum { ALL = (int)A + (int)B > (int)C ? (int)A + (int)B : (int)C };
};

/* The lane's sums leave at once. */
template <int TM, int TN>
DEVICE void put_bare(const struct gemm &g, uint32_t row, uint32_t col, uint32_t part,
                     const float (&sum)[TM][TN])
{
    float *c = (float *)g.c.at + part * g.c_part + (size_t)row * g.c_row + col;
    UNROLL
    for (uint32_t i = 0; i < TM; i++, c += g.c_row)
        UNROLL
        for (uint32_t j = 0; j < TN; j++)
            if (row + i < g.m && col + j < g.n)
                c[j] = g.add ? c[j] + sum[i][j] : sum[i][j];
}
/* The sums leave by rows of the block. */
template <int BM, int BN, int TM, int TN>
DEVICE void put_stripe(const struct gemm &g, float *tiles, uint32_t row0, uint32_t col0,
                       uint32_t part, int row, int col, const float (&sum)[TM][TN])
{
    sync_block();
    UNROLL
    for (int i = 0; i < TM; i++)
        UNROLL
        for (int j = 0; j < TN; j++)
            tiles[(row + i) * BN + col + j] = sum[i][j];
    sync_block();
    gemm_finish(&g, tiles, {BM, log2_of(BN), row0, col0, BM, BM, part});
}

/* True: C is its sums, in fp32: nothing is between them and memory. */
HOST_DEVICE bool is_bare(const struct gemm &g)
{
    return is_plain(g.c) && !g.bias && !g.z.at && !g.by.at && g.act == ACT_NONE &&
           !g.onehot.column_count;
}

/* One block's tile: tile (x, y) of C, part z. bare: is_bare(g), if known by the caller. */
template <int BM, int BN, int DEPTH, int TM, int TN>
DEVICE void tile(const struct gemm &g, float *tiles, bool a_fast, bool b_fast, bool bare,
                 uint32_t x, uint32_t y, uint32_t z)
{
    typedef struct room<BM, BN, DEPTH, TM, TN> room_type;
    enum { LANES_ = (BM / TM) * (BN / TN), LDA = room_type::LDA, LDB = room_type::LDB };
    uint32_t row0 = x * BM, col0 = y * BN;
    uint32_t k = part_begin(g.k, g.parts, z), k_end = part_begin(g.k, g.parts, z + 1);
    int row = (int)thread_id() / (BN / TN) * TM, col = (int)thread_id() % (BN / TN) * TN;
    struct piece<BM, DEPTH, LANES_> a;
    struct piece<BN, DEPTH, LANES_> b;
    float sum[TM][TN] = {}, column = 0;
    bool summing = g.sums && x == 0 && thread_id() < BN;
    piece_read(&a, a_fast, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
    piece_read(&b, b_fast, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
    for (int half = 0; k < k_end; half ^= 1) {
        float *at = tiles + half * DEPTH * LDA;
        float *bt = tiles + room_type::A + half * DEPTH * LDB;
        UNROLL
        for (int i = 0; i < (int)a.COUNT; i++) {
            int r, d;
            piece_place(&a, a_fast, i, &r, &d);
            at[d * LDA + r] = a.v[i];
        }
        UNROLL
        for (int i = 0; i < (int)b.COUNT; i++) {
            int r, d;
            piece_place(&b, b_fast, i, &r, &d);
            bt[d * LDB + r] = b.v[i];
        }
        /* two barriers separate the last read of the other half from this write */
        sync_block();
        uint32_t left = k_end - k, depth = left < DEPTH ? left : DEPTH;
        k += DEPTH;
        if (left > DEPTH) {
            piece_read(&a, a_fast, g.a, row0, g.m, k, k_end, g.a_row, g.a_col);
            piece_read(&b, b_fast, g.b, col0, g.n, k, k_end, g.b_col, g.b_row);
        }
        uint32_t d = 0;
        for (; d + 4 <= depth; d += 4)
            UNROLL
            for (uint32_t i = 0; i < 4; i++)
                one_k(sum, at + (d + i) * LDA + row, bt + (d + i) * LDB + col);
        for (; d < depth; d++)
            one_k(sum, at + d * LDA + row, bt + d * LDB + col);
        for (d = 0; d < depth && summing; d++)
            column += bt[d * LDB + thread_id()];
    }
    if (bare)
        put_bare(g, row0 + row, col0 + col, z, sum);
    else
        put_stripe<BM, BN>(g, tiles, row0, col0, z, row, col, sum);
    if (summing && col0 + thread_id() < g.n) {
        float *to = g.sums + z * g.c_part + col0 + thread_id();
        *to = g.add ? *to + column : column;
    }
}

HOST_DEVICE uint32_t tiles_of(uint32_t n, uint32_t side)
{
    return (n + side - 1) / side;
}
/* Tiles of A's rows: one if there are no rows, but sums. */
HOST_DEVICE uint32_t tiles_down(const struct gemm *g, uint32_t side)
{
    return g->m || !g->sums ? tiles_of(g->m, side) : 1;
}

/* Tiles are numbered along x only: y allows 65,535 blocks, and a layer may have more columns. */
template <int BM, int BN, int DEPTH, int TM, int TN, bool A_FAST, bool B_FAST>
KERNEL_SHARING((BM / TM) * (BN / TN), 2, gemm_tile)(ARGUMENT(struct gemm) g)
{
    typedef struct room<BM, BN, DEPTH, TM, TN> room_type;
    SHARED(float, tiles, room_type::ALL);
    uint32_t down = tiles_down(&g, BM);
    tile<BM, BN, DEPTH, TM, TN>(g, tiles, A_FAST, B_FAST, false, block_x() % down,
                                block_x() / down, block_z());
}

/* --- several in one launch --- */

enum { SIDE = 32, TOGETHER_LANES = 256, TOGETHER_WARPS = TOGETHER_LANES / WARP };
struct together {
    struct gemm g[GEMMS];
    uint32_t first[GEMMS + 1], down[GEMMS], across[GEMMS]; /* blocks; tiles of C */
    bool bare[GEMMS];
    struct op_dense_back onehot;
    uint32_t count, onehot_blocks; /* of a shard */
};

KERNEL_SHARING(TOGETHER_LANES, 4, gemm_many)(ARGUMENT(struct together) t)
{
    typedef struct room<SIDE, SIDE, SIDE, 2, 2> room_type;
    SHARED(float, tiles, room_type::ALL);
    uint32_t which = 0, block = block_x();
    while (which < t.count && block >= t.first[which + 1])
        which++;
    block -= t.first[which];
    if (which == t.count) { /* past the last */
        onehot_gradient(t.onehot, block % t.onehot_blocks * TOGETHER_WARPS + warp_id(),
                        block / t.onehot_blocks);
        return;
    }
    const struct gemm &g = t.g[which];
    uint32_t x = block % t.down[which], rest = block / t.down[which];
    uint32_t y = rest % t.across[which], z = rest / t.across[which];
    tile<SIDE, SIDE, SIDE, 2, 2>(g, tiles, g.a_col == 1, g.b_row == 1, t.bare[which], x, y, z);
}

/* --- starting --- */

void gemm_together(struct machine *m, const struct gemm *g, unsigned count,
                   const struct op_dense_back *onehot)
{
    struct together t = {};
    uint32_t blocks = 0;
    for (unsigned i = 0; i < count; i++) {
        t.g[i] = g[i];
        t.bare[i] = is_bare(g[i]);
        t.down[i] = tiles_down(&g[i], SIDE);
        t.across[i] = tiles_of(g[i].n, SIDE);
        t.first[i + 1] = t.first[i] + t.down[i] * t.across[i] * g[i].parts;
    }
    t.count = count;
    blocks = t.first[count];
    if (onehot) {
        t.onehot = *onehot;
        t.onehot_blocks = tiles_of(onehot->onehot.width, TOGETHER_WARPS);
        blocks += t.onehot_blocks * onehot->shards;
    }
    if (blocks)
        LAUNCH(gemm_many, dim3(blocks), dim3(TOGETHER_LANES), 0, m, t);
}

template <int BM, int BN, int DEPTH, int TM, int TN>
static void start(struct machine *m, const struct gemm *g)
{
    dim3 grid(tiles_down(g, BM) * tiles_of(g->n, BN), 1, g->parts), block(BM / TM * (BN / TN));
    bool a_fast = g->a_col == 1, b_fast = g->b_row == 1;
    if (a_fast && b_fast)
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, true, true>), grid, block, 0, m, *g);
    else if (a_fast)
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, true, false>), grid, block, 0, m, *g);
    else
        LAUNCH((gemm_tile<BM, BN, DEPTH, TM, TN, false, false>), grid, block, 0, m, *g);
}

void gemm_simt_sized(struct machine *m, const struct gemm *g, enum simt_size size)
{
    if (size == SIMT_NARROW)
        start<64, 8, 32, 2, 2>(m, g);
    else if (size == SIMT_SMALL && g->a_col == 1 && g->b_row != 1)
        LAUNCH((gemm_tile<SIDE, SIDE, SIDE, 2, 2, true, false>),
               dim3(tiles_down(g, SIDE) * tiles_of(g->n, SIDE), 1, g->parts),
               dim3(TOGETHER_LANES), 0, m, *g);
    else if (size == SIMT_SMALL) /* gradients: small ones come together */
        gemm_together(m, g, 1, nullptr);
    else if (size == SIMT_MEDIUM)
        start<64, 64, 16, 4, 4>(m, g);
    else
        start<128, 64, 16, 8, 4>(m, g);
}

/* Small tiles fill a card when there is little work; large ones load less. Same bits. */
void gemm_simt(struct machine *m, const struct gemm *g)
{
    uint64_t work = (uint64_t)g->m * g->n * g->parts;
    if (!work && !(g->sums && g->n && g->parts))
        return;
    if (g->n <= 8)
        gemm_simt_sized(m, g, SIMT_NARROW);
    else if (work < 128u * 64 * 64)
        gemm_simt_sized(m, g, SIMT_SMALL);
    else if (work < 512u * 128 * 64 || g->n <= 64)
        gemm_simt_sized(m, g, SIMT_MEDIUM);
    else
        gemm_simt_sized(m, g, SIMT_LARGE);
}
