/* Operations that go together. Stacks of small layers: fused, and one operation after the other,
 * the same bits, and within the gates of the reference in double; and what is no such stack is left
 * alone. */
#include "stack.h"

extern "C" {
#include "backend/cases/opcase.h"
}
#include "random_case.h"
#include "reference_op.h"

static const struct products fp32 = {PRODUCT_FP32, 0};

static void *scratch_for(uint32_t rows)
{
    struct need need;
    struct op_dense dense = {};
    dense.rows = rows;
    kernels_need(OP_dense, &dense, &need);
    void *scratch = device_room(need.scratch);
    memset(scratch, 0, SCRATCH_HEAD);
    shadow_written(scratch, SCRATCH_HEAD);
    return scratch;
}

static double sum(const double *parts, unsigned n)
{
    double all = 0;
    for (unsigned i = 0; i < n; i++)
        all += parts[i];
    return all;
}

/* The worst |difference| over the largest |value|; of shards the sums. Rows that are answered
 * right have next to no gradient, and what rounding leaves of that is measured by a tenth. */
static double far_from(const struct stack *got, const struct stack *want, unsigned i)
{
    size_t n = i == want->grads ? want->params : want->count[i];
    double worst = 0, largest = 0.1;
    for (size_t k = 0; k < n; k++) {
        double x = 0, y = 0;
        for (size_t at = k; at < want->count[i]; at += n) {
            x += (double)got->written[i][at];
            y += (double)want->written[i][at];
        }
        largest = fmax(largest, fabs(y));
        if (!(fabs(x - y) <= worst))
            worst = fabs(x - y);
    }
    return worst / largest;
}

/* Where a derivative jumps, rounding decides on which side a number stands. */
static bool is_smooth(const struct shape *h)
{
    bool narrow =
        h->norm && (h->width[1] < 8 || h->width[2] < 8); /* what it divides by is little */
    bool loss = h->classes || h->kind == VALUE_MSE || h->kind == VALUE_HUBER;
    return loss && !narrow && (ACT_NEEDS_Z(h->act) || h->act == ACT_TANH || h->act == ACT_SIGMOID);
}

/* What the kernels left, against the operations in double, one after the other. */
static void against_reference(const struct stack *got, const struct shape *h, const char *name)
{
    struct stack slow;
    double worst = 0;
    unsigned shards = plan_shards(h->rows);
    make(&slow, h);
    for (uint32_t i = 0; i < slow.op_count; i++)
        reference_op((enum op_id)slow.ops[i].op, (const union op_arguments *)slow.ops[i].arguments);
    for (unsigned i = 0; i < slow.buffers; i++) {
        bool forward = i < slow.grads; /* batch and records; activations' gradients come after */
        double far = got->inner[i] ? 0 : far_from(got, &slow, i);
        worst = far <= worst * (forward ? 0.1 : 1) ? worst : far * (forward ? 10 : 1);
    }
    if (h->answers) {
        ok(worst <= 1e-4, "%s: answers %.1e from the reference", name, worst);
        return;
    }
    double want = sum(slow.part_loss, shards), weight = sum(slow.part_weight, shards);
    ok(worst <= 1e-4, "%s: %.1e from the reference", name, worst);
    ok(fabs(sum(got->part_loss, shards) - want) <= 1e-5 * fmax(fabs(want), weight) &&
           fabs(sum(got->part_weight, shards) - weight) <= 1e-5 * weight,
       "%s: its loss and weight", name);
}

/* whole: all of it is to be one stack, in as few launches as it may. */
static void test_stack(const struct shape *h, bool whole)
{
    struct stack fused, plain;
    char name[160];
    unsigned shards = plan_shards(h->rows);
    snprintf(name, sizeof name, "%u x %u-%u-%u-%u act %u%s%s%s", h->rows, h->width[0],
             h->width[1], h->width[2], h->width[3], h->act, h->norm ? " norm" : "",
             h->drop ? " dropout" : "", h->answers ? " answers" : "");
    make(&fused, h);
    make(&plain, h);
    for (uint32_t i = 0; i < plain.op_count; i++)
        kernels_issue(NULL, plain.ops[i].op, plain.ops[i].arguments, fp32, NULL);
    uint64_t launches = emulate_counts.launches;
    void *scratch = scratch_for(h->rows);
    uint32_t taken = kernels_issue_front(NULL, fused.ops, fused.op_count, fp32, scratch);
    if (whole) {
        is_int((int64_t)taken, (int64_t)fused.op_count, "all of a stack is taken");
        is_int((int64_t)(emulate_counts.launches - launches),
               h->answers ? 1 : 2 + (h->norm ? LAYERS - 1 : 0), "in so few launches");
    }
    while (taken < fused.op_count)
        taken += kernels_issue_front(NULL, fused.ops + taken, fused.op_count - taken, fp32,
                                     scratch);
    for (unsigned i = 0; i < fused.buffers; i++)
        if ((!fused.inner[i] || h->answers) &&
            memcmp(fused.written[i], plain.written[i], fused.count[i] * 4) != 0)
            ok(false, "%s: buffer %u has the same bits", name, i);
    double want = h->answers ? 0 : sum(plain.part_loss, shards);
    double weight = h->answers ? 0 : sum(plain.part_weight, shards);
    ok(h->answers || (fabs(sum(fused.part_loss, shards) - want) <= 1e-12 * fabs(want) &&
           fabs(sum(fused.part_weight, shards) - weight) <= 1e-12 * weight),
       "%s: the loss and the weight of one operation after the other", name);
    if (is_smooth(h))
        against_reference(&fused, h, name);
    device_drop_all();
}

