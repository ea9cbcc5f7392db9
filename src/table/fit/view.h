/* view.h - encoded rows of a dataset, from which a machine gathers batches. */
#ifndef DNN_TABLE_VIEW_H
#define DNN_TABLE_VIEW_H

#include "table/dataset/dataset.h"
#include "table/encoder/encoder.h"

struct view {
    struct rows rows;           /* encoded records, in the order of the dataset; chunks owned */
    /* The first records, at most TABLE_SAMPLE_ROWS, encoded as for an answer: with target
     * statistics training rows differ. Without chunks: the same as rows. */
    struct rows first;
};

/* Encodes every row of d. give: d has no rows for another view. Its memory becomes the view's; with
 * target statistics records are longer: they are a copy, and d's are freed. The encoder must know
 * every class of d. */
struct view *view_make(struct dataset *d, const struct encoder *c, bool give);
/* The first records as an answer encodes them. */
const struct rows *view_first(const struct view *v);
void view_free(struct view *v);

#endif
