/* schema_spread.c - reads the spread of the training values from a model file. */
#include <math.h>
#include <string.h>

#include "table/schema_saved.h"

/* True: a column can have this number of places. */
static bool places_fit(const struct column *c, int64_t places)
{
    if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME)
        return places == 0 || saved_within(places, 2, DISTRIBUTION_EDGES + 2);
    return places == 0 ||
           (c->type == COLUMN_CATEGORICAL && places == (int64_t)vocab_count(c->vocab) + 2);
}

static bool take_column(struct column *c, uint32_t places, const int32_t *rows, const float *edges)
{
    distribution_new(&c->spread, places);
    c->spread.edges = c->type == COLUMN_CATEGORICAL ? 0 : places - 2;
    for (uint32_t i = 0; i < places; i++) {
        c->spread.rows[i] = rows[i];
        if (rows[i] < 0)
            return false;
    }
    for (uint32_t i = 0; i < c->spread.edges; i++) {
        c->spread.edge[i] = edges[i];
        if (!isfinite(edges[i]) || (i && edges[i] <= edges[i - 1]))
            return false;
    }
    return true;
}

bool saved_spread(const struct loading *l)
{
    struct schema *s = l->schema;
    uint64_t edges = 0;
    if (!saved_has(l, IN_SPREAD))
        return true;
    const struct tensor *first = saved_need(l, OFFSETS_OF(IN_SPREAD), DTYPE_I64,
                                            s->column_count + 1);
    if (!first)
        return false;
    const int64_t *at = first->data;
    if (at[0] != 0)
        return saved_damaged(l, OFFSETS_OF(IN_SPREAD), "does not begin at 0");
    for (size_t i = 0; i < s->column_count; i++) {
        if (!saved_within(at[i + 1], at[i], at[i] + (int64_t)VOCAB_MOST + 2) ||
            !places_fit(&s->columns[i], at[i + 1] - at[i]))
            return saved_damaged(l, OFFSETS_OF(IN_SPREAD), "does not fit the columns");
        if (s->columns[i].type != COLUMN_CATEGORICAL && at[i + 1] > at[i])
            edges += (uint64_t)(at[i + 1] - at[i] - 2);
    }
    const struct tensor *rows = saved_need(l, IN_SPREAD, DTYPE_I32, (uint64_t)at[s->column_count]),
                        *edge = rows ? saved_need(l, IN_SPREAD_EDGES, DTYPE_F32, edges) : NULL;
    if (!edge)
        return false;
    const float *next = edge->data;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (at[i + 1] > at[i] && !take_column(c, (uint32_t)(at[i + 1] - at[i]),
                                              (const int32_t *)rows->data + at[i], next))
            return saved_damaged(l, IN_SPREAD, "holds a count or an edge that cannot be");
        next += c->spread.edges;
    }
    return true;
}
