/* gemm_half.cu - large products on tensor cores whose operands both lie in 16 bits (form.cuh):
 * tiles and bits of gemm_wide.cu, but nothing passes through registers on its way in. Pieces of 16
 * bytes are copied into one of three stages of 32 of k while the stages before are multiplied, and
 * lie there as they lay before, [row][k] or [k][row], with rows padded by 16 bytes: the eight rows
 * that a matrix is read from meet all banks. */
#include "product/wide.cuh"

enum {
    DEEP = 32, STAGES = 3,
    PIECE = 8,              /* numbers of one copy */
    PIECES = SIDE * DEEP / PIECE / WIDE_LANES, /* a lane and operand */
    ROW_STEP = DEEP + PIECE, K_STEP = SIDE + PIECE,
};
template <bool K_FAST> HOST_DEVICE constexpr int room_of()
{
    return K_FAST ? (int)SIDE * ROW_STEP : (int)DEEP * K_STEP;
}
template <bool A_FAST, bool B_FAST> HOST_DEVICE constexpr size_t bytes_of()
{
    return STAGES * (size_t)(room_of<A_FAST>() + room_of<B_FAST>()) * sizeof(uint16_t);
}

/* X(row, k); the step that is not 1 is a multiple of 8. */
struct operand { const uint16_t *x; uint32_t row0, rows, row_step, k_step; };

/* Piece u: K_FAST: k 8 (u % 4) .. of row u / 4, else rows 8 (u % 16) .. of k u / 16. */
template <bool K_FAST>
DEVICE void stage_fill(uint16_t *tile, const struct operand &o, uint32_t k, uint32_t k_end)
{
    UNROLL
    for (uint32_t i = 0; i < PIECES; i++) {
        uint32_t u = thread_id() + i * WIDE_LANES;
        uint32_t r = K_FAST ? u / (DEEP / PIECE) : u % (SIDE / PIECE) * PIECE;
        uint32_t d = K_FAST ? u % (DEEP / PIECE) * PIECE : u / (SIDE / PIECE);
        uint16_t *to = tile + (K_FAST ? r * ROW_STEP + d : d * K_STEP + r);
        uint32_t row = o.row0 + r, at = k + d;
        if (row < o.rows && at < k_end)
            copy_async<16>(to, o.x + (size_t)row * o.row_step + (size_t)at * o.k_step);
        else
            *(struct unit *)(void *)to = unit{{0, 0, 0, 0}};
    }
}

/* 16 x 16 of A from (row, k), or of B's columns: matrix j of the four is the upper or lower eight
 * rows (low bit of `order`'s j) and the first or last eight of k. */
template <bool K_FAST>
DEVICE void matrices_of(uint32_t r[4], const uint16_t *tile, int row, int k, bool k_first)
{
    int j = (int)lane_id() / 8, i = (int)lane_id() % 8;
    int lower = (k_first ? j >> 1 : j & 1) * 8, later = (k_first ? j & 1 : j >> 1) * 8;
    if (K_FAST)
        tile_matrices<false>(r, tile + (row + lower + i) * ROW_STEP + k + later);
    else
        tile_matrices<true>(r, tile + (k + later + i) * K_STEP + row + lower);
}

/* Sixteen of k for all elements of the warp. */
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void sixteen(float (&sum)[WM][WN][4], const uint16_t *a, const uint16_t *b, int k)
{
    uint32_t x[WM][4], y[WN / 2][4];
    UNROLL
    for (int i = 0; i < WM; i++)
        matrices_of<A_FAST>(x[i], a, wide_row() + 16 * i, k, false);
    UNROLL
    for (int j = 0; j < WN / 2; j++)
        matrices_of<B_FAST>(y[j], b, wide_col() + 16 * j, k, true);
    UNROLL
    for (int i = 0; i < WM; i++)
        UNROLL
        for (int j = 0; j < WN; j++)
            tile_mma<how>(sum[i][j], x[i], y[j / 2] + j % 2 * 2);
}

