/* cv_answers.h - the out-of-fold answers as CSV. Private to src/train. */
#ifndef DNN_TRAIN_CV_ANSWERS_H
#define DNN_TRAIN_CV_ANSWERS_H

#include "config/config.h"
#include "model/conformal.h"
#include "table/table.h"

#define CV_NO_FOLD UINT32_MAX

/* The answers to the rows of a table; [rows of the dataset]. */
struct cv_answers {
    uint32_t outputs; /* of an answer: the probabilities of the classes, or a value */
    uint32_t *fold;   /* that left the row out; CV_NO_FOLD: none */
    double *answer;   /* [rows][outputs] */
    double *ends;     /* [rows][2], of intervals; NULL: none */
    bool *line;       /* the row has a line; NULL: each has */
    struct decision decision[ENSEMBLE_FOLDS]; /* by fold */
    struct conformal conformal[ENSEMBLE_FOLDS]; /* the same; of sets */
    int region;       /* enum answer_region */
};
/* One line for each record of data.train and data.valid that has one, in their order: ids, fold,
 * prediction, probabilities, intervals and sets as predict writes them; of a record in no fold the
 * ids alone. s:
 * fitted. */
bool cv_answers_write(const struct cv_answers *a, const char *path, const struct table *t,
                      const struct encoder *c, const struct data_options *o, struct err *e);

#endif
