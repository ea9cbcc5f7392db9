/* cv_series.h - the answers of a fold to sequences of records, as predict gives them: a line a row,
 * a window or a group. Private to cv.c and cv_series.c. */
#ifndef DNN_TRAIN_CV_SERIES_H
#define DNN_TRAIN_CV_SERIES_H

#include "table/dataset.h"
#include "train/part.h"

/* Joins the answers of overlapping windows to the answer of each line: the mean of the logits, over
 * windows whose last row has a target. list: of the rows left out, and parts [runs] their answers;
 * NULL: a run that diverged. */
void cv_series_join(const struct dataset *d, struct row_list *list, struct run_part *const *parts,
                    uint32_t runs);
/* [rows]: the record has a line. NULL: each has. Caller: mem_free. */
bool *cv_series_lines(const struct dataset *d);

#endif