/* Sums four columns of B, k by k, in the order of gemm_wide.cu. B is not K_FAST. */
template <enum product how> DEVICE void stage_sum(float (&column)[4], const uint16_t *b)
{
    struct act tile = form_act(b, how == PRODUCT_BF16 ? FORM_BF16 : FORM_FP16);
    UNROLL
    for (uint32_t i = 0; i < DEEP; i += 2 * WIDE_LANES / WARP)
        UNROLL
        for (uint32_t d = 0; d < 2; d++) {
            float v[4];
            run_load(v, tile, (i + 2 * warp_id() + d) * K_STEP + 4 * lane_id());
            UNROLL
            for (int q = 0; q < 4; q++)
                column[q] += v[q];
        }
}

/* Neighbouring blocks have tiles of the same rows: the shared part of A is read once. */
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void half_tile(const struct gemm &g, uint16_t *stages)
{
    enum { ROOM_A = room_of<A_FAST>(), ROOM = ROOM_A + room_of<B_FAST>() };
    uint32_t across = (g.n + SIDE - 1) / SIDE;
    uint32_t row0 = block_x() / across * SIDE, col0 = block_x() % across * SIDE;
    uint32_t k = part_begin(g.k, g.parts, block_z());
    uint32_t k_end = part_begin(g.k, g.parts, block_z() + 1), next = k;
    struct operand a = {(const uint16_t *)g.a.at, row0, g.m, g.a_row, g.a_col};
    struct operand b = {(const uint16_t *)g.b.at, col0, g.n, g.b_col, g.b_row};
    float sum[WM][WN][4] = {}, column[4] = {};
    bool summing = !B_FAST && g.sums && row0 == 0;
    /* the next free stage; an empty group after the end of k */
    uint32_t filled = 0;
    auto fill = [&]() {
        uint16_t *at = stages + filled * ROOM;
        if (next < k_end) {
            stage_fill<A_FAST>(at, a, next, k_end);
            stage_fill<B_FAST>(at + ROOM_A, b, next, k_end);
        }
        copy_commit();
        next += DEEP;
        filled = filled + 1 < STAGES ? filled + 1 : 0;
    };
    for (int i = 0; i < STAGES - 1; i++)
        fill();
    for (uint32_t stage = 0; k < k_end; k += DEEP) {
        const uint16_t *at = stages + stage * ROOM;
        copy_wait<STAGES - 2>();
        sync_block(); /* this stage is loaded, and all have left the one before it */
        fill();
        if (summing)
            stage_sum<how>(column, at + ROOM_A);
        UNROLL
        for (int d = 0; d < DEEP; d += 16)
            sixteen<how, A_FAST, B_FAST>(sum, at, at + ROOM_A, d);
        stage = stage + 1 < STAGES ? stage + 1 : 0;
    }
    copy_wait<0>();
    sync_block();
    float *room = (float *)(void *)stages;
    if (summing)
        wide_columns(g, room, column, col0);
    wide_finish<how>(g, room, sum, 1, row0, col0);
}

/* Precisions that a card lacks are never asked of it (cuda_precision.cu). */
template <enum product how, bool A_FAST, bool B_FAST>
KERNEL_SHARING(WIDE_LANES, 2, gemm_half)(ARGUMENT(struct gemm) g)
{
    DYNAMIC(struct unit, stages);
    if constexpr (tile_is_native<how>())
        half_tile<how, A_FAST, B_FAST>(g, (uint16_t *)(void *)stages);
}

/* --- starting --- */

/* Both operands in this 16-bit form, rows readable by eight, a layout of a dense layer, no scaling.
 */
bool gemm_half_can(const struct gemm *g, enum product how)
{
    uint32_t form = form_product(how);
    return form != FORM_REAL && g->a.form == form && g->b.form == form &&
           wide_operands(g, PIECE) && !(g->scale && how == PRODUCT_FP16);
}

template <enum product how> static void start(struct machine *m, const struct gemm *g)
{
    if (g->a_col != 1)
        LAUNCH_WIDE((gemm_half<how, false, false>), (bytes_of<false, false>()), m, g);
    else if (g->b_row == 1)
        LAUNCH_WIDE((gemm_half<how, true, true>), (bytes_of<true, true>()), m, g);
    else
        LAUNCH_WIDE((gemm_half<how, true, false>), (bytes_of<true, false>()), m, g);
}

void gemm_half_start(struct machine *m, const struct gemm *g, enum product how)
{
    if (how == PRODUCT_BF16)
        start<PRODUCT_BF16>(m, g);
    else
        start<PRODUCT_FP16>(m, g);
}
