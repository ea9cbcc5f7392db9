/* table.h - the data of a training: dataset, split, encoder and view in one. The view owns the
 * dataset's memory of rows. */
#ifndef DNN_TABLE_TABLE_H
#define DNN_TABLE_TABLE_H

#include "table/folds.h"
#include "table/view.h"

struct table {
    struct dataset *data;
    struct split split;
    struct folds folds; /* of an ensemble */
    struct view *view;
    /* Borrowed from the view, the split and the dataset. */
    struct rows rows;
    struct rows first;            /* view.first, or rows */
    uint8_t *part;
    uint32_t *index[PARTS];
    uint64_t count[PARTS];
    double *target;               /* regression: raw target per row, not standardised; else NULL */
    uint64_t blank_lines, extra_columns, unlabelled;
    struct table_sample sample;
    char sha256[65];              /* of schema, split and rows; a checkpoint stores it */
    uint64_t bytes;               /* host memory in use */
    struct remarks remarks;       /* constant columns, leaks, duplicates across parts, ... */
};

/* Reads data.train (and valid, test) once, splits, fits s on the training rows, encodes. s is
 * declared and becomes fitted. folds 0: a single training. n: makes t->folds, and the dataset keeps
 * its raw rows for views; rows of the table are not encoded then. Of 2 and more folds the
 * validation rows become training rows of the table. `stop` and errors: dataset_load. */
struct table *table_load(struct schema *s, const struct data_options *o, uint32_t folds,
                         bool (*stop)(void), struct err *e);
void table_free(struct table *t);
/* Fits an encoder on the training rows of a fold, by the options that `as` declares (NULL: those of
 * the table). Its remarks are those of all rows. NULL: a label is in no such row. */
struct encoder *table_fit_fold(const struct table *t, const struct schema *all, uint32_t fold,
                               const struct schema *as, struct err *e);

#endif
