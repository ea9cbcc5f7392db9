/* schema_target.c - how a model's target is coded, in its file. */
#include <math.h>

#include "base/mem.h"
#include "table/schema_saved.h"

/* By enum target_transform. A program that does not know one finds no target: it refuses the model,
 * and never answers in other units. */
const char *const saved_target_names[] = {IN_TARGET, IN_TARGET ".log", IN_TARGET ".cbrt",
                                          IN_TARGET ".quantile"};

static bool load_knots(const struct loading *l, struct target_coding *c)
{
    const struct tensor *t = saved_need(l, IN_TARGET_KNOTS, DTYPE_F64, UINT64_MAX);
    if (!t)
        return false;
    if (!t->count || t->count > CODING_KNOTS_MOST)
        return saved_damaged(l, IN_TARGET_KNOTS, "has a wrong count");
    c->knots = mem_copy(t->data, t->count * sizeof *c->knots);
    c->knot_count = (uint32_t)t->count;
    for (uint32_t i = 0; i < c->knot_count; i++)
        if (!isfinite(c->knots[i]) || (i && c->knots[i] < c->knots[i - 1]))
            return saved_damaged(l, IN_TARGET_KNOTS, "is not finite and ascending");
    return true;
}

/* Absent: an answer is one value. */
static bool load_quantiles(const struct loading *l)
{
    struct schema *s = l->schema;
    if (!saved_has(l, IN_TARGET_QUANTILES))
        return true;
    const struct tensor *t = saved_need(l, IN_TARGET_QUANTILES, DTYPE_F64, UINT64_MAX);
    if (!t)
        return false;
    if (s->task != TASK_REGRESSION || t->count < 2 || t->count > QUANTILES_MOST)
        return saved_damaged(l, IN_TARGET_QUANTILES, "has a wrong count");
    s->quantiles = mem_copy(t->data, t->count * sizeof *s->quantiles);
    s->quantile_count = (uint32_t)t->count;
    for (uint32_t k = 0; k < s->quantile_count; k++)
        if (!(s->quantiles[k] > (k ? s->quantiles[k - 1] : 0) && s->quantiles[k] < 1))
            return saved_damaged(l, IN_TARGET_QUANTILES, "does not rise within 0 and 1");
    return true;
}

bool saved_target(const struct loading *l)
{
    struct target_coding *c = &l->schema->coding;
    int kind = TARGET_QUANTILE;
    while (kind > TARGET_NONE && !saved_has(l, saved_target_names[kind]))
        kind--;
    const char *name = saved_target_names[kind];
    const struct tensor *t = saved_need(l, name, DTYPE_F64, 2);
    if (!t)
        return false;
    const double *v = t->data;
    if (!isfinite(v[0]) || !isfinite(v[1]) || !(v[1] > 0))
        return saved_damaged(l, name, "is not a finite center and a positive scale");
    c->transform = kind;
    c->center = v[0];
    c->scale = v[1];
    return (kind != TARGET_QUANTILE || load_knots(l, c)) && load_quantiles(l);
}
