/* recur.c - lstm and gru: a layer of units that reads the steps of a sequence one by one and
 * answers at each (formulas in backend/ops_series.h). The inputs of all steps are one product; the
 * recurrence is op_recur, and its weight's gradient another product. Two directions are two
 * recurrences side by side, with the forward one's answers first. */
#include <math.h>
#include <stddef.h>

#include "model/layer.h"
#include "model/layers/product.h"

enum { DIRECTIONS = 2 };
struct recur_spec {
    int type;
    int64_t units;
    bool bidirectional;
    /* planned, for each direction */
    struct recur_way {
        uint64_t weight, recurrent, bias, recurrent_bias; /* parameters */
        struct act_place gates, before, cells;
        uint64_t carry; /* of training, in the reals */
        uint32_t state; /* data.sequence.carry_state: offset in a row's state */
        bool whole;     /* the machine trains the layer in one operation */
        uint64_t kept;  /* then: what it keeps for that, in the reals */
    } ways[DIRECTIONS];
};

#define RECUR_ROWS                                                                                 \
    {OPT_ROW(struct recur_spec, units, OPT_INT, NULL), .low = 1, .high = 1 << 16,                  \
     .help = "The number of outputs of a direction."},                                             \
    {OPT_ROW(struct recur_spec, bidirectional, OPT_BOOL, "false"),                                 \
     .help = "A second layer of as many units reads the steps from the last to the first; both "   \
             "answers stand side by side."},                                                       \
    {0}

static const struct option lstm_options[] = {LAYER_TYPE_ROW("lstm"), RECUR_ROWS};
static const char *const lstm_examples[] = {
    "{\"type\": \"lstm\", \"units\": 3}",
    "{\"type\": \"lstm\", \"units\": 2, \"bidirectional\": true}",
    NULL,
};
static const struct option gru_options[] = {LAYER_TYPE_ROW("gru"), RECUR_ROWS};
static const char *const gru_examples[] = {
    "{\"type\": \"gru\", \"units\": 3}",
    "{\"type\": \"gru\", \"units\": 2, \"bidirectional\": true}",
    NULL,
};

static uint32_t kind_of(const struct layer *l)
{
    return l->type == &layer_gru ? RECUR_GRU : RECUR_LSTM;
}
static uint32_t units_of(const struct layer *l)
{
    return (uint32_t)((const struct recur_spec *)l->spec)->units;
}
static uint32_t ways_of(const struct layer *l)
{
    return ((const struct recur_spec *)l->spec)->bidirectional ? 2 : 1;
}
/* Columns of the inputs' weight, and of the recurrent one, which has the last gates. */
static uint32_t columns_of(const struct layer *l)
{
    return RECUR_COLUMNS(kind_of(l)) * units_of(l);
}
static uint32_t first_of(const struct layer *l)
{
    return RECUR_GATES * units_of(l) - columns_of(l);
}

/* Whether the machine trains a whole layer at once, and room for what it keeps. */
static void plan_whole(const struct layer *l, struct recur_way *way, struct planner *p)
{
    way->whole = p->training && !p->features->carry &&
                 plan_need(p, OP_recur,
                           &(struct op_recur){.dims = {.rows = p->rows,
                                                       .steps = p->at.steps,
                                                       .width = units_of(l),
                                                       .shards = 1},
                                              .kind = kind_of(l),
                                              .from = {.in = l->in, .ldx = l->in}},
                           &way->kept);
    p->all_steps |= way->whole || p->features->carry;
}

