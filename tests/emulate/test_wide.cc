/* Tiles of every size give the same bits: on CUDA cores, and on tensor cores, whether operands are
 * rounded on their way or lie in 16 bits; the sums of B's columns; which products are large. */
#include <math.h>

#include "harness.h"
#include "sheet.cuh"

/* The three products of a layer by hand, for both kinds of tiles. */
static struct gemm product_by_hand(int which, const float *x, const float *y, float *to,
                                   uint32_t m, uint32_t n, uint32_t k)
{
    struct gemm g = {};
    g.a = plain_act(x);
    g.b = plain_act(y);
    g.c = plain_act(to);
    g.m = m;
    g.n = n;
    g.k = k;
    g.parts = which == 2 ? 2 : 1;
    g.a_row = which == 2 ? 1 : k;
    g.a_col = which == 2 ? m : 1;
    g.b_row = which == 1 ? 1 : n;
    g.b_col = which == 1 ? k : 1;
    g.c_row = n;
    g.c_part = (uint64_t)m * n + n;
    return g;
}

/* On CUDA cores: tiles of each size give the same bits, in all that an epilogue writes. */
static void test_sized(int which, uint32_t m, uint32_t n, uint32_t k)
{
    size_t room = 2 * ((size_t)m * n + n);
    float *x = device_numbers(1, (size_t)m * k, NULL), *y = device_numbers(2, (size_t)n * k, NULL);
    float *first = NULL;
    for (int size = SIMT_NARROW; size <= SIMT_LARGE; size++) {
        float *to = device_numbers(3, room, NULL), *z = device_numbers(4, room, NULL);
        struct gemm g = product_by_hand(which, x, y, to, m, n, k);
        g.add = which == 2;
        g.sums = which == 2 ? to + (size_t)m * n : NULL;
        g.act = which == 0 ? ACT_GELU : ACT_NONE;
        g.bias = which == 0 ? y : NULL;
        g.z = which == 0 ? plain_act(z) : no_act();
        g.z_row = n;
        gemm_simt_sized(NULL, &g, (enum simt_size)size);
        first = first ? first : to;
        ok(memcmp(to, first, room * 4) == 0, "product %d of %u x %u x %u, tiles of size %d", which,
           m, n, k, size);
    }
    device_drop_all();
}

/* On tensor cores, rows that begin anywhere: enough for tiles of 64 x 64, and the same product by
 * halves of its rows, which has those of 32 x 32. */
static void test_warp(int which, enum product how)
{
    enum { N = 517, K = 5 };
    const uint32_t m = which == 2 ? 519 : 1031, first = m / 2;
    size_t room = 2 * ((size_t)m * N + N);
    float *x = device_numbers(1, (size_t)m * K, NULL), *y = device_numbers(2, (size_t)N * K, NULL);
    float *whole = device_numbers(3, room, NULL), *halves = device_numbers(3, room, NULL);
    struct gemm g = product_by_hand(which, x, y, whole, m, N, K);
    g.add = which == 2;
    gemm_mma(NULL, &g, how);
    for (uint32_t half = 0; half < 2; half++) {
        g.m = half ? m - first : first;
        g.a = plain_act(x + (size_t)half * first * g.a_row);
        g.c = plain_act(halves + (size_t)half * first * N);
        gemm_mma(NULL, &g, how);
    }
    ok(memcmp(whole, halves, room * sizeof(float)) == 0,
       "product %d, kind %d: tiles of 64 x 64 have the bits of 32 x 32", how, which);
    device_drop_all();
}

