/* Products that pass over zeros leave, for shapes of every kind and with every vector code, the
 * bits of the chain that is written down here term by term; and they are taken where there are
 * zeros, and only there. */
#include "tap.h"

#include <stdlib.h>

#include "backend/cpu/cpu_sparse.h"
#include "base/mem.h"
#include "base/rng.h"

enum { SHAPES = 30, MOST = 200, ROWS = 96, ELEMENTS = (MOST + 10) * (MOST + 10) };

struct shape { uint32_t rows, k, n, lda, ldb, ldc; double zeros; bool add, bias, relu; };

static double draw(uint64_t seed, uint64_t i)
{
    return rng_uniform(seed, i, 0, 0, RNG_TEST);
}

static uint32_t below(uint64_t seed, uint64_t i, uint32_t most)
{
    return 1 + (uint32_t)(draw(seed, i) * most);
}

static void fill(real *to, size_t count, uint64_t seed, double zeros)
{
    for (size_t i = 0; i < count; i++)
        to[i] = draw(seed, 2 * i) < zeros ? 0 : (real)(draw(seed, 2 * i + 1) - 0.5);
}

static struct shape shape_of(uint64_t seed)
{
    static const double zeros[] = {0, 0.3, 0.5, 0.9, 1};
    struct shape s = {.rows = below(seed, 1, ROWS), .k = below(seed, 2, MOST),
                      .n = below(seed, 3, MOST), .zeros = zeros[seed % 5], .add = seed % 2,
                      .bias = seed % 3 == 0, .relu = seed % 7 < 3};
    s.lda = s.k + below(seed, 4, 9);
    s.ldb = s.n + below(seed, 5, 9);
    s.ldc = s.n + below(seed, 6, 9);
    return s;
}

static real fused(real a, real b, real c)
{
    return sizeof(real) == sizeof(float) ? (real)fmaf((float)a, (float)b, (float)c)
                                         : (real)fma((double)a, (double)b, (double)c);
}

struct buffers { real *a, *b, *bias, *c, *wanted; void *scratch; };

static struct buffers buffers_new(void)
{
    size_t n = ELEMENTS;
    return (struct buffers){mem_alloc(n, sizeof(real)), mem_alloc(n, sizeof(real)),
                            mem_alloc(n, sizeof(real)), mem_alloc(n, sizeof(real)),
                            mem_alloc(n, sizeof(real)), mem_alloc(1, CPU_SCRATCH)};
}

static void buffers_free(struct buffers *m)
{
    real *all[] = {m->a, m->b, m->bias, m->c, m->wanted};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    mem_free(m->scratch);
}

static void start(struct buffers *m, uint64_t seed, double zeros)
{
    size_t n = ELEMENTS;
    fill(m->a, n, 5 * seed, zeros);
    fill(m->b, n, 5 * seed + 1, 0);
    fill(m->bias, n, 5 * seed + 2, 0);
    fill(m->c, n, 5 * seed + 3, 0);
    memcpy(m->wanted, m->c, n * sizeof *m->c);
}

static bool same(const struct buffers *m)
{
    return memcmp(m->c, m->wanted, ELEMENTS * sizeof *m->c) == 0;
}

/* c[r][j] = the chain of a[r a_row + k a_next] b[k b_next + j b_column], which begins with c, the
 * bias or 0. */
struct chains { uint32_t rows, columns, k, a_row, a_next, b_next, b_column, ldc; };

static real factor(const struct buffers *m, const struct chains *w, uint32_t r, uint32_t k)
{
    return m->a[r * w->a_row + k * w->a_next];
}

/* The order of a row's terms that are not 0, block by block: those that the neighbouring row (0 and
 * 1, 2 and 3, ...) has too, then the others; returns how many. */
static uint32_t order_of(const struct buffers *m, const struct chains *w, uint32_t r,
                         uint32_t *order)
{
    uint32_t count = 0, neighbour = r ^ 1;
    for (uint32_t at = 0; at < w->k; at += SPARSE_BLOCK)
        for (int own = 0; own < 2; own++)
            for (uint32_t k = at; k < w->k && k < at + SPARSE_BLOCK; k++) {
                bool shared = neighbour < w->rows && factor(m, w, neighbour, k) != 0;
                if (factor(m, w, r, k) != 0 && shared != (own == 1))
                    order[count++] = k;
            }
    return count;
}

