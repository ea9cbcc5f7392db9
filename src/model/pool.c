/* pool.c - the steps of a sequence become one: their mean, the largest of each column, or the
 * last. */
#include <stddef.h>

#include "model/layer.h"

struct pool_spec {
    int type, kind; /* enum pool_kind */
};

static const char *const type_words[] = {"pool", NULL};
static const char *const kind_words[] = {"mean", "max", "last", NULL};
static const struct option options[] = {
    LAYER_TYPE_ROW(type_words),
    {.key = "kind",
     .type = OPT_WORD,
     .offset = offsetof(struct pool_spec, kind),
     .standard = "\"mean\"",
     .words = kind_words,
     .help = "What becomes of the steps of a sequence, padding not counted: their mean, the "
             "largest value of each column, or the last step."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"pool\"}",
    "{\"type\": \"pool\", \"kind\": \"max\"}",
    "{\"type\": \"pool\", \"kind\": \"last\"}",
    NULL,
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    (void)e;
    p->steps = 1;
    l->y = plan_plain(p, l->out);
    return true;
}

static uint32_t kind_of(const struct layer *l)
{
    return (uint32_t)((const struct pool_spec *)l->spec)->kind;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    struct act y = pass_act(p, l->y);
    op_pool(p->m, &(struct op_pool){.y = y,
                                    .x = x,
                                    .length = p->length,
                                    .dims = pass_dims(p, l->in),
                                    .ldx = l->in,
                                    .ldy = l->in,
                                    .kind = kind_of(l)});
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    if (dx.at)
        op_pool_back(p->m, &(struct op_pool_back){.dx = dx,
                                                  .dy = dy,
                                                  .x = x,
                                                  .length = p->length,
                                                  .dims = pass_dims(p, l->in),
                                                  .ldx = l->in,
                                                  .lddx = l->in,
                                                  .lddy = l->in,
                                                  .kind = kind_of(l),
                                                  .add_dx = add});
}

const struct layer_type layer_pool = {
    .name = "pool",
    .summary = "Makes one step of all steps of a sequence.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct pool_spec),
    .of = LAYER_OF_STEPS,
    .ends_steps = true,
    .whole_rows = true,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
