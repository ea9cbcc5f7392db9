/* weighed.h - the rows that a fit takes, with their weights: the only place that applies them. A
 * row of weight 0 is left out; a row of weight 2 is there twice. Weights that are all whole numbers
 * are numbers of rows. Others are divided by their mean, because only their ratios are known.
 *
 * A statistic reads a list that repeats each row by its weight, and so needs no weights itself. For
 * whole numbers the list is exact. For others, and for whole numbers with a very large sum, the
 * number of entries of a row, and of each run of rows, is at most one off. */
#ifndef DNN_TABLE_WEIGHED_H
#define DNN_TABLE_WEIGHED_H

#include "table/dataset/dataset.h"

struct weighed {
    const uint32_t *rows;    /* [count], ascending: each row repeated by its weight */
    uint64_t count;
    double unit;             /* entries of the list for one row; 1 if it is exact */
    const uint32_t *single;  /* [single_count] each row once */
    uint64_t single_count;
    double *weight;          /* [single_count]; NULL: each is 1, and single = rows */
    uint32_t *own, *own_single;
};

/* rows: borrowed. Caller: weighed_free. */
struct weighed weighed_make(const struct dataset *d, const uint32_t *rows, uint64_t count);
void weighed_free(struct weighed *w);
/* Entries of the list as a number of rows. */
static inline double weighed_rows(const struct weighed *w, uint64_t entries)
{
    return (double)entries / w->unit;
}
/* The weight of row i of `single`. */
static inline double weighed_weight(const struct weighed *w, uint64_t i)
{
    return w->weight ? w->weight[i] : 1;
}

#endif
