/* weighed.h - the rows that a fit takes, and how much each of them counts: the one place that says
 * so. A row of weight 0 is not there; a row of weight 2 is there twice. Weights that are all whole
 * numbers are numbers of rows. Others are divided by their mean, because they are known only
 * against each other.
 *
 * A statistic reads a list in which each row stands as often as it counts, and so needs no weights
 * of its own. Of whole numbers the list is exact. Of others, and of whole numbers with a very large
 * sum, it stands at most one entry off, maybe not at all, and each run of rows at most one. */
#ifndef DNN_TABLE_WEIGHED_H
#define DNN_TABLE_WEIGHED_H

#include "table/dataset.h"

struct weighed {
    const uint32_t *rows;    /* [count], ascending: each as often as it counts */
    uint64_t count;
    double unit;             /* entries of the list for one row; 1 where it is exact */
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
