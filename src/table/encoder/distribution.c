/* distribution.c - see distribution.h. */
#include "table/encoder/distribution.h"

#include "base/mem.h"

#define RARE 0.01 /* share of a category's training rows below which it is pooled */

void distribution_new(struct distribution *d, uint32_t places)
{
    *d = (struct distribution){.places = places};
    for (int i = 0; i < DISTRIBUTION_EDGES; i++)
        d->edge[i] = INFINITY;
    d->rows = mem_zero(places, sizeof *d->rows);
}

void distribution_free(struct distribution *d)
{
    mem_free(d->rows);
    *d = (struct distribution){0};
}

/* Half a row in each place, so that an empty one has no infinite logarithm. */
static double part(double rows, double other, double of, double of_other, uint32_t places)
{
    double e = (rows + 0.5) / (of + 0.5 * places), a = (other + 0.5) / (of_other + 0.5 * places);
    return (a - e) * log(a / e);
}

double distribution_index(const struct distribution *d, bool category, const uint64_t *counts,
                          double *chance)
{
    double trained = 0, found = 0, index = 0, rare[2] = {0, 0};
    uint32_t places = 0;
    for (uint32_t i = 0; i < d->places; i++) {
        trained += d->rows[i];
        found += (double)counts[i];
    }
    *chance = NAN;
    if (!(trained > 0) || !(found > 0))
        return NAN;
    for (uint32_t i = 0; i < d->places; i++)
        places += !category || i < 2 || d->rows[i] >= RARE * trained;
    places += places < d->places;
    for (uint32_t i = 0; i < d->places; i++) {
        bool own = !category || i < 2 || d->rows[i] >= RARE * trained;
        if (own)
            index += part(d->rows[i], (double)counts[i], trained, found, places);
        rare[0] += own ? 0 : d->rows[i];
        rare[1] += own ? 0 : (double)counts[i];
    }
    if (rare[0] > 0 || rare[1] > 0)
        index += part(rare[0], rare[1], trained, found, places);
    *chance = (places - 1) * (1 / trained + 1 / found);
    return index;
}
