/* Operations that go together. Stacks of small dense layers: fused, and one operation after the
 * other, the same bits, and within the gates of the reference in double; and what is no such stack
 * is left alone. */
#include <math.h>

#include "harness.h"
#include "kernels.h"

extern "C" {
#include "backend/backend.h"
#include "backend/opcase.h"
}
#include "random_case.h"
#include "reference_op.h"

enum { LAYERS = 3 };
struct shape {
    uint32_t rows, width[LAYERS + 1], hot, act, classes, kind; /* classes 0: a value */
    bool more, dx, aligned, gather;
};

static struct act *act_of(float *x)
{
    return (struct act *)(void *)x;
}

/* All that a stack reads and writes. */
struct stack {
    struct op_dense forward[LAYERS];
    struct op_dense_back back[LAYERS];
    struct op_loss_class of_classes;
    struct op_loss_value of_values;
    struct op_gather gather;
    struct kernel_op ops[2 * LAYERS + 2];
    uint32_t op_count;
    float *written[24];
    size_t count[24];
    unsigned buffers, grads; /* grads: the one that has shards, of `params` each */
    size_t params;
    double *part_loss, *part_weight;
};

static float *output(struct stack *s, size_t n)
{
    s->written[s->buffers] = device_numbers(100 + s->buffers, n, NULL);
    s->count[s->buffers] = n;
    return s->written[s->buffers++];
}

/* Records of a permuted order that ends in the batch, for x, ids, target and weight. */
static void make_gather(struct stack *s, const struct shape *h)
{
    struct rowfmt f = rowfmt_make(h->width[0], h->hot ? 2 : 0);
    uint32_t count = h->rows - 3, words = f.stride / 4;
    float *records = device_numbers(9, (size_t)count * words, NULL);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *record = (uint32_t *)(void *)(records + (size_t)i * words);
        for (uint32_t k = 0; k < f.categories; k++)
            record[f.at_category / 4 + k] = (i + k) % 4;
        if (h->classes)
            record[f.at_target / 4] = i % h->classes;
        record[f.at_weight / 4] = float_bits(1.0f + (float)(i % 3));
    }
    struct source from = {};
    struct step now = {};
    unsigned char *chunk = (unsigned char *)records;
    from.rows.format = f;
    from.rows.shift = 63;
    from.rows.chunks = device_array(&chunk, 1);
    from.count = count;
    from.shuffle = 1;
    from.classes = h->classes;
    now.seed = 77;
    now.epoch = 2;
    s->gather.from = device_array(&from, 1);
    s->gather.now = device_array(&now, 1);
    s->gather.rows = h->rows;
    s->gather.ld = h->width[0];
    s->gather.x = act_of(output(s, (size_t)h->rows * h->width[0] + 1));
    s->gather.ids = (int32_t *)(void *)output(s, 2 * (size_t)h->rows);
    s->gather.target = output(s, h->rows);
    s->gather.weight = output(s, h->rows);
}

static struct hot_inputs hot_of(const struct stack *s, const struct shape *h)
{
    struct hot_inputs hot = {};
    struct onehot_column columns[2] = {{0, h->width[0], 3}, {1, h->width[0] + 3, h->hot - 3}};
    if (!h->hot)
        return hot;
    int32_t *ids = h->gather ? s->gather.ids : device_empty<int32_t>(2 * (size_t)h->rows);
    for (uint32_t i = 0; i < 2 * h->rows && !h->gather; i++)
        ids[i] = (int32_t)(i * 7 % 5) - 1;
    shadow_written(ids, 8 * (size_t)h->rows);
    hot.ids = ids;
    hot.columns = device_array(columns, 2);
    hot.ids_ld = hot.column_count = 2;
    hot.width = h->hot;
    return hot;
}