/* Large tiles give the bits of small ones, and the sums of B's columns. */
static void test_wide(int which, enum product how, uint32_t m, uint32_t n, uint32_t k)
{
    struct step now = {};
    now.scale = 8;
    size_t room = 2 * ((size_t)m * n + n);
    float *yh, *x = device_numbers(1, (size_t)m * k, NULL);
    float *y = device_numbers(2, (size_t)n * k, &yh);
    float *small = device_numbers(3, room, NULL), *wide = device_numbers(3, room, NULL);
    struct gemm g = product_by_hand(which, x, y, small, m, n, k);
    g.add = which == 2;
    g.act = which == 0 ? ACT_GELU : ACT_NONE;
    g.bias = which == 0 ? y : NULL;
    g.scale = &((struct step *)device_array(&now, 1))->scale;
    g.scaled = which == 2 ? SCALED_B : SCALED_A;
    gemm_mma(NULL, &g, how);
    ok(gemm_wide_can(&g), "can be wide");
    float *before = device_numbers(3, room, NULL);
    g.c = plain_act(wide);
    g.sums = which == 2 ? wide + (size_t)m * n : NULL;
    gemm_wide_start(NULL, &g, how);
    bool same = true;
    double far = 0;
    for (uint32_t part = 0; part < g.parts; part++) {
        same &= memcmp(small + part * g.c_part, wide + part * g.c_part, (size_t)m * n * 4) == 0;
        for (uint32_t j = 0; g.sums && j < n; j++) {
            size_t at = part * g.c_part + (size_t)m * n + j;
            double sum = (double)before[at], all = 1;
            for (uint32_t r = part_begin(k, 2, part); r < part_begin(k, 2, part + 1); r++) {
                sum += (double)yh[(size_t)r * n + j];
                all += fabs((double)yh[(size_t)r * n + j]);
            }
            far = fmax(far, fabs((double)wide[at] - sum) / all);
        }
    }
    ok(same, "wide product %d, kind %d, %u x %u x %u has the bits of small tiles", how, which, m, n,
       k);
    ok(far <= 1e-6, "and B's columns are summed: %.1e", far);
    device_drop_all();
}

/* A copy in 16 bits of what lies on the device, and the numbers rounded as it is. */
static struct act device_rounded(float *x, size_t n, uint32_t form)
{
    struct act copy = form_act(device_empty<uint16_t>(n), form);
    cuda_round(NULL, copy.at, x, form, n);
    for (size_t i = 0; i < n; i++)
        x[i] = form_get(copy, i);
    shadow_written(x, n * 4);
    return copy;
}

/* Operands that lie in 16 bits give the bits of those that are rounded on their way, in small and
 * in large tiles; and C, z and by in 16 bits those that fp32 is rounded to. */
static void test_half(int which, enum product how, uint32_t m, uint32_t n, uint32_t k)
{
    uint32_t form = form_product(how);
    size_t room = 2 * ((size_t)m * n + n), written = which == 2 ? room : (size_t)m * n;
    float *x = device_numbers(1, (size_t)m * k, NULL), *y = device_numbers(2, (size_t)n * k, NULL);
    float *bias = device_numbers(3, n, NULL), *by = device_numbers(4, (size_t)m * n, NULL);
    struct act x16 = device_rounded(x, (size_t)m * k, form);
    struct act y16 = device_rounded(y, (size_t)n * k, form);
    struct act by16 = device_rounded(by, (size_t)m * n, form);
    float *c[3], *z[3];
    struct act c16[3], z16[3];
    for (int i = 0; i < 3; i++) { /* fp32, small tiles, large ones */
        c[i] = device_numbers(5, room, NULL);
        z[i] = device_numbers(6, room, NULL);
        c16[i] = which == 2 ? plain_act(c[i]) : device_rounded(c[i], room, form);
        z16[i] = device_rounded(z[i], room, form);
        struct gemm g = product_by_hand(which, x, y, c[i], m, n, k);
        if (i > 0) {
            g.a = x16;
            g.b = y16;
            g.c = c16[i];
        }
        g.add = which == 2;
        if (which == 0) {
            g.act = ACT_GELU;
            g.bias = bias;
            g.z = i ? z16[i] : plain_act(z[i]);
            g.z_row = n;
        } else if (which == 1) {
            g.act = ACT_TANH;
            g.by = i ? by16 : plain_act(by);
            g.by_row = n;
        } else {
            g.sums = c[i] + (size_t)m * n;
        }
        if (i == 2) {
            ok(gemm_half_can(&g, how), "can be read in pieces of 16 bytes");
            gemm_half_start(NULL, &g, how);
        } else if (which == 2) {
            gemm_wide_start(NULL, &g, how);
        } else {
            gemm_mma(NULL, &g, how);
        }
    }
    double far = 0;
    bool same = true;
    for (size_t i = 0; i < written; i++) {
        float one = form_get(c16[1], i), two = form_get(c16[2], i);
        same &= memcmp(&one, &two, sizeof one) == 0;
        far = fmax(far, fabs((double)(one - c[0][i])) / fmax(1, fabs((double)c[0][i])));
    }
    for (size_t i = 0; i < (size_t)m * n && which == 0; i++) {
        same &= memcmp((uint16_t *)z16[1].at + i, (uint16_t *)z16[2].at + i,
                       2) == 0;
        same &= form_get(z16[1], i) == form_round(z16[1], z[0][i]);
    }
    ok(same, "product %d in 16 bits, kind %d, %u x %u x %u: the bits of small tiles", how, which, m,
       n, k);
    double gate = which == 2 ? 0 : how == PRODUCT_BF16 ? 0x1p-8 : 0x1p-11; /* two roundings, one */
    ok(far <= gate * (which == 1 ? 2 : 1), "and those of fp32 rounded: %.1e", far);
    device_drop_all();
}

