/* stack.h - stacks of small layers as lists of operations, with all that they read and write: what
 * test_mlp issues fused, and one operation after the other. */
#ifndef EMULATE_STACK_H
#define EMULATE_STACK_H

#include <math.h>

#include "form.cuh"
#include "harness.h"
#include "ops/mlp.cuh"

extern "C" {
#include "backend/backend.h"
}

enum { LAYERS = 3, OPS = 9 * LAYERS };
struct shape {
    uint32_t rows, width[LAYERS + 1], onehot, act, classes, kind; /* classes 0: a value */
    bool more, dx, aligned, gather, norm, drop, answers;
};

static struct act act_of(float *x)
{
    return plain_act(x);
}

/* All that a stack reads and writes. inner: what nobody reads behind it, and fused layers keep to
 * themselves. */
struct stack {
    struct op_dense forward[LAYERS];
    struct op_dense_back back[LAYERS];
    struct op_lnorm norm[LAYERS];
    struct op_lnorm_back norm_back[LAYERS];
    struct op_act act[LAYERS];
    struct op_act_back act_back[LAYERS];
    struct op_dropout drop[LAYERS], drop_back[LAYERS];
    struct op_loss_class of_classes;
    struct op_loss_value of_values;
    struct op_gather gather;
    struct kernel_op ops[OPS];
    uint32_t op_count;
    float *written[48];
    size_t count[48];
    bool inner[48];
    unsigned buffers, grads; /* grads: the one that has shards, of `params` each */
    size_t params;
    struct step *now;
    double *part_loss, *part_weight;
};

static float *output(struct stack *s, size_t n, bool inner = false)
{
    s->written[s->buffers] = device_numbers(100 + s->buffers, n, NULL);
    s->count[s->buffers] = n;
    s->inner[s->buffers] = inner;
    return s->written[s->buffers++];
}

static void put(struct stack *s, uint32_t op, const void *arguments)
{
    s->ops[s->op_count++] = kernel_op{op, arguments};
}

/* Records of a permuted order that ends in the batch, for x, ids, target and weight. */
static void make_gather(struct stack *s, const struct shape *h)
{
    struct rowfmt f = rowfmt_make(h->width[0], h->onehot ? 2 : 0);
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
    unsigned char *chunk = (unsigned char *)records;
    from.rows.format = f;
    from.rows.shift = 63;
    from.rows.chunks = device_array(&chunk, 1);
    from.count = count;
    from.shuffle = 1;
    from.classes = h->classes;
    s->gather.from = device_array(&from, 1);
    s->gather.now = s->now;
    s->gather.rows = h->rows;
    s->gather.ld = h->width[0];
    s->gather.x = act_of(output(s, (size_t)h->rows * h->width[0] + 1));
    s->gather.ids = (int32_t *)(void *)output(s, 2 * (size_t)h->rows);
    s->gather.target = output(s, h->rows);
    s->gather.weight = output(s, h->rows);
    put(s, OP_gather, &s->gather);
}

static struct onehot_inputs onehot_of(const struct stack *s, const struct shape *h)
{
    struct onehot_inputs onehot = {};
    struct onehot_column columns[2] = {{0, h->width[0], 3}, {1, h->width[0] + 3, h->onehot - 3}};
    if (!h->onehot)
        return onehot;
    int32_t *ids = h->gather ? s->gather.ids : device_empty<int32_t>(2 * (size_t)h->rows);
    for (uint32_t i = 0; i < 2 * h->rows && !h->gather; i++)
        ids[i] = (int32_t)(i * 7 % 5) - 1;
    shadow_written(ids, 8 * (size_t)h->rows);
    onehot.ids = ids;
    onehot.columns = device_array(columns, 2);
    onehot.ids_ld = onehot.column_count = 2;
    onehot.width = h->onehot;
    return onehot;
}

static struct dims dims_of(uint32_t rows, uint32_t width, uint64_t stride)
{
    return {rows, 1, width, plan_shards(rows), stride};
}