static void make_layers(struct stack *s, const struct shape *h, unsigned shards)
{
    size_t n = 0, at[LAYERS];
    struct hot_inputs hot = hot_of(s, h);
    float *x = device_numbers(1, h->rows * (size_t)h->width[0] + 1, NULL), *dy = NULL;
    if (h->gather)
        x = (float *)s->gather.x;
    bool keep_z = ACT_NEEDS_Z(h->act);
    for (int i = 0; i < LAYERS; i++) {
        at[i] = n + (h->aligned ? 0 : 1);
        n = at[i] + (size_t)(h->width[i] + (i ? 0 : h->hot) + 1) * h->width[i + 1];
    }
    s->grads = s->buffers;
    s->params = n;
    float *params = device_numbers(2, n, NULL), *grads = output(s, n * shards);
    for (int i = 0; i < LAYERS; i++) {
        struct op_dense *a = &s->forward[i];
        size_t size = (size_t)h->rows * h->width[i + 1];
        a->x = act_of(x);
        a->y = act_of(x = output(s, size));
        a->act = i < LAYERS - 1 ? h->act : (uint32_t)ACT_NONE;
        a->z = keep_z && i < LAYERS - 1 ? act_of(output(s, size)) : NULL;
        a->w = params + at[i];
        a->rows = h->rows;
        a->in = a->ldx = h->width[i];
        a->out = a->ldy = a->ldz = h->width[i + 1];
        a->hot = i == 0 ? hot : hot_inputs{};
        a->b = a->w + (size_t)(a->in + a->hot.width) * a->out;
        a->slope = 0.3;
    }
    for (int i = LAYERS - 1; i >= 0; i--) {
        const struct op_dense *a = &s->forward[i];
        struct op_dense_back *b = &s->back[i];
        b->dy = i == LAYERS - 1 ? act_of(output(s, (size_t)h->rows * a->out)) : act_of(dy);
        dy = i > 0 || h->dx ? output(s, (size_t)h->rows * a->in + 1) : NULL;
        b->dx = act_of(dy);
        b->add_dx = i == 0;
        b->dw = grads + at[i];
        b->db = b->dw + (size_t)(a->in + a->hot.width) * a->out;
        b->x = a->x;
        b->y = a->y;
        b->z = a->z;
        b->w = a->w;
        b->hot = a->hot;
        b->shard_stride = n;
        b->rows = a->rows;
        b->in = b->ldx = b->lddx = a->in;
        b->out = b->ldy = b->ldz = b->lddy = a->out;
        b->act = a->act;
        b->more = h->more;
        b->slope = a->slope;
    }
}

static void make(struct stack *s, const struct shape *h)
{
    unsigned shards = plan_shards(h->rows);
    double before[16];
    float target[256];
    for (int i = 0; i < 16; i++)
        before[i] = i;
    for (uint32_t i = 0; i < h->rows; i++)
        target[i] = h->classes ? (float)(i % h->classes) : number(7, i);
    *s = stack{};
    if (h->gather)
        make_gather(s, h);
    make_layers(s, h, shards);
    s->part_loss = device_array(before, shards);
    s->part_weight = device_array(before, shards);
    float *weight = device_numbers(3, h->rows, NULL);
    for (uint32_t i = 0; i < h->rows; i++)
        weight[i] = i % 5 ? fabsf(weight[i]) : 0;
    struct op_loss_class *c = &s->of_classes;
    c->dlogits = s->back[LAYERS - 1].dy;
    c->logits = s->forward[LAYERS - 1].y;
    c->part_loss = s->part_loss;
    c->part_weight = s->part_weight;
    c->target = h->gather ? s->gather.target : device_array(target, h->rows);
    c->weight = h->gather ? s->gather.weight : weight;
    c->rows = h->rows;
    c->classes = c->ld = c->ldd = h->classes;
    c->kind = h->kind;
    c->more = h->more;
    c->smoothing = h->kind == CLASS_FOCAL ? 0 : 0.1;
    c->gamma = 2;
    struct op_loss_value *v = &s->of_values;
    v->dy = c->dlogits;
    v->y = c->logits;
    v->part_loss = c->part_loss;
    v->part_weight = c->part_weight;
    v->target = c->target;
    v->weight = c->weight;
    v->rows = h->rows;
    v->ld = v->ldd = 1;
    v->kind = h->kind;
    v->more = h->more;
    v->delta = 0.4;
    v->q = 0.3;
    if (h->gather)
        s->ops[s->op_count++] = kernel_op{OP_gather, &s->gather};
    for (int i = 0; i < LAYERS; i++)
        s->ops[s->op_count++] = kernel_op{OP_dense, &s->forward[i]};
    s->ops[s->op_count++] = h->classes ? kernel_op{OP_loss_class, c} : kernel_op{OP_loss_value, v};
    for (int i = LAYERS - 1; i >= 0; i--)
        s->ops[s->op_count++] = kernel_op{OP_dense_back, &s->back[i]};
}

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
    bool loss = h->classes || h->kind == VALUE_MSE || h->kind == VALUE_HUBER;
    return loss && (ACT_NEEDS_Z(h->act) || h->act == ACT_TANH || h->act == ACT_SIGMOID);
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
        double far = far_from(got, &slow, i);
        worst = far <= worst * (forward ? 0.1 : 1) ? worst : far * (forward ? 10 : 1);
    }
    double want = sum(slow.part_loss, shards), weight = sum(slow.part_weight, shards);
    ok(worst <= 1e-4, "%s: %.1e from the reference", name, worst);
    ok(fabs(sum(got->part_loss, shards) - want) <= 1e-5 * fmax(fabs(want), weight) &&
           fabs(sum(got->part_weight, shards) - weight) <= 1e-5 * weight,
       "%s: its loss and weight", name);
}

