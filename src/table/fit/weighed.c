/* weighed.c - see weighed.h. */
#include "table/fit/weighed.h"

#include <math.h>

#include "base/mem.h"

/* most entries of a list, or twice the rows if that is more */
#define ENTRIES_MOST (UINT64_C(4) << 20)
#define FINE 8.0                         /* entries of a row of mean weight, of weights that are
                                          * not whole numbers */

static double weight_of(const struct dataset *d, uint32_t row)
{
    return (double)record_float(rows_at(&d->rows, row), d->rows.format.at_weight);
}

static bool has_weights(const struct schema *s)
{
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_WEIGHT)
            return true;
    return false;
}

/* Leaves out rows of weight 0. */
static void take_rows(struct weighed *w, const struct dataset *d)
{
    uint64_t first = 0, all = w->single_count;
    while (first < all && weight_of(d, w->single[first]) > 0)
        first++;
    if (first == all)
        return;
    w->own_single = mem_copy(w->single, all * sizeof *w->own_single);
    w->single_count = first;
    for (uint64_t i = first; i < all; i++)
        if (weight_of(d, w->single[i]) > 0)
            w->own_single[w->single_count++] = w->single[i];
    w->single = w->own_single;
}

/* The place in the list after the rows with this sum of weights. */
static uint64_t place_of(const struct weighed *w, double sum)
{
    return (uint64_t)round(sum * w->unit);
}

/* Lists each row repeated by its weight: places are rounded, not single rows, so that many rows of
 * small weight count for their sum. rows: the sum of the weights. */
static void repeat_rows(struct weighed *w, double rows, bool whole)
{
    const uint64_t most = ENTRIES_MOST > 2 * w->single_count ? ENTRIES_MOST : 2 * w->single_count;
    const double fits = (double)most / rows;
    double sum = 0;
    w->unit = whole ? fmin(1, fits) : fmin(FINE, fits);
    for (uint64_t i = 0; i < w->single_count; i++)
        sum += w->weight[i];
    w->count = place_of(w, sum);
    w->own = mem_alloc(w->count + 1, sizeof *w->own);
    sum = 0;
    for (uint64_t i = 0, at = 0; i < w->single_count; i++) {
        sum += w->weight[i];
        for (const uint64_t end = place_of(w, sum); at < end; at++)
            w->own[at] = w->single[i];
    }
    w->rows = w->own;
}

struct weighed weighed_make(const struct dataset *d, const uint32_t *rows, uint64_t count)
{
    struct weighed w = {
        .rows = rows, .count = count, .unit = 1, .single = rows, .single_count = count};
    if (!has_weights(d->schema))
        return w;
    take_rows(&w, d);
    w.rows = w.single;
    w.count = w.single_count;
    bool ones = true, whole = true;
    double sum = 0;
    for (uint64_t i = 0; i < w.count; i++) {
        double weight = weight_of(d, w.rows[i]);
        ones = ones && weight >= 1 && weight <= 1;
        whole = whole && floor(weight) >= weight;
        sum += weight;
    }
    if (ones)
        return w;
    const double factor = whole ? 1 : (double)w.count / sum;
    w.weight = mem_alloc(w.count + 1, sizeof *w.weight);
    for (uint64_t i = 0; i < w.count; i++)
        w.weight[i] = weight_of(d, w.rows[i]) * factor;
    repeat_rows(&w, sum * factor, whole);
    return w;
}

void weighed_free(struct weighed *w)
{
    mem_free(w->weight);
    mem_free(w->own);
    mem_free(w->own_single);
    *w = (struct weighed){0};
}
