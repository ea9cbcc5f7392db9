/* Products of warpgroups: the instruction against sums in double, with tiles and descriptors that
 * are as they must be and not; what hurts a card, found; and the large products made of them
 * (gemm_wgmma.cu) against sums in double and against their twin of gemm_wide.cu. */
#include <math.h>

#include "harness.h"
#include "form.cuh"
#include "kernels.h"
#include "product/wgmma.cuh"

/* --- one product --- */

enum wrong {
    RIGHT, NO_SWIZZLE, SWIZZLE_64, WRONG_LEADING, WRONG_STRIDE, WRONG_BEGIN, TILE_UNSWIZZLED,
    NO_FENCE, NOT_READY, NO_WAIT, OVERWRITTEN, NO_BARRIER, TOUCHED, OTHER_OPERAND, SHORT_MEMORY,
    BAD_BITS, WRONGS
};
static const char *const wrong_names[WRONGS] = {
    "right", "a descriptor without swizzling", "a descriptor of 64-byte swizzling",
    "a wrong leading offset", "a wrong stride", "a tile that begins elsewhere",
    "a tile without swizzling", "no wgmma_fence", "no wgmma_ready", "no wgmma_wait",
    "a tile overwritten before wgmma_wait", "no barrier before the product",
    "sums touched before wgmma_wait", "a warp with another operand", "too little memory",
    "bits that mean nothing"};

/* c[64][128] = a[64][64] b[64][128]; operands of 16 bits, stored [row][k] where k is fast. */
struct one { float *c; const uint16_t *a, *b; enum wrong wrong; };

template <bool K_FAST>
DEVICE void tile_put(unsigned char *tile, const uint16_t *x, uint32_t rows, enum wrong wrong)
{
    for (uint32_t i = thread_id(); i < rows * WGMMA_TILE_DEPTH; i += block_size()) {
        uint32_t row = K_FAST ? i / WGMMA_TILE_DEPTH : i % rows;
        uint32_t k = K_FAST ? i % WGMMA_TILE_DEPTH : i / rows;
        uint32_t line = K_FAST ? row : row / 64 * 64 + k, at = K_FAST ? k : row % 64;
        uint32_t byte = wrong == TILE_UNSWIZZLED ? line * WGMMA_LINE + at / 8 * 16
                                                 : wgmma_piece(line, at / 8);
        ((uint16_t *)(void *)(tile + byte))[at % 8] = x[i];
    }
}
DEVICE uint64_t spoilt(uint64_t descriptor, enum wrong wrong)
{
    switch (wrong) {
    case NO_SWIZZLE: return descriptor & ~(3ull << 62);
    case SWIZZLE_64: return descriptor ^ 3ull << 62;
    case WRONG_LEADING: return descriptor ^ 1ull << 20;
    case WRONG_STRIDE: return descriptor ^ 1ull << 37;
    case WRONG_BEGIN: return descriptor + 8;
    case OTHER_OPERAND: return descriptor + 2 * (warp_id() == 2);
    case BAD_BITS: return descriptor | 1ull << 50;
    default: return descriptor;
    }
}

template <enum product how, bool A_FAST, bool B_FAST>
KERNEL_BOUNDED(WARPGROUP, one_product)(struct one o)
{
    DYNAMIC(unsigned char, memory);
    unsigned char *a = wgmma_tiles(memory), *b = a + 64 * WGMMA_LINE;
    float sum[WGMMA_SUMS] = {};
    tile_put<A_FAST>(a, o.a, 64, RIGHT);
    tile_put<B_FAST>(b, o.b, WGMMA_COLUMNS, o.wrong);
    if (o.wrong != NOT_READY)
        wgmma_ready();
    if (o.wrong != NO_BARRIER)
        sync_block();
    if (o.wrong != NO_FENCE)
        wgmma_fence(sum);
    for (uint32_t k = 0; k < WGMMA_TILE_DEPTH; k += WGMMA_DEPTH)
        wgmma<how, A_FAST, B_FAST>(sum, wgmma_descriptor<A_FAST>(a) + wgmma_step<A_FAST>(k),
                                   spoilt(wgmma_descriptor<B_FAST>(b) + wgmma_step<B_FAST>(k),
                                          o.wrong));
    wgmma_commit();
    if (o.wrong == OVERWRITTEN)
        tile_put<B_FAST>(b, o.a, 64, RIGHT);
    if (o.wrong == TOUCHED)
        sum[3] += 1;
    if (o.wrong != NO_WAIT)
        wgmma_wait<0>(sum);
    for (uint32_t i = 0; i < WGMMA_SUMS; i++) {
        uint32_t row = 16 * warp_id() + lane_id() / 4 + 8 * (i / 2 % 2);
        o.c[row * WGMMA_COLUMNS + 8 * (i / 4) + 2 * (lane_id() % 4) + i % 2] = sum[i];
    }
}