/* What follows the product of layer i: takes its y, gives what the next one reads. */
static float *make_follow(struct stack *s, const struct shape *h, int i, float *y)
{
    uint32_t out = h->width[i + 1], rows = h->rows;
    size_t size = (size_t)rows * out;
    if (h->norm) {
        struct op_lnorm *n = &s->norm[i];
        float *factors = device_numbers(20 + (uint32_t)i, 2 * (size_t)out, NULL);
        *n = {{dims_of(rows, out, 0)}, act_of(output(s, size, true)),
              h->answers ? NULL : output(s, rows), h->answers ? NULL : output(s, rows), act_of(y),
              factors, factors + out, out, out, 1e-5};
        y = (float *)n->y.at;
        put(s, OP_lnorm, n);
    }
    if (h->norm && h->act != ACT_NONE) {
        struct op_act *a = &s->act[i];
        *a = {{dims_of(rows, out, 0)}, act_of(output(s, size, h->drop)), act_of(y), out, out,
              h->act, h->answers, 0.3};
        y = (float *)a->y.at;
        put(s, OP_act, a);
    }
    if (h->drop) {
        struct op_dropout *d = &s->drop[i];
        d->y = act_of(output(s, size));
        d->x = act_of(y);
        d->kept = out % 16 ? NULL : device_room(size / 8);
        d->now = s->now;
        d->rows = rows;
        d->shards = plan_shards(rows);
        d->width = d->ldx = d->ldy = out;
        d->layer = (uint32_t)(3 * i + 2);
        d->micro = h->more;
        d->threshold = 1u << 30;
        d->scale = 1 / 0.75;
        y = (float *)d->y.at;
        put(s, OP_dropout, d);
    }
    return y;
}

static void make_forward(struct stack *s, const struct shape *h, float *x, float *params,
                         const size_t *at)
{
    for (int i = 0; i < LAYERS; i++) {
        struct op_dense *a = &s->forward[i];
        size_t size = (size_t)h->rows * h->width[i + 1];
        bool hidden = i < LAYERS - 1;
        a->x = act_of(x);
        a->y = act_of(x = output(s, size, hidden && h->drop && !h->norm));
        a->act = hidden && !h->norm ? h->act : (uint32_t)ACT_NONE;
        a->z = ACT_NEEDS_Z(a->act) && !h->answers ? act_of(output(s, size, true)) : no_act();
        a->w = params + at[i];
        a->rows = h->rows;
        a->shards = plan_shards(h->rows);
        a->in = a->ldx = h->width[i];
        a->out = a->ldy = a->ldz = h->width[i + 1];
        a->onehot = i == 0 ? onehot_of(s, h) : onehot_inputs{};
        a->b = a->w + (size_t)(a->in + a->onehot.width) * a->out;
        a->slope = 0.3;
        a->exact = h->answers;
        put(s, OP_dense, a);
        if (hidden)
            x = make_follow(s, h, i, x);
    }
}

/* The way back of what follows the product of layer i: takes the gradient behind it. */
static float *back_follow(struct stack *s, const struct shape *h, int i, float *d, float *grads,
                          size_t stride)
{
    uint32_t out = h->width[i + 1], rows = h->rows;
    size_t size = (size_t)rows * out;
    if (h->drop) {
        struct op_dropout *b = &s->drop_back[i];
        *b = s->drop[i];
        b->kept_known = 1;
        b->x = act_of(d);
        b->y = act_of(d = output(s, size, h->norm && h->act != ACT_NONE));
        put(s, OP_dropout, b);
    }
    if (h->norm && h->act != ACT_NONE) {
        const struct op_act *a = &s->act[i];
        struct op_act_back *b = &s->act_back[i];
        *b = {{dims_of(rows, out, 0)}, act_of(output(s, size)), act_of(d), a->x, out, out, out,
              h->act, 0, 0, a->slope};
        d = (float *)b->dx.at;
        put(s, OP_act_back, b);
    }
    if (h->norm) {
        const struct op_lnorm *n = &s->norm[i];
        struct op_lnorm_back *b = &s->norm_back[i];
        *b = {{dims_of(rows, out, stride)}, act_of(output(s, size)), grads, grads + out, act_of(d),
              n->x, n->mean, n->inv, n->gamma, out, out, out, 0, h->more, 0};
        d = (float *)b->dx.at;
        put(s, OP_lnorm_back, b);
    }
    return d;
}

