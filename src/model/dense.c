/* dense.c - y = act(x w + b), w [in][out]. */
#include <stddef.h>

#include "model/init.h"
#include "model/layer.h"

struct dense_spec {
    int type;
    int64_t units;
    bool bias;
    int init; /* enum init_kind */
    /* planned */
    uint64_t weight, bias_at; /* offsets of parameters */
    struct act_place z;       /* the value before the activation, where that needs it */
};

static const char *const type_words[] = {"dense", NULL};
static const struct option options[] = {
    LAYER_TYPE_ROW(type_words),
    {.key = "units",
     .type = OPT_INT,
     .offset = offsetof(struct dense_spec, units),
     .low = 1,
     .high = (double)LAYER_MOST_UNITS,
     .help = "The number of outputs."},
    {.key = "bias",
     .type = OPT_BOOL,
     .offset = offsetof(struct dense_spec, bias),
     .standard = "true",
     .help = "Adds a bias, which starts at zero, to every output."},
    {.key = "init",
     .type = OPT_WORD,
     .flags = OPT_TRAINING,
     .offset = offsetof(struct dense_spec, init),
     .standard = "\"auto\"",
     .words = init_names,
     .help = "The initial weights: uniform within plus and minus a limit. he: sqrt(6 / in), "
             "xavier: sqrt(6 / (in + out)), lecun: sqrt(3 / in), small: a tenth of lecun, zero: "
             "0. auto takes he before relu and similar activations, xavier before tanh and "
             "sigmoid, and lecun otherwise."},
    {0},
};

static const char *const examples[] = {
    "{\"type\": \"dense\", \"units\": 5}",
    "{\"type\": \"dense\", \"units\": 3, \"bias\": false, \"init\": \"xavier\"}",
    NULL,
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    (void)e;
    struct dense_spec *s = l->spec;
    l->out = (uint32_t)s->units;
    s->weight = plan_param(p, "weight", SHAPE2(l->in, l->out), PARAM_WEIGHT);
    if (s->bias)
        s->bias_at = plan_param(p, "bias", SHAPE1(l->out), PARAM_BIAS);
    l->y = l->logits ? plan_plain(p, l->out) : plan_acts(p, l->out);
    if (p->training && ACT_NEEDS_Z(l->fused_act))
        s->z = plan_acts(p, l->out);
    /* of the one-hot inputs, one row of weights a column is looked up and added */
    p->flops += 2 * (uint64_t)(l->in - l->hot.width + l->hot.count) * l->out;
    return true;
}

static void init(const struct layer *l, uint64_t seed, uint32_t model, real *params, real *buffers)
{
    (void)buffers;
    const struct dense_spec *s = l->spec;
    double limit = init_limit((enum init_kind)s->init, l->next_act, l->in, l->out);
    if (limit > 0)
        init_uniform(params + s->weight, (uint64_t)l->in * l->out, limit, seed, model, l->position,
                     0);
    /* Missing and unknown categories add nothing at first: rows may never train their slots. */
    for (uint32_t i = 0; i < l->hot.count; i++) {
        const struct onehot_column *c = &l->hot.columns[i];
        init_constant(params + s->weight + (uint64_t)c->at * l->out,
                      (uint64_t)(c->count < FIRST_VALUE ? c->count : FIRST_VALUE) * l->out, 0);
    }
}

static struct act z_of(const struct layer *l, const struct pass *p)
{
    const struct dense_spec *s = l->spec;
    return p->training && ACT_NEEDS_Z(l->fused_act) ? pass_act(p, s->z) : no_act();
}

/* The inputs that come as ids: the others stand in x, and have a gradient. */
static struct hot_inputs hot_of(const struct layer *l, const struct pass *p)
{
    if (!l->hot.count)
        return (struct hot_inputs){0};
    return (struct hot_inputs){.ids = p->ids,
                               .columns = pass_table(p, l->hot.table),
                               .ids_ld = p->ids_ld,
                               .column_count = l->hot.count,
                               .width = l->hot.width};
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct dense_spec *s = l->spec;
    uint32_t held = l->in - l->hot.width;
    struct op_dense op = {.y = pass_act(p, l->y),
                          .z = z_of(l, p),
                          .x = x,
                          .w = reals_at(p->params, s->weight),
                          .b = s->bias ? reals_at(p->params, s->bias_at) : NULL,
                          .shadow = pass_shadow(p, s->weight),
                          .hot = hot_of(l, p),
                          .dims = pass_dims(p, held),
                          .out = l->out,
                          .ldx = held,
                          .ldy = l->out,
                          .ldz = l->out,
                          .act = l->fused_act,
                          .exact = p->exact,
                          .slope = l->fused_slope};
    op_dense(p->m, &op);
    return op.y;
}

static real *grads_of_bias(const struct dense_spec *s, const struct pass *p)
{
    return s->bias ? reals_at(p->grads, s->bias_at) : NULL;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct dense_spec *s = l->spec;
    uint32_t held = l->in - l->hot.width;
    op_dense_back(p->m, &(struct op_dense_back){.dx = dx,
                                                .dw = reals_at(p->grads, s->weight),
                                                .db = grads_of_bias(s, p),
                                                .dy = dy,
                                                .y = pass_act(p, l->y),
                                                .z = z_of(l, p),
                                                .x = x,
                                                .w = reals_at(p->params, s->weight),
                                                .shadow = pass_shadow(p, s->weight),
                                                .now = p->now,
                                                .hot = hot_of(l, p),
                                                .dims = pass_dims(p, held),
                                                .out = l->out,
                                                .ldx = held,
                                                .ldy = l->out,
                                                .ldz = l->out,
                                                .lddx = held,
                                                .lddy = l->out,
                                                .act = l->fused_act,
                                                .add_dx = add,
                                                .more = p->more,
                                                .slope = l->fused_slope});
}

const struct layer_type layer_dense = {
    .name = "dense",
    .summary = "Every output is a weighted sum of all inputs.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct dense_spec),
    .answers = true,
    .takes_ids = true,
    .takes_act = true,
    .stacks = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
