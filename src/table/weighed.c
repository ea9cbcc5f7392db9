/* weighed.c - see weighed.h. */
#include "table/weighed.h"

#include <math.h>

#include "base/mem.h"

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
    uint64_t first = 0, all = w->count;
    while (first < all && weight_of(d, w->rows[first]) > 0)
        first++;
    if (first == all)
        return;
    w->own = mem_copy(w->rows, all * sizeof *w->own);
    w->count = first;
    for (uint64_t i = first; i < all; i++)
        if (weight_of(d, w->rows[i]) > 0)
            w->own[w->count++] = w->rows[i];
    w->rows = w->own;
}

struct weighed weighed_make(const struct dataset *d, const uint32_t *rows, uint64_t count)
{
    struct weighed w = {.rows = rows, .count = count, .sum = (double)count};
    if (!has_weights(d->schema))
        return w;
    take_rows(&w, d);
    bool ones = true, whole = true;
    double sum = 0;
    for (uint64_t i = 0; i < w.count; i++) {
        double weight = weight_of(d, w.rows[i]);
        ones = ones && weight >= 1 && weight <= 1;
        whole = whole && floor(weight) >= weight;
        sum += weight;
    }
    whole = whole && sum < 0x1p53;
    w.sum = whole ? sum : (double)w.count;
    if (ones || !w.count)
        return w;
    w.until = mem_alloc(w.count, sizeof *w.until);
    double until = 0, factor = whole ? 1 : (double)w.count / sum;
    for (uint64_t i = 0; i < w.count; i++)
        w.until[i] = until += weight_of(d, w.rows[i]) * factor;
    w.sum = until;
    return w;
}

void weighed_free(struct weighed *w)
{
    mem_free(w->until);
    mem_free(w->own);
    *w = (struct weighed){0};
}

uint64_t weighed_at(const struct weighed *w, uint64_t place)
{
    uint64_t low = 0, high = w->count - 1;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (w->until[middle] > (double)place)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}