static double stored(uint16_t bits, enum product how)
{
    return (double)(how == PRODUCT_BF16 ? to_float(bf16{bits}) : to_float(fp16{bits}));
}
static uint16_t *numbers_of(uint32_t seed, size_t n, enum product how)
{
    uint16_t *x = device_empty<uint16_t>(n);
    for (size_t i = 0; i < n; i++)
        x[i] = how == PRODUCT_BF16 ? to_bf16(number(seed, i)).bits : to_fp16(number(seed, i)).bits;
    shadow_written(x, n * sizeof *x);
    return x;
}

/* How far it is from sums in double; a NaN is far. */
template <enum product how, bool A_FAST, bool B_FAST> static double far_of_one(enum wrong wrong)
{
    enum { M = WGMMA_ROWS, N = WGMMA_COLUMNS, K = WGMMA_TILE_DEPTH };
    uint16_t *a = numbers_of(1, M * K, how), *b = numbers_of(2, N * K, how);
    struct one o = {device_empty<float>(M * N), a, b, wrong};
    size_t bytes = (M + N) * WGMMA_LINE + WGMMA_PATTERN - (wrong == SHORT_MEMORY ? 4096 : 0);
    double far = 0;
    LAUNCH((one_product<how, A_FAST, B_FAST>), dim3(1), dim3(WARPGROUP), bytes, nullptr, o);
    for (uint32_t i = 0; i < M; i++)
        for (uint32_t j = 0; j < N; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < K; k++)
                sum += stored(a[A_FAST ? i * K + k : k * M + i], how) *
                       stored(b[B_FAST ? j * K + k : k * N + j], how);
            double error = fabs((double)o.c[i * N + j] - sum);
            if (!(error <= far))
                far = error <= 1e9 ? error : 1e9;
        }
    device_drop_all();
    return far;
}

static void test_one(void)
{
    double far[] = {far_of_one<PRODUCT_BF16, true, true>(RIGHT),
                    far_of_one<PRODUCT_FP16, true, false>(RIGHT),
                    far_of_one<PRODUCT_BF16, false, false>(RIGHT),
                    far_of_one<PRODUCT_FP16, false, true>(RIGHT)};
    for (int i = 0; i < 4; i++)
        ok(far[i] < 1e-5, "a product of a warpgroup, layout %d: %.1e", i, far[i]);
}

/* Each seen: by its numbers, or by a finding of that kind (FIND_COUNT: by numbers). */
static void test_wrongs(void)
{
    static const struct { enum wrong wrong; enum finding kind; bool shadow; } cases[] = {
        {NO_SWIZZLE, FIND_COUNT, false},    {SWIZZLE_64, FIND_COUNT, false},
        {WRONG_LEADING, FIND_COUNT, false}, {WRONG_STRIDE, FIND_COUNT, false},
        {WRONG_BEGIN, FIND_COUNT, false},   {TILE_UNSWIZZLED, FIND_COUNT, false},
        {NO_FENCE, FIND_EARLY, false},      {NOT_READY, FIND_EARLY, true},
        {NO_WAIT, FIND_EARLY, false},       {OVERWRITTEN, FIND_EARLY, true},
        {NO_BARRIER, FIND_RACE, true},      {TOUCHED, FIND_EARLY, false},
        {OTHER_OPERAND, FIND_DIVERGED, false}, {SHORT_MEMORY, FIND_BOUNDS, false},
        {BAD_BITS, FIND_LAUNCH, false}};
    emulate_quiet(true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].shadow && !shadow_present)
            continue;
        double far = cases[i].wrong == SHORT_MEMORY
                         ? (shadow_present ? far_of_one<PRODUCT_BF16, true, true>(SHORT_MEMORY) : 1)
                         : far_of_one<PRODUCT_BF16, true, false>(cases[i].wrong);
        if (cases[i].kind == FIND_COUNT)
            ok(far > 0.1, "%s: %.1e", wrong_names[cases[i].wrong], far);
        else
            ok(emulate_found(cases[i].kind) > 0 ||
                   (cases[i].wrong == SHORT_MEMORY && !shadow_present),
               "%s is found", wrong_names[cases[i].wrong]);
        for (int kind = 0; kind < FIND_COUNT; kind++)
            emulate_found((enum finding)kind);
    }
    emulate_quiet(false);
}

