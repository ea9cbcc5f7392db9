/* features.c - from records to x, and the embedding tables. */
#include "model/features.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/init.h"

#define MOST_WIDTH ((uint64_t)1 << 24)

static void *copy(const void *from, size_t count, size_t size)
{
    return count ? mem_copy(from, count * size) : NULL;
}

/* A category's columns of x from `at` on; how many. */
static uint32_t place(struct model *m, const struct feature_category *c, uint32_t id, uint64_t at,
                      struct planner *p)
{
    if (c->encode != CATEGORY_EMBEDDING) {
        m->onehot[m->onehot_count++] =
            (struct onehot_column){.id = id, .at = (uint32_t)at, .count = c->count};
        return c->count;
    }
    char name[40];
    snprintf(name, sizeof name, "embedding.%u.weight", id);
    m->embed[m->embed_count++] = (struct embed_column){
        .id = id,
        .at = (uint32_t)at,
        .dim = c->dim,
        .count = c->count,
        .table = plan_param_whole(p, name, SHAPE2(c->count, c->dim), PARAM_EMBEDDING)};
    return c->dim;
}

/* The categories of one kind from `at` on; where they end, or beyond the limit. */
static uint64_t place_kind(struct model *m, const struct features *f, bool embedded, uint64_t at,
                           struct planner *p)
{
    for (uint32_t id = 0; id < f->format.categories && at <= MOST_WIDTH; id++)
        if ((f->categories[id].encode == CATEGORY_EMBEDDING) == embedded)
            at += place(m, &f->categories[id], id, at, p);
    return at;
}

bool features_plan(struct model *m, const struct features *f, struct planner *p, struct err *e)
{
    uint32_t categories = f->format.categories;
    m->features = *f;
    m->features.indicators = copy(f->indicators, f->indicator_count, sizeof *f->indicators);
    m->features.categories = copy(f->categories, categories, sizeof *f->categories);
    m->onehot = mem_zero((size_t)categories + 1, sizeof *m->onehot);
    m->embed = mem_zero((size_t)categories + 1, sizeof *m->embed);
    m->outputs = f->outputs;
    uint64_t held = place_kind(m, f, true, (uint64_t)f->format.numbers + f->indicator_count, p);
    uint64_t width = place_kind(m, f, false, held, p);
    if (width == 0)
        return err_set(e, ERR_CONFIG_EMPTY,
                       "there is no column to learn from: no number, date or category");
    if (width > MOST_WIDTH)
        return err_set(e, ERR_CONFIG_SIZE, "the features make a row of more than %llu numbers",
                       (unsigned long long)MOST_WIDTH);
    struct layer *first = m->layers[0];
    if (first->type->takes_ids)
        first->hot = (struct layer_hot){
            .columns = m->onehot, .count = m->onehot_count, .width = (uint32_t)(width - held)};
    m->width = (uint32_t)width;
    m->held = m->width - first->hot.width;
    m->embed_params = p->params;
    m->x = plan_plain(p, m->held);
    if (p->training && m->embed_count)
        m->dx = plan_plain(p, m->held);
    return true;
}

void features_release(struct model *m)
{
    mem_free(m->features.indicators);
    mem_free(m->features.categories);
    mem_free(m->onehot);
    mem_free(m->embed);
}

void features_init(const struct model *m, uint64_t seed, uint32_t model_number, real *params)
{
    for (uint32_t i = 0; i < m->embed_count; i++) {
        const struct embed_column *c = &m->embed[i];
        uint64_t skip = (uint64_t)(c->count < FIRST_VALUE ? c->count : FIRST_VALUE) * c->dim;
        init_uniform(params + c->table + skip, (uint64_t)c->count * c->dim - skip,
                     1 / sqrt((double)c->dim), seed, model_number, 0, c->table + skip);
    }
}

void features_forward(const struct model *m, struct pass *p, const struct source *from,
                      real *target)
{
    struct act *x = pass_act(p, m->x);
    op_gather(p->m, &(struct op_gather){.x = x,
                                        .ids = p->ids,
                                        .target = target,
                                        .weight = p->weight,
                                        .from = from,
                                        .now = p->now,
                                        .rows = p->rows,
                                        .ld = m->held,
                                        .micro = p->micro,
                                        .whole = p->whole});
    if (m->held == m->width && m->onehot_count)
        op_onehot(p->m, &(struct op_onehot){.x = x,
                                            .ids = p->ids,
                                            .columns = p->onehot,
                                            .rows = p->rows,
                                            .ld = m->held,
                                            .ids_ld = p->ids_ld,
                                            .column_count = m->onehot_count});
    if (m->embed_count)
        op_embed(p->m, &(struct op_embed){.x = x,
                                          .ids = p->ids,
                                          .params = p->params,
                                          .columns = p->embed,
                                          .rows = p->rows,
                                          .ld = m->held,
                                          .ids_ld = p->ids_ld,
                                          .column_count = m->embed_count});
}

void features_backward(const struct model *m, struct pass *p, const struct act *dx)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < m->embed_count; i++)
        largest = m->embed[i].count > largest ? m->embed[i].count : largest;
    op_embed_back(p->m, &(struct op_embed_back){.grads = p->grads,
                                                .dx = dx,
                                                .ids = p->ids,
                                                .columns = p->embed,
                                                .now = p->now,
                                                .rows = p->rows,
                                                .ld = m->held,
                                                .ids_ld = p->ids_ld,
                                                .column_count = m->embed_count,
                                                .more = p->more,
                                                .largest = largest});
}
