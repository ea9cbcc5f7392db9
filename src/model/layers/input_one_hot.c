/* input_one_hot.c - a 0/1 column for each value of a category. A first hidden layer that takes ids
 * (dense) is given them in place of the columns. */
#include "base/mem.h"
#include "model/layers/inputs.h"

struct one_hot_spec {
    struct onehot_column *columns; /* [count], owned */
    uint32_t count;
    uint64_t table; /* the columns in machine memory */
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct one_hot_spec *s = l->spec;
    const struct features *f = p->features;
    uint64_t before = p->x.count;
    (void)e;
    s->columns = mem_zero((size_t)f->format.categories + 1, sizeof *s->columns);
    for (uint32_t id = 0; id < f->format.categories; id++) {
        uint32_t count = f->categories[id].count;
        if (f->categories[id].encode == CATEGORY_ONEHOT)
            s->columns[s->count++] = (struct onehot_column){
                .id = id, .at = plan_columns(p, count), .count = count};
    }
    s->table = plan_table(p, s->columns, s->count * sizeof *s->columns);
    if (p->first.takes_ids)
        l->onehot = (struct layer_onehot){.columns = s->columns,
                                          .table = s->table,
                                          .count = s->count,
                                          .width = (uint32_t)(p->x.count - before)};
    l->skipped = s->count == 0 || p->first.takes_ids;
    return true;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct one_hot_spec *s = l->spec;
    struct act row = pass_act(p, l->y);
    (void)x;
    op_onehot(p->m, &(struct op_onehot){.x = row,
                                        .ids = p->ids,
                                        .columns = pass_table(p, s->table),
                                        .dims = pass_dims(p, l->in),
                                        .ld = l->in,
                                        .ids_ld = p->ids_ld,
                                        .column_count = s->count});
    return row;
}

static void release(struct layer *l)
{
    struct one_hot_spec *s = l->spec;
    mem_free(s->columns);
}

const struct layer_type input_one_hot = {
    .name = "one_hot",
    .summary = "A 0/1 column for each value of a category.",
    .spec_size = sizeof(struct one_hot_spec),
    .plan = plan,
    .forward = forward,
    .release = release,
};
