/* act.c - the activations: one function of every value, without parameters. A dense
 * layer computes the one after it itself (layer.c, fuse); here they stand alone. */
#include <stddef.h>

#include "model/layer.h"

struct act_spec {
    int type;
    double slope; /* leaky_relu: slope, elu: alpha */
};

double act_slope(const struct layer *l)
{
    const struct act_spec *s = l->spec;
    return s->slope;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    (void)e;
    l->y = plan_acts(p, l->out);
    return true;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    struct op_act op = {.y = pass_act(p, l->y),
                        .x = x,
                        .dims = pass_dims(p, l->in),
                        .ldx = l->in,
                        .ldy = l->in,
                        .act = l->type->act,
                        .exact = !p->training,
                        .slope = act_slope(l)};
    op_act(p->m, &op);
    return op.y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    if (dx.at)
        op_act_back(p->m, &(struct op_act_back){.dx = dx,
                                                .dy = dy,
                                                .x = x,
                                                .dims = pass_dims(p, l->in),
                                                .ldx = l->in,
                                                .lddx = l->in,
                                                .lddy = l->in,
                                                .act = l->type->act,
                                                .add_dx = add,
                                                .slope = act_slope(l)});
}

#define SIMPLE(word, kind, text)                                                                   \
    static const struct option word##_options[] = {LAYER_TYPE_ROW(#word), {0}};                    \
    static const char *const word##_examples[] = {"{\"type\": \"" #word "\"}", NULL};              \
    const struct layer_type layer_##word = {                                                       \
        .name = #word,                                                                             \
        .summary = text,                                                                           \
        .options = word##_options,                                                                 \
        .examples = word##_examples,                                                               \
        .spec_size = sizeof(struct act_spec),                                                      \
        .act = kind,                                                                               \
        .stacks = true,                                                                            \
        .plan = plan,                                                                              \
        .forward = forward,                                                                        \
        .backward = backward,                                                                      \
    };

SIMPLE(relu, ACT_RELU, "max(x, 0).")
SIMPLE(gelu, ACT_GELU, "x times the normal distribution function of x (the exact one).")
SIMPLE(silu, ACT_SILU, "x sigmoid(x), also called swish.")
SIMPLE(selu, ACT_SELU,
       "A scaled elu that keeps mean 0 and deviation 1 through dense layers of init lecun.")
SIMPLE(tanh, ACT_TANH, "The hyperbolic tangent: between -1 and 1.")
SIMPLE(sigmoid, ACT_SIGMOID, "1 / (1 + exp(-x)): between 0 and 1.")
SIMPLE(mish, ACT_MISH, "x tanh(log(1 + exp(x))).")

static const struct option leaky_relu_options[] = {
    LAYER_TYPE_ROW("leaky_relu"),
    {OPT_ROW(struct act_spec, slope, OPT_NUMBER, "0.01"), .flags = OPT_OPEN_HIGH, .low = 0,
     .high = 1,
     .help = "The factor on negative values."},
    {0},
};
static const char *const leaky_relu_examples[] = {
    "{\"type\": \"leaky_relu\"}",
    "{\"type\": \"leaky_relu\", \"slope\": 0.3}",
    NULL,
};
const struct layer_type layer_leaky_relu = {
    .name = "leaky_relu",
    .summary = "x, or slope times x below zero.",
    .options = leaky_relu_options,
    .examples = leaky_relu_examples,
    .spec_size = sizeof(struct act_spec),
    .act = ACT_LEAKY_RELU,
    .stacks = true,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};

static const struct option elu_options[] = {
    LAYER_TYPE_ROW("elu"),
    {OPT_ROW_AS("alpha", struct act_spec, slope, OPT_NUMBER, "1"), .low = 0, .high = 100,
     .help = "Large negative values approach minus alpha."},
    {0},
};
static const char *const elu_examples[] = {
    "{\"type\": \"elu\"}",
    "{\"type\": \"elu\", \"alpha\": 0.4}",
    NULL,
};
const struct layer_type layer_elu = {
    .name = "elu",
    .summary = "x, or alpha (exp(x) - 1) below zero.",
    .options = elu_options,
    .examples = elu_examples,
    .spec_size = sizeof(struct act_spec),
    .act = ACT_ELU,
    .stacks = true,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
