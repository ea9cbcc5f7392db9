/* The dense products of every vector code are the chains of sums that are written down here term by
 * term, bit for bit, whatever is packed and blocked on the way. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "base/mem.h"
#include "base/rng.h"

/* Sizes with rests of every kind, and blocks of depth behind each other. */
static const uint32_t sizes[][3] = {{64, 300, 70}, {29, 257, 32}, {24, 600, 96}, {70, 450, 300},
                                    {3, 20, 40}, {17, 192, 272}, {64, 193, 257}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static real term(real a, real b, real sum)
{
    return sizeof(real) == sizeof(float) ? (real)fmaf((float)a, (float)b, (float)sum)
                                         : (real)fma((double)a, (double)b, (double)sum);
}

static real *numbers(size_t count, uint32_t seed)
{
    real *some = mem_alloc(count, sizeof *some);
    for (size_t i = 0; i < count; i++)
        some[i] = (real)rng_normal(seed, i, 0, 0, RNG_TEST);
    return some;
}

/* c = relu(bias + a b), or c + a b */
static void straight(const struct vec *vec, uint32_t rows, uint32_t k, uint32_t n, bool add)
{
    real *a = numbers((size_t)rows * k, 1), *b = numbers((size_t)k * n, 2), *bias = numbers(n, 3);
    real *c = numbers((size_t)rows * n, 4), *want = numbers((size_t)rows * n, 4);
    cpu_product(vec, (struct product){.c = c, .a = a, .bias = bias, .rows = rows, .k = k, .lda = k,
                                      .ldb = n, .ldc = n, .add = add,
                                      .act = add ? ACT_NONE : ACT_RELU}, n, b);
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t j = 0; j < n; j++) {
            real sum = add ? want[r * n + j] : bias[j];
            for (uint32_t i = 0; i < k; i++)
                sum = term(a[r * k + i], b[i * n + j], sum);
            want[r * n + j] = add || sum > 0 ? sum : 0;
        }
    ok(memcmp(c, want, (size_t)rows * n * sizeof *c) == 0, "%s: product %u x %u x %u%s", vec->name,
       rows, k, n, add ? ", added" : "");
    mem_free(a), mem_free(b), mem_free(bias), mem_free(c), mem_free(want);
}

/* c (= or +=) a' b, for one panel b */
static void outwards(const struct vec *vec, uint32_t rows, uint32_t m, uint32_t width, bool add)
{
    width = width < PANEL ? width : PANEL;
    real *a = numbers((size_t)rows * m, 1), *b = numbers((size_t)rows * PANEL, 2);
    real *c = numbers((size_t)m * width, 3), *want = numbers((size_t)m * width, 3);
    real *packed = mem_alloc((size_t)rows * (m + 8), sizeof *packed);
    struct outer o = {.c = c, .a = a, .b = b, .rows = rows, .m = m, .width = width, .lda = m,
                      .ldc = width, .add = add};
    for (uint32_t i = 0; i < m; i++)
        for (uint32_t j = 0; j < width; j++) {
            real sum = add ? want[i * width + j] : 0;
            for (uint32_t r = 0; r < rows; r++)
                sum = term(a[r * m + i], b[r * PANEL + j], sum);
            want[i * width + j] = sum;
        }
    vec->outer(&o);
    bool plain = memcmp(c, want, (size_t)m * width * sizeof *c) == 0;
    real *again = numbers((size_t)m * width, 3);
    vec->outer_pack(packed, a, rows, m, m);
    o.c = again, o.a = NULL, o.packed = packed;
    vec->outer(&o);
    ok(plain && memcmp(again, want, (size_t)m * width * sizeof *c) == 0,
       "%s: outer %u x %u x %u%s, plain and packed", vec->name, rows, m, width,
       add ? ", added" : "");
    mem_free(a), mem_free(b), mem_free(c), mem_free(want), mem_free(packed), mem_free(again);
}

/* db, dz and its transpose of a plain layer, and dx (= or +=) dz w' */
static void across(const struct vec *vec, uint32_t rows, uint32_t out, uint32_t in, bool add)
{
    size_t padded = ((size_t)rows + LANES - 1) / LANES * LANES;
    uint32_t room = (out + PANEL - 1) / PANEL * PANEL;
    real *dy = numbers((size_t)rows * out, 1), *w = numbers((size_t)in * out, 2);
    real *dx = numbers((size_t)rows * in, 3), *want = numbers((size_t)rows * in, 3);
    real *copy = mem_alloc(padded * PANEL, sizeof *copy), *sums = numbers(out, 4);
    real *turned = mem_alloc(padded * room, sizeof *turned), *total = numbers(out, 4);
    for (uint32_t j = 0; j < out; j += PANEL)
        vec->deltas(&(struct deltas){.dy = dy + j, .copy = copy, .sums = sums + j, .by = dy + j,
                                     .turned = turned + (size_t)j * LANES, .rows = rows,
                                     .width = out - j < PANEL ? out - j : PANEL, .ld = out,
                                     .ldby = out, .room = room, .add = add});
    vec->across(&(struct across){.dx = dx, .w = w, .dz = turned, .rows = rows, .in = in,
                                 .out = out, .ldw = out, .lddx = in, .room = room, .add = add});
    for (uint32_t j = 0; j < out; j++) {
        real sum = add ? total[j] : 0;
        for (uint32_t r = 0; r < rows; r++)
            sum += dy[r * out + j];
        total[j] = sum;
    }
    for (uint32_t r = 0; r < rows; r++)
        for (uint32_t i = 0; i < in; i++) {
            real sum = 0, *to = &want[r * in + i];
            for (uint32_t j = 0; j < out; j++)
                sum = term(dy[r * out + j], w[i * out + j], sum);
            *to = add ? *to + sum : sum;
        }
    ok(memcmp(sums, total, out * sizeof *sums) == 0, "%s: sums of %u x %u", vec->name, rows, out);
    ok(memcmp(dx, want, (size_t)rows * in * sizeof *dx) == 0, "%s: across %u x %u x %u%s",
       vec->name, rows, out, in, add ? ", added" : "");
    mem_free(dy), mem_free(w), mem_free(dx), mem_free(want);
    mem_free(copy), mem_free(turned), mem_free(sums), mem_free(total);
}

int main(void)
{
    static const char *const cores[] = {"c", "avx2", "avx512"};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        const struct vec *vec = vec_find(cores[i]);
        if (!vec) {
            tap_skip(cores[i], "not on this processor");
            continue;
        }
        for (size_t k = 0; k < SIZES; k++)
            for (int add = 0; add < 2; add++) {
                straight(vec, sizes[k][0], sizes[k][1], sizes[k][2], add);
                outwards(vec, sizes[k][0], sizes[k][1], sizes[k][2], add);
                across(vec, sizes[k][0], sizes[k][1], sizes[k][2], add);
            }
    }
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
