/* metric.h - the metrics of the contract, each one row of a table: name, tasks, direction, how it is computed.
 * binary: auc pr_auc logloss accuracy f1 precision recall brier ece; multiclass: accuracy logloss macro_f1 macro_auc ece;
 * regression: rmse mae r2. All in double, over weighted rows, in a fixed order. */
#ifndef DNN_RUN_METRIC_H
#define DNN_RUN_METRIC_H

#include "base/json.h"
#include "base/real.h"
#include "data/options.h"

#define METRIC_MOST 16
struct metric_type {
    const char *name;
    unsigned tasks;            /* bit 1 << enum task */
    bool higher;               /* higher is better */
    const char *help;
};
extern const struct metric_type metric_types[]; /* name NULL ends it */

/* Scores of labelled rows. Classes: probabilities [rows][classes], label [rows]; regression: value and target in the target's units.
 * weight NULL: 1. threshold of binary: 0.5 on the positive class (the last). */
struct scores {
    int task;
    uint64_t rows;
    uint32_t classes;
    const float *probability;
    const int32_t *label;
    const double *value, *target;
    const float *weight;
};
struct metrics { uint32_t count; struct { const struct metric_type *type; double value; } m[METRIC_MOST]; };
/* NaN where a metric is not defined (auc with one class); JSON null. */
void metrics_compute(const struct scores *s, struct metrics *m);
/* Only this one (early stopping); same value as metrics_compute gives. */
double metric_compute(const struct scores *s, const struct metric_type *t);
const struct metric_type *metric_find(const char *name, int task); /* NULL: unknown or of another task */
const struct metric_type *metric_default(int task);                /* early stopping "auto": logloss, logloss, rmse */
double metrics_get(const struct metrics *m, const char *name);     /* NaN when absent */
void metrics_write(const struct metrics *m, const char *key, struct json_out *out);
/* The metrics of always answering the class shares (or the mean) of the training rows. */
void metrics_baseline(int task, uint32_t classes, const double *class_share, double mean, const struct scores *on, struct metrics *m);

/* answer.h's rule in one place: logits to probabilities (softmax in double, rounded to float) or to the target's units. */
void answer_probabilities(const real *logits, uint64_t rows, uint32_t classes, float *probability);
double answer_value(real logit, double center, double scale);

#endif
