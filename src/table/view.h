/* view.h - encoded rows of a dataset, from which a machine gathers batches. */
#ifndef DNN_TABLE_VIEW_H
#define DNN_TABLE_VIEW_H

#include "table/encoder.h"

struct view {
    struct rows rows;           /* encoded records, in the order of the dataset; chunks owned */
};

/* Encodes every row of d. give: in place, without a copy; the view then owns the memory, and d has
 * no rows for another view. The encoder must know every class of d. */
struct view *view_make(struct dataset *d, const struct encoder *c, bool give);
void view_free(struct view *v);

#endif
