/* residual.c - y = x + f(x), where f is a list of layers (He et al., 2016); when f changes the
 * width, y = x w + f(x). */
#include <stddef.h>

#include "model/layer.h"
#include "model/layers/product.h"

struct residual_spec {
    int type;
    const struct json *layers; /* read into children; not looked at afterwards */
    /* planned, if the width changes */
    uint64_t weight;            /* a parameter */
    struct act_place projected; /* x w */
};

static const struct option options[] = {
    LAYER_TYPE_ROW("residual"),
    {OPT_ROW(struct residual_spec, layers, OPT_CUSTOM, NULL),
     .schema = "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/layer\"}}",
     .help = "The layers whose output is added to the input of the block. If they change the "
             "width, a matrix of weights brings the input to it."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": "
    "\"tanh\"}]}",
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", "
    "\"units\": 6}, "
    "{\"type\": \"gelu\"}, {\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": "
    "6}]}]}",
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"batch_norm\"}, {\"type\": \"silu\"}, "
    "{\"type\": \"dropout\"}]}",
    NULL,
};

static bool check(const struct layer *l, const struct json_doc *doc, const struct json *at,
                  const char *path, struct err *e)
{
    if (l->child_count > 0)
        return true;
    json_fail(doc, json_get(at, "layers"), e, ERR_CONFIG_EMPTY, "`%s.layers` is empty", path);
    return err_help(e, "name at least one layer, or leave the block out");
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct residual_spec *s = l->spec;
    if (l->pooled.on)
        l->children[l->child_count - 1]->pooled = l->pooled;
    if (!layer_list_plan(l->children, l->child_count, l->in, p, &l->out, e))
        return false;
    if (l->pooled.on)
        pooled_plan(l, p, l->out != l->in);
    if (l->out != l->in) {
        s->weight = plan_param(p, "weight", SHAPE2(l->in, l->out), PARAM_WEIGHT);
        s->projected = plan_acts(p, l->out);
        p->flops += 2 * (uint64_t)l->in * l->out * p->at.steps;
    }
    l->y = plan_acts(p, l->out);
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct residual_spec *s = l->spec;
    if (l->out != l->in)
        init_uniform(v, s->weight, (uint64_t)l->in * l->out,
                     init_limit(INIT_LECUN, ACT_NONE, l->in, l->out), 0);
}

static struct product projection(const struct layer *l, const struct pass *p)
{
    const struct residual_spec *s = l->spec;
    return (struct product){.weight = s->weight, .no_bias = true, .in = l->in, .out = l->out,
                            .padding = pooled_padding(l, p)};
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct residual_spec *s = l->spec;
    struct act f = layer_list_forward(l->children, l->child_count, p, x);
    struct act straight = pooled_forward(l, p, x);
    if (l->out != l->in) {
        struct act projected = pass_act(p, s->projected);
        const struct product d = projection(l, p);
        product_forward(&d, p, projected, straight);
        straight = projected;
    }
    struct op_add op = {.y = pass_act(p, l->y),
                        .a = straight,
                        .b = f,
                        .dims = pass_dims(p, l->out),
                        .ldy = l->out,
                        .lda = l->out,
                        .ldb = l->out};
    op_add(p->m, &op);
    return op.y;
}

/* The straight way first: the layers may overwrite dy, and then add to dx. */
static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    struct pooled_grad way = pooled_back(l, p, x, dx, add);
    const struct product d = projection(l, p);
    if (l->out != l->in)
        product_back(&d, p, way.x, dy, way.dx, way.add);
    else if (!l->pooled.on && dx.at)
        op_add(p->m, &(struct op_add){.y = dx,
                                      .a = dy,
                                      .b = add ? dx : no_act(),
                                      .dims = pass_dims(p, l->in),
                                      .ldy = l->in,
                                      .lda = l->in,
                                      .ldb = l->in});
    pooled_end(l, p, l->out == l->in ? dy : way.dx, x, dx, add);
    layer_list_backward(l->children, l->child_count, p, x, dy, dx, true, l->in);
}

const struct layer_type layer_residual = {
    .name = "residual",
    .summary = "Adds the output of its layers to their input.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct residual_spec),
    .nests = true,
    .takes_pool = true,
    .check = check,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