static void make_back(struct stack *s, const struct shape *h, float *dy, float *grads,
                      const size_t *at, size_t n)
{
    bool follows = h->drop || h->norm;
    for (int i = LAYERS - 1; i >= 0; i--) {
        const struct op_dense *a = &s->forward[i];
        struct op_dense_back *b = &s->back[i];
        b->dy = act_of(dy);
        dy = i > 0 || h->dx
                 ? output(s, (size_t)h->rows * a->in + 1,
                          i > 0 && follows && !(h->norm && !h->drop && h->act == ACT_NONE))
                 : NULL;
        b->dx = act_of(dy);
        b->add_dx = i == 0;
        b->dw = grads + at[i];
        b->db = b->dw + (size_t)(a->in + a->onehot.width) * a->out;
        b->x = a->x;
        b->y = a->y;
        b->z = a->z;
        b->w = a->w;
        b->onehot = a->onehot;
        b->shard_stride = n;
        b->rows = a->rows;
        b->shards = a->shards;
        b->in = b->ldx = b->lddx = a->in;
        b->out = b->ldy = b->ldz = b->lddy = a->out;
        b->act = a->act;
        b->more = h->more;
        b->slope = a->slope;
        put(s, OP_dense_back, b);
        if (i > 0) /* gradients of a norm stand behind those of the layer */
            dy = back_follow(s, h, i - 1, dy, grads + at[i - 1] +
                             (size_t)(h->width[i - 1] + (i == 1 ? h->onehot : 0) + 1) * h->width[i],
                             n);
    }
}

static void make_loss(struct stack *s, const struct shape *h, float *d)
{
    double before[16];
    float target[256];
    unsigned shards = plan_shards(h->rows);
    for (int i = 0; i < 16; i++)
        before[i] = i;
    for (uint32_t i = 0; i < h->rows; i++)
        target[i] = h->classes ? (float)(i % h->classes) : number(7, i);
    s->part_loss = device_array(before, shards);
    s->part_weight = device_array(before, shards);
    float *weight = device_numbers(3, h->rows, NULL);
    for (uint32_t i = 0; i < h->rows; i++)
        weight[i] = i % 5 ? fabsf(weight[i]) : 0;
    struct op_loss_class *c = &s->of_classes;
    c->dlogits = act_of(d);
    c->logits = s->forward[LAYERS - 1].y;
    c->part_loss = s->part_loss;
    c->part_weight = s->part_weight;
    c->target = h->gather ? s->gather.target : device_array(target, h->rows);
    c->weight = h->gather ? s->gather.weight : weight;
    c->rows = h->rows;
    c->shards = plan_shards(h->rows);
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
    v->shards = plan_shards(h->rows);
    v->ld = v->ldd = 1;
    v->kind = h->kind;
    v->more = h->more;
    v->delta = 0.4;
    v->q = 0.3;
    if (h->classes)
        put(s, OP_loss_class, c);
    else
        put(s, OP_loss_value, v);
}

static void make(struct stack *s, const struct shape *h)
{
    struct step now = {};
    size_t n = 0, at[LAYERS];
    *s = stack{};
    now.seed = 77;
    now.epoch = 2;
    now.tried = 5;
    s->now = device_array(&now, 1);
    if (h->gather)
        make_gather(s, h);
    for (int i = 0; i < LAYERS; i++) {
        at[i] = n + (h->aligned ? 0 : 1);
        n = at[i] + (size_t)(h->width[i] + (i ? 0 : h->onehot) + 3) * h->width[i + 1];
    }
    float *x = device_numbers(1, h->rows * (size_t)h->width[0] + 1, NULL);
    if (h->gather)
        x = (float *)s->gather.x.at;
    make_forward(s, h, x, device_numbers(2, n, NULL), at);
    s->grads = s->buffers;
    s->params = n;
    if (h->answers)
        return;
    float *grads = output(s, n * plan_shards(h->rows));
    float *d = output(s, (size_t)h->rows * h->width[LAYERS]);
    make_loss(s, h, d);
    make_back(s, h, d, grads, at, n);
}

#endif