/* --- large products --- */

/* Those of a layer: forward x w, back dz w', gradient x' dz. */
enum { FORWARD, BACK, GRADIENT, KINDS };
struct layer_product { struct gemm g; float *a, *b, *bias, *by; size_t c; };

static struct layer_product product_of_kind(int kind, uint32_t m, uint32_t n, uint32_t k)
{
    struct layer_product p = {};
    struct gemm *g = &p.g;
    g->m = m;
    g->n = n;
    g->k = k;
    g->parts = kind == GRADIENT ? 3 : 1;
    g->a = plain_act(device_numbers(1, (size_t)m * k, &p.a));
    g->b = plain_act(device_numbers(2, (size_t)n * k, &p.b));
    *(kind == GRADIENT ? &g->a_col : &g->a_row) = kind == GRADIENT ? m : k;
    *(kind == GRADIENT ? &g->a_row : &g->a_col) = 1;
    *(kind == BACK ? &g->b_col : &g->b_row) = kind == BACK ? k : n;
    *(kind == BACK ? &g->b_row : &g->b_col) = 1;
    g->c_row = n + 4;
    g->c_part = (uint64_t)m * g->c_row + n;
    p.c = g->parts * g->c_part;
    if (kind == FORWARD) {
        g->act = ACT_SILU;
        g->bias = device_numbers(3, n, &p.bias);
    } else if (kind == BACK) {
        g->act = ACT_TANH;
        g->by = plain_act(device_numbers(4, (size_t)m * n, &p.by));
        g->by_row = n;
    }
    return p;
}

static double rounded_as(float x, enum product how, double scale)
{
    float y = (float)((double)x * scale);
    return (double)(how == PRODUCT_BF16 ? to_float(to_bf16(y)) : to_float(to_fp16(y))) / scale;
}

static uint32_t part_of(uint32_t k, uint32_t parts, uint32_t part)
{
    uint64_t at = ((uint64_t)k + 7) / 8 * part / parts * 8;
    return at < k ? (uint32_t)at : k;
}

static struct act in_sixteen(const float *x, size_t n, enum product how)
{
    uint16_t *to = device_empty<uint16_t>(n);
    for (size_t i = 0; i < n; i++)
        to[i] = how == PRODUCT_BF16 ? to_bf16(x[i]).bits : to_fp16(x[i]).bits;
    shadow_written(to, n * sizeof *to);
    return form_act(to, form_product(how));
}