static void want(struct buffers *m, const struct chains *w, bool add, bool bias, bool relu)
{
    uint32_t order[MOST + 10];
    for (uint32_t r = 0; r < w->rows; r++) {
        uint32_t count = order_of(m, w, r, order);
        for (uint32_t j = 0; j < w->columns; j++) {
            real *to = &m->wanted[r * w->ldc + j], sum = add ? *to : bias ? m->bias[j] : 0;
            for (uint32_t i = 0; i < count; i++)
                sum = fused(factor(m, w, r, order[i]),
                            m->b[order[i] * w->b_next + j * w->b_column], sum);
            *to = relu && sum < 0 ? 0 : sum;
        }
    }
}

static bool product_agrees(const struct vec *vec, struct buffers *m, uint64_t seed)
{
    struct shape s = shape_of(seed);
    start(m, seed, s.zeros);
    want(m, &(struct chains){s.rows, s.n, s.k, s.lda, 1, s.n, 1, s.ldc}, s.add, s.bias, s.relu);
    struct product p = {.c = m->c, .a = m->a, .b = m->b, .bias = s.bias ? m->bias : NULL,
                        .rows = s.rows, .k = s.k, .lda = s.lda, .ldc = s.ldc, .add = s.add,
                        .act = s.relu ? ACT_RELU : ACT_NONE};
    cpu_sparse_product(vec, &p, s.n, m->scratch);
    return same(m);
}

static bool outer_agrees(const struct vec *vec, struct buffers *m, uint64_t seed)
{
    struct shape s = shape_of(seed);
    start(m, seed, s.zeros);
    want(m, &(struct chains){s.k, s.n, s.rows, 1, s.lda, s.ldb, 1, s.ldc}, s.add, false, false);
    struct outer o = {.c = m->c, .a = m->a, .b = m->b, .rows = s.rows, .m = s.k, .lda = s.lda,
                      .ldc = s.ldc, .add = s.add};
    cpu_sparse_outer(vec, &o, s.n, s.ldb, m->scratch);
    return same(m);
}

/* w is [in][out], in = n, out = k; what dx holds is added to the end of its chain. */
static bool across_agrees(const struct vec *vec, struct buffers *m, uint64_t seed)
{
    struct shape s = shape_of(seed);
    start(m, seed, s.zeros);
    want(m, &(struct chains){s.rows, s.n, s.k, s.lda, 1, 1, s.k, s.ldc}, false, false, false);
    for (uint32_t r = 0; r < s.rows; r++) /* c still holds what was there */
        for (uint32_t i = 0; i < s.n && s.add; i++)
            m->wanted[r * s.ldc + i] = m->c[r * s.ldc + i] + m->wanted[r * s.ldc + i];
    struct across x = {.dx = m->c, .w = m->b, .dz = m->a, .rows = s.rows, .in = s.n, .out = s.k,
                       .ldw = s.k, .lddx = s.ldc, .add = s.add};
    cpu_sparse_across(vec, &x, s.lda, m->scratch);
    return same(m);
}

static void test_bits(const struct vec *vec, struct buffers *m)
{
    static const struct {
        const char *name;
        bool (*agrees)(const struct vec *, struct buffers *, uint64_t);
    } products[] = {{"x w", product_agrees}, {"x' dz", outer_agrees}, {"dz w'", across_agrees}};
    for (size_t p = 0; p < sizeof products / sizeof *products; p++) {
        uint64_t differ = 0;
        for (uint64_t seed = 1; seed <= SHAPES && !differ; seed++)
            if (!products[p].agrees(vec, m, seed))
                differ = seed;
        ok(!differ, "%s: %s of %d shapes has the bits of its chain (shape %llu)", vec->name,
           products[p].name, SHAPES, (unsigned long long)differ);
    }
}

static void test_choice(const struct vec *vec, struct buffers *m)
{
    fill(m->a, 64 * 128, 3, 0.5);
    ok(cpu_is_sparse(vec, m->a, 64, 128, 128, 128), "%s: half of them zeros: passed over",
       vec->name);
    ok(!cpu_is_sparse(vec, m->a, 64, 128, 128, 16), "%s: not for a narrow product", vec->name);
    fill(m->a, 64 * 128, 3, 0.1);
    ok(!cpu_is_sparse(vec, m->a, 64, 128, 128, 128), "%s: few zeros: the dense product",
       vec->name);
}

int main(void)
{
    static const char *const names[] = {"c", "avx2", "avx512"};
    struct buffers m = buffers_new();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct vec *vec = vec_find(names[i]);
        if (!vec) {
            tap_skip(names[i], "not on this processor");
            continue;
        }
        test_bits(vec, &m);
        test_choice(vec, &m);
    }
    buffers_free(&m);
    return done();
}
