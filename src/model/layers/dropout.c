/* dropout.c - in training, values are zeroed at random and the others scaled up (Srivastava et al.,
 * 2014); prediction leaves it out. */
#include <stddef.h>

#include "model/layer.h"

struct dropout_spec {
    int type;
    double p;
    bool keeps; /* planned: the machine does; false: it draws again */
    uint64_t kept;
};

static const struct option options[] = {
    LAYER_TYPE_ROW("dropout"),
    {OPT_ROW(struct dropout_spec, p, OPT_NUMBER, "0.1"), .flags = OPT_OPEN_HIGH | OPT_TRAINING,
     .low = 0, .high = 1,
     .help = "The probability that a value is zeroed in training; the others are multiplied by 1 "
             "/ (1 - p)."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"dropout\"}",
    "{\"type\": \"dropout\", \"p\": 0.5}",
    "{\"type\": \"dropout\", \"p\": 0}",
    NULL,
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    (void)e;
    struct dropout_spec *s = l->spec;
    l->skipped = !p->training || s->p <= 0;
    if (l->skipped)
        return true;
    l->y = plan_acts(p, l->out);
    s->keeps = plan_need(p, OP_dropout,
                         &(struct op_dropout){
                             .rows = p->rows * p->at.steps, .steps = 1, .width = l->in}, &s->kept);
    return true;
}

/* Forward and backward are one rule: the same draws, keyed by row, column, layer and step. */
static void issue(const struct layer *l, struct pass *p, struct act to, struct act from,
                  bool back, bool add)
{
    const struct dropout_spec *s = l->spec;
    void *kept = s->keeps ? reals_at(p->reals, s->kept) : NULL;
    op_dropout(p->m, &(struct op_dropout){.y = to,
                                          .kept = kept,
                                          .x = from,
                                          .now = p->now,
                                          .schedule = p->schedule,
                                          .dims = pass_dims(p, l->in),
                                          .ldx = l->in,
                                          .ldy = l->in,
                                          .layer = l->position,
                                          .micro = p->micro,
                                          .threshold = (uint32_t)(s->p * 0x1p32),
                                          .add = add,
                                          .kept_known = back,
                                          .scale = 1 / (1 - s->p)});
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    struct act y = pass_act(p, l->y);
    issue(l, p, y, x, false, false);
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    (void)x;
    if (dx.at)
        issue(l, p, dx, dy, true, add);
}

const struct layer_type layer_dropout = {
    .name = "dropout",
    .summary = "Zeroes values at random in training, against overfitting.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct dropout_spec),
    .stacks = true,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
