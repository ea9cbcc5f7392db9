/* dense.c - dense and ntk_dense: y = act(x w + b), w [in][out]. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/layer.h"

struct dense_spec {
    int type;
    int64_t units;
    bool bias;
    int init, bias_init; /* enum init_kind, or enum ntk_init */
    double bias_rate;    /* of ntk_dense, else 0 */
    /* planned */
    uint64_t weight, bias_at; /* offsets of parameters */
    struct act_place z;       /* the value before the activation, if act needs it */
};

static const struct option options[] = {
    LAYER_TYPE_ROW("dense"),
    {OPT_ROW(struct dense_spec, units, OPT_INT, NULL), .low = 1, .high = (double)LAYER_MOST_UNITS,
     .help = "The number of outputs."},
    {OPT_ROW(struct dense_spec, bias, OPT_BOOL, "true"),
     .help = "Adds a bias to every output. It starts at zero, except with init uniform."},
    {OPT_ROW(struct dense_spec, init, OPT_WORD, "\"auto\""), .flags = OPT_TRAINING,
     .words = init_names,
     .help = "The initial weights: uniform within plus and minus a limit. he: sqrt(6 / in), "
             "xavier: sqrt(6 / (in + out)), lecun: sqrt(3 / in), small: a tenth of lecun, zero: "
             "0, uniform: 1 / sqrt(in), for the bias too. auto takes he before relu and similar "
             "activations, xavier before tanh and sigmoid, and lecun otherwise."},
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
    uint32_t rows = l->in - l->pairs.components; /* the others are in ple.weight */
    s->weight = plan_param(p, "weight", SHAPE2(rows, l->out), PARAM_WEIGHT);
    if (s->bias_rate > 0)
        plan_rates(p, 1, 1 / sqrt((double)l->in));
    if (s->bias)
        s->bias_at = plan_param(p, "bias", SHAPE1(l->out), PARAM_BIAS);
    if (s->bias && s->bias_rate > 0)
        plan_rates(p, s->bias_rate, 1);
    if (l->pooled.on)
        pooled_plan(l, p, true);
    l->y = l->logits ? plan_plain(p, l->out) : plan_acts(p, l->out);
    if (p->training && ACT_NEEDS_Z(l->fused_act))
        s->z = plan_acts(p, l->out);
    /* one row of weights is looked up and added for a one-hot column, two for a pair */
    p->flops +=
        2 * (uint64_t)(rows - l->onehot.width + l->onehot.count + 2 * l->pairs.count) * l->out;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct dense_spec *s = l->spec;
    uint32_t rows = l->in - l->pairs.components;
    double limit = init_limit((enum init_kind)s->init, l->next_act, l->in, l->out);
    if (limit > 0)
        init_uniform(v, s->weight, (uint64_t)rows * l->out, limit, 0);
    if (limit > 0 && l->pairs.count)
        init_uniform(v, l->pairs.weight, (uint64_t)l->pairs.components * l->out, limit,
                     (uint64_t)rows * l->out);
    if (s->init == INIT_UNIFORM && s->bias)
        init_uniform(v, s->bias_at, l->out, limit, (uint64_t)l->in * l->out);
    /* Missing and unknown categories add nothing at first: rows may never train their slots. */
    for (uint32_t i = 0; i < l->onehot.count; i++) {
        const struct onehot_column *c = &l->onehot.columns[i];
        init_constant(v->params + s->weight + (uint64_t)c->at * l->out,
                      (uint64_t)(c->count < FIRST_VALUE ? c->count : FIRST_VALUE) * l->out, 0);
    }
}

static struct act z_of(const struct layer *l, const struct pass *p)
{
    const struct dense_spec *s = l->spec;
    return p->training && ACT_NEEDS_Z(l->fused_act) ? pass_act(p, s->z) : no_act();
}

/* The inputs that come as ids: the others stand in x, and have a gradient. */
static struct onehot_inputs onehot_of(const struct layer *l, const struct pass *p)
{
    if (!l->onehot.count)
        return (struct onehot_inputs){0};
    return (struct onehot_inputs){.ids = p->ids,
                                  .columns = pass_table(p, l->onehot.table),
                                  .ids_ld = p->ids_ld,
                                  .column_count = l->onehot.count,
                                  .width = l->onehot.width};
}

/* Inputs that stand in x. */
static uint32_t held_of(const struct layer *l)
{
    return l->in - l->onehot.width - l->pairs.components;
}

static uint32_t takes_pairs(const struct layer *l, double *rate)
{
    (void)rate;
    const struct dense_spec *s = l->spec;
    return (uint32_t)s->units;
}

