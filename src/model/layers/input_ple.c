/* input_ple.c - piecewise-linear numbers: a component for each bin (op_ple). A first hidden layer
 * that takes pairs (dense) reads bins and shares in place of the components; its weights for them
 * are ple.weight [components][units], declared here. Any other first layer gets columns of x. */
#include "base/mem.h"
#include "model/layers/inputs.h"

struct ple_spec {
    struct ple_column *columns; /* [count], owned */
    uint32_t count, components;
    uint64_t table, edges;  /* in machine memory */
    uint64_t bins, shares;  /* of a batch, in the reals */
    uint32_t at;            /* without pairs: the first column of x */
};
static const struct option options[] = {{0}};

/* The column of x that says whether the number was missing. */
static uint32_t indicator_of(const struct features *f, uint32_t number)
{
    for (uint32_t i = 0; i < f->indicator_count; i++)
        if (f->indicators[i] == number)
            return f->format.numbers + i;
    return PLE_NONE;
}

static void add_columns(struct ple_spec *s, const struct features *f)
{
    s->columns = mem_zero((size_t)f->format.numbers + 1, sizeof *s->columns);
    for (uint32_t i = 0; f->numbers && i < f->format.numbers; i++) {
        const struct feature_number *n = &f->numbers[i];
        if (!n->bins)
            continue;
        s->columns[s->count++] = (struct ple_column){.number = i,
                                                     .missing = indicator_of(f, i),
                                                     .first = s->components,
                                                     .count = n->bins,
                                                     .edges = n->edges,
                                                     .alone = n->alone};
        s->components += n->bins;
    }
}

/* Columns of x for the components. */
static bool plan_wide(struct ple_spec *s, struct planner *p)
{
    uint32_t at;
    s->at = (uint32_t)p->columns;
    for (uint32_t i = 0; i < s->count; i++)
        if (!plan_columns(p, s->columns[i].count, &at))
            break;
    return true;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct ple_spec *s = l->spec;
    const struct features *f = p->features;
    (void)e;
    add_columns(s, f);
    l->skipped = s->count == 0;
    if (l->skipped)
        return true;
    s->table = plan_table(p, s->columns, s->count * sizeof *s->columns);
    s->edges = plan_table(p, f->edges, f->edge_count * sizeof *f->edges);
    uint64_t pairs = (uint64_t)p->rows * s->count;
    s->bins = plan_kept(p, pairs * sizeof(int32_t));
    s->shares = plan_reals(p, pairs);
    if (!p->pair_units)
        return plan_wide(s, p);
    l->pairs = (struct layer_pairs){.table = s->table,
                                    .bins = s->bins,
                                    .shares = s->shares,
                                    .count = s->count,
                                    .components = s->components};
    l->pairs.weight = plan_param_whole(p, "weight", SHAPE2(s->components, p->pair_units),
                                       PARAM_WEIGHT);
    plan_rates(p, p->pair_rate, 1);
    return true;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct ple_spec *s = l->spec;
    struct act row = pass_act(p, l->y);
    (void)x;
    int32_t *bins = (int32_t *)(void *)reals_at(p->reals, s->bins);
    op_ple(p->m, &(struct op_ple){.bins = bins,
                                  .shares = reals_at(p->reals, s->shares),
                                  .x = row,
                                  .column = pass_table(p, s->table),
                                  .edges = pass_table(p, s->edges),
                                  .dims = pass_dims(p, s->count),
                                  .ld = l->in});
    if (!l->pairs.count)
        op_ple_wide(p->m, &(struct op_ple_wide){.x = row,
                                                .bins = bins,
                                                .shares = reals_at(p->reals, s->shares),
                                                .column = pass_table(p, s->table),
                                                .dims = pass_dims(p, s->count),
                                                .ld = l->in,
                                                .at = s->at});
    return row;
}

static void release(struct layer *l)
{
    struct ple_spec *s = l->spec;
    mem_free(s->columns);
}

const struct layer_type input_ple = {
    .name = "ple",
    .summary = "A component for each bin of a piecewise-linear number.",
    .options = options,
    .spec_size = sizeof(struct ple_spec),
    .plan = plan,
    .forward = forward,
    .release = release,
};