/* whole: all of it is to be one stack, in two launches. */
static void test_stack(const struct shape *h, bool whole)
{
    struct stack fused, plain;
    char name[128];
    unsigned shards = plan_shards(h->rows);
    snprintf(name, sizeof name, "%u x %u-%u-%u-%u act %u", h->rows, h->width[0], h->width[1],
             h->width[2], h->width[3], h->act);
    make(&fused, h);
    make(&plain, h);
    for (uint32_t i = 0; i < plain.op_count; i++)
        kernels_issue(NULL, plain.ops[i].op, plain.ops[i].arguments, fp32, NULL);
    uint64_t launches = emulate_counts.launches;
    void *scratch = scratch_for(h->rows);
    uint32_t taken = kernels_issue_front(NULL, fused.ops, fused.op_count, fp32, scratch);
    if (whole) {
        is_int((int64_t)taken, (int64_t)fused.op_count, "all of a stack is taken");
        is_int((int64_t)(emulate_counts.launches - launches), 2, "in two launches");
    }
    while (taken < fused.op_count)
        taken += kernels_issue_front(NULL, fused.ops + taken, fused.op_count - taken, fp32,
                                     scratch);
    for (unsigned i = 0; i < fused.buffers; i++)
        if (memcmp(fused.written[i], plain.written[i], fused.count[i] * 4) != 0)
            ok(false, "%s: buffer %u has the same bits", name, i);
    double want = sum(plain.part_loss, shards), weight = sum(plain.part_weight, shards);
    ok(fabs(sum(fused.part_loss, shards) - want) <= 1e-12 * fabs(want) &&
           fabs(sum(fused.part_weight, shards) - weight) <= 1e-12 * weight,
       "%s: the loss and the weight of one operation after the other", name);
    if (is_smooth(h))
        against_reference(&fused, h, name);
    device_drop_all();
}

/* A stack of a seed: most of them fit into a block, some do not. */
static void test_shape(uint64_t seed)
{
    struct random_draw from = {seed, 0}, *d = &from;
    struct shape h = {};
    int before = tap_failed;
    h.rows = 3 + draw_size(d, 200);
    h.hot = draw_below(d, 3) ? 0 : 4 + draw_below(d, 6);
    for (int i = 0; i < LAYERS; i++)
        h.width[i] = draw_size(d, draw_below(d, 8) ? 128 : 140);
    if (h.hot && draw_below(d, 3) == 0)
        h.width[0] = 0;
    h.act = draw_below(d, ACT_MISH + 1);
    h.classes = draw_below(d, 3) ? 1 + draw_size(d, 31) : 0;
    h.width[LAYERS] = h.classes ? h.classes : 1;
    h.kind = draw_below(d, h.classes ? CLASS_FOCAL + 1 : VALUE_QUANTILE + 1);
    h.more = draw_below(d, 2);
    h.dx = h.width[0] && draw_below(d, 2);
    h.aligned = draw_below(d, 2);
    h.gather = draw_below(d, 2);
    emulate_order((unsigned)seed % ORDER_COUNT);
    test_stack(&h, false);
    if (tap_failed > before)
        printf("# again: test_mlp shape %llu\n", (unsigned long long)seed);
}

static void test_no_stack(void)
{
    static const struct shape h = {16, {5, 20, 17, 2}, 0, ACT_RELU, 2, 0, false, false, true,
                                   false};
    struct stack s;
    void *scratch = scratch_for(h.rows);
    make(&s, &h);
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS, fp32, scratch), 1,
           "a way back is missing");
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, products{PRODUCT_TF32, 0}, scratch), 1,
           "tensor cores have their own");
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
    const struct shape h = {37, {20, 140, 18, 3}, 0, kind, 3, 0, false, true, true, false};
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