/* A copy in 16 bits, of any number of numbers. */
static void test_round(uint32_t form, size_t n)
{
    float *x = device_numbers(7, n, NULL);
    struct act copy = form_act(device_empty<uint16_t>(n), form);
    cuda_round(NULL, copy.at, x, form, n);
    bool same = true;
    for (size_t i = 0; i < n; i++)
        same &= form_get(copy, i) == (form == FORM_BF16 ? to_float(to_bf16(x[i]))
                                                        : to_float(to_fp16(x[i])));
    ok(same, "%zu numbers rounded to form %u", n, form);
    device_drop_all();
}

static void test_wide_rule(void)
{
    float *x = device_numbers(1, 64, NULL);
    struct gemm g = product_by_hand(0, x, x, x, 65536, 512, 512);
    ok(gemm_wide_pays(&g), "a large one pays");
    g.k = 510;
    g.a_row = 510;
    ok(!gemm_wide_can(&g), "rows that begin anywhere");
    g = product_by_hand(2, x + 1, x, x, 512, 512, 65536);
    ok(!gemm_wide_can(&g), "a matrix that begins anywhere");
    g = product_by_hand(1, x, x, x, 512, 512, 512);
    ok(gemm_wide_can(&g) && !gemm_wide_pays(&g), "sixteen tiles are few");
    g.sums = x;
    ok(!gemm_wide_can(&g), "sums of a transposed B");
    device_drop_all();
}

/* Shapes of either side of some tiles: what large ones need lies in rows of fours or eights. */
static void test_random(uint32_t seed)
{
    uint32_t r[6];
    for (uint32_t k = 0; k < 6; k++)
        r[k] = (uint32_t)((number(seed, k) + 1) * 32768);
    int which = (int)(r[0] % 3);
    uint32_t m = 1 + r[1] % 300, n = 1 + r[2] % 300, k = 1 + r[3] % 150;
    emulate_order(seed % ORDER_COUNT);
    if (seed % 3 == 0)
        test_sized(which, m, n, k);
    else if (seed % 3 == 1)
        test_wide(which, (enum product)(PRODUCT_TF32 + r[4] % 3), (m + 3) & ~3u, (n + 3) & ~3u,
                  (k + 3) & ~3u);
    else
        test_half(which, r[4] % 2 ? PRODUCT_BF16 : PRODUCT_FP16, (m + 7) & ~7u, (n + 7) & ~7u,
                  (k + 7) & ~7u);
}

/* test_wide [shape SEED]: else one random shape for 25 of EMULATE_SHAPES, and those below. */
int main(int count, char **words)
{
    if (shapes_try(count, words, shapes_wanted(0) / 25, test_random))
        return done();
    test_round(FORM_BF16, 7);
    test_round(FORM_FP16, 1000);
    test_wide_rule();
    for (EACH_ORDER(order))
        for (int which = 0; which < 3; which++) {
            test_sized(which, 3, 65, 33);
            if (order == (unsigned)which + 1)
                test_sized(which, 130, 70, 19);
            enum product how = (enum product)(PRODUCT_TF32 + ((int)order + which) % 3);
            test_wide(which, how, 132, 36, 52);
            if (order == 1)
                test_wide(which, how, 40, 260, 100);
        }
    for (EACH_ORDER(order))
        for (int which = 0; which < 3; which++) {
            enum product how = (order + (unsigned)which) % 2 ? PRODUCT_BF16 : PRODUCT_FP16;
            test_half(which, how, 136, 40, 88);
            if (order == 1)
                test_half(which, how, 40, 264, 208);
        }
    for (int i = 0; i < 9; i++) {
        emulate_order((unsigned)i % ORDER_COUNT);
        test_warp(i % 3, (enum product)(PRODUCT_TF32 + i / 3));
    }
    test_half(0, PRODUCT_BF16, 9, 136, 24);
    test_half(2, PRODUCT_FP16, 8, 8, 100);
    test_wide(2, PRODUCT_BF16, 8, 8, 12);
    test_wide(0, PRODUCT_FP16, 8, 132, 4);
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
