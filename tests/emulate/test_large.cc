/* G17: more than 2^31 elements and bytes. Operations on rows, shards, tables and records that lie
 * so far apart (tests/large_case.h), and arrays of that length, of which the first blocks and the
 * last are run; addresses are reserved, and only what is touched takes memory. And grids that no
 * device takes are refused here too. */
#include "harness.h"
#include "kernel_machine.h"
#include "large_case.h"

static void told(void *, const char *name, const char *bad)
{
    ok(!*bad, "G17 %s%s%s", name, *bad ? ": " : "", bad);
}

/* As many numbers as that, cleared; the machine gives them back. */
static float *numbers(struct machine *m, uint64_t n)
{
    struct err e = {};
    return (float *)machine_alloc(m, n * sizeof(float), &e);
}

/* The optimiser at the end of n parameters: what it does to as many by themselves. */
static void test_adam(struct machine *m, uint64_t n)
{
    enum { TAIL = 700, SUMS_AT = 64 };
    struct group groups[2] = {}, all[2];
    struct step step = {};
    const double weight = 12;
    float *far[4], *near[4];
    groups[0].end = groups[1].begin = TAIL - 33;
    groups[1].end = TAIL;
    groups[0].lr = groups[0].weight_decay = groups[0].shards = groups[1].shards = 1;
    groups[1].lr = 0.5;
    memcpy(all, groups, sizeof all);
    all[0].end += n - TAIL;
    all[1].begin += n - TAIL;
    all[1].end += n - TAIL;
    for (int i = 0; i < 4; i++) { /* p, m1, m2, the summed gradient */
        far[i] = numbers(m, n + 16);
        near[i] = device_numbers((uint32_t)i, TAIL + 16, NULL);
        for (uint32_t k = 0; k < TAIL + 16; k++)
            near[i][k] = fabsf(near[i][k]);
        if (i == 3) {
            memcpy(near[i], &weight, sizeof weight);
            memcpy(far[i], &weight, sizeof weight);
        }
        size_t head = i == 3 ? SUMS_AT / 4 : 0;
        memcpy(far[i] + n - TAIL + head, near[i] + head, TAIL * sizeof(float));
    }
    struct op_adam a = {}, b;
    const struct hyper rates = {0.01, 0.1, 0};
    a.now = device_array(&step, 1);
    a.schedule = {device_array(&rates, 1), 1, 0};
    a.beta1 = 0.9;
    a.beta2 = 0.99;
    a.epsilon = 1e-8;
    a.from.group_count = 2;
    b = a;
    a.p = near[0];
    a.m1 = near[1];
    a.m2 = near[2];
    a.sums = near[3];
    a.from.n = TAIL;
    a.from.groups = device_array(groups, 2);
    b.p = far[0];
    b.m1 = far[1];
    b.m2 = far[2];
    b.sums = far[3];
    b.from.n = n;
    b.from.groups = device_array(all, 2);
    cuda_adam(NULL, &a, NULL, NULL);
    cuda_adam(NULL, &b, NULL, NULL);
    bool same = true;
    for (int i = 0; i < 3; i++)
        same &= memcmp(far[i] + n - TAIL, near[i], TAIL * sizeof(float)) == 0;
    ok(same, "G17 the end of %llu parameters", (unsigned long long)n);
    for (int i = 0; i < 4; i++)
        machine_release(m, far[i]);
    device_drop_all();
}

/* What a gradient's sum leaves at the end of n. */
static void test_norm2(struct machine *m, uint64_t n)
{
    enum { SUMS_AT = 64 };
    const double weight = 2;
    struct group group = {};
    struct step step = {};
    struct op_norm2 a = {};
    float *g = numbers(m, n), *sums = numbers(m, n + 16);
    char *scratch = (char *)(void *)numbers(m, cuda_norm2_scratch(n) / 4 + 1);
    bool same = true;
    group.end = n;
    group.shards = 1;
    for (uint64_t i = n - 500; i < n; i++)
        g[i] = (float)(i % 100);
    a.now = device_array(&step, 1);
    a.sums = sums;
    a.from.g = g;
    a.from.n = n;
    a.from.shards = a.from.group_count = 1;
    a.from.part_weight = device_array(&weight, 1);
    a.from.groups = device_array(&group, 1);
    cuda_norm2(NULL, &a, scratch);
    for (uint64_t i = n - 500; i < n; i++)
        same &= sums[SUMS_AT / 4 + i] == g[i];
    ok(same, "G17 the sums of %llu gradients", (unsigned long long)n);
    machine_release(m, g);
    machine_release(m, sums);
    machine_release(m, scratch);
    device_drop_all();
}

