/* weighted.c - see weighted.h. */
#include "measure/weighted.h"

#include "base/sort.h"

double mean_error(const struct mean *m)
{
    const double rows = m->weight2 > 0 ? m->weight * m->weight / m->weight2 : 0;
    if (rows < 2)
        return (double)NAN;
    const double mean = m->sum / m->weight,
                 sum = m->square2 - 2 * mean * m->sum2 + mean * mean * m->weight2;
    return sqrt((sum > 0 ? sum : 0) * rows / (rows - 1)) / m->weight;
}

static int by_value(const void *one, const void *other, const void *context)
{
    const struct weighted *a = one, *b = other;
    (void)context;
    return (a->value > b->value) - (a->value < b->value);
}

double weighted_sort(struct weighted *w, size_t count)
{
    double all = 0;
    sort_stable(w, count, sizeof *w, by_value, NULL);
    for (size_t i = 0; i < count; i++)
        all += w[i].weight;
    return all;
}

size_t weighted_reach(const struct weighted *w, size_t count, double part)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += w[i].weight;
        if (sum >= part)
            return i;
    }
    return count;
}

double weighted_quantile(struct weighted *w, size_t count, double share)
{
    const double all = weighted_sort(w, count);
    const size_t at = weighted_reach(w, count, share * all);
    return count ? w[at < count ? at : count - 1].value : 0;
}
