/* compare.h - two models on the same rows: the difference of a metric, with an interval by a paired
 * bootstrap (Efron and Tibshirani, 1993): the rows, or the groups that they are of, are drawn anew,
 * for both models alike, and the spread of the difference over the draws is its standard error. */
#ifndef DNN_ANSWER_COMPARE_H
#define DNN_ANSWER_COMPARE_H

#include <math.h>

#include "measure/metric.h"

#define COMPARE_SEED 20260101u

/* The answers of a model to all rows in order, with the truth. Rows that it cannot read, or that
 * have no target, keep their place. */
struct answers_kept {
    int task;
    uint32_t classes; /* 0: regression */
    struct decision decision; /* borrowed offsets */
    bool raw;         /* keeps probabilities before calibration: metric_loss judges by them */
    struct criterion criterion; /* the loss that counts, of both models the first one's; borrowed */
    uint64_t rows, room;
    double *score;    /* [rows][classes], or [rows][quantiles], or [rows] */
    int32_t *label;   /* of classes: [rows]; -1: the row does not count */
    double *target;   /* regression: [rows]; NaN: the row does not count */
    float *weight;    /* [rows] */
    uint64_t *group;  /* [rows], a hash of the group; NULL: rows are independent */
    const struct conformal *conformal; /* borrowed; NULL: nothing is told beside an answer */
    double *low, *high; /* [rows], of a regression with it */
};
/* Numbers of an answer. */
static inline uint32_t answers_width(const struct answers_kept *k)
{
    return k->classes ? k->classes : criterion_values(&k->criterion);
}
/* False: the row has no target, or cannot be read. */
static inline bool answers_counts(const struct answers_kept *k, uint64_t row)
{
    return k->classes ? k->label[row] >= 0 : !isnan(k->target[row]);
}
/* Regression: the value of a row, of several quantiles the middle one. */
static inline double answers_value(const struct answers_kept *k, uint64_t row)
{
    const uint32_t width = answers_width(k);
    return k->score[row * width + (width > 1 ? loss_middle(k->criterion.loss.q, width) : 0)];
}
/* Adds s->rows rows. */
void answers_keep(struct answers_kept *k, const struct scores *s);
/* Rows from .. from + rows - 1. */
struct scores answers_scores(const struct answers_kept *k, uint64_t from, uint64_t rows);
void answers_free(struct answers_kept *k);

struct comparison {
    double own, other;         /* the metric on rows that both answer */
    double advantage;          /* of the first: above 0 when it is better */
    struct interval interval;  /* of the advantage, 95 %; NaN: too few rows */
};
/* Weights and groups are a's. Uses the pool of threads; the same numbers with any number of them.
 * False: the models do not answer the same rows (a file changed), or a signal asks to end; e says
 * so. */
bool compare_answers(const struct answers_kept *a, const struct answers_kept *b,
                     const struct metric_type *metric, struct comparison *c, struct err *e);

#endif