/* More tiles side by side than a grid has along y: the last columns of a product, of an activation.
 */
static void test_across(struct machine *m)
{
    enum { N = 65536 * 256 + 3, TAIL = 60 };
    struct gemm g = {};
    float *b = numbers(m, 2 * (uint64_t)N), *c = numbers(m, N), *y = numbers(m, N);
    const float a[] = {2, 3};
    bool same = true, same_act = true;
    for (uint32_t i = N - TAIL; i < N; i++) {
        b[i] = (float)(i % 7);
        b[(uint64_t)N + i] = (float)(i % 5);
    }
    shadow_written(b, 2 * (size_t)N * sizeof *b);
    g.a = plain_act(device_array(a, 2));
    g.b = plain_act(b);
    g.c = plain_act(c);
    g.m = g.parts = 1;
    g.n = g.c_row = g.b_row = N;
    g.k = g.a_row = 2;
    g.a_col = g.b_col = 1;
    for (int how = PRODUCT_FP32; how <= PRODUCT_TF32; how++) {
        memset(c + N - TAIL, 0, TAIL * sizeof *c);
        gemm_mma(NULL, &g, (enum product)how);
        for (uint32_t i = N - TAIL; i < N; i++)
            same &= c[i] == 2 * (float)(i % 7) + 3 * (float)(i % 5);
    }
    struct op_act act = {};
    act.y = plain_act(y);
    act.x = plain_act(b + N);
    act.rows = 1;
    act.width = act.ldx = act.ldy = N;
    act.act = ACT_RELU;
    cuda_act(NULL, &act);
    for (uint32_t i = N - TAIL; i < N; i++)
        same_act &= y[i] == (float)(i % 5);
    ok(same, "G17 the last of %d columns of a product", (int)N);
    ok(same_act, "G17 and of an activation");
    machine_release(m, b);
    machine_release(m, c);
    machine_release(m, y);
    device_drop_all();
}

KERNEL(nothing)(uint32_t) {}

static void test_grids(void)
{
    emulate_quiet(true);
    LAUNCH(nothing, dim3(1, 65536), dim3(32), 0, NULL, 0);
    is_int(emulate_found(FIND_LAUNCH), 1, "G17 65,536 blocks along y are refused");
    LAUNCH(nothing, dim3(0x80000000u), dim3(32), 0, NULL, 0);
    is_int(emulate_found(FIND_LAUNCH), 1, "2^31 along x as well");
    LAUNCH(nothing, dim3(0), dim3(32), 0, NULL, 0);
    is_int(emulate_found(FIND_LAUNCH), 1, "and none at all");
    emulate_quiet(false);
}

int main(void)
{
    static const uint64_t places[] = {0x7fffffff, 0x80000000, 0x80000001};
    struct machine *m = kernel_machine();
    for (unsigned i = 0; i < 3; i++) {
        large_cases(m, places[i], told, NULL);
        large_gather(m, places[i], told, NULL);
    }
    large_gather(m, 0xfffffffe, told, NULL); /* the last that a table may have */
    large_embed(m, OP_embed, 0x100000001, told, NULL);
    large_embed(m, OP_embed_back, 0x100000001, told, NULL);
    emulate_some(2);
    device_sms_wanted = 1 << 22; /* a lane for each element */
    for (unsigned i = 0; i < 3; i++) {
        test_adam(m, places[i]);
        test_norm2(m, places[i]);
    }
    test_adam(m, 0x100000001);
    test_across(m);
    emulate_some(0);
    device_sms_wanted = 3;
    test_grids();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
