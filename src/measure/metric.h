/* metric.h - the metrics of the contract, each one row of a table: name, tasks, direction, how it
 * is computed. All in double, over weighted rows, in a fixed order. */
#ifndef DNN_MEASURE_METRIC_H
#define DNN_MEASURE_METRIC_H

#include "base/json.h"
#include "base/real.h"
#include "measure/probability.h"
#include "table/options.h"

#define METRIC_MOST 16
struct metric_type {
    const char *name;
    unsigned tasks; /* bit 1 << enum task */
    bool higher;    /* higher is better */
    const char *help;
};
extern const struct metric_type metric_types[]; /* name NULL ends it */
/* The loss that is trained, of no task and in no list: score.h alone can measure it. */
extern const struct metric_type metric_loss;
struct tally;

/* Scores of labelled rows. Classes: probabilities [rows][classes], label [rows]; regression: value
 * and target in the target's units. weight NULL: 1. threshold of binary: 0.5 on the positive class
 * (the last). */
struct scores {
    int task;
    uint64_t rows;
    uint32_t classes;
    const double *probability;
    const int32_t *label;
    const double *value, *target;
    const float *weight;
};
struct metrics {
    uint32_t count;
    struct {
        const struct metric_type *type;
        double value;
    } m[METRIC_MOST];
};
/* NaN where a metric is not defined (auc with one class, precision without a positive answer), null
 * in JSON.
 *
 *   auc, macro_auc  Mann-Whitney with ties counted half; macro: mean over the classes present, each
 *                   against the rest (tally.h says when it is exact)
 *   pr_auc          average precision: sum over distinct scores of precision times recall gained
 *   logloss         mean of -ln p(label), p at least 1e-15
 *   accuracy, f1, precision, recall, macro_f1   of answer_label's answers; macro: over the classes
 *                   present or answered
 *   brier           mean of (p(positive) - is positive)^2
 *   ece             15 equal-width bins of the positive's (multiclass: the answered label's)
 *                   probability: mean of |mean probability - share that was so|, weighted
 *   rmse, mae, r2   of answers in the target's units; r2: 1 - squared error / squared deviation
 *                   from the rows' own mean
 */
/* metric_needs says what a tally of rows must hold for one metric. */
unsigned metric_needs(const struct metric_type *t);
double metric_of(struct tally *y, const struct metric_type *t);
void metrics_of(struct tally *y, struct metrics *m);
/* NULL: unknown or of another task. */
const struct metric_type *metric_find(const char *name, int task);
/* The task's own, never NULL: logloss, logloss, rmse. */
const struct metric_type *metric_default(int task);
/* The one that class weights leave as it is: auc, macro_auc; of a regression its own. */
const struct metric_type *metric_ranking(int task);
/* A metric of the task that may be meant, or NULL. */
const char *metric_nearest(const char *name, int task);
void metric_names(int task, char *out, size_t room);           /* "auc, pr_auc, ..." */
double metrics_get(const struct metrics *m, const char *name); /* NaN when absent */
void metrics_write(const struct metrics *m, const char *key, struct json_out *out);
/* The metrics of always answering the class shares (or the mean) of the training rows. */
void metrics_baseline(int task, uint32_t classes, const double *class_share, double mean,
                      const struct scores *on, struct metrics *m);

#endif