/* On the first, blocks share a multiprocessor and weights pass by in pieces; on the second they
 * have one each, and weights stay where there is room: so do they on the third, where a block has
 * eight rows. */
enum { FEW_SMS = 1, MANY_SMS = 600 };
static unsigned eights_sms(const struct shape *h)
{
    return (h->rows + 7) / 8;
}

/* A stack of a seed: most of them fit into a block, some do not. */
static void test_shape(uint32_t seed)
{
    struct random_draw from = {seed, 0}, *d = &from;
    struct shape h = {};
    h.rows = 3 + draw_size(d, 150);
    h.onehot = draw_below(d, 3) ? 0 : 4 + draw_below(d, 6);
    for (int i = 0; i < LAYERS; i++)
        h.width[i] = draw_size(d, draw_below(d, 8) ? 200 : 270);
    if (h.onehot && draw_below(d, 3) == 0)
        h.width[0] = 0;
    h.act = draw_below(d, ACT_KINDS);
    h.classes = draw_below(d, 3) ? 1 + draw_size(d, 31) : 0;
    h.width[LAYERS] = h.classes ? h.classes : 1;
    h.kind = draw_below(d, h.classes ? CLASS_FOCAL + 1 : VALUE_QUANTILE + 1);
    h.more = draw_below(d, 2);
    h.dx = h.width[0] && draw_below(d, 2);
    h.aligned = draw_below(d, 2);
    h.gather = draw_below(d, 2);
    h.norm = draw_below(d, 3) == 0;
    h.drop = draw_below(d, 2);
    h.answers = draw_below(d, 4) == 0;
    h.drop = h.drop && !h.answers;
    const unsigned sms[] = {FEW_SMS, MANY_SMS, MANY_SMS, eights_sms(&h)};
    device_sms_wanted = sms[draw_below(d, 4)];
    emulate_order(seed % ORDER_COUNT);
    test_stack(&h, false);
}

/* A whole step: records, layers, loss and way back; the gradients of the weights; their norm; the
 * optimiser with the end of the step. */
static void test_step(const struct shape *h)
{
    struct stack s;
    struct group group = {};
    struct op_norm2 norm = {};
    struct op_adam adam = {};
    struct op_advance end = {};
    unsigned shards = plan_shards(h->rows);
    make(&s, h);
    uint64_t n = s.back[0].shard_stride;
    group.end = n;
    group.lr = group.weight_decay = 1;
    group.shards = shards;
    norm.now = s.now;
    norm.sums = device_room(cuda_norm2_kept(n));
    norm.from = {(const real *)s.written[s.grads], s.part_weight, n, n, shards, 1,
                 device_array(&group, 1)};
    adam.p = device_numbers(1, n, NULL);
    adam.m1 = device_numbers(2, n, NULL);
    adam.m2 = device_numbers(2, n, NULL);
    adam.from = norm.from;
    adam.sums = norm.sums;
    const struct hyper rates = {};
    adam.schedule = {device_array(&rates, 1), 1, 0};
    adam.now = end.now = s.now;
    end.part_loss = s.part_loss;
    end.part_weight = s.part_weight;
    end.shards = shards;
    put(&s, OP_norm2, &norm);
    put(&s, OP_adam, &adam);
    put(&s, OP_advance, &end);
    uint64_t launches = emulate_counts.launches;
    struct need need;
    kernels_need(OP_norm2, &norm, &need);
    void *scratch = scratch_for(h->rows);
    if (mlp_scratch(h->rows) < need.scratch) {
        scratch = device_room(need.scratch);
        memset(scratch, 0, SCRATCH_HEAD);
        shadow_written(scratch, SCRATCH_HEAD);
    }
    for (uint32_t at = 0; at < s.op_count;)
        at += kernels_issue_front(NULL, s.ops + at, s.op_count - at, fp32, scratch);
    is_int(s.op_count, 15, "operations of a step of the default preset");
    is_int((int64_t)(emulate_counts.launches - launches), 4, "are four launches");
    const float *g = s.written[s.grads], *sums = (const float *)norm.sums + 16;
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < n; i++) {
        float all = g[i];
        for (unsigned shard = 1; shard < shards; shard++)
            all += g[shard * n + i];
        wrong += memcmp(&all, &sums[i], sizeof all) != 0;
    }
    is_int((int64_t)wrong, 0, "gradients are the sums of their shards, in order");
    device_drop_all();
}

