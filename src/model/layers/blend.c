/* blend.c - scale and blend, the elementwise layers with a weight a column of RealMLP (Holzmueller
 * et al., 2024): y = w x, and y = x + w (f(x) - x) with an activation f. */
#include <stddef.h>

#include "model/layer.h"

struct blend_spec {
    int type, act;   /* act: an index of act_words, of blend */
    double rate;     /* the factor on the learning rate of the weight, and on its decay */
    uint64_t weight; /* planned: the offset of the parameter */
};

#define RATE_ROW(standard)                                                                         \
    {                                                                                              \
        OPT_ROW(struct blend_spec, rate, OPT_NUMBER, standard),                                    \
        .flags = OPT_TRAINING | OPT_OPEN_LOW, .low = 0, .high = 1000,                              \
        .help = "The factor on the learning rate of the weights, and on their weight decay."       \
    }

static const struct option scale_options[] = {LAYER_TYPE_ROW("scale"), RATE_ROW("6"), {0}};
static const char *const scale_examples[] = {
    "{\"type\": \"scale\"}",
    "{\"type\": \"scale\", \"rate\": 1}",
    NULL,
};

static const char *const act_words[] = {
#define ACT(NAME, name, ...) #name,
#include "backend/acts.def"
    NULL,
};
static const struct option blend_options[] = {
    LAYER_TYPE_ROW("blend"),
    {OPT_ROW_AS("activation", struct blend_spec, act, OPT_WORD, "\"selu\""), .words = act_words,
     .help = "The activation f, with its default options."},
    RATE_ROW("0.1"),
    {0},
};
static const char *const blend_examples[] = {
    "{\"type\": \"blend\"}",
    "{\"type\": \"blend\", \"activation\": \"mish\", \"rate\": 0.5}",
    "{\"type\": \"blend\", \"activation\": \"elu\"}",
    NULL,
};

static uint32_t act_of(const struct layer *l)
{
    const struct blend_spec *s = l->spec;
    return l->type == &layer_scale ? (uint32_t)ACT_NONE : (uint32_t)s->act + 1;
}

/* The defaults of leaky_relu and elu; the other activations take no number. */
static double slope_of(const struct layer *l)
{
    return act_of(l) == ACT_LEAKY_RELU ? 0.01 : 1;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct blend_spec *s = l->spec;
    (void)e;
    s->weight = plan_param(p, "weight", SHAPE1(l->in), PARAM_WEIGHT);
    plan_rates(p, s->rate, 1);
    l->y = plan_acts(p, l->out);
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct blend_spec *s = l->spec;
    init_constant(v->params + s->weight, l->in, 1);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct blend_spec *s = l->spec;
    struct op_blend op = {.y = pass_act(p, l->y),
                          .x = x,
                          .w = reals_at(p->params, s->weight),
                          .dims = pass_dims(p, l->in),
                          .ldx = l->in,
                          .ldy = l->in,
                          .act = act_of(l),
                          .slope = slope_of(l)};
    op_blend(p->m, &op);
    return op.y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct blend_spec *s = l->spec;
    op_blend_back(p->m, &(struct op_blend_back){.dx = dx,
                                                .dw = reals_at(p->grads, s->weight),
                                                .dy = dy,
                                                .x = x,
                                                .w = reals_at(p->params, s->weight),
                                                .dims = pass_dims(p, l->in),
                                                .ldx = l->in,
                                                .lddx = l->in,
                                                .lddy = l->in,
                                                .act = act_of(l),
                                                .add_dx = add,
                                                .more = p->more,
                                                .slope = slope_of(l)});
}

const struct layer_type layer_scale = {
    .name = "scale",
    .summary = "Every column times a weight of its own, which starts at 1.",
    .options = scale_options,
    .examples = scale_examples,
    .spec_size = sizeof(struct blend_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};

const struct layer_type layer_blend = {
    .name = "blend",
    .summary = "x + w (f(x) - x) with an activation f, and a weight w of every column, which "
               "starts at 1.",
    .options = blend_options,
    .examples = blend_examples,
    .spec_size = sizeof(struct blend_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
