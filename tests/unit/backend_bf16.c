/* Products in bf16: exact sums at every edge shape, either input transposed; rounding; blocks;
 * operations within the gate of bf16, the same bits with any threads; answers in fp32. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/form.h"
#include "backend/cases/opcase.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/process/thread.h"
#include "reference_op.h"

#ifndef DNN_DOUBLE

enum { MOST = 70, LD = MOST + 3 };

/* --- edge shapes: whole numbers, whose sums are exact --- */

static const uint32_t edges[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 70};
enum { EDGES = sizeof edges / sizeof *edges };
static real left[2][LD * LD], right[2][LD * LD]; /* as they are, and transposed */
static real got[LD * LD];
static double wanted[MOST + 1][MOST][MOST]; /* by k */
static void *scratch;
static size_t wrong, tried;

static void fill_edges(void)
{
    for (size_t i = 0; i < MOST; i++)
        for (size_t j = 0; j < MOST; j++) {
            left[0][i * LD + j] = left[1][j * LD + i] = (real)((i * 7 + j * 5) % 19) - 9;
            right[0][i * LD + j] = right[1][j * LD + i] = (real)((i * 3 + j * 11) % 23) - 11;
        }
    for (size_t k = 0; k < MOST; k++)
        for (size_t i = 0; i < MOST; i++)
            for (size_t j = 0; j < MOST; j++)
                wanted[k + 1][i][j] = wanted[k][i][j] +
                    (double)left[0][i * LD + k] * (double)right[0][k * LD + j];
}

/* start: 0 none, 1 c, 2 bias */
static void one_shape(const struct bf16_code *code, uint32_t m, uint32_t n, uint32_t k, int across,
                      int start)
{
    static real bias[MOST];
    bool a_across = across & 1, b_across = across & 2;
    for (size_t i = 0; i < LD * LD; i++)
        got[i] = 5;
    for (size_t j = 0; j < MOST; j++)
        bias[j] = (real)j;
    cpu_bf16_product(code, &(struct blas_product){.c = got, .a = left[a_across],
                                                  .b = right[b_across], .m = m, .n = n, .k = k,
                                                  .lda = LD, .ldb = LD, .ldc = LD,
                                                  .a_across = a_across, .b_across = b_across,
                                                  .add = start == 1},
                     start == 2 ? bias : NULL, NULL, scratch);
    for (size_t i = 0; i < LD; i++)
        for (size_t j = 0; j < LD; j++) {
            double first = start == 1 ? 5 : start == 2 ? (double)j : 0;
            double want = i < m && j < n ? first + wanted[k][i][j] : 5;
            wrong += (double)got[i * LD + j] != want;
        }
    tried++;
}

static void edge_shapes(const struct bf16_code *code)
{
    wrong = tried = 0;
    for (uint32_t x = 1; x <= MOST; x++)
        for (size_t y = 0; y < EDGES; y++)
            for (size_t z = 0; z < EDGES; z++) {
                int across = (int)(x + y + z) % 4, start = (int)(x + 2 * y + z) % 3;
                for (int way = 0; way < 4; way++) {
                    one_shape(code, x, edges[y], edges[z], (across + way) % 4, start);
                    one_shape(code, edges[y], x, edges[z], (across + way) % 4, start);
                    one_shape(code, edges[y], edges[z], x, (across + way) % 4, start);
                }
            }
    ok(wrong == 0, "%s: %zu shapes, exact, and nothing written outside", code->name, tried);
}

/* --- rounding --- */

static uint16_t rounded(float x)
{
    uint16_t to[BF16_STEP];
    real from[1] = {(real)x};
    bf16_rows(to, from, 1, 1, 1);
    return to[0];
}

