/* criterion.h - the loss that counts for a config. Training minimises it on logits
 * (criterion_add_logits); everything else judges answers: the weights of members, the comparison
 * with a constant, tune, `--better-than`, explain, the range of values. Answers are probabilities
 * before calibration, or values in the units of the target. Label smoothing is no part of it: it
 * changes how a network learns, not what a good answer is.
 *
 *   cross_entropy  w -ln p            focal     w (1 - p)^gamma -ln p      (Lin et al., 2017)
 *   soft_f1        1 - mean over chosen classes of (2 sum w p t + 1) / (sum w (p + t) + 1)
 *   mse            w d^2              mae       w |d|
 *   quantile       w q |d| below the target, w (1 - q) |d| above it (Koenker and Bassett, 1978);
 *                  of a list the mean over its quantiles, each of the row's own number
 *   huber          of d as the network learns it: in deviations of the transformed target
 *
 * p: probability of the row's label, at least 1e-15; t: 1 in rows of the class; d: value - target;
 * w: weight of the row times that of its class. */
#ifndef DNN_MEASURE_CRITERION_H
#define DNN_MEASURE_CRITERION_H

#include "base/real.h"
#include "measure/weighted.h"
#include "model/loss.h"
#include "table/encoder/coding.h"

struct criterion {
    struct loss_options loss; /* kind LOSS_AUTO: cross_entropy, or mse */
    uint32_t classes;         /* 0: values */
    const float *class_weight; /* [classes], borrowed; NULL: all 1 */
    const struct target_coding *coding; /* huber and logits alone; borrowed */
};
/* Sums over rows. Zeroed to begin with. */
struct criterion_sum {
    struct mean of_rows; /* soft_f1: its weights alone */
    /* soft_f1, by class: sums of w p t and of w (p + t), and their second moments */
    double right[F1_CLASSES], all[F1_CLASSES];
    double right2[F1_CLASSES], cross[F1_CLASSES], all2[F1_CLASSES];
};

/* True: a metric of the task orders answers as this criterion does: logloss, rmse, mae or
 * pinball. */
bool criterion_is_metric(const struct criterion *c);
/* True: the same loss, with the same options and weights. */
bool criterion_equal(const struct criterion *a, const struct criterion *b);
/* True: a row's loss follows from the probability of its own label, or from its value. */
static inline bool criterion_of_rows(const struct criterion *c)
{
    return c->loss.kind != LOSS_SOFT_F1;
}
/* The loss of a row from own = -ln p, without the weights of row and class. */
double criterion_own(const struct loss_options *o, double own);
/* The loss from d = value - target, for value number k of an answer. huber: d in deviations. */
double criterion_error(const struct loss_options *o, uint32_t k, double d);
/* Numbers in a row's answer, if answers are values. */
static inline uint32_t criterion_values(const struct criterion *c)
{
    return loss_values(&c->loss);
}
/* The loss of a row by the probability of its label (classes), or by its values; not soft_f1. */
double criterion_row(const struct criterion *c, const double *answer, double target);
/* weight: the row's. label: below 0, the row counts for nothing. */
double criterion_weight(const struct criterion *c, int32_t label, double weight);
/* answer: [classes], or [criterion_values]. */
void criterion_add(const struct criterion *c, struct criterion_sum *s, const double *answer,
                   int32_t label, double target, double weight);
/* The loss that is trained, with label smoothing, from the network's outputs, and the target in its
 * own units. The formulas are the operations' (backend/ops.h), in double. */
void criterion_add_logits(const struct criterion *c, struct criterion_sum *s, const real *logits,
                          int32_t label, double target, double weight);
/* NaN without weight. */
double criterion_mean(const struct criterion *c, const struct criterion_sum *s);
/* The standard error of the mean: mean_error; for soft_f1 the mean of the classes' errors (delta
 * method), an upper bound. NaN below two effective rows. */
double criterion_error_of(const struct criterion *c, const struct criterion_sum *s);
/* soft_f1: what a row adds to the loss, so that the mean over rows by weight is the loss, and the
 * spread of the rows gives its error (linearised at the sums of all rows). */
double criterion_f1_row(const struct criterion *c, const struct criterion_sum *s,
                        const double *answer, int32_t label);

/* The constant answer of least loss. counts [classes]: sums of the rows' weights; p [classes] gets
 * it. Cross-entropy: the shares, weighted by class. focal and soft_f1: the best of the shares'
 * powers (from uniform to the shares) and of sure answers. */
void criterion_constant(const struct criterion *c, const double *counts, double *p);
/* rows [count]: values as the network learns them, and weights; are sorted. mse: the mean; mae,
 * quantile: the weighted quantile; huber: its centre. center gets [loss_values]. */
void criterion_center(const struct loss_options *o, struct weighted *rows, uint64_t count,
                      double *center);

#endif
