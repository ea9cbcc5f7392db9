/* attention.c - self attention of several heads (Vaswani et al., 2017): q, k and v of every step
 * are one product, op_attention is between the steps, and another product joins the heads.
 * With rotary positions (Su et al., 2021) q and k are turned first. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "model/layer.h"
#include "model/layers/product.h"

enum { MOST_STEPS = 4096, MOST_HEAD = 1024 }; /* of the operation's room */
struct attention_spec {
    int type;
    int64_t heads;
    bool causal, rotary;
    /* planned */
    uint64_t weight, bias, output, output_bias, rope_table, room;
    bool keeps; /* the way forward leaves something for the way back */
    uint64_t kept;
    /* q, k and v; the heads' outputs; their gradients */
    struct act_place qkv, context, dqkv, dcontext;
};

static const struct option options[] = {
    LAYER_TYPE_ROW("attention"),
    {OPT_ROW(struct attention_spec, heads, OPT_INT, "4"), .low = 1, .high = 1024,
     .help = "The number of heads, which divide the width: each attends on its own."},
    {OPT_ROW(struct attention_spec, causal, OPT_BOOL, "false"),
     .help = "A step sees itself and the steps before it, and none after it."},
    {OPT_ROW(struct attention_spec, rotary, OPT_BOOL, "false"),
     .help = "Positions turn the numbers that are compared, so that their distance counts. The "
             "columns of a head are an even number then."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"attention\", \"heads\": 1}",
    "{\"type\": \"attention\", \"heads\": 1, \"causal\": true}",
    NULL,
};

static uint32_t heads_of(const struct layer *l)
{
    return (uint32_t)((const struct attention_spec *)l->spec)->heads;
}

/* cos and sin of the angle of each pair at each step. */
static uint64_t plan_rope_table(struct planner *p, uint32_t each)
{
    uint32_t half = each / 2;
    size_t count = (size_t)p->at.steps * 2 * half;
    real *table = mem_alloc(count, sizeof *table);
    for (uint32_t t = 0; t < p->at.steps; t++)
        for (uint32_t j = 0; j < half; j++) {
            double angle = t / pow(10000, (double)j / half);
            table[((size_t)t * half + j) * 2] = (real)cos(angle);
            table[((size_t)t * half + j) * 2 + 1] = (real)sin(angle);
        }
    uint64_t at = plan_table(p, table, count * sizeof *table);
    mem_free(table);
    return at;
}

static void plan_way_back(const struct layer *l, struct attention_spec *s, struct planner *p)
{
    s->dqkv = plan_back(p, 3 * l->in, p->at.steps);
    s->dcontext = plan_back(p, l->in, p->at.steps);
    s->room = plan_reals(p, (uint64_t)p->rows * p->at.steps * 2 * heads_of(l));
    s->keeps = plan_need(p, OP_attention,
                         &(struct op_attention){.dims = {.rows = p->rows, .steps = p->at.steps,
                                                         .width = l->in, .shards = 1},
                                                .heads = heads_of(l)},
                         &s->kept);
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct attention_spec *s = l->spec;
    uint32_t each = l->in / heads_of(l);
    if (l->in % heads_of(l))
        return layer_refuse(l, p, e, "has heads that do not divide the width of its input",
                            "choose another number of heads, or put a dense layer before it");
    if (s->rotary && each % 2)
        return layer_refuse(l, p, e, "turns pairs, and a head has an odd number of columns",
                            "choose another number of heads, or another width");
    if (p->at.steps > MOST_STEPS || each > MOST_HEAD)
        plan_refuse(p, "%d steps, or %d columns of a head", MOST_STEPS, MOST_HEAD);
    s->weight = plan_param(p, "weight", SHAPE2(l->in, 3 * l->in), PARAM_WEIGHT);
    s->bias = plan_param(p, "bias", SHAPE1(3 * l->in), PARAM_BIAS);
    s->output = plan_param(p, "output", SHAPE2(l->in, l->in), PARAM_WEIGHT);
    s->output_bias = plan_param(p, "output_bias", SHAPE1(l->in), PARAM_BIAS);
    s->qkv = plan_acts(p, 3 * l->in);
    s->context = plan_acts(p, l->in);
    l->y = plan_acts(p, l->in);
    s->keeps = false;
    if (p->training)
        plan_way_back(l, s, p);
    if (s->rotary)
        s->rope_table = plan_rope_table(p, each);
    p->flops += 8 * (uint64_t)l->in * l->in + 4 * (uint64_t)p->at.steps * l->in;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct attention_spec *s = l->spec;
    const uint64_t square = (uint64_t)l->in * l->in;
    double limit = init_limit(INIT_XAVIER, ACT_NONE, l->in, l->in);
    init_uniform(v, s->weight, 3 * square, limit, 0);
    init_uniform(v, s->output, square, limit, 3 * square);
}

static void rotate(const struct layer *l, struct pass *p, struct act x, bool back)
{
    const struct attention_spec *s = l->spec;
    if (s->rotary)
        op_rotary(p->m, &(struct op_rotary){.x = x,
                                            .turn = pass_table(p, s->rope_table),
                                            .dims = pass_dims(p, 2 * l->in),
                                            .ld = 3 * l->in,
                                            .half = l->in / heads_of(l) / 2,
                                            .back = back});
}

/* To q, k and v. */
static struct product inner(const struct layer *l, const struct pass *p)
{
    const struct attention_spec *s = l->spec;
    return (struct product){.weight = s->weight, .bias = s->bias, .in = l->in, .out = 3 * l->in,
                            .padding = pass_padding(p)};
}

/* From the heads. */
static struct product outer(const struct layer *l, const struct pass *p)
{
    const struct attention_spec *s = l->spec;
    return (struct product){.weight = s->output, .bias = s->output_bias, .in = l->in,
                            .out = l->in, .padding = pass_padding(p)};
}

static void *kept_of(const struct layer *l, const struct pass *p)
{
    const struct attention_spec *s = l->spec;
    return s->keeps ? reals_at(p->reals, s->kept) : NULL;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct attention_spec *s = l->spec;
    const struct product in = inner(l, p), out = outer(l, p);
    struct act qkv = pass_act(p, s->qkv), context = pass_act(p, s->context), y = pass_act(p, l->y);
    product_forward(&in, p, qkv, x);
    rotate(l, p, qkv, false);
    op_attention(p->m, &(struct op_attention){.kept = kept_of(l, p),
                                              .y = context,
                                              .x = qkv,
                                              .length = p->length,
                                              .dims = pass_dims(p, l->in),
                                              .heads = heads_of(l),
                                              .causal = s->causal,
                                              .exact = p->exact});
    product_forward(&out, p, y, context);
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct attention_spec *s = l->spec;
    const struct product in = inner(l, p), out = outer(l, p);
    struct act dqkv = pass_act(p, s->dqkv), dcontext = pass_act(p, s->dcontext);
    product_back(&out, p, pass_act(p, s->context), dy, dcontext, false);
    op_attention_back(p->m, &(struct op_attention_back){.kept = kept_of(l, p),
                                                        .dx = dqkv,
                                                        .room = reals_at(p->reals, s->room),
                                                        .dy = dcontext,
                                                        .x = pass_act(p, s->qkv),
                                                        .length = p->length,
                                                        .dims = pass_dims(p, l->in),
                                                        .heads = heads_of(l),
                                                        .causal = s->causal});
    rotate(l, p, dqkv, true);
    product_back(&in, p, x, dqkv, dx, add);
}

const struct layer_type layer_attention = {
    .name = "attention",
    .summary = "Self attention: every step becomes a mean of all steps, weighted by what they "
               "have in common.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct attention_spec),
    .of = LAYER_OF_STEPS,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
