/* view.h - a dataset under an encoder: encoded rows that a machine gathers from. */
#ifndef DNN_TABLE_VIEW_H
#define DNN_TABLE_VIEW_H

#include "table/encoder.h"

struct view {
    struct rows rows;           /* encoded records, in the order of the dataset; chunks owned */
};

/* Encodes every row of d. give: in place, and the memory of d's rows is the view's from now on: no
 * second copy; d has no rows for another view. Every class of d must be known to c. */
struct view *view_make(struct dataset *d, const struct encoder *c, bool give);
void view_free(struct view *v);

#endif
