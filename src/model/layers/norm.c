/* norm.c - batch_norm (Ioffe and Szegedy, 2015) and layer_norm (Ba, Kiros and Hinton, 2016), each
 * with a factor gamma (w) and a shift beta (b) per column. */
#include <math.h>
#include <stddef.h>

#include "model/layer.h"

struct norm_spec {
    int type;
    double momentum, epsilon; /* momentum: batch_norm */
    /* planned: offsets of parameters, of buffers and of numbers kept of a batch */
    uint64_t scale, shift, running, kept;
};

#define EPSILON_ROW                                                                                \
    {                                                                                              \
        OPT_ROW(struct norm_spec, epsilon, OPT_NUMBER, "1e-05"), .low = 1e-20, .high = 1,          \
        .help = "Added to the variance before the division by its root."                           \
    }

static const struct option batch_options[] = {
    LAYER_TYPE_ROW("batch_norm"),
    {OPT_ROW(struct norm_spec, momentum, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_LOW | OPT_TRAINING,
     .low = 0, .high = 1,
     .help = "The share of a batch in the running statistics, which prediction uses."},
    EPSILON_ROW,
    {0},
};
static const char *const batch_examples[] = {
    "{\"type\": \"batch_norm\"}",
    "{\"type\": \"batch_norm\", \"momentum\": 0.3, \"epsilon\": 0.01}",
    NULL,
};

static const struct option layer_options[] = {LAYER_TYPE_ROW("layer_norm"), EPSILON_ROW, {0}};
static const char *const layer_examples[] = {
    "{\"type\": \"layer_norm\"}",
    "{\"type\": \"layer_norm\", \"epsilon\": 0.01}",
    NULL,
};

static void init(const struct layer *l, const struct first_values *v)
{
    const struct norm_spec *s = l->spec;
    init_constant(v->params + s->scale, l->in, 1);
}

/* --- batch_norm. reals: mean, inv, then the two sums of the way back; buffers: running mean,
 * variance --- */

static const char *const batch_buffers[] = {"running_mean", "running_var", NULL};

/* The running mean starts at 0, the variance at 1. */
static void batch_init(const struct layer *l, const struct first_values *v)
{
    const struct norm_spec *s = l->spec;
    init(l, v);
    init_constant(v->buffers + s->running + l->in, l->in, 1);
}

static bool batch_plan(struct layer *l, struct planner *p, struct err *e)
{
    struct norm_spec *s = l->spec;
    (void)e;
    s->scale = plan_param_whole(p, "scale", SHAPE1(l->in), PARAM_NORM);
    s->shift = plan_param_whole(p, "shift", SHAPE1(l->in), PARAM_NORM);
    s->running = plan_buffers(p, batch_buffers, SHAPE1(l->in));
    l->y = plan_acts(p, l->in);
    if (p->training)
        s->kept = plan_reals(p, 4 * (uint64_t)l->in);
    return true;
}

static struct act batch_forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct norm_spec *s = l->spec;
    real *mean = NULL, *inv = NULL;
    if (p->training) {
        mean = reals_at(p->reals, s->kept);
        inv = reals_at(mean, l->in);
        op_bnorm_stats(p->m, &(struct op_bnorm_stats){.mean = mean,
                                                      .inv = inv,
                                                      .moved = reals_at(p->moved, s->running),
                                                      .running = reals_at(p->buffers, s->running),
                                                      .x = x,
                                                      .now = p->now,
                                                      .from = p->from,
                                                      .dims = pass_dims(p, l->in),
                                                      .ld = l->in,
                                                      .micro = p->micro,
                                                      .momentum = s->momentum,
                                                      .epsilon = s->epsilon});
    }
    struct op_bnorm op = {.y = pass_act(p, l->y),
                          .x = x,
                          .mean = mean,
                          .inv = inv,
                          .running = reals_at(p->buffers, s->running),
                          .gamma = reals_at(p->params, s->scale),
                          .beta = reals_at(p->params, s->shift),
                          .dims = pass_dims(p, l->in),
                          .ldx = l->in,
                          .ldy = l->in,
                          .epsilon = s->epsilon};
    op_bnorm(p->m, &op);
    return op.y;
}