static void plan_way(struct layer *l, struct recur_way *way, bool reverse, struct planner *p)
{
    static const char *const names[DIRECTIONS][4] = {
        {"weight", "recurrent", "bias", "recurrent_bias"},
        {"reverse_weight", "reverse_recurrent", "reverse_bias", "reverse_recurrent_bias"}};
    const char *const *name = names[reverse];
    uint32_t units = units_of(l), columns = columns_of(l);
    way->weight = plan_param(p, name[0], SHAPE2(l->in, columns), PARAM_WEIGHT);
    way->recurrent = plan_param(p, name[1], SHAPE2(units, columns), PARAM_WEIGHT);
    way->bias = plan_param(p, name[2], SHAPE1(columns), PARAM_BIAS);
    way->gates = plan_plain(p, RECUR_GATES * units);
    way->before = plan_plain(p, units);
    if (kind_of(l) == RECUR_GRU)
        way->recurrent_bias = plan_param(p, name[3], SHAPE1(columns), PARAM_BIAS);
    else
        way->cells = plan_plain(p, units);
    if (p->features->carry) {
        way->state = p->carried;
        p->carried += (kind_of(l) == RECUR_LSTM ? 2 : 1) * units;
    }
    if (p->training)
        way->carry = plan_reals(p, 2 * (uint64_t)p->rows * units);
    plan_whole(l, way, p);
    p->flops += 2 * ((uint64_t)l->in + units) * columns;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct recur_spec *s = l->spec;
    if (p->features->carry && s->bidirectional) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "`data.sequence.carry_state`: a bidirectional layer reads a window from its end "
                "too, where the rows behind it are not known");
        err_key(e, "data.sequence.carry_state");
        err_other(e, "model");
        return err_help(e, "set \"bidirectional\": false, or leave carry_state out");
    }
    l->out = units_of(l) * ways_of(l);
    l->y = plan_plain(p, l->out);
    for (uint32_t i = 0; i < ways_of(l); i++)
        plan_way(l, &s->ways[i], i > 0, p);
    return true;
}

/* Biases of the gate that keeps what a unit holds. Unit k begins with a memory of 1 to `steps`
 * steps, spread evenly: log(1 + (steps - 2) (k + 1/2) / units) (Tallec and Ollivier, 2018, who draw
 * the lengths at random). So some units reach as far back as a sequence does from the first step of
 * training on. */
static void init_memory(real *bias, uint64_t units, uint32_t steps)
{
    const double longest = steps > 3 ? steps - 2 : 1;
    for (uint64_t k = 0; k < units; k++)
        bias[k] = (real)log(1 + longest * ((double)k + 0.5) / (double)units);
}

/* Weights of the inputs by the rule of Glorot and Bengio (2010) for each gate, recurrent ones
 * uniform with variance 1 / units. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct recur_spec *s = l->spec;
    const uint64_t units = units_of(l), columns = columns_of(l), each = (l->in + units) * columns;
    for (uint32_t i = 0; i < ways_of(l); i++) {
        const struct recur_way *way = &s->ways[i];
        init_uniform(v, way->weight, l->in * columns,
                     init_limit(INIT_XAVIER, ACT_NONE, l->in, units), i * each);
        init_uniform(v, way->recurrent, units * columns,
                     init_limit(INIT_LECUN, ACT_NONE, units, units), i * each + l->in * columns);
        init_memory(v->params + way->bias + (kind_of(l) == RECUR_LSTM ? 1 : 2) * units, units,
                    l->from.steps);
    }
}

static real *plain(const struct pass *p, struct act_place at)
{
    return pass_act(p, at).at;
}
/* A plain activation without its first `count` columns. */
static struct act columns_from(struct act a, uint32_t count)
{
    a.at = bytes_at(a.at, count * sizeof(real));
    return a;
}

/* The inputs' part of the sums of all steps. */
static struct product of_inputs(const struct layer *l, const struct pass *p,
                                const struct recur_way *way)
{
    return (struct product){.weight = way->weight, .bias = way->bias, .in = l->in,
                            .out = columns_of(l), .ld = RECUR_GATES * units_of(l),
                            .padding = pass_padding(p)};
}

/* The state's part. */
static struct product of_state(const struct layer *l, const struct pass *p,
                               const struct recur_way *way)
{
    struct product d = of_inputs(l, p, way);
    d.weight = way->recurrent;
    d.bias = way->recurrent_bias;
    d.no_bias = kind_of(l) != RECUR_GRU;
    d.in = units_of(l);
    return d;
}

/* For a machine that adds them itself; answers are never made so. */
static struct recur_inputs inputs_of(const struct layer *l, const struct pass *p,
                                     const struct recur_way *way, struct act x)
{
    if (!way->whole || p->exact)
        return (struct recur_inputs){.in = 0};
    return (struct recur_inputs){.x = x,
                                 .shadow = pass_shadow(p, way->weight),
                                 .w = reals_at(p->params, way->weight),
                                 .b = reals_at(p->params, way->bias),
                                 .kept = reals_at(p->reals, way->kept),
                                 .in = l->in,
                                 .ldx = l->in};
}