/* copied: operands lie in 16 bits. */
static void test_large(int kind, enum product how, bool copied, uint32_t m, uint32_t n, uint32_t k)
{
    const double scale = how == PRODUCT_FP16 && !copied ? 0x1p12 : 1;
    struct step now = {};
    now.scale = scale;
    struct layer_product p = product_of_kind(kind, m, n, k);
    struct gemm g = p.g;
    g.scale = copied ? NULL : &((struct step *)device_array(&now, 1))->scale;
    if (copied) {
        g.a = in_sixteen(p.a, (size_t)m * k, how);
        g.b = in_sixteen(p.b, (size_t)n * k, how);
    }
    ok(gemm_half_can(&g, how) == copied, "is %s", copied ? "copied" : "rounded on its way");
    g.scaled = kind == GRADIENT ? SCALED_B : SCALED_A;
    g.add = kind == GRADIENT;
    float *before, *own = device_numbers(5, p.c, &before), *twin = device_numbers(5, p.c, NULL);
    float *again = device_numbers(5, p.c, NULL);
    float *to[3] = {own, again, twin};
    for (int i = 0; i < 3; i++) {
        g.c = plain_act(to[i]);
        g.sums = kind == GRADIENT ? to[i] + (uint64_t)m * g.c_row : NULL;
        if (i < 2)
            gemm_wgmma_in(NULL, &g, how, i == 0);
        else
            gemm_wide_start(NULL, &g, how);
    }
    ok(memcmp(own, again, p.c * sizeof(float)) == 0, "both ways the same bits");
    double far = 0, apart = 0;
    for (uint32_t part = 0; part < g.parts; part++)
        for (uint32_t i = 0; i <= (kind == GRADIENT ? m : m - 1); i++)
            for (uint32_t j = 0; j < n; j++) {
                size_t at = part * g.c_part + (size_t)i * g.c_row + j;
                double sum = kind == FORWARD ? (double)p.bias[j] : 0, all = 1;
                for (uint32_t q = part_of(k, g.parts, part); q < part_of(k, g.parts, part + 1);
                     q++) {
                    float x = i < m ? p.a[i * g.a_row + q * g.a_col] : 1;
                    float y = p.b[q * g.b_row + j * g.b_col];
                    bool column = i == m; /* sums of B's columns: unrounded */
                    double product =
                        column ? (copied ? rounded_as(y, how, 1) : (double)y)
                               : rounded_as(x, how, g.scaled == SCALED_A ? scale : 1) *
                                     rounded_as(y, how, g.scaled == SCALED_B ? scale : 1);
                    sum += product;
                    all += fabs(product);
                }
                if (kind == FORWARD)
                    sum = sum / (1 + exp(-sum));
                if (kind == BACK)
                    sum *= 1 - (double)p.by[i * n + j] * (double)p.by[i * n + j];
                if (kind == GRADIENT)
                    sum += (double)before[at];
                double error = fabs((double)own[at] - sum) / all;
                double other = fabs((double)own[at] - (double)twin[at]) / all;
                far = error <= far ? far : error;
                apart = other <= apart ? apart : other;
            }
    ok(far <= 1e-6 * (1 + k / 64.0), "kind %d, product %d, %u x %u x %u: %.1e", kind, how, m, n, k,
       far);
    ok(apart <= 1e-6, "and as its twin: %.1e", apart);
    device_drop_all();
}

/* The usual ends of a layer, which have code of their own: the bits of a plain product with that
 * end. */
struct usual { const char *name; bool bias, relu, by, half, add; };
static const struct usual usuals[] = {
    {"bias, relu, 16 bits", true, true, false, true, false},
    {"16 bits", false, false, false, true, false},
    {"relu's derivative, 16 bits", false, true, true, true, false},
    {"bias", true, false, false, false, false},
    {"relu's derivative", false, true, true, false, false},
    {"added", false, false, false, false, true},
};
static void test_usual(const struct usual *u, enum product how, bool copied, bool twin)
{
    void (*const start)(struct machine *, const struct gemm *, enum product) =
        twin ? gemm_wide_start : gemm_wgmma_start;
    enum { M = 140, N = 136, K = 200, LD = N + 8 };
    struct layer_product p = product_of_kind(u->by ? BACK : FORWARD, M, N, K);
    uint32_t form = u->half ? form_product(how) : (uint32_t)FORM_REAL;
    struct gemm g = p.g;
    g.act = ACT_NONE;
    g.bias = NULL;
    g.by = no_act();
    g.c_row = LD;
    if (copied) {
        g.a = in_sixteen(p.a, M * K, how);
        g.b = in_sixteen(p.b, N * K, how);
    }
    float *plain = device_numbers(6, M * LD, NULL), *bias, *with, *before;
    g.c = plain_act(plain);
    start(NULL, &g, how);
    g.bias = device_numbers(3, N, &bias);
    g.bias = u->bias ? g.bias : NULL;
    g.act = u->relu ? ACT_RELU : ACT_NONE;
    struct act by = plain_act(device_numbers(4, M * N, &with));
    if (u->by) {
        g.by = u->half ? in_sixteen(with, M * N, how) : by;
        g.by_row = N;
    }
    g.add = u->add;
    g.c = plain_act(device_numbers(5, M * LD, &before));
    if (u->half)
        g.c = in_sixteen(before, M * LD, how);
    start(NULL, &g, how);
    bool same = true;
    for (size_t i = 0; i < M; i++)
        for (size_t j = 0; j < LD; j++) {
            float x = j < N ? plain[i * LD + j] : before[i * LD + j];
            if (j < N && u->by)
                x = form_round(g.c, x) * (with[i * N + j] > 0 ? 1.0f : 0.0f);
            if (j < N && u->bias)
                x += bias[j];
            if (j < N && u->relu && !u->by)
                x = x < 0 ? 0.0f : x;
            if (j < N && u->add)
                x = before[i * LD + j] + x;
            float there = form_get(g.c, i * LD + j);
            x = form_round(form_act(NULL, form), x);
            same = same && memcmp(&x, &there, sizeof x) == 0;
        }
    ok(same, "%s, product %d, %s%s: the bits of the plain end", u->name, how,
       copied ? "copied" : "by registers", twin ? ", the twin" : "");
    device_drop_all();
}

