/* input_ple.c - piecewise-linear numbers: a component for each bin (op_ple). A first hidden layer
 * that takes pairs (dense) reads bins and shares in place of the components; its weights for them
 * are ple.weight [components][units], declared here. Any other first layer gets columns of x. */
#include "base/mem.h"
#include "model/layers/inputs.h"

struct ple_spec {
    uint32_t count, components;
    uint64_t table, edges;  /* in machine memory */
    uint64_t bins, shares;  /* of a batch, in the reals */
    uint32_t at;            /* without pairs: the first column of x */
};

/* The column of x that says whether the number was missing. */
static uint32_t indicator_of(const struct features *f, uint32_t number)
{
    for (uint32_t i = 0; i < f->indicator_count; i++)
        if (f->indicators[i] == number)
            return f->format.numbers + i;
    return PLE_NONE;
}

/* The numbers with bins; mem_free. */
static struct ple_column *columns_of(struct ple_spec *s, const struct features *f)
{
    struct ple_column *columns = mem_zero((size_t)f->format.numbers + 1, sizeof *columns);
    for (uint32_t i = 0; f->numbers && i < f->format.numbers; i++) {
        const struct feature_number *n = &f->numbers[i];
        if (!n->bins)
            continue;
        columns[s->count++] = (struct ple_column){.number = i,
                                                  .missing = indicator_of(f, i),
                                                  .first = s->components,
                                                  .count = n->bins,
                                                  .edges = n->edges,
                                                  .alone = n->alone};
        s->components += n->bins;
    }
    return columns;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct ple_spec *s = l->spec;
    const struct features *f = p->features;
    (void)e;
    struct ple_column *columns = columns_of(s, f);
    s->table = plan_table(p, columns, s->count * sizeof *columns);
    s->at = (uint32_t)p->x.count;
    for (uint32_t i = 0; i < s->count && !p->first.pair_units; i++)
        plan_columns(p, columns[i].count);
    mem_free(columns);
    l->skipped = s->count == 0;
    if (l->skipped)
        return true;
    s->edges = plan_table(p, f->edges, f->edge_count * sizeof *f->edges);
    uint64_t pairs = (uint64_t)p->rows * s->count;
    s->bins = plan_kept(p, pairs * sizeof(int32_t));
    s->shares = plan_reals(p, pairs);
    if (!p->first.pair_units)
        return true;
    l->pairs = (struct layer_pairs){.table = s->table,
                                    .bins = s->bins,
                                    .shares = s->shares,
                                    .count = s->count,
                                    .components = s->components};
    l->pairs.weight = plan_param_whole(p, "weight", SHAPE2(s->components, p->first.pair_units),
                                       PARAM_WEIGHT);
    plan_rates(p, p->first.pair_rate, 1);
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

const struct layer_type input_ple = {
    .name = "ple",
    .summary = "A component for each bin of a piecewise-linear number.",
    .spec_size = sizeof(struct ple_spec),
    .plan = plan,
    .forward = forward,
};