static void test_no_stack(void)
{
    static const struct shape h = {16, {5, 20, 17, 2}, 0, ACT_RELU, 2, 0, false, false, true,
                                   false, false, false, false};
    struct stack s;
    void *scratch = scratch_for(h.rows);
    make(&s, &h);
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS, fp32, scratch), 1,
           "a way back is missing");
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, products{PRODUCT_TF32, 0}, scratch), 1,
           "tensor cores have their own");
    block_bytes = 3 << 10;
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, fp32, scratch), 1,
           "a block has no such memory");
    block_bytes = SHARED_MOST;
    s.back[1].add_dx = 1;
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, fp32, scratch), 1,
           "a gradient that is added to");
    s.back[1].add_dx = 0;
    s.forward[1].ldy = 18;
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, fp32, scratch), 1,
           "rows with gaps");
    device_drop_all();
}

/* Layers too wide for one block: on the way back dx becomes dz on its way to memory. */
static void test_backs(uint32_t kind, enum product how)
{
    const struct products by = {how, 0};
    const struct shape h = {37, {20, 260, 18, 3}, 0, kind, 3, 0, false, true, true, false,
                            false, false, false};
    struct stack fused, plain;
    make(&fused, &h);
    make(&plain, &h);
    for (uint32_t i = 0; i < plain.op_count; i++)
        kernels_issue(NULL, plain.ops[i].op, plain.ops[i].arguments, by, NULL);
    uint32_t at = 0, calls = 0;
    void *scratch = scratch_for(h.rows);
    for (; at < fused.op_count; calls++)
        at += kernels_issue_front(NULL, fused.ops + at, fused.op_count - at, by, scratch);
    /* the last layer, its loss and its way back are a stack by themselves: too narrow for tiles */
    is_int((int64_t)calls, LAYERS + 1, "calls");
    for (unsigned i = 0; i < fused.buffers; i++)
        ok(memcmp(fused.written[i], plain.written[i], fused.count[i] * 4) == 0,
           "way back, act %u, product %d: buffer %u has the same bits", kind, how, i);
    device_drop_all();
}

/* test_mlp [shape SEED]: else as many random shapes as EMULATE_SHAPES says, and those below. */
int main(int count, char **words)
{
    if (shapes_try(count, words, shapes_wanted(4), test_shape))
        return done();
    static const struct shape shapes[] = {
        {70, {14, 128, 128, 2}, 0, ACT_RELU, 2, CLASS_CROSS_ENTROPY, false, false, true, true,
         false, false, false},
        {33, {5, 40, 17, 3}, 7, ACT_GELU, 3, CLASS_FOCAL, true, false, false, false, false, false,
         false},
        {131, {3, 20, 8, 1}, 0, ACT_TANH, 0, VALUE_HUBER, false, true, false, true, false, false,
         false},
        {9, {0, 33, 16, 4}, 6, ACT_LEAKY_RELU, 4, CLASS_CROSS_ENTROPY, false, false, true, true,
         false, false, false},
        /* the default preset */
        {21, {10, 256, 128, 2}, 0, ACT_GELU, 2, CLASS_CROSS_ENTROPY, false, false, true, true,
         false, true, false},
        {19, {7, 33, 19, 3}, 5, ACT_ELU, 3, CLASS_CROSS_ENTROPY, true, true, false, false, false,
         true, false},
        {18, {6, 48, 20, 3}, 0, ACT_SILU, 3, CLASS_CROSS_ENTROPY, false, false, true, true, true,
         true, false},
        {13, {6, 21, 130, 1}, 0, ACT_SIGMOID, 0, VALUE_MSE, true, true, false, false, true, false,
         false},
        {11, {4, 12, 9, 2}, 0, ACT_NONE, 2, CLASS_CROSS_ENTROPY, false, true, false, false, true,
         true, false},
        /* answers */
        {21, {10, 200, 64, 3}, 7, ACT_MISH, 3, 0, false, false, true, true, false, false, true},
        {12, {7, 35, 20, 1}, 0, ACT_SELU, 0, 0, false, false, false, false, true, false, true},
    };
    for (EACH_ORDER(order)) { /* each in two orders, each of those in one way */
        device_sms_wanted = order / 2 ? MANY_SMS : FEW_SMS;
        for (size_t i = order % 2; i < sizeof shapes / sizeof *shapes; i += 2)
            test_stack(&shapes[i], true);
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i += 3) {
        device_sms_wanted = eights_sms(&shapes[i]);
        test_stack(&shapes[i], true);
    }
    device_sms_wanted = 3;
    block_bytes = 64 << 10; /* half as much k at a time */
    test_stack(&shapes[4], true);
    test_stack(&shapes[5], true);
    block_bytes = SHARED_MOST;
    for (EACH_ORDER(order)) {
        test_backs(order % 2 ? ACT_GELU : ACT_SIGMOID,
                   order / 2 ? PRODUCT_TF32 : PRODUCT_FP32);
    }
    static const struct shape step = {250, {10, 65, 40, 2}, 0, ACT_GELU, 2, CLASS_CROSS_ENTROPY,
                                      false, false, true, true, false, true, false};
    test_step(&step);
    test_no_stack();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
