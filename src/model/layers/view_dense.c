/* view_dense.c - a dense layer for each view, on its part of the row: w [views][in][out]. As the
 * output layer it gives in training the logits of every view; each view has a loss of its own. To
 * answer, it gives their mean: the log of the mean probability, or the mean value. */
#include <math.h>
#include <stddef.h>

#include "model/layer.h"

struct heads_spec {
    int type;
    int64_t units, views;
    /* planned */
    uint64_t weight, bias;
    struct act_place each; /* [rows][views][units] */
    bool mean, values;     /* mean: y holds the mean of the views */
};

static const struct option options[] = {
    LAYER_TYPE_ROW("view_dense"),
    {OPT_ROW(struct heads_spec, units, OPT_INT, NULL), .low = 1, .high = (double)LAYER_MOST_UNITS,
     .help = "The number of outputs of each view."},
    {OPT_ROW(struct heads_spec, views, OPT_INT, "32"), .low = 1, .high = VIEWS_MOST,
     .help = "The number of views: the inputs are those of all views, side by side."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"view_dense\", \"units\": 4, \"views\": 1}",
    NULL,
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct heads_spec *s = l->spec;
    uint32_t k = (uint32_t)s->views, units = (uint32_t)s->units, in = l->in / k;
    if (l->in % k)
        return err_set(e, ERR_CONFIG_SIZE,
                       "view_dense of %u views has %u inputs, which do not divide by it", k,
                       l->in);
    if ((uint64_t)units * k > LAYER_MOST_UNITS)
        plan_refuse(p, "%d outputs of a layer", (int)LAYER_MOST_UNITS);
    s->weight = plan_param(p, "weight", SHAPE3(k, in, units), PARAM_WEIGHT);
    s->bias = plan_param(p, "bias", SHAPE2(k, units), PARAM_BIAS);
    s->mean = l->logits && !p->training;
    s->values = p->features->outputs == 1 || p->features->quantiles;
    l->answers = l->logits ? k : 0;
    l->out = l->logits ? units : k * units;
    s->each = plan_plain(p, k * units);
    l->y = s->mean ? plan_plain(p, units) : s->each;
    p->flops += 2 * (uint64_t)l->in * units;
    return true;
}

/* Uniform within 1 / sqrt(in), as in the recipe. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct heads_spec *s = l->spec;
    uint64_t count = (uint64_t)l->in * (uint64_t)s->units;
    double limit = 1 / sqrt((double)l->in / (double)s->views);
    init_uniform(v, s->weight, count, limit, 0);
    init_uniform(v, s->bias, (uint64_t)(s->views * s->units), limit, count);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct heads_spec *s = l->spec;
    uint32_t k = (uint32_t)s->views, units = (uint32_t)s->units, in = l->in / k;
    struct act each = pass_act(p, s->each), y = pass_act(p, l->y);
    for (uint32_t j = 0; j < k; j++)
        op_dense(p->m, &(struct op_dense){
                           .y = act_part(p->m, each, j, units),
                           .x = act_part(p->m, x, j, in),
                           .w = reals_at(p->params, s->weight + (uint64_t)j * in * units),
                           .b = reals_at(p->params, s->bias + (uint64_t)j * units),
                           .dims = pass_dims(p, in),
                           .out = units,
                           .ldx = l->in,
                           .ldy = k * units,
                           .exact = p->exact});
    if (s->mean)
        op_view_mean(p->m, &(struct op_view_mean){.y = y,
                                                      .x = each,
                                                      .dims = pass_dims(p, units),
                                                      .views = k,
                                                      .values = s->values});
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct heads_spec *s = l->spec;
    uint32_t k = (uint32_t)s->views, units = (uint32_t)s->units, in = l->in / k;
    for (uint32_t j = 0; j < k; j++) {
        uint64_t at = s->weight + (uint64_t)j * in * units;
        op_dense_back(p->m, &(struct op_dense_back){
                                .dx = act_part(p->m, dx, j, in),
                                .dw = reals_at(p->grads, at),
                                .db = reals_at(p->grads, s->bias + (uint64_t)j * units),
                                .dy = act_part(p->m, dy, j, units),
                                .y = act_part(p->m, pass_act(p, s->each), j, units),
                                .x = act_part(p->m, x, j, in),
                                .w = reals_at(p->params, at),
                                .now = p->now,
                                .dims = pass_dims(p, in),
                                .out = units,
                                .ldx = l->in,
                                .ldy = k * units,
                                .lddx = l->in,
                                .lddy = k * units,
                                .add_dx = add,
                                .more = p->more});
    }
}

const struct layer_type layer_view_dense = {
    .name = "view_dense",
    .summary = "A dense layer for each of several views, on its part of the row. As the output "
               "layer it answers with their mean.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct heads_spec),
    .answers = true,
    .of = LAYER_OF_ROWS,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
