/* wgmma.cuh - products of a warpgroup, which sm_90a alone has: four warps, the first a multiple of
 * four, do C[64][128] += A[64][16] B[16][128] of bf16 or fp16 with sums in fp32. Both operands lie
 * in shared memory, C on the lanes, and all of it runs while the lanes do something else.
 *
 * A tile is 64 or 128 rows of A (columns of B, which are its rows from here on) by 64 of k, in
 * lines of 64 numbers: 128 bytes, line l at l * 128.
 *
 *     k fast:    line l is row l, its numbers are k = 0 .. 63
 *     row fast:  line l is k = l % 64 of the rows 64 (l / 64) .. + 63
 *
 * Piece p (16 bytes) of line l is at p ^ (l % 8): wgmma_piece. Eight lines are one pattern of 1024
 * bytes, and a tile begins at a multiple of that: wgmma_tiles. The PTX ISA calls these the
 * canonical layouts with swizzling of 128 bytes, K-major ((8,m),(T,2k)):((8T,SBO), (1,T)) and
 * MN-major ((T,8,m),(8,k)):((1,T,LBO),(8T,SBO)), with T = 8 numbers.
 *
 * C of lane t of the warpgroup: with warp = t / 32, group = t % 32 / 4, place = t % 4, sum[4 j + e]
 * is row 16 warp + group + 8 (e / 2), column 8 j + 2 place + e % 2.
 *
 *     wgmma_ready()            what this lane wrote to shared memory, or waited for with copy_wait,
 *                              can be seen by products that begin after the next barrier
 *     wgmma_fence(sum)         before the first product after the lane itself had `sum`
 *     wgmma(sum, a, b)         begins a product; a, b from wgmma_descriptor
 *     wgmma_commit()           closes a group of them
 *     wgmma_wait<left>(sum)    until at most `left` groups go on; sum is the lane's again when none
 *                              does, and the tiles of those that ended may be overwritten when all
 *                              warps have waited for theirs and met */
#ifndef DNN_KERNELS_WGMMA_CUH
#define DNN_KERNELS_WGMMA_CUH

#include "product/mma.cuh"

enum {
    WARPGROUP = 128, WGMMA_ROWS = 64, WGMMA_COLUMNS = 128, WGMMA_DEPTH = 16,
    WGMMA_SUMS = WGMMA_ROWS * WGMMA_COLUMNS / WARPGROUP,
    WGMMA_TILE_DEPTH = 64, WGMMA_LINE = 128, WGMMA_PIECES = 8, WGMMA_PATTERN = 1024
};

/* Bytes from the tile's begin to a piece of a line. */
DEVICE uint32_t wgmma_piece(uint32_t line, uint32_t piece)
{
    return line * WGMMA_LINE + ((piece ^ (line % 8)) * 16);
}

#if !defined(__CUDACC__)

DEVICE uint32_t shared_address(const void *at) { return emulate_shared_address(at); }
DEVICE void wgmma_ready() { emulate_product_ready(); }
DEVICE void wgmma_fence(float (&)[WGMMA_SUMS]) { emulate_product_fence(); }
template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void wgmma(float (&sum)[WGMMA_SUMS], uint64_t a, uint64_t b, HERE)
{
    static_assert(how == PRODUCT_BF16 || how == PRODUCT_FP16, "products of 16-bit numbers");
    struct emulate_product p = {a, b, WGMMA_COLUMNS, how == PRODUCT_BF16, A_FAST, B_FAST};
    emulate_product_begin(sum, &p, file, line);
}
DEVICE void wgmma_commit() { emulate_product_commit(); }
template <int left> DEVICE void wgmma_wait(float (&)[WGMMA_SUMS]) { emulate_product_wait(left); }

#else

DEVICE uint32_t shared_address(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}
DEVICE void wgmma_ready() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

/* The compiler must not move uses of `sum` over what orders them. */
DEVICE void wgmma_hold(float (&sum)[WGMMA_SUMS])
{
    UNROLL
    for (int i = 0; i < WGMMA_SUMS; i++)
        asm volatile("" : "+f"(sum[i])::"memory");
}
DEVICE void wgmma_fence(float (&sum)[WGMMA_SUMS])
{
    wgmma_hold(sum);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DEVICE void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int left> DEVICE void wgmma_wait(float (&sum)[WGMMA_SUMS])
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(left) : "memory");
    if (left == 0)
        wgmma_hold(sum);
}

#define WGMMA_8(i)                                                                                 \
    "+f"(sum[i]), "+f"(sum[i + 1]), "+f"(sum[i + 2]), "+f"(sum[i + 3]), "+f"(sum[i + 4]),          \
        "+f"(sum[i + 5]), "+f"(sum[i + 6]), "+f"(sum[i + 7])
#define WGMMA(kind)                                                                                \
    asm volatile("{\n"                                                                             \
                 ".reg .pred adds;\n"                                                              \
                 "setp.ne.b32 adds, %66, 0;\n"                                                     \
                 "wgmma.mma_async.sync.aligned.m64n128k16.f32." kind "." kind " "                  \
                 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"                         \
                 "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"                \
                 "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"                \
                 "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "              \
                 "%64, %65, adds, 1, 1, %67, %68;\n"                                               \
                 "}"                                                                               \
                 : WGMMA_8(0), WGMMA_8(8), WGMMA_8(16), WGMMA_8(24), WGMMA_8(32), WGMMA_8(40),     \
                   WGMMA_8(48), WGMMA_8(56)                                                        \
                 : "l"(a), "l"(b), "n"(1), "n"(A_FAST ? 0 : 1), "n"(B_FAST ? 0 : 1))

template <enum product how, bool A_FAST, bool B_FAST>
DEVICE void wgmma(float (&sum)[WGMMA_SUMS], uint64_t a, uint64_t b)
{
    static_assert(how == PRODUCT_BF16 || how == PRODUCT_FP16, "products of 16-bit numbers");
    if constexpr (how == PRODUCT_BF16)
        WGMMA("bf16");
    else
        WGMMA("f16");
}
#undef WGMMA
#undef WGMMA_8

#endif

/* The aligned start of tiles in shared memory, which needs WGMMA_PATTERN more bytes. */
DEVICE unsigned char *wgmma_tiles(unsigned char *memory)
{
    return memory + (WGMMA_PATTERN - shared_address(memory) % WGMMA_PATTERN) % WGMMA_PATTERN;
}

/* The descriptor of a tile's k = 0 .. 15, from its first 64 rows on. In units of 16 bytes: its
 * begin; the step from 64 rows to the next 64 if rows are fast, else 1, as the PTX ISA says for an
 * unused field; the step from eight lines to the next eight. Then the kind of swizzling. */
template <bool K_FAST> DEVICE uint64_t wgmma_descriptor(const unsigned char *tile)
{
    enum { LEADING = K_FAST ? 16 : WGMMA_TILE_DEPTH * WGMMA_LINE, STRIDE = WGMMA_PATTERN };
    const uint64_t swizzle_of_128_bytes = 1;
    return (shared_address(tile) & 0x3ffff) >> 4 | (uint64_t)(LEADING >> 4) << 16 |
           (uint64_t)(STRIDE >> 4) << 32 | swizzle_of_128_bytes << 62;
}

/* The descriptor of the same rows, k further on; a multiple of 16. */
template <bool K_FAST> DEVICE uint64_t wgmma_step(uint32_t k)
{
    return (K_FAST ? 2 * k : WGMMA_LINE * k) / 16;
}

#endif
