/* folds.h - cuts the training and validation rows of a split into n folds, and lists the rows of
 * each fold's run: those to train on, and those left out. The result depends on the method, the
 * seed of the split and the data, not on threads.
 *
 *     random, column   a permutation, cut into n parts of nearly equal size
 *     stratified       the same for each class (all rows in one class: random)
 *     group            whole groups, the largest first, each to the smallest fold
 *     hash             by the hash of the key: a row keeps its fold as the file grows
 *     time             the later half in n blocks; run i trains on all rows before block i. Rows of
 *                      one time stay together. */
#ifndef DNN_TABLE_FOLDS_H
#define DNN_TABLE_FOLDS_H

#include "table/split/split.h"

struct fold_rows {
    uint32_t *train, *left; /* samples, ascending */
    uint64_t train_count, left_count;
    struct row_list trains_on, answers; /* what a run reads of them; of a table train and left */
};
struct folds {
    uint32_t count;
    struct fold_rows *rows; /* [count] */
};

/* The folds of all rows that are not test. count 1: one fold, which leaves out the split's
 * validation rows. A label that a run could not train on is in no fold, and every run trains on it
 * (rare.h); r lists such labels and may be NULL. False, E12: a fold would be empty. Caller:
 * folds_free. */
bool folds_make(struct folds *f, uint32_t count, const struct dataset *d, const struct split *s,
                const struct split_options *o, struct rare *r, struct err *e);
void folds_free(struct folds *f);

#endif
