/* conv.c - conv1d: each step becomes a sum over some steps around or before it (Waibel et al.,
 * 1989), with a weight for each of these taps; dilated, causal, strided. */
#include <stddef.h>

#include "model/layer.h"

struct conv_spec {
    int type;
    int64_t units, kernel, dilation, stride;
    bool causal;
    uint64_t weight, bias; /* planned */
};

static const struct option options[] = {
    LAYER_TYPE_ROW("conv1d"),
    {OPT_ROW(struct conv_spec, units, OPT_INT, NULL), .flags = OPT_REQUIRED, .low = 1,
     .high = 1 << 15,
     .help = "The number of outputs of a step."},
    {OPT_ROW(struct conv_spec, kernel, OPT_INT, "3"), .low = 1, .high = 1024,
     .help = "How many steps an output looks at."},
    {OPT_ROW(struct conv_spec, dilation, OPT_INT, "1"), .low = 1, .high = 1 << 16,
     .help = "How far apart these steps are."},
    {OPT_ROW(struct conv_spec, stride, OPT_INT, "1"), .low = 1, .high = 1 << 16,
     .help = "Only every n-th step gets an output."},
    {OPT_ROW(struct conv_spec, causal, OPT_BOOL, "false"),
     .help = "An output looks at its own step and those before it; else as many before as behind "
             "it."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"conv1d\", \"units\": 3}",
    "{\"type\": \"conv1d\", \"units\": 2, \"kernel\": 2, \"dilation\": 2, \"causal\": true}",
    NULL,
};

static struct convolution shape_of(const struct layer *l, const struct pass *p)
{
    const struct conv_spec *s = l->spec;
    const uint32_t stride = (uint32_t)s->stride;
    int64_t reach = (s->kernel - 1) * s->dilation;
    return (struct convolution){.out = (uint32_t)s->units,
                                .kernel = (uint32_t)s->kernel,
                                .dilation = (uint32_t)s->dilation,
                                .stride = stride,
                                .before = (uint32_t)(s->causal ? reach : reach / 2),
                                .steps = (p->dims.steps + stride - 1) / stride};
}

enum { MOST_INPUTS = 1 << 15 }; /* of the operation's room */
static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct conv_spec *s = l->spec;
    (void)e;
    if (l->in > MOST_INPUTS)
        plan_refuse(p, "%d columns before conv1d", MOST_INPUTS);
    l->out = (uint32_t)s->units;
    s->weight = plan_param(p, "weight", SHAPE3((uint64_t)s->kernel, l->in, l->out), PARAM_WEIGHT);
    s->bias = plan_param(p, "bias", SHAPE1(l->out), PARAM_BIAS);
    if (s->stride > 1)
        plan_lengths(p, 0, (uint32_t)s->stride);
    l->y = plan_acts(p, l->out);
    p->flops += 2 * (uint64_t)s->kernel * l->in * l->out / (uint64_t)s->stride;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct conv_spec *s = l->spec;
    uint64_t in = (uint64_t)s->kernel * l->in;
    init_uniform(v, s->weight, in * l->out, init_limit(INIT_AUTO, l->next_act, in, l->out), 0);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct conv_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    op_conv(p->m, &(struct op_conv){.y = y,
                                    .x = x,
                                    .w = reals_at(p->params, s->weight),
                                    .b = reals_at(p->params, s->bias),
                                    .length = p->length,
                                    .dims = pass_dims(p, l->in),
                                    .c = shape_of(l, p),
                                    .exact = p->exact});
    if (s->stride > 1)
        pass_lengths(p, l->to.length, 0, (uint32_t)s->stride);
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct conv_spec *s = l->spec;
    op_conv_back(p->m, &(struct op_conv_back){.dx = dx,
                                              .dw = reals_at(p->grads, s->weight),
                                              .db = reals_at(p->grads, s->bias),
                                              .dy = dy,
                                              .x = x,
                                              .w = reals_at(p->params, s->weight),
                                              .length = p->length,
                                              .dims = pass_dims(p, l->in),
                                              .c = shape_of(l, p),
                                              .add_dx = add,
                                              .more = p->more});
}

const struct layer_type layer_conv1d = {
    .name = "conv1d",
    .summary = "Convolution: each step becomes a weighted sum of the steps around it.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct conv_spec),
    .of = LAYER_OF_STEPS,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