static void batch_backward(const struct layer *l, struct pass *p, struct act x,
                           struct act dy, struct act dx, bool add)
{
    const struct norm_spec *s = l->spec;
    real *mean = reals_at(p->reals, s->kept), *inv = reals_at(mean, l->in),
         *sums = reals_at(inv, l->in);
    op_bnorm_sums(p->m, &(struct op_bnorm_sums){.sums = sums,
                                                .dgamma = reals_at(p->grads, s->scale),
                                                .dbeta = reals_at(p->grads, s->shift),
                                                .dy = dy,
                                                .x = x,
                                                .mean = mean,
                                                .inv = inv,
                                                .now = p->now,
                                                .from = p->from,
                                                .dims = pass_dims(p, l->in),
                                                .ldx = l->in,
                                                .lddy = l->in,
                                                .micro = p->micro,
                                                .more = p->more});
    if (dx.at)
        op_bnorm_back(p->m, &(struct op_bnorm_back){.dx = dx,
                                                    .dy = dy,
                                                    .x = x,
                                                    .mean = mean,
                                                    .inv = inv,
                                                    .gamma = reals_at(p->params, s->scale),
                                                    .sums = sums,
                                                    .now = p->now,
                                                    .from = p->from,
                                                    .dims = pass_dims(p, l->in),
                                                    .ldx = l->in,
                                                    .lddx = l->in,
                                                    .lddy = l->in,
                                                    .micro = p->micro,
                                                    .add_dx = add});
}

static uint64_t batch_unsound(const struct layer *l, const real *buffers)
{
    const struct norm_spec *s = l->spec;
    for (uint64_t i = s->running + l->in; i < s->running + 2 * (uint64_t)l->in; i++)
        if (!(buffers[i] >= 0))
            return i;
    return UINT64_MAX;
}

const struct layer_type layer_batch_norm = {
    .name = "batch_norm",
    .summary = "Scales every column of a batch to mean 0 and deviation 1, then by a learned "
               "scale and shift.",
    .options = batch_options,
    .examples = batch_examples,
    .spec_size = sizeof(struct norm_spec),
    .whole_rows = true,
    .of = LAYER_OF_ROWS,
    .plan = batch_plan,
    .init = batch_init,
    .unsound = batch_unsound,
    .forward = batch_forward,
    .backward = batch_backward,
};

/* --- layer_norm. reals: mean and inv of every row --- */

static bool layer_plan(struct layer *l, struct planner *p, struct err *e)
{
    struct norm_spec *s = l->spec;
    (void)e;
    s->scale = plan_param(p, "scale", SHAPE1(l->in), PARAM_NORM);
    s->shift = plan_param(p, "shift", SHAPE1(l->in), PARAM_NORM);
    l->y = plan_acts(p, l->in);
    if (p->training)
        s->kept = plan_reals(p, 2 * (uint64_t)p->rows * p->at.steps);
    return true;
}

static uint64_t inv_at(const struct norm_spec *s, const struct pass *p)
{
    return s->kept + (uint64_t)p->dims.rows * p->dims.steps;
}

static struct act layer_forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct norm_spec *s = l->spec;
    struct op_lnorm op = {.y = pass_act(p, l->y),
                          .mean = p->training ? reals_at(p->reals, s->kept) : NULL,
                          .inv = p->training ? reals_at(p->reals, inv_at(s, p)) : NULL,
                          .x = x,
                          .gamma = reals_at(p->params, s->scale),
                          .beta = reals_at(p->params, s->shift),
                          .dims = pass_dims(p, l->in),
                          .ldx = l->in,
                          .ldy = l->in,
                          .epsilon = s->epsilon};
    op_lnorm(p->m, &op);
    return op.y;
}

static void layer_backward(const struct layer *l, struct pass *p, struct act x,
                           struct act dy, struct act dx, bool add)
{
    const struct norm_spec *s = l->spec;
    op_lnorm_back(p->m, &(struct op_lnorm_back){.dx = dx,
                                                .dgamma = reals_at(p->grads, s->scale),
                                                .dbeta = reals_at(p->grads, s->shift),
                                                .dy = dy,
                                                .x = x,
                                                .mean = reals_at(p->reals, s->kept),
                                                .inv = reals_at(p->reals, inv_at(s, p)),
                                                .gamma = reals_at(p->params, s->scale),
                                                .dims = pass_dims(p, l->in),
                                                .ldx = l->in,
                                                .lddx = l->in,
                                                .lddy = l->in,
                                                .add_dx = add,
                                                .more = p->more});
}

const struct layer_type layer_layer_norm = {
    .name = "layer_norm",
    .summary = "Scales the values of every row to mean 0 and deviation 1, then by a learned "
               "scale and shift for each column.",
    .options = layer_options,
    .examples = layer_examples,
    .spec_size = sizeof(struct norm_spec),
    .stacks = true,
    .plan = layer_plan,
    .init = init,
    .forward = layer_forward,
    .backward = layer_backward,
};
