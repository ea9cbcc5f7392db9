/* bf16.h - products of numbers rounded to bf16 (to nearest, ties to even), with sums in fp32, on
 * processors that have them. Private to src/backend.
 *
 * A product has two packed inputs of the same depth: k rounded up to BF16_STEP, with zeros after k.
 * Numbers below 2^-126 count as 0, in the inputs and in the sums. Each output is one chain of sums
 * in the order of k, so that blocking changes no bit. The link of the chain depends on the code:
 *   avx512_bf16   two terms, one after the other (VDPBF16PS)
 *   amx           32 terms: the sum of the ones in even places and of the ones in odd places,
 *                 added, then added to the chain (TDPBF16PS)
 * Intel, "64 and IA-32 Architectures Software Developer's Manual", volume 2. */
#ifndef DNN_BACKEND_BF16_H
#define DNN_BACKEND_BF16_H

#include "backend/cpu/vec.h"

enum { BF16_STEP = 32, BF16_TILE = 16 };

static inline uint32_t bf16_depth(uint32_t k)
{
    return (k + BF16_STEP - 1) / BF16_STEP * BF16_STEP;
}

/* c[i][j] = start + sum over taps t and k of a[i][t][k] b[t][k][j]; start is c (add), the bias, or
 * 0. */
struct bf16_product {
    real *c;
    const real *bias;
    const uint16_t *a;  /* [m rounded up to BF16_TILE][lda]: tap t begins at t a_next */
    const uint16_t *b;  /* [n / BF16_TILE, rounded up][depth / 2][BF16_TILE][2], a tap: b_next */
    uint32_t m, n, depth, lda, ldc;
    uint32_t taps;
    ptrdiff_t a_next, b_next;
    bool add;
};

struct bf16_code {
    const char *name;
    void (*product)(const struct bf16_product *p); /* NULL: the compiler does not know it */
};
extern const struct bf16_code bf16_amx, bf16_avx512;

/* Packing. rows: to[r][depth] of from[r][k]; pairs: to[depth / 2][BF16_TILE][2] of
 * from[k][columns], at most BF16_TILE columns, zeros after them. */
void bf16_rows(uint16_t *to, const real *from, uint32_t rows, uint32_t k, uint32_t ld);
void bf16_pairs(uint16_t *to, const real *from, uint32_t k, uint32_t columns, uint32_t ld);

/* The best code for this processor, or the one of that name; NULL: none. */
const struct bf16_code *bf16_choose(void);
const struct bf16_code *bf16_find(const char *name);

#endif
