/* weighed.h - the rows that a fit takes, and how much each of them counts: the one place that says
 * so. A row of weight 0 is not there; a row of weight 2 is there twice. Weights that are all whole
 * numbers are numbers of rows. Others are divided by their mean: they are known only against each
 * other. */
#ifndef DNN_TABLE_WEIGHED_H
#define DNN_TABLE_WEIGHED_H

#include "table/dataset.h"

struct weighed {
    const uint32_t *rows; /* [count], ascending: those of a weight above 0 */
    uint64_t count;
    double *until;        /* [count] sum of the weights up to this row; NULL: each is 1 */
    double sum;           /* of the weights */
    uint32_t *own;        /* rows, where it is a copy */
};

/* rows: borrowed. Caller: weighed_free. */
struct weighed weighed_make(const struct dataset *d, const uint32_t *rows, uint64_t count);
void weighed_free(struct weighed *w);
/* How often the rows stand one after another, each as often as it counts. */
static inline uint64_t weighed_places(const struct weighed *w)
{
    return w->until ? (uint64_t)(w->sum + 0.5) : w->count;
}
/* The number in the list of the row at such a place. */
uint64_t weighed_at(const struct weighed *w, uint64_t place);
static inline uint32_t weighed_row(const struct weighed *w, uint64_t place)
{
    return w->rows[w->until ? weighed_at(w, place) : place];
}
/* The weight of row i of the list. */
static inline double weighed_weight(const struct weighed *w, uint64_t i)
{
    return !w->until ? 1 : i ? w->until[i] - w->until[i - 1] : w->until[0];
}

#endif