/* An optimiser and the end of its step, together or one after the other. */
struct ending {
    struct op_adam adam;
    struct op_advance advance;
    struct step *now;
    float *buffers;
};
static void make_ending(struct ending *s, bool bad)
{
    enum { N = 4099, BUFFERS = 300 };
    const double parts[2] = {3, 4};
    struct group group = {};
    struct step now = {};
    *s = ending{};
    group.end = N;
    group.lr = group.weight_decay = group.shards = 1;
    now.lr = 0.1;
    now.bad = bad;
    s->adam.now = s->now = s->advance.now = device_array(&now, 1);
    s->adam.p = device_numbers(1, N, NULL);
    s->adam.m1 = device_numbers(2, N, NULL);
    s->adam.m2 = device_numbers(3, N, NULL);
    for (uint32_t i = 0; i < N; i++)
        s->adam.m2[i] = fabsf(s->adam.m2[i]);
    char *sums = (char *)device_numbers(4, cuda_norm2_kept(N) / 4, NULL);
    memcpy(sums, &parts[1], sizeof *parts);
    s->adam.sums = sums;
    s->adam.from.n = N;
    s->adam.from.group_count = 1;
    s->adam.from.groups = device_array(&group, 1);
    s->adam.beta1 = 0.9;
    s->adam.beta2 = 0.99;
    s->adam.epsilon = 1e-8;
    s->advance.part_loss = s->advance.part_weight = device_array(parts, 2);
    s->advance.shards = 2;
    s->advance.consumed = 64;
    s->advance.buffer_count = BUFFERS;
    s->advance.moved = device_numbers(5, BUFFERS, NULL);
    s->advance.buffers = s->buffers = device_numbers(6, BUFFERS, NULL);
}

static void test_ending(bool bad)
{
    struct ending fused, plain;
    make_ending(&fused, bad);
    make_ending(&plain, bad);
    const struct kernel_op ops[] = {{OP_adam, &fused.adam}, {OP_advance, &fused.advance}};
    kernels_issue(NULL, OP_adam, &plain.adam, fp32, NULL);
    kernels_issue(NULL, OP_advance, &plain.advance, fp32, NULL);
    uint64_t launches = emulate_counts.launches;
    is_int(kernels_issue_front(NULL, ops, 2, fp32, scratch_for(1)), 2, "an ending");
    is_int((int64_t)(emulate_counts.launches - launches), 1, "in one launch");
    size_t bytes = fused.adam.from.n * sizeof(float);
    ok(memcmp(fused.now, plain.now, sizeof *plain.now) == 0, "the same step, bad %d", bad);
    ok(memcmp(fused.adam.p, plain.adam.p, bytes) == 0 &&
       memcmp(fused.adam.m1, plain.adam.m1, bytes) == 0 &&
       memcmp(fused.adam.m2, plain.adam.m2, bytes) == 0, "the same parameters");
    ok(memcmp(fused.buffers, plain.buffers, 4 * fused.advance.buffer_count) == 0,
       "the same buffers");
    device_drop_all();
}

/* test_mlp [shape SEED]: else as many random shapes as EMULATE_SHAPES says, and those below. */
int main(int count, char **words)
{
    if (count > 2) {
        test_shape(strtoull(words[2], NULL, 10));
        return done();
    }
    for (uint64_t seed = 0; seed < shapes_wanted(4); seed++)
        test_shape(seed);
    static const struct shape shapes[] = {
        {70, {14, 128, 128, 2}, 0, ACT_RELU, 2, CLASS_CROSS_ENTROPY, false, false, true, true},
        {33, {5, 40, 17, 3}, 7, ACT_GELU, 3, CLASS_FOCAL, true, false, false, false},
        {131, {3, 20, 8, 1}, 0, ACT_TANH, 0, VALUE_HUBER, false, true, false, true},
        {9, {0, 33, 16, 4}, 6, ACT_LEAKY_RELU, 4, CLASS_CROSS_ENTROPY, false, false, true, true},
    };
    for (EACH_ORDER(order))
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            test_stack(&shapes[i], true);
    for (EACH_ORDER(order)) {
        test_backs(order % 2 ? ACT_GELU : ACT_SIGMOID,
                   order / 2 ? PRODUCT_TF32 : PRODUCT_FP32);
        test_ending(false);
        test_ending(true);
    }
    test_no_stack();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
