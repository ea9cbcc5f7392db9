/* pool.c - the steps of a sequence become one: their mean, the largest of each column, the last, a
 * class token's, or a mean whose weights are learned: the softmax of a score, x w, of each step. */
#include <stddef.h>

#include "model/layer.h"
#include "model/layers/product.h"

enum { POOL_ATTENTION = POOL_KINDS };
struct pool_spec {
    int type, kind; /* enum pool_kind, or this one */
    /* planned, of attention */
    uint64_t weight, share;
    struct act_place score, dscore;
};

static const char *const kind_words[] = {"mean", "max", "last", "cls", "attention", NULL};
static const struct option options[] = {
    LAYER_TYPE_ROW("pool"),
    {OPT_ROW(struct pool_spec, kind, OPT_WORD, "\"mean\""), .words = kind_words,
     .help = "What becomes of the steps of a sequence, padding not counted: their mean, the "
             "largest value of each column, the last step, the first one (cls: of a class_token), "
             "or a mean with weights that are learned (attention)."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"pool\"}",
    "{\"type\": \"pool\", \"kind\": \"max\"}",
    "{\"type\": \"pool\", \"kind\": \"last\"}",
    "{\"type\": \"pool\", \"kind\": \"cls\"}",
    "{\"type\": \"pool\", \"kind\": \"attention\"}",
    NULL,
};

static uint32_t kind_of(const struct layer *l)
{
    return (uint32_t)((const struct pool_spec *)l->spec)->kind;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct pool_spec *s = l->spec;
    (void)e;
    if (kind_of(l) == POOL_ATTENTION) {
        s->weight = plan_param(p, "weight", SHAPE2(l->in, 1), PARAM_WEIGHT);
        s->score = plan_plain(p, 1);
        s->share = plan_reals(p, (uint64_t)p->rows * p->at.steps);
        if (p->training)
            s->dscore = plan_plain(p, 1);
        p->flops += 4 * (uint64_t)l->in;
    }
    plan_one_step(p);
    l->y = plan_plain(p, l->out);
    return true;
}

/* All steps weigh the same at first, nearly. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct pool_spec *s = l->spec;
    if (kind_of(l) == POOL_ATTENTION)
        init_uniform(v, s->weight, l->in, init_limit(INIT_SMALL, ACT_NONE, l->in, 1), 0);
}

static struct product scores(const struct layer *l, const struct pass *p)
{
    const struct pool_spec *s = l->spec;
    return (struct product){.weight = s->weight, .no_bias = true, .in = l->in, .out = 1,
                            .padding = pass_padding(p)};
}

static struct act weigh(const struct layer *l, struct pass *p, struct act x)
{
    const struct pool_spec *s = l->spec;
    struct act y = pass_act(p, l->y), score = pass_act(p, s->score);
    const struct product d = scores(l, p);
    product_forward(&d, p, score, x);
    op_weigh(p->m, &(struct op_weigh){.y = y,
                                      .share = reals_at(p->reals, s->share),
                                      .x = x,
                                      .score = score,
                                      .length = p->length,
                                      .dims = pass_dims(p, l->in)});
    return y;
}

static void weigh_back(const struct layer *l, struct pass *p, struct act x, struct act dy,
                       struct act dx, bool add)
{
    const struct pool_spec *s = l->spec;
    struct act dscore = pass_act(p, s->dscore);
    op_weigh_back(p->m, &(struct op_weigh_back){.dx = dx,
                                                .dscore = dscore,
                                                .dy = dy,
                                                .x = x,
                                                .share = reals_at(p->reals, s->share),
                                                .length = p->length,
                                                .dims = pass_dims(p, l->in),
                                                .add_dx = add});
    const struct product d = scores(l, p);
    product_back(&d, p, x, dscore, dx, true);
}

/* The mean or one step, by operations that keep nothing. */
static void pool_steps(struct pass *p, uint32_t kind, uint32_t width, struct act x, struct act y)
{
    op_pool(p->m, &(struct op_pool){.y = y,
                                    .x = x,
                                    .length = p->length,
                                    .dims = pass_dims(p, width),
                                    .ldx = width,
                                    .ldy = width,
                                    .kind = kind});
}

static void pool_steps_back(struct pass *p, uint32_t kind, uint32_t width, struct act x,
                            struct act dy, struct act dx, bool add)
{
    op_pool_back(p->m, &(struct op_pool_back){.dx = dx,
                                              .dy = dy,
                                              .x = x,
                                              .length = p->length,
                                              .dims = pass_dims(p, width),
                                              .ldx = width,
                                              .lddx = width,
                                              .lddy = width,
                                              .kind = kind,
                                              .add_dx = add});
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    struct act y = pass_act(p, l->y);
    if (kind_of(l) == POOL_ATTENTION)
        return weigh(l, p, x);
    pool_steps(p, kind_of(l), l->in, x, y);
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    if (kind_of(l) == POOL_ATTENTION)
        weigh_back(l, p, x, dy, dx, add);
    else if (dx.at)
        pool_steps_back(p, kind_of(l), l->in, x, dy, dx, add);
}

/* --- computed before the layer that it follows --- */

bool pool_commutes(const struct layer *l, uint32_t *kind)
{
    if (l->type != &layer_pool || kind_of(l) == POOL_ATTENTION || kind_of(l) == POOL_MAX)
        return false;
    *kind = kind_of(l);
    return true;
}

void pooled_plan(struct layer *l, struct planner *p, bool gradient)
{
    l->pooled.length = plan_kept(p, (uint64_t)p->rows * sizeof(int32_t));
    plan_one_step(p);
    l->pooled.x = plan_plain(p, l->in);
    if (p->training && gradient)
        l->pooled.dx = plan_plain(p, l->in);
}

struct act pooled_forward(const struct layer *l, struct pass *p, struct act x)
{
    if (!l->pooled.on)
        return x;
    struct act y = pass_act(p, l->pooled.x);
    p->dims.steps = pass_steps(p, &l->from);
    pool_steps(p, l->pooled.kind, l->in, x, y);
    op_lengths(p->m, &(struct op_lengths){.to = lengths_at(p, l->pooled.length),
                                          .from = p->length,
                                          .dims = pass_dims(p, 1),
                                          .divide = l->from.steps});
    p->dims.steps = 1;
    return y;
}

struct padding pooled_padding(const struct layer *l, const struct pass *p)
{
    struct padding empty = {lengths_at(p, l->pooled.length), 1, 0};
    return l->pooled.on ? empty : pass_padding(p);
}

struct pooled_grad pooled_back(const struct layer *l, struct pass *p, struct act x, struct act dx,
                               bool add)
{
    if (!l->pooled.on)
        return (struct pooled_grad){x, dx, add};
    p->dims.steps = 1;
    return (struct pooled_grad){pass_act(p, l->pooled.x),
                                dx.at ? pass_act(p, l->pooled.dx) : no_act(), false};
}

void pooled_end(const struct layer *l, struct pass *p, struct act from, struct act x,
                struct act dx, bool add)
{
    if (!l->pooled.on || !dx.at)
        return;
    p->dims.steps = pass_steps(p, &l->from);
    pool_steps_back(p, l->pooled.kind, l->in, x, from, dx, add);
}

const struct layer_type layer_pool = {
    .name = "pool",
    .summary = "Makes one step of all steps of a sequence.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct pool_spec),
    .of = LAYER_OF_STEPS,
    .ends_steps = true,
    .carries = true,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
