/* cv.h - the command `dnn cv`: the job of a config, repeated on each of k folds of its rows. All
 * rows of data.train and data.valid are cut into folds as data.split.method says (folds.h); a row
 * that the method gives to the test part (column) is in none. Fold i trains on the rows that it
 * does not leave out: a config without an ensemble sets the share data.split.valid of them aside
 * for early stopping; an ensemble cuts its own folds of them, and its selection is repeated too.
 * The rows that are left out are answered by the mean of the fold's model. */
#ifndef DNN_TRAIN_CV_H
#define DNN_TRAIN_CV_H

#include "choose/select.h"
#include "config/config.h"
#include "measure/metric.h"

#define CV_FOLDS 5 /* used if the command line gives no number */

struct cv_request {
    struct config *config; /* its split is changed */
    int64_t folds;
    const char *output; /* answers of all folds as CSV; NULL: none */
    int progress;       /* enum progress_style of progress.h */
};
struct cv_fold {
    uint64_t rows[3]; /* training rows, validation rows, rows left out */
    uint64_t judged;  /* number of them answered within the time limit; 0: all */
    uint32_t runs;
    int64_t epochs; /* of all runs */
    struct metrics metrics; /* on the rows left out */
    double seconds; /* of its runs, one after another */
};
struct cv_result {
    struct selection backend;
    struct cv_fold *folds; /* [fold_count]; cv_release */
    uint32_t fold_count;
    uint64_t answers;
    int label; /* what they are to: enum window_label; LABEL_ROW of a table */
    struct metrics pooled; /* on the rows of all folds together */
    /* The standard error of the folds' mean: deviation over folds / sqrt(folds). NaN below two. */
    struct metrics error;
    double total_s;
};

/* The result is a function of config, data and seed, not of threads. False: e says why; nothing is
 * written. 75 or 130 after a signal. cv_release in either case. */
bool cv_run(const struct cv_request *q, struct cv_result *r, struct err *e);
void cv_release(struct cv_result *r);
void cv_write(const struct cv_result *r, struct json_out *out); /* dnn.cv/1 */

#endif
