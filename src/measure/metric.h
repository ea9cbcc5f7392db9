/* metric.h - the table of metrics. Adding a metric is one row of metric_types (metric.c). All are
 * computed in double over weighted rows, in a fixed order. */
#ifndef DNN_MEASURE_METRIC_H
#define DNN_MEASURE_METRIC_H

#include "base/json/json.h"
#include "measure/interval.h"

#define METRIC_MOST 24
/* In place of a task: regression by a model of loss quantile, which has metrics of its own. */
#define METRIC_QUANTILE (TASK_TAGGING + 1)
/* Added to a task: the model gives intervals or sets (model/conformal.h), which add metrics to
 * those of the task. */
#define METRIC_REGION (METRIC_QUANTILE + 1)
/* Added to a task: a bit for the metric "loss", used if no metric of the task is the criterion. */
#define METRIC_LOSS 0x100

/* A metric that is a mean over rows: a machine can add it up without giving the logits back. */
struct metric_sum {
    uint32_t measure, kind; /* enum answer_measure (backend/ops.h) and its kind; 0: no such mean */
    double most;            /* limit of one row's value */
    bool root;              /* the metric is the root of the mean */
};

struct metric_type {
    const char *name;
    unsigned tasks; /* bit 1 << enum task, METRIC_QUANTILE, or METRIC_REGION + enum task */
    bool higher;    /* higher is better */
    bool of_level;  /* near a level is right: it orders no answers */
    bool share;     /* of rows: people read it in percent */
    const char *help;
    unsigned needs; /* enum tally_need: counters that the tally must hold */
    double (*value)(struct tally *y);
    struct interval (*interval)(struct tally *y, double value); /* of rows without groups */
    struct group_method by_group;                               /* its interval with groups */
    struct metric_sum sum;
    double (*constant)(struct tally *y); /* of equal scores in all rows; NULL: as `value` */
    /* The rows without which the metric has no value for any answers; NULL: it always has one. */
    const char *rows_needed;
    const char *defined_by; /* the metric whose constant value shows this; NULL: its own */
};
extern const struct metric_type metric_types[]; /* name NULL ends it */
/* The criterion as a metric, "loss": of answers by tally_judge_by, of logits by score.h. */
extern const struct metric_type metric_loss;

struct metrics {
    uint32_t count;
    struct {
        const struct metric_type *type;
        double value;
        struct interval interval; /* low and high 0: not asked for */
    } m[METRIC_MOST];
};
/* A metric without a value (auc with one class, precision without a positive answer) is NaN, and
 * null in JSON.
 *
 *   auc, macro_auc  Mann-Whitney with ties counted half; macro: mean over the classes present, each
 *                   against the rest (tally.h says when it is exact)
 *   pr_auc          average precision: sum over distinct scores of precision times recall gained
 *   logloss         mean of -ln p(label), p at least 1e-15
 *   accuracy, f1, precision, recall, macro_f1   of decision_label; macro: over the classes
 *                   present or answered
 *   brier           mean of (p(positive) - is positive)^2
 *   ece             15 equal-width bins of the positive's (multiclass: the answered label's)
 *                   probability: mean of |mean probability - share that was so|, weighted
 *   rmse, mae, r2   of answers in the target's units; r2: 1 - squared error / squared deviation
 *                   from the rows' own mean
 *   pinball, coverage   of a tally with a quantile: mean of q (target - answer), or of (1 - q)
 *                   (answer - target) below the answer; share of targets at or below the answer.
 *                   Of several: the mean over them; share of targets from the lowest to the
 *                   highest; rmse, mae and r2 are of the one nearest to 0.5 (loss_middle)
 *   coverage, width, set_size   of a tally with intervals or sets: share of rows whose target or
 *                   label is inside; mean width; mean number of labels
 */
void metrics_of(struct tally *y, struct metrics *m);
/* Then their intervals, by the same tally. */
void metrics_intervals(struct tally *y, struct metrics *m);
/* The interval of one metric; by groups if the tally has some. */
struct interval metric_interval(const struct metric_type *t, struct tally *y, double value);
/* By their intervals, more than three standard errors lie between two values. */
bool metrics_disagree(const struct metrics *a, const struct metrics *b, const char *name);
bool metric_belongs(const struct metric_type *t, int task);
/* The task that the functions below take for answers that the criterion judges. region: with
 * intervals or sets. */
int metric_task(const struct criterion *c, int task, bool region);
/* The metric that orders answers as the criterion does, never NULL: logloss, rmse, mae, pinball,
 * else metric_loss. */
const struct metric_type *metric_of(const struct criterion *c, int task);
/* NULL: unknown, or of another task. */
const struct metric_type *metric_find(const char *name, int task);
/* The default metric of a task, never NULL: logloss, logloss, rmse, rmse. */
const struct metric_type *metric_default(int task);
/* The metric of the task with the most similar name, or NULL. */
const char *metric_nearest(const char *name, int task);
void metric_names(int task, char *out, size_t room);           /* "auc, pr_auc, ..." */
double metrics_get(const struct metrics *m, const char *name); /* NaN when absent */
struct interval metrics_interval(const struct metrics *m, const char *name); /* the same */
/* Appends " name value" for each metric with a value. If intervals were asked for, the first
 * metric, log-loss and rmse get theirs. */
void metrics_put(const struct metrics *m, struct text *out);
void metrics_write(const struct metrics *m, const char *key, struct json_out *out);
/* {name: [low, high]}, null for a metric without an interval. */
void metrics_write_intervals(const struct metrics *m, const char *key, struct json_out *out);
/* The metrics of a constant answer: the class shares of the training rows, or the values of least
 * loss [criterion_values]. */
void metrics_baseline(int task, uint32_t classes, const double *class_share, const double *center,
                      const struct scores *on, const struct criterion *c, struct metrics *m);

#endif