static int32_t *bins_of(const struct layer *l, const struct pass *p)
{
    return (int32_t *)(void *)reals_at(p->reals, l->pairs.bins);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct dense_spec *s = l->spec;
    uint32_t held = held_of(l);
    x = pooled_forward(l, p, x);
    struct op_dense op = {.y = pass_act(p, l->y),
                          .z = z_of(l, p),
                          .x = x,
                          .w = reals_at(p->params, s->weight),
                          .b = s->bias ? reals_at(p->params, s->bias_at) : NULL,
                          .shadow = pass_shadow(p, s->weight),
                          .onehot = onehot_of(l, p),
                          .dims = pass_dims(p, held),
                          .out = l->out,
                          .ldx = held,
                          .ldy = l->out,
                          .ldz = l->out,
                          .act = l->fused_act,
                          .exact = p->exact,
                          .slope = l->fused_slope,
                          .padding = pooled_padding(l, p)};
    op_dense(p->m, &op);
    if (l->pairs.count)
        op_ple_dense(p->m, &(struct op_ple_dense){.y = op.y,
                                                  .bins = bins_of(l, p),
                                                  .shares = reals_at(p->reals, l->pairs.shares),
                                                  .w = reals_at(p->params, l->pairs.weight),
                                                  .column = pass_table(p, l->pairs.table),
                                                  .dims = pass_dims(p, l->out),
                                                  .columns = l->pairs.count,
                                                  .ldy = l->out});
    if (l->texts.count)
        texts_forward(&l->texts, p, (struct text_place){op.y, l->out, l->out, 0, false});
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
    uint32_t held = held_of(l);
    struct pooled_grad way = pooled_back(l, p, x, dx, add);
    op_dense_back(p->m, &(struct op_dense_back){.dx = way.dx,
                                                .dw = reals_at(p->grads, s->weight),
                                                .db = grads_of_bias(s, p),
                                                .dy = dy,
                                                .y = pass_act(p, l->y),
                                                .z = z_of(l, p),
                                                .x = way.x,
                                                .w = reals_at(p->params, s->weight),
                                                .shadow = pass_shadow(p, s->weight),
                                                .now = p->now,
                                                .onehot = onehot_of(l, p),
                                                .dims = pass_dims(p, held),
                                                .out = l->out,
                                                .ldx = held,
                                                .ldy = l->out,
                                                .ldz = l->out,
                                                .lddx = held,
                                                .lddy = l->out,
                                                .act = l->fused_act,
                                                .add_dx = way.add,
                                                .more = p->more,
                                                .slope = l->fused_slope,
                                                .padding = pooled_padding(l, p)});
    pooled_end(l, p, way.dx, x, dx, add);
    if (l->pairs.count)
        op_ple_dense_back(p->m,
                          &(struct op_ple_dense_back){
                              .dw = reals_at(p->grads, l->pairs.weight),
                              .dy = dy,
                              .bins = bins_of(l, p),
                              .shares = reals_at(p->reals, l->pairs.shares),
                              .column = pass_table(p, l->pairs.table),
                              .dims = pass_dims(p, l->out),
                              .columns = l->pairs.count,
                              .lddy = l->out,
                              .more = p->more});
    if (l->texts.count)
        texts_backward(&l->texts, p, (struct text_place){dy, l->out, l->out, 0, false});
}

const struct layer_type layer_dense = {
    .name = "dense",
    .summary = "Every output is a weighted sum of all inputs.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct dense_spec),
    .answers = true,
    .takes_ids = true,
    .takes_pairs = takes_pairs,
    .takes_act = true,
    .takes_pool = true,
    .stacks = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};

/* --- ntk_dense, of RealMLP (Holzmueller et al., 2024): y = act(x v / sqrt(in) + b), where v has
 * deviation 1 and the optimiser moves v. w = v / sqrt(in) is kept and stored, so that answering is
 * dense's; plan_rates makes the steps v's --- */