static void rounding(void)
{
    static const struct { float from; uint16_t to; const char *name; } known[] = {
        {1.0f, 0x3f80, "one"},
        {0x1.01p0f, 0x3f80, "a tie goes down to even"},
        {0x1.03p0f, 0x3f82, "a tie goes up to even"},
        {0x1.010002p0f, 0x3f81, "above a tie"},
        {-0x1.02p0f, 0xbf81, "a negative number"},
        {INFINITY, 0x7f80, "infinity"},
        {-INFINITY, 0xff80, "its negative"},
        {0x1.fffffep127f, 0x7f80, "the largest number overflows"},
        {0x1p-126f, 0x0080, "the smallest normal number"},
        {0x1p-127f, 0x0000, "a denormal counts as 0"},
        {-0x1p-149f, 0x8000, "the smallest denormal"},
        {-0.0f, 0x8000, "minus zero"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        ok(rounded(known[i].from) == known[i].to, "rounding: %s (%04x)", known[i].name,
           rounded(known[i].from));
    ok(isnan(form_widen(FORM_BF16, rounded(NAN))), "rounding: not a number stays so");
    size_t differ = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        uint32_t word = rng_bits(1, i, 0, 0, RNG_TEST);
        float x;
        memcpy(&x, &word, sizeof x);
        differ += isnormal(x) && rounded(x) != form_narrow(FORM_BF16, x);
    }
    ok(differ == 0, "rounding: as the host's, of any bits");
}

/* What is no number goes through a product, and a denormal does not count. */
static void special_values(const struct bf16_code *code)
{
    real a[BF16_TILE] = {1, 1}, b[BF16_TILE] = {0}, c[1];
    struct blas_product p = {.c = c, .a = a, .b = b, .m = 1, .n = 1, .k = 2, .lda = 2, .ldb = 1,
                             .ldc = 1};
    const struct { float x, y; const char *name; } cases[] = {
        {NAN, 0, "NaN"}, {INFINITY, 1, "infinity"}, {0x1p-127f, 3, "a denormal"}};
    for (size_t i = 0; i < 3; i++) {
        b[0] = (real)cases[i].x;
        b[1] = (real)cases[i].y;
        cpu_bf16_product(code, &p, NULL, NULL, scratch);
        bool good = i == 0 ? isnan(c[0]) : i == 1 ? isinf(c[0]) && c[0] > 0 : c[0] == 3;
        ok(good, "%s: %s in a product (%g)", code->name, cases[i].name, (double)c[0]);
    }
}

/* --- blocks: beyond one of each, against double; a row's bits do not depend on its neighbours,
 * nor on whether b was packed before --- */

static void blocks(const struct bf16_code *code)
{
    enum { M = 150, N = 300, K = 1100 };
    real *a = mem_alloc(M * K, sizeof *a), *b = mem_alloc(K * N, sizeof *b);
    real *c = mem_zero(M * N, sizeof *c), *d = mem_zero(M * N, sizeof *d);
    for (size_t i = 0; i < M * K; i++)
        a[i] = (real)rng_normal(3, i, 0, 0, RNG_TEST);
    for (size_t i = 0; i < K * N; i++)
        b[i] = (real)rng_normal(4, i, 0, 0, RNG_TEST);
    struct blas_product p = {.c = c, .a = a, .b = b, .m = M, .n = N, .k = K, .lda = K, .ldb = N,
                             .ldc = N};
    cpu_bf16_product(code, &p, NULL, NULL, scratch);
    double worst = 0;
    for (size_t i = 0; i < M; i += 7)
        for (size_t j = 0; j < N; j += 11) {
            double sum = 0, size = 0;
            for (size_t k = 0; k < K; k++) {
                double term =
                    (double)form_widen(FORM_BF16, form_narrow(FORM_BF16, (float)a[i * K + k])) *
                    (double)form_widen(FORM_BF16, form_narrow(FORM_BF16, (float)b[k * N + j]));
                sum += term;
                size += fabs(term);
            }
            worst = fmax(worst, fabs((double)c[i * N + j] - sum) / size);
        }
    ok(worst < 1e-6, "%s: sums in fp32 (%.2g of the terms' size)", code->name, worst);
    p.c = d;
    for (uint32_t i = 0; i < M; i++) {
        p.a = a + (size_t)i * K;
        p.c = d + (size_t)i * N;
        p.m = 1;
        cpu_bf16_product(code, &p, NULL, NULL, scratch);
    }
    ok(memcmp(c, d, M * N * sizeof *c) == 0, "%s: a row by itself has the same bits", code->name);
    p = (struct blas_product){.c = d, .a = a, .b = b, .m = M, .n = 200, .k = K, .lda = K, .ldb = N,
                              .ldc = N};
    const uint16_t *kept = cpu_bf16_keep(&p, scratch);
    cpu_bf16_product(code, &p, NULL, kept, scratch);
    ok(kept && memcmp(c, d, M * N * sizeof *c) == 0, "%s: so has b packed before", code->name);
    mem_free(a);
    mem_free(b);
    mem_free(c);
    mem_free(d);
}

/* --- operations --- */

static const enum op_id rounded_ops[] = {OP_dense, OP_dense_back, OP_recur, OP_recur_back,
                                         OP_attention, OP_attention_back, OP_conv, OP_conv_back};

static bool is_rounded(enum op_id op)
{
    bool found = false;
    for (size_t i = 0; i < sizeof rounded_ops / sizeof *rounded_ops; i++)
        found |= op == rounded_ops[i];
    return found;
}

static void set_exact(struct opdata *d)
{
    switch ((unsigned)d->of->op) {
    case OP_dense: d->arguments.dense.exact = 1; break;
    case OP_recur: d->arguments.recur.exact = 1; break;
    case OP_attention: d->arguments.attention.exact = 1; break;
    case OP_conv: d->arguments.conv.exact = 1; break;
    }
}

static void run_case(struct machine *m, struct opdata *d, unsigned threads)
{
    threads_start(threads);
    machine_issue(m, d->of->op, &d->arguments);
    threads_stop();
}

static void operations(struct machine *half, struct machine *single, const char *name)
{
    size_t cases = 0, differ = 0, answers = 0, felt = 0;
    double furthest = 0;
    for (size_t i = 0;; i++) {
        const struct opcase *c = opcase_at(i);
        const char *where = "";
        char text[128];
        if (!c)
            break;
        if (!is_rounded(c->op))
            continue;
        struct opdata *one = opcase_make(c, half, 42), *two = opcase_make(c, half, 42);
        struct opdata *plain = opcase_make(c, single, 42), *want = opcase_make(c, single, 42);
        run_case(half, one, 1);
        run_case(half, two, 3);
        run_case(single, plain, 1);
        reference_op(c->op, &want->arguments);
        opcase_name(c, text, sizeof text);
        double far = opcase_difference(one, want, &where);
        furthest = fmax(furthest, far);
        if (far > 0x1p-6)
            ok(false, "%s, %s: %.2g within the gate of bf16 %s", name, text, far, where);
        if (!opcase_inside(one, &where))
            ok(false, "%s, %s: nothing is written outside %s", name, text, where);
        if (!opcase_same(one, two, &where))
            ok(false, "%s, %s: the same bits with 3 threads (%s differs)", name, text, where);
        differ += !opcase_same(one, two, &where);
        felt += !opcase_same(one, plain, &where);
        cases++;
        opcase_free(one);
        opcase_free(plain);
        one = opcase_make(c, half, 42);
        plain = opcase_make(c, single, 42);
        set_exact(one);
        set_exact(plain);
        run_case(half, one, 1);
        run_case(single, plain, 1);
        bool back = c->op == OP_dense_back || c->op == OP_recur_back ||
            c->op == OP_attention_back || c->op == OP_conv_back;
        answers += !back && !opcase_same(one, plain, &where);
        opcase_free(one);
        opcase_free(two);
        opcase_free(plain);
        opcase_free(want);
    }
    ok(differ == 0, "%s: %zu cases, the same bits with any threads", name, cases);
    ok(felt >= 10, "%s: %zu of them are rounded, by %.2g at the most", name, felt, furthest);
    ok(answers == 0, "%s: answers are those of fp32", name);
}

static void a_plan(void)
{
    struct err e = {0};
    struct plan plan = {0}, kept;
    struct machine *m = machine_open(&(struct machine_options){.precision = "bf16"}, &e);
    struct machine_info info;
    machine_plan(m, 64, 1, &plan);
    is_string(plan.precision, "bf16", "the plan says so");
    is_string(plan.guests, bf16_choose()->name, "and by which code");
    kept = plan;
    memcpy(plan.precision, "fp32", sizeof "fp32");
    machine_set_plan(m, &plan);
    machine_describe(m, &info);
    is_string(info.precision, "fp32", "a plan of fp32 is obeyed");
    machine_set_plan(m, &kept);
    machine_describe(m, &info);
    is_string(info.precision, "bf16", "so is one of bf16");
    machine_close(m);
}

int main(void)
{
    static const char *const names[] = {"amx", "avx512_bf16"};
    scratch = mem_alloc(1, CPU_SCRATCH);
    fill_edges();
    if (bf16_choose()) {
        rounding();
        a_plan();
    } else {
        tap_skip("bf16", "this processor has no products in bf16");
    }
    for (size_t i = 0; i < 2; i++) {
        const struct bf16_code *code = bf16_find(names[i]);
        struct err e = {0};
        if (!code) {
            tap_skip(names[i], "this processor does not have it");
            continue;
        }
        edge_shapes(code);
        special_values(code);
        blocks(code);
        setenv("DNN_BF16", names[i], 1);
        struct machine *half = machine_open(&(struct machine_options){.precision = "bf16"}, &e);
        struct machine *single = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
        operations(half, single, names[i]);
        machine_close(half);
        machine_close(single);
    }
    mem_free(scratch);
    return done();
}

#else
int main(void)
{
    tap_skip("bf16", "the gradient build computes in double");
    return done();
}
#endif