/* What is asked for runs over the machine's answer alone. */
static void test_rule(void)
{
    struct gemm g = {}, many = {};
    g.m = g.n = 128;
    many.m = many.n = 128 * 12;
    g.parts = many.parts = 1;
    ok(gemm_wgmma_built(), "the emulator has them");
    ok(!gemm_wgmma_serves(NULL, &g, PRODUCT_BF16), "not where the machine does not");
    harness_wgmma = true;
    ok(gemm_wgmma_serves(NULL, &g, PRODUCT_BF16) && gemm_wgmma_serves(NULL, &g, PRODUCT_FP16),
       "16 bits");
    ok(!gemm_wgmma_serves(NULL, &g, PRODUCT_TF32) && !gemm_wgmma_serves(NULL, &g, PRODUCT_FP32),
       "not tf32, not fp32");
    ok(!gemm_wgmma_serves(NULL, &many, PRODUCT_BF16), "of many tiles not what is rounded first");
    struct layer_product p = product_of_kind(FORWARD, 128 * 12, 128 * 12, 8);
    p.g.a = in_sixteen(p.a, p.g.m * 8, PRODUCT_BF16);
    p.g.b = in_sixteen(p.b, p.g.n * 8, PRODUCT_BF16);
    ok(gemm_wgmma_serves(NULL, &p.g, PRODUCT_BF16), "but what is copied");
    device_drop_all();
    harness_wgmma = false;
}

static void test_random(uint32_t seed)
{
    uint32_t r[6];
    for (uint32_t k = 0; k < 6; k++)
        r[k] = (uint32_t)((number(seed, k) + 1) * 32768);
    bool copied = r[4] % 2;
    uint32_t step = copied ? 8 : 4;
    emulate_order(seed % ORDER_COUNT);
    test_large((int)(r[0] % KINDS), r[5] % 2 ? PRODUCT_BF16 : PRODUCT_FP16, copied,
               step * (1 + r[1] % 300 / step), step * (1 + r[2] % 300 / step),
               step * (1 + r[3] % 300 / step));
}

/* test_wgmma [shape SEED]: else one random shape for 25 of EMULATE_SHAPES, and those below. */
int main(int count, char **words)
{
    if (shapes_try(count, words, shapes_wanted(0) / 25, test_random))
        return done();
    test_rule();
    for (EACH_ORDER(order)) {
        device_sms_wanted = order <= ORDER_DOWN ? 1 : 3; /* 1: blocks share it */
        test_one();
        for (size_t i = 0; i < 2 * sizeof usuals / sizeof *usuals; i++)
            test_usual(&usuals[i / 2], ((size_t)order + i / 2) % 2 ? PRODUCT_BF16 : PRODUCT_FP16,
                       order != ORDER_SEEDED, i % 2);
        for (int kind = 0; kind < KINDS; kind++) {
            enum product how = ((int)order + kind) % 2 ? PRODUCT_BF16 : PRODUCT_FP16;
            enum product other = ((int)order + kind) % 2 ? PRODUCT_FP16 : PRODUCT_BF16;
            if (order == ORDER_UP || order == ORDER_SEEDED) {
                test_large(kind, how, false, 36, 132, 212);
                test_large(kind, other, true, 136, 24, kind == GRADIENT ? 328 : 584);
            } else {
                test_large(kind, how, false, 132, 20, kind == GRADIENT ? 100 : 68);
                test_large(kind, other, true, 40, 136, kind == GRADIENT ? 100 : 72);
            }
        }
    }
    is_int(emulate_findings(), 0, "no findings");
    emulate_order(ORDER_UP);
    test_wrongs();
    return done();
}