enum ntk_init { NTK_DATA, NTK_NORMAL, NTK_ZERO };
static const char *const ntk_init_words[] = {"data", "normal", "zero", NULL};
static const struct option ntk_options[] = {
    LAYER_TYPE_ROW("ntk_dense"),
    {OPT_ROW(struct dense_spec, units, OPT_INT, NULL), .low = 1, .high = (double)LAYER_MOST_UNITS,
     .help = "The number of outputs."},
    {OPT_ROW(struct dense_spec, bias, OPT_BOOL, "true"),
     .help = "Adds a bias to every output."},
    {OPT_ROW(struct dense_spec, init, OPT_WORD, "\"data\""), .flags = OPT_TRAINING,
     .words = ntk_init_words,
     .help = "The initial weights. normal: normal numbers, divided by the root of the number of "
             "inputs. data: normal, then scaled so that every output has deviation 1 on the rows "
             "of the first batch. zero: 0."},
    {OPT_ROW(struct dense_spec, bias_init, OPT_WORD, "\"data\""), .flags = OPT_TRAINING,
     .words = ntk_init_words,
     .help = "The initial bias. data: minus a random mean of the outputs of 5 rows, so that zero "
             "lies inside the data; normal: normal numbers; zero: 0."},
    {OPT_ROW(struct dense_spec, bias_rate, OPT_NUMBER, "0.1"), .flags = OPT_TRAINING | OPT_OPEN_LOW,
     .low = 0, .high = 1000,
     .help = "The factor on the learning rate of the bias."},
    {0},
};
static const char *const ntk_examples[] = {
    "{\"type\": \"ntk_dense\", \"units\": 5}",
    "{\"type\": \"ntk_dense\", \"units\": 3, \"init\": \"normal\", \"bias_init\": \"normal\"}",
    NULL,
};

static void ntk_init(const struct layer *l, const struct first_values *v)
{
    const struct dense_spec *s = l->spec;
    uint64_t count = (uint64_t)l->in * l->out;
    if (s->init != NTK_ZERO)
        init_normal(v, s->weight, count, 1 / sqrt((double)l->in), 0);
    if (s->bias && s->bias_init == NTK_NORMAL)
        init_normal(v, s->bias_at, l->out, 1, count);
}

/* Output j of every row, without a bias. */
static void outputs_of(const struct layer *l, const struct fit_sample *x, const real *w,
                       uint32_t j, double *z)
{
    for (uint32_t r = 0; r < x->rows; r++) {
        z[r] = 0;
        for (uint32_t i = 0; i < x->width; i++)
            z[r] += (double)x->x[(size_t)r * x->width + i] * (double)w[(size_t)i * l->out + j];
    }
}

static double deviation_of(const double *z, uint32_t rows)
{
    double mean = 0, square = 0;
    for (uint32_t r = 0; r < rows; r++)
        mean += z[r] / rows;
    for (uint32_t r = 0; r < rows; r++)
        square += (z[r] - mean) * (z[r] - mean) / rows;
    return sqrt(square);
}

/* A mean of 5 values of random rows, with random weights: exponential ones, divided by their
 * sum. */
static double random_mean(const struct layer *l, const struct fit_sample *x, uint32_t j,
                          const double *z)
{
    enum { ROWS = 5 };
    uint64_t first = (uint64_t)l->in * l->out + 2 * (uint64_t)ROWS * j;
    uint32_t key = l->position | x->model << 16;
    double sum = 0, weights = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        uint32_t row = rng_bits(x->seed, first + 2 * i, key, 0, RNG_INIT) % x->rows;
        double weight = -log(1 - rng_uniform(x->seed, first + 2 * i + 1, key, 0, RNG_INIT));
        sum += weight * z[row];
        weights += weight;
    }
    return weights > 0 ? sum / weights : 0;
}

static void ntk_fit(const struct layer *l, const struct fit_sample *x, real *params, real *buffers)
{
    const struct dense_spec *s = l->spec;
    real *w = params + s->weight;
    (void)buffers;
    if (!x->rows)
        return;
    double *z = mem_alloc(x->rows, sizeof *z);
    for (uint32_t j = 0; j < l->out; j++) {
        outputs_of(l, x, w, j, z);
        double deviation = s->init == NTK_DATA ? deviation_of(z, x->rows) : 1;
        double factor = deviation > 1e-30 ? 1 / deviation : 1; /* equal outputs stay */
        for (uint32_t i = 0; i < x->width; i++)
            w[(size_t)i * l->out + j] = (real)((double)w[(size_t)i * l->out + j] * factor);
        if (s->bias && s->bias_init == NTK_DATA)
            params[s->bias_at + j] = (real)(-factor * random_mean(l, x, j, z));
    }
    mem_free(z);
}

const struct layer_type layer_ntk_dense = {
    .name = "ntk_dense",
    .summary = "Dense in NTK parametrisation, as in RealMLP: learning rates do not depend on the "
               "number of inputs.",
    .options = ntk_options,
    .examples = ntk_examples,
    .spec_size = sizeof(struct dense_spec),
    .of = LAYER_OF_ROWS,
    .answers = true,
    .takes_act = true,
    .stacks = true,
    .plan = plan,
    .init = ntk_init,
    .fit = ntk_fit,
    .forward = forward,
    .backward = backward,
};
