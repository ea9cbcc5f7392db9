/* table.h - the data of a training: dataset, split, encoder and view in one. The view owns the
 * dataset's memory of rows. */
#ifndef DNN_TABLE_TABLE_H
#define DNN_TABLE_TABLE_H

#include "table/fit/encoder_fit.h"
#include "table/split/fingerprint.h"
#include "table/split/folds.h"
#include "table/fit/noise.h"
#include "table/fit/view.h"

struct table {
    struct dataset *data;
    struct split split;
    struct folds folds;         /* of an ensemble */
    struct encoder *encoder;    /* of all training rows */
    struct view *view;          /* of a single training; else NULL */
    struct noise noise;         /* of its rows that are not test */
    struct fingerprint *known;  /* of the rows, if the options ask for it; else NULL */
    char sha256[65];            /* of encoder, split and rows; a checkpoint stores it */
    struct remarks remarks;     /* constant columns, leaks, duplicates across parts, ... */
    bool borrows;               /* a table of table_of_fold: dataset and encoder are another's */
};

/* Reads data.train (and valid, test) once, splits, fits the encoder on the training rows by the
 * options that s declares, encodes. folds 0: a single training. n: makes t->folds, and the dataset
 * keeps its raw rows for views; rows of the table are not encoded then. Of 2 and more folds the
 * validation rows become training rows of the table. `stop` and errors: dataset_load. */
struct table *table_load(const struct schema *s, const struct data_options *o, uint32_t folds,
                         const struct stopper *stop, struct err *e);
/* The rows of a single training as they are encoded, else raw. */
static inline const struct rows *table_rows(const struct table *t)
{
    return t->view ? &t->view->rows : &t->data->rows;
}
/* Host memory in use. */
uint64_t table_bytes(const struct table *t);
/* The table of one fold of t, for a training of its own: the rows that the fold leaves out are the
 * test rows, the rows that it trains on are cut into `folds` (an ensemble), or with folds 1 into
 * training and validation rows: the share o->valid of them, by o->method. It borrows dataset and
 * encoder of t, which outlives it. NULL, E12. Caller: table_free. */
struct table *table_of_fold(const struct table *t, uint32_t fold, const struct split_options *o,
                            uint32_t folds, struct err *e);
void table_free(struct table *t);
/* Sets the pooled categories of t->known, if it exists. table_load does it for a single training;
 * the owner of the folds does it once, with the encoders of all its runs. */
void table_know_pooled(struct table *t, struct encoder *const *encoders, uint32_t count);
/* Fits an encoder on the training rows of a fold, by the options that `as` declares (NULL: the
 * table's). Its remarks are about all rows. NULL: a label is in no training row of the fold. */
struct encoder *table_fit_fold(const struct table *t, uint32_t fold, const struct schema *as,
                               struct err *e);

#endif