static struct recur_state state_of(const struct pass *p, const struct recur_way *way)
{
    struct recur_state s = p->state;
    if (s.from) {
        s.from += way->state;
        s.to += way->state;
    }
    return s;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct recur_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    bool gru = kind_of(l) == RECUR_GRU;
    for (uint32_t i = 0; i < ways_of(l); i++) {
        const struct recur_way *way = &s->ways[i];
        struct recur_inputs from = inputs_of(l, p, way, x);
        const struct product sums = of_inputs(l, p, way);
        if (!from.in)
            product_forward(&sums, p, pass_act(p, way->gates), x);
        op_recur(p->m,
                 &(struct op_recur){.y = y,
                                    .gates = plain(p, way->gates),
                                    .before = plain(p, way->before),
                                    .cells = gru ? NULL : plain(p, way->cells),
                                    .u = reals_at(p->params, way->recurrent),
                                    .b = gru ? reals_at(p->params, way->recurrent_bias) : NULL,
                                    .length = p->length,
                                    .dims = pass_dims(p, units_of(l)),
                                    .ldy = l->out,
                                    .at = i * units_of(l),
                                    .kind = kind_of(l),
                                    .reverse = i > 0,
                                    .exact = p->exact,
                                    .from = from,
                                    .state = state_of(p, way)});
    }
    return y;
}

static void way_back(const struct layer *l, struct pass *p, const struct recur_way *way,
                     struct act x, struct act dx, bool add)
{
    const struct product inputs = of_inputs(l, p, way), state = of_state(l, p, way);
    struct act gates = pass_act(p, way->gates);
    product_back(&inputs, p, x, gates, dx, add);
    product_back(&state, p, pass_act(p, way->before), columns_from(gates, first_of(l)), no_act(),
                 false);
}

/* For a machine that computes them itself. */
static struct recur_gradients gradients_of(const struct layer *l, const struct pass *p,
                                           const struct recur_way *way, struct act dx, bool add)
{
    return (struct recur_gradients){
        .dx = dx,
        .dw = reals_at(p->grads, way->weight),
        .db = reals_at(p->grads, way->bias),
        .du = reals_at(p->grads, way->recurrent),
        .du_b = kind_of(l) == RECUR_GRU ? reals_at(p->grads, way->recurrent_bias) : NULL,
        .add_dx = add,
        .more = p->more,
        .now = p->now};
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct recur_spec *s = l->spec;
    bool gru = kind_of(l) == RECUR_GRU;
    for (uint32_t i = 0; i < ways_of(l); i++) {
        const struct recur_way *way = &s->ways[i];
        struct recur_inputs from = inputs_of(l, p, way, x);
        struct recur_gradients to = {.dw = NULL};
        if (from.in)
            to = gradients_of(l, p, way, dx, add || i > 0);
        op_recur_back(p->m,
                      &(struct op_recur_back){.gates = plain(p, way->gates),
                                              .carry = reals_at(p->reals, way->carry),
                                              .dy = dy,
                                              .before = plain(p, way->before),
                                              .cells = gru ? NULL : plain(p, way->cells),
                                              .u = reals_at(p->params, way->recurrent),
                                              .length = p->length,
                                              .dims = pass_dims(p, units_of(l)),
                                              .lddy = l->out,
                                              .at = i * units_of(l),
                                              .kind = kind_of(l),
                                              .reverse = i > 0,
                                              .from = from,
                                              .to = to,
                                              .y = pass_act(p, l->y),
                                              .state = state_of(p, way),
                                              .b = gru ? reals_at(p->params, way->recurrent_bias)
                                                       : NULL});
        if (!from.in)
            way_back(l, p, way, x, dx, add || i > 0);
    }
}

#define RECUR_TYPE(word, text)                                                                     \
    const struct layer_type layer_##word = {                                                       \
        .name = #word,                                                                             \
        .summary = text,                                                                           \
        .options = word##_options,                                                                 \
        .examples = word##_examples,                                                               \
        .spec_size = sizeof(struct recur_spec),                                                    \
        .of = LAYER_OF_STEPS,                                                                      \
        .whole_rows = true,                                                                        \
        .recurrent = true,                                                                         \
        .carries = true,                                                                           \
        .plan = plan,                                                                              \
        .init = init,                                                                              \
        .forward = forward,                                                                        \
        .backward = backward,                                                                      \
    }
RECUR_TYPE(lstm, "Long short-term memory: reads a sequence step by step, and answers at each.");
RECUR_TYPE(gru, "Gated recurrent units: as lstm, with fewer weights.");
