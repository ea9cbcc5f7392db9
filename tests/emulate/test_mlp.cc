/* Stacks of small dense layers: fused, and one operation after the other, the same bits; and what
 * is no such stack is left alone. */
#include <math.h>

#include "harness.h"
#include "kernels.h"

extern "C" {
#include "backend/backend.h"
}

enum { LAYERS = 3 };
struct shape {
    uint32_t rows, width[LAYERS + 1], hot, act, classes, kind; /* classes 0: a value */
    bool more, dx, aligned;
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
    struct kernel_op ops[2 * LAYERS + 1];
    float *written[24];
    size_t count[24];
    unsigned buffers;
    double *part_loss, *part_weight;
};

static float *output(struct stack *s, size_t n)
{
    s->written[s->buffers] = device_numbers(100 + s->buffers, n, NULL);
    s->count[s->buffers] = n;
    return s->written[s->buffers++];
}

static struct hot_inputs hot_of(const struct shape *h)
{
    struct hot_inputs hot = {};
    struct onehot_column columns[2] = {{0, h->width[0], 3}, {1, h->width[0] + 3, h->hot - 3}};
    if (!h->hot)
        return hot;
    int32_t *ids = device_empty<int32_t>(2 * (size_t)h->rows);
    for (uint32_t i = 0; i < 2 * h->rows; i++)
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
    struct hot_inputs hot = hot_of(h);
    float *x = device_numbers(1, h->rows * (size_t)h->width[0] + 1, NULL), *dy = NULL;
    bool keep_z = h->act == ACT_GELU;
    for (int i = 0; i < LAYERS; i++) {
        at[i] = n + (h->aligned ? 0 : 1);
        n = at[i] + (size_t)(h->width[i] + (i ? 0 : h->hot) + 1) * h->width[i + 1];
    }
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
    c->target = device_array(target, h->rows);
    c->weight = weight;
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
    v->weight = weight;
    v->rows = h->rows;
    v->ld = v->ldd = 1;
    v->kind = h->kind;
    v->more = h->more;
    v->delta = 0.4;
    v->q = 0.3;
    for (int i = 0; i < LAYERS; i++) {
        s->ops[i] = kernel_op{OP_dense, &s->forward[i]};
        s->ops[LAYERS + 1 + i] = kernel_op{OP_dense_back, &s->back[LAYERS - 1 - i]};
    }
    s->ops[LAYERS] = h->classes ? kernel_op{OP_loss_class, c} : kernel_op{OP_loss_value, v};
}

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

static void test_stack(const struct shape *h)
{
    enum { OPS = 2 * LAYERS + 1 };
    struct stack fused, plain;
    unsigned shards = plan_shards(h->rows);
    make(&fused, h);
    make(&plain, h);
    for (int i = 0; i < OPS; i++)
        kernels_issue(NULL, plain.ops[i].op, plain.ops[i].arguments, PRODUCT_FP32, NULL);
    uint64_t launches = emulate_counts.launches;
    uint32_t taken = kernels_issue_front(NULL, fused.ops, OPS, PRODUCT_FP32, scratch_for(h->rows));
    is_int((int64_t)taken, OPS, "all of a stack is taken");
    is_int((int64_t)(emulate_counts.launches - launches), 2, "in two launches");
    for (unsigned i = 0; i < fused.buffers; i++)
        ok(memcmp(fused.written[i], plain.written[i], fused.count[i] * 4) == 0,
           "%u x %u-%u-%u-%u act %u: buffer %u has the same bits", h->rows, h->width[0],
           h->width[1], h->width[2], h->width[3], h->act, i);
    double want = sum(plain.part_loss, shards), weight = sum(plain.part_weight, shards);
    is_near(sum(fused.part_loss, shards), want, 1e-12 * fabs(want), "loss");
    is_near(sum(fused.part_weight, shards), weight, 1e-12 * weight, "weight");
    device_drop_all();
}

static void test_no_stack(void)
{
    static const struct shape h = {16, {5, 9, 7, 2}, 0, ACT_RELU, 2, 0, false, false, true};
    struct stack s;
    void *scratch = scratch_for(h.rows);
    make(&s, &h);
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS, PRODUCT_FP32, scratch), 1,
           "a way back is missing");
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, PRODUCT_TF32, scratch), 1,
           "tensor cores have their own");
    s.back[1].add_dx = 1;
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, PRODUCT_FP32, scratch), 1,
           "a gradient that is added to");
    s.back[1].add_dx = 0;
    s.forward[1].ldy = 10;
    is_int(kernels_issue_front(NULL, s.ops, 2 * LAYERS + 1, PRODUCT_FP32, scratch), 1,
           "rows with gaps");
    device_drop_all();
}

int main(void)
{
    static const struct shape shapes[] = {
        {70, {14, 128, 128, 2}, 0, ACT_RELU, 2, CLASS_CROSS_ENTROPY, false, false, true},
        {33, {5, 40, 17, 3}, 7, ACT_GELU, 3, CLASS_FOCAL, true, false, false},
        {131, {3, 20, 8, 1}, 0, ACT_TANH, 0, VALUE_HUBER, false, true, false},
        {9, {0, 33, 16, 4}, 6, ACT_LEAKY_RELU, 4, CLASS_CROSS_ENTROPY, false, false, true},
    };
    for (EACH_ORDER(order))
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            test_stack(&shapes[i]);
    test_no_stack();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
