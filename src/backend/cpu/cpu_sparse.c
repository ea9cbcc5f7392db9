/* cpu_sparse.c - the products of a dense layer with many zeros among its inputs or its incoming
 * gradients: after relu about half are 0, after dropout more. Only the others are multiplied: with
 * half of them this takes little more than half of the time. The order of a sum's terms
 * (vec_sparse.h) and the choice between these products and the dense ones follow from the strip's
 * data alone, and so do the bits. */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu_sparse.h"

/* Columns of c in a block: b, [BLOCK][SPARSE_PANEL], fits the first-level cache. */
enum { BLOCK = SPARSE_BLOCK, SPARSE_PANEL = 128 };
#define PANEL_BYTES (BLOCK * SPARSE_PANEL * sizeof(real)) /* the first part of the scratch */

/* Above this share of nonzero values the dense products are faster. */
static const double DENSE = 0.7;

static uint32_t part(uint32_t n, uint32_t at, uint32_t most)
{
    return n - at < most ? n - at : most;
}

/* k rows of b, p->width columns: in place, or copied if they lie so far apart that few fit the
 * cache together. */
static void set_b(struct sparse *p, const real *b, uint32_t k, uint32_t ldb, real *copy)
{
    p->b = b;
    p->ldb = ldb;
    if (ldb <= SPARSE_PANEL)
        return;
    for (uint32_t i = 0; i < k; i++)
        memcpy(copy + (size_t)i * SPARSE_PANEL, b + (size_t)i * ldb, p->width * sizeof *copy);
    p->b = copy;
    p->ldb = SPARSE_PANEL;
}

bool cpu_is_sparse(const struct vec *vec, const real *a, uint32_t rows, uint32_t columns,
                   uint32_t lda, uint32_t width)
{
    enum { SAMPLE = 4 };
    uint64_t bits[SAMPLE], count = 0;
    if (columns < SPARSE_LEAST || width < SPARSE_LEAST || rows < SAMPLE)
        return false;
    for (uint32_t at = 0; at < columns; at += BLOCK) {
        vec->nonzero(bits, a + at, SAMPLE, part(columns, at, BLOCK), rows / SAMPLE * lda);
        for (uint32_t i = 0; i < SAMPLE; i++)
            count += (uint64_t)__builtin_popcountll(bits[i]);
    }
    return (double)count <= DENSE * SAMPLE * columns;
}

void cpu_sparse_product(const struct vec *vec, const struct product *p, uint32_t n, void *scratch)
{
    real *copy = scratch;
    uint64_t *bits = (uint64_t *)(void *)(copy + BLOCK * SPARSE_PANEL);
    assert(p->k > 0 && PANEL_BYTES + p->rows * sizeof *bits <= CPU_SCRATCH);
    for (uint32_t at = 0; at < p->k; at += BLOCK) {
        uint32_t k = part(p->k, at, BLOCK);
        vec->nonzero(bits, p->a + at, p->rows, k, p->lda);
        for (uint32_t j = 0; j < n; j += SPARSE_PANEL) {
            struct sparse s = {.c = p->c + j, .a = p->a + at, .bits = bits,
                               .bias = p->bias ? p->bias + j : NULL, .rows = p->rows,
                               .width = part(n, j, SPARSE_PANEL), .a_row = p->lda, .a_next = 1,
                               .ldc = p->ldc, .add = p->add || at > 0,
                               .act = at + k == p->k ? p->act : (uint32_t)ACT_NONE};
            set_b(&s, p->b + (size_t)at * n + j, k, n, copy);
            vec->sparse(&s);
        }
    }
}

/* Transposes a square of bits, by halves, quarters and so on (Warren, "Hacker's Delight", 2nd
 * edition, section 7-3). */
static void turn_bits(uint64_t *word)
{
    uint64_t low = 0x00000000ffffffff;
    for (uint32_t half = 32; half; half /= 2, low ^= low << half)
        for (uint32_t i = 0; i < 64; i = ((i | half) + 1) & ~half) {
            uint64_t moved = (word[i] >> half ^ word[i | half]) & low;
            word[i] ^= moved << half;
            word[i | half] ^= moved;
        }
}

