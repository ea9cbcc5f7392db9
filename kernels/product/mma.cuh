/* mma.cuh - products on tensor cores, a warp at a time: C[16][8] += A[16][depth] B[depth][8],
 * inputs rounded to tf32 (depth 8), bf16 or fp16 (depth 16), sums in fp32.
 *
 * Inputs lie in shared memory as 32-bit words along k: one tf32 number a word, or two 16-bit ones,
 * the lower k in the lower half. A is [row][k], B is [column][k]. In words every kind then has
 * depth 8, and its parts lie on the lanes in one way: with group = lane / 4, place = lane % 4,
 *
 *     A: a[0] (group, place)      a[1] (group + 8, place)     row, word
 *        a[2] (group, place + 4)  a[3] (group + 8, place + 4)
 *     B: b[0] (group, place)      b[1] (group, place + 4)     column, word
 *     C: c[0] (group, 2 place)    c[1] (group, 2 place + 1)   row, column
 *        c[2] (group + 8, 2 place) c[3] (group + 8, 2 place + 1)
 *
 * which is what the PTX ISA says of mma.m16n8k8 (tf32) and m16n8k16 (16 bit). sm_75 has fp16 at
 * depth 8, so two of them, and nothing else: a kernel asks tile_is_native first. */
#ifndef DNN_KERNELS_MMA_CUH
#define DNN_KERNELS_MMA_CUH

#include "device.cuh"
#include "kernels.h"

template <enum product how> struct tile_input {  /* bf16 and fp16 */
    typedef uint16_t stored;
    enum { PER_WORD = 2 };
};
template <> struct tile_input<PRODUCT_TF32> {
    typedef uint32_t stored;
    enum { PER_WORD = 1 };
};

DEVICE uint32_t float_word(float f)
{
    union { float f; uint32_t u; } bits;
    bits.f = f;
    return bits.u;
}

/* A number as it lies in the tile. */
template <enum product how> DEVICE typename tile_input<how>::stored tile_round(float x)
{
    if (how == PRODUCT_TF32)
        return (typename tile_input<how>::stored)float_word(to_tf32(x));
    return how == PRODUCT_BF16 ? to_bf16(x).bits : to_fp16(x).bits;
}

/* Two 16-bit numbers as a word. */
template <enum product how> DEVICE uint32_t tile_pair(float low, float high)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    uint32_t word;
    if (how == PRODUCT_BF16)
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    else
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
#else
    return (uint32_t)tile_round<how>(low) | (uint32_t)tile_round<how>(high) << 16;
#endif
}

/* The part k = 0 or 1 of a word. */
template <enum product how> DEVICE float tile_part(uint32_t word, int k)
{
    if (how == PRODUCT_TF32)
        return float_of_word(word);
    uint16_t bits = (uint16_t)(word >> 16 * k);
    return how == PRODUCT_BF16 ? to_float(bf16{bits}) : to_float(fp16{bits});
}

/* True: the card's tensor cores have this precision. Others are never asked for
 * (cuda_precision.cu), and their kernels are empty there. */
template <enum product how> HOST_DEVICE constexpr bool tile_is_native()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return how == PRODUCT_FP16;
#else
    return true;
#endif
}

#if !defined(__CUDACC__)

/* A word of a lane: 0..3 of its A, 4..5 of its B. */
DEVICE uint32_t tile_posted(int which, int lane)
{
    return ((const uint32_t *)emulate_exchanged((unsigned)lane))[which];
}
/* Sums in order of k. */
template <enum product how>
DEVICE void tile_mma(float c[4], const uint32_t a[4], const uint32_t b[2], HERE)
{
    uint32_t mine[6] = {a[0], a[1], a[2], a[3], b[0], b[1]};
    emulate_exchange(mine, sizeof mine, file, line);
    int group = (int)lane_id() / 4, place = (int)lane_id() % 4;
    for (int i = 0; i < 4; i++) {
        int column = 2 * place + (i & 1);
        for (int word = 0; word < 8; word++) {
            uint32_t x = tile_posted((i >> 1) + (word >> 2) * 2, group * 4 + (word & 3));
            uint32_t y = tile_posted(4 + (word >> 2), column * 4 + (word & 3));
            for (int k = 0; k < (int)tile_input<how>::PER_WORD; k++)
                c[i] = fmaf(tile_part<how>(x, k), tile_part<how>(y, k), c[i]);
        }
    }
}

#else

#define MMA16816(kind)                                                                             \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." kind "." kind ".f32 "                    \
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                           \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))
#define MMA1688(kind, a0, a1, b0)                                                                  \
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." kind "." kind ".f32 "                     \
                 "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                                    \
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                  \
                 : "r"(a0), "r"(a1), "r"(b0))

template <enum product how>
DEVICE void tile_mma(float c[4], const uint32_t a[4], const uint32_t b[2])
{
#if __CUDA_ARCH__ >= 800
    if (how == PRODUCT_FP16)
        MMA16816("f16");
    else if (how == PRODUCT_BF16)
        MMA16816("bf16");
    else
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    MMA1688("f16", a[0], a[1], b[0]);
    MMA1688("f16", a[2], a[3], b[1]);
#endif
}
#undef MMA16816
#undef MMA1688

#endif

/* Four matrices of 8 x 8 numbers of 16 bits out of shared memory, matrix j into r[j]: lane 8 j + i
 * says where row i of matrix j begins, at a multiple of 16 bytes. From each matrix this lane gets
 * word `place` of row `group`; across: from the transposed matrix, as a fragment needs it if k runs
 * down the columns (PTX ISA, ldmatrix). */
#if !defined(__CUDACC__)

template <bool across>
DEVICE void tile_matrices(uint32_t r[4], const uint16_t *row, HERE)
{
    unsigned group = lane_id() / 4, place = lane_id() % 4;
    emulate_exchange(&row, sizeof row, file, line);
    for (unsigned j = 0; j < 4; j++) {
        uint16_t part[2];
        for (unsigned h = 0; h < 2; h++) {
            unsigned i = across ? 2 * place + h : group, at = across ? group : 2 * place + h;
            part[h] = (*(const uint16_t *const *)emulate_exchanged(8 * j + i))[at];
        }
        r[j] = part[0] | (uint32_t)part[1] << 16;
    }
}

#else

template <bool across> DEVICE void tile_matrices(uint32_t r[4], const uint16_t *row)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(row);
    if (across)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(at)
                     : "memory");
}

#endif

/* This lane's words of a tile in shared memory with rows `words` words apart. */
DEVICE void tile_load_a(uint32_t a[4], const uint32_t *tile, int words, int row, int word)
{
    const uint32_t *at = tile + (row + (int)lane_id() / 4) * words + word + (int)lane_id() % 4;
    a[0] = at[0];
    a[1] = at[8 * words];
    a[2] = at[4];
    a[3] = at[8 * words + 4];
}
DEVICE void tile_load_b(uint32_t b[2], const uint32_t *tile, int words, int column, int word)
{
    const uint32_t *at = tile + (column + (int)lane_id() / 4) * words + word + (int)lane_id() % 4;
    b[0] = at[0];
    b[1] = at[4];
}

#endif
