/* distribution.h - how the training values of a column are spread over places, and how far other
 * values are from that: the population stability index. */
#ifndef DNN_TABLE_DISTRIBUTION_H
#define DNN_TABLE_DISTRIBUTION_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* A number is missing or in one of at most 10 bins, each with a tenth of the training values unless
 * too many are equal. A category is in its slot. */
#define DISTRIBUTION_EDGES 9
#define DISTRIBUTION_PLACES_MOST 4096u  /* a column of more categories has none */
#define DISTRIBUTION_ROWS_MOST 8192u    /* of the training, evenly spaced */

struct distribution {
    uint32_t places;      /* 0: none */
    uint32_t edges;       /* of a number: places - 2 */
    float edge[DISTRIBUTION_EDGES]; /* ascending, then infinite; of the value minus its offset */
    int32_t *rows;        /* [places] training rows */
};

/* The place of a number: 0 missing; bin k holds the values above edge k - 1, up to edge k. */
static inline uint32_t distribution_place(const struct distribution *d, float v)
{
    uint32_t place = 1;
    for (int i = 0; i < DISTRIBUTION_EDGES; i++)
        place += v > d->edge[i];
    return v == v ? place : 0;
}
/* Allocates the counts, all 0. */
void distribution_new(struct distribution *d, uint32_t places);
void distribution_free(struct distribution *d);
/* The stability index of counts [places]: the sum of (a - e) ln(a / e) over the shares a of the
 * counts and e of the training rows; categories of less than a hundredth of them are one place.
 * *chance: the mean index of the same number of training rows. NaN: no rows. */
double distribution_index(const struct distribution *d, bool category, const uint64_t *counts,
                          double *chance);

#endif