/* For each column of a: the rows that are not 0, at most BLOCK. */
static void nonzero_columns(const struct vec *vec, uint64_t *bits, const real *a, uint32_t rows,
                            uint32_t columns, uint32_t lda)
{
    for (uint32_t i = 0; i < columns; i += BLOCK) {
        uint64_t word[BLOCK] = {0};
        vec->nonzero(word, a + i, rows, part(columns, i, BLOCK), lda);
        turn_bits(word);
        for (uint32_t j = 0; j < part(columns, i, BLOCK); j++)
            bits[i + j] = word[j];
    }
}

void cpu_sparse_outer(const struct vec *vec, const struct outer *o, uint32_t n, uint32_t ldb,
                      void *scratch)
{
    real *copy = scratch;
    uint64_t *bits = (uint64_t *)(void *)(copy + BLOCK * SPARSE_PANEL);
    assert(o->m <= SPARSE_MOST && PANEL_BYTES + SPARSE_MOST * sizeof *bits <= CPU_SCRATCH);
    for (uint32_t at = 0; at < o->rows; at += BLOCK) {
        uint32_t rows = part(o->rows, at, BLOCK);
        const real *a = o->a + (size_t)at * o->lda;
        nonzero_columns(vec, bits, a, rows, o->m, o->lda);
        for (uint32_t j = 0; j < n; j += SPARSE_PANEL) {
            struct sparse s = {.c = o->c + j, .a = a, .bits = bits, .rows = o->m,
                               .width = part(n, j, SPARSE_PANEL), .a_row = 1, .a_next = o->lda,
                               .ldc = o->ldc, .add = o->add || at > 0, .act = ACT_NONE};
            set_b(&s, o->b + (size_t)at * ldb + j, rows, ldb, copy);
            vec->sparse(&s);
        }
    }
}

void cpu_sparse_across(const struct vec *vec, const struct across *x, uint32_t lddz, void *scratch)
{
    real *wt = scratch, *sums = wt + BLOCK * SPARSE_PANEL;
    uint64_t *bits = (uint64_t *)(void *)(sums + (size_t)x->rows * SPARSE_PANEL);
    assert(x->out > 0 && PANEL_BYTES + x->rows * (SPARSE_PANEL * sizeof *sums +
                                                  (x->out + BLOCK - 1) / BLOCK * sizeof *bits) <=
                             CPU_SCRATCH);
    for (uint32_t at = 0, i = 0; at < x->out; at += BLOCK, i++)
        vec->nonzero(bits + (size_t)i * x->rows, x->dz + at, x->rows, part(x->out, at, BLOCK),
                     lddz);
    for (uint32_t i = 0; i < x->in; i += SPARSE_PANEL) {
        uint32_t width = part(x->in, i, SPARSE_PANEL);
        struct sparse p = {.c = x->add ? sums : x->dx + i, .b = wt, .rows = x->rows, .width = width,
                           .a_row = lddz, .a_next = 1, .ldb = SPARSE_PANEL,
                           .ldc = x->add ? (uint32_t)SPARSE_PANEL : x->lddx, .act = ACT_NONE};
        for (uint32_t at = 0, block = 0; at < x->out; at += BLOCK, block++) {
            vec->turn(wt, x->w + (size_t)i * x->ldw + at, width, part(x->out, at, BLOCK), x->ldw,
                      SPARSE_PANEL);
            p.a = x->dz + at;
            p.bits = bits + (size_t)block * x->rows;
            p.add = at > 0;
            vec->sparse(&p);
        }
        for (uint32_t r = 0; r < x->rows && x->add; r++) {
            real *dx = x->dx + (size_t)r * x->lddx + i;
            vec->add(dx, dx, sums + (size_t)r * SPARSE_PANEL, width);
        }
    }
}
