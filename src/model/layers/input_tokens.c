/* input_tokens.c - a text as a sequence of tokens: each is a learned row of tokens.weight
 * [2 + tokens of the vocabulary][dim], row 1 for a token that is not among them, row 0 for padding,
 * which has no gradient. */
#include <math.h>

#include "model/layers/inputs.h"

struct tokens_spec {
    struct embed_column column; /* of a token of a batch */
    uint64_t table;             /* the same in machine memory */
    uint64_t tokens;            /* of a batch, in the reals */
    uint32_t at;                /* their first place among the ids */
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct tokens_spec *s = l->spec;
    const struct feature_text *t = features_tokens(p->features);
    (void)e;
    l->skipped = !t;
    if (!t)
        return true;
    s->at = t->slot;
    s->column = (struct embed_column){.dim = t->dim, .count = t->tokens};
    s->column.table = plan_param_whole(p, "weight", SHAPE2(t->tokens, t->dim), PARAM_EMBEDDING);
    s->table = plan_table(p, &s->column, sizeof s->column);
    s->tokens = plan_kept(p, (uint64_t)p->rows * t->slots * sizeof(int32_t));
    return true;
}

/* Uniform within 1 / sqrt(dim). Padding and the unknown token begin at zero: a token without
 * training rows adds nothing. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct embed_column *c = &((const struct tokens_spec *)l->spec)->column;
    uint64_t skip = (uint64_t)FIRST_VALUE * c->dim, at = c->table + skip;
    init_uniform(v, at, (uint64_t)c->count * c->dim - skip, 1 / sqrt((double)c->dim), at);
}

static int32_t *tokens_of(const struct tokens_spec *s, const struct pass *p)
{
    return (int32_t *)(void *)reals_at(p->reals, s->tokens);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct tokens_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    (void)x;
    op_tokens(p->m, &(struct op_tokens){.tokens = tokens_of(s, p),
                                        .length = lengths_at(p, l->from.length),
                                        .ids = p->ids,
                                        .dims = pass_dims(p, 1),
                                        .ids_ld = p->ids_ld,
                                        .at = s->at});
    op_embed(p->m, &(struct op_embed){.x = y,
                                      .ids = tokens_of(s, p),
                                      .params = p->params,
                                      .columns = pass_table(p, s->table),
                                      .dims = pass_dims(p, l->in),
                                      .ld = l->in,
                                      .ids_ld = 1,
                                      .column_count = 1});
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct tokens_spec *s = l->spec;
    (void)x, (void)dx, (void)add;
    op_embed_back(p->m, &(struct op_embed_back){.grads = p->grads,
                                                .dx = dy,
                                                .ids = tokens_of(s, p),
                                                .columns = pass_table(p, s->table),
                                                .now = p->now,
                                                .dims = pass_dims(p, l->in),
                                                .ld = l->in,
                                                .ids_ld = 1,
                                                .column_count = 1,
                                                .more = p->more,
                                                .largest = s->column.count});
}

const struct layer_type input_tokens = {
    .name = "tokens",
    .summary = "A learned row of numbers for each token of a text.",
    .spec_size = sizeof(struct tokens_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
