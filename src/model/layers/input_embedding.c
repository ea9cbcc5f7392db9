/* input_embedding.c - a learned row of numbers for each value of a category. Parameters:
 * embedding.<category>.weight [values][dim]. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/layers/inputs.h"

struct embedding_spec {
    struct embed_column *columns; /* [count], owned */
    uint32_t count, largest;      /* largest: values of the largest one */
    uint64_t table;               /* the columns in machine memory */
    bool *normal;                 /* [count], owned: how each is initialised */
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct embedding_spec *s = l->spec;
    const struct features *f = p->features;
    (void)e;
    s->columns = mem_zero((size_t)f->format.categories + 1, sizeof *s->columns);
    s->normal = mem_zero((size_t)f->format.categories + 1, sizeof *s->normal);
    for (uint32_t id = 0; id < f->format.categories; id++) {
        const struct feature_category *c = &f->categories[id];
        struct embed_column *to = &s->columns[s->count];
        char name[32];
        if (c->encode != CATEGORY_EMBEDDING)
            continue;
        *to = (struct embed_column){
            .id = id, .at = plan_columns(p, c->dim), .dim = c->dim, .count = c->count};
        snprintf(name, sizeof name, "%u.weight", id);
        to->table = plan_param_whole(p, name, SHAPE2(c->count, c->dim), PARAM_EMBEDDING);
        s->normal[s->count] = c->normal != 0;
        s->largest = c->count > s->largest ? c->count : s->largest;
        s->count++;
    }
    s->table = plan_table(p, s->columns, s->count * sizeof *s->columns);
    l->skipped = s->count == 0;
    return true;
}

/* Uniform within 1 / sqrt(dim), or normal. Missing and unknown start at zero: a slot without
 * training rows adds nothing. The numbers drawn depend on the offset in the arena alone. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct embedding_spec *s = l->spec;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct embed_column *c = &s->columns[i];
        uint64_t skip = (uint64_t)(c->count < FIRST_VALUE ? c->count : FIRST_VALUE) * c->dim;
        uint64_t count = (uint64_t)c->count * c->dim - skip, at = c->table + skip;
        if (s->normal[i])
            init_normal(v, at, count, 1, at);
        else
            init_uniform(v, at, count, 1 / sqrt((double)c->dim), at);
    }
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct embedding_spec *s = l->spec;
    struct act row = pass_act(p, l->y);
    (void)x;
    op_embed(p->m, &(struct op_embed){.x = row,
                                      .ids = p->ids,
                                      .params = p->params,
                                      .columns = pass_table(p, s->table),
                                      .dims = pass_dims(p, l->in),
                                      .ld = l->in,
                                      .ids_ld = p->ids_ld,
                                      .column_count = s->count});
    return row;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct embedding_spec *s = l->spec;
    (void)x, (void)dx, (void)add;
    op_embed_back(p->m, &(struct op_embed_back){.grads = p->grads,
                                                .dx = dy,
                                                .ids = p->ids,
                                                .columns = pass_table(p, s->table),
                                                .now = p->now,
                                                .dims = pass_dims(p, l->in),
                                                .ld = l->in,
                                                .ids_ld = p->ids_ld,
                                                .column_count = s->count,
                                                .more = p->more,
                                                .largest = s->largest});
}

static void release(struct layer *l)
{
    struct embedding_spec *s = l->spec;
    mem_free(s->columns);
    mem_free(s->normal);
}

const struct layer_type input_embedding = {
    .name = "embedding",
    .summary = "A learned row of numbers for each value of a category.",
    .spec_size = sizeof(struct embedding_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
    .release = release,
};
