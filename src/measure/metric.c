/* metric.c - the table of metrics. Each is computed from a tally. */
#include "measure/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/ops.h"
#include "base/mem.h"
#include "base/text.h"
#include "measure/interval.h"
#include "measure/tally.h"

#define BINARY (1u << TASK_BINARY)
#define MULTICLASS (1u << TASK_MULTICLASS | 1u << TASK_TAGGING)
#define QUANTILE (1u << METRIC_QUANTILE)
#define REGRESSION (1u << TASK_REGRESSION | QUANTILE)
#define INTERVALS (1u << (METRIC_REGION + TASK_REGRESSION))
#define SETS ((BINARY | MULTICLASS) << METRIC_REGION)

/* --- values --- */

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

static double auc(struct tally *y)
{
    return tally_areas(y, 1).auc;
}

static double pr_auc(struct tally *y)
{
    return tally_areas(y, 1).average_precision;
}

static double accuracy(struct tally *y)
{
    return ratio(y->right, y->weight);
}

static double class_f1(const struct tally *y, uint32_t c)
{
    return ratio(2 * y->hit[c], y->support[c] + y->answered[c]);
}

static double f1(struct tally *y)
{
    return class_f1(y, 1);
}

static double precision(struct tally *y)
{
    return ratio(y->hit[1], y->answered[1]);
}

static double recall(struct tally *y)
{
    return ratio(y->hit[1], y->support[1]);
}

static double macro_f1(struct tally *y)
{
    double sum = 0, classes = 0;
    for (uint32_t c = 0; c < y->classes; c++)
        if (y->support[c] > 0 || y->answered[c] > 0) {
            sum += class_f1(y, c);
            classes++;
        }
    return ratio(sum, classes);
}

static double macro_auc(struct tally *y)
{
    double sum = 0, classes = 0;
    for (uint32_t c = 0; c < y->classes; c++) {
        if (!(y->support[c] > 0))
            continue;
        double area = tally_areas(y, c).auc;
        if (!isnan(area)) {
            sum += area;
            classes++;
        }
    }
    return ratio(sum, classes);
}

static double ece(struct tally *y)
{
    double sum = 0, weight = 0;
    for (int b = 0; b < TALLY_BINS; b++) {
        sum += fabs(y->bins[b].predicted - y->bins[b].observed);
        weight += y->bins[b].weight;
    }
    return ratio(sum, weight);
}

static double rmse(struct tally *y)
{
    return sqrt(mean_value(&y->square));
}

static double r2(struct tally *y)
{
    return y->target_square > 0 ? 1 - y->square.sum / y->target_square : (double)NAN;
}

static double loss(struct tally *y)
{
    return criterion_mean(&y->criterion, &y->own);
}

static double coverage(struct tally *y)
{
    return ratio(y->conformal ? y->inside : y->covered, y->weight);
}

/* A mean over rows, and its interval: from 0 to `most`. */
#define MEAN(name, most)                                                                           \
    static double name##_value(struct tally *y) { return mean_value(&y->name); }                   \
    static struct interval name##_ends(struct tally *y, double value)                              \
    {                                                                                              \
        return interval_normal(value, mean_error(&y->name), 0, most);                              \
    }
MEAN(loss, INFINITY)
MEAN(brier, 1)
MEAN(absolute, INFINITY)
MEAN(pinball, INFINITY)
MEAN(size, INFINITY)

/* The area if all rows have equal scores. */
static double auc_of_equals(struct tally *y)
{
    uint32_t present = 0;
    for (uint32_t c = 0; c < y->classes; c++)
        present += y->support[c] > 0;
    return present > 1 ? 0.5 : (double)NAN;
}

static double pr_auc_of_equals(struct tally *y)
{
    return y->support[1] > 0 ? ratio(y->support[1], y->weight) : (double)NAN;
}

/* --- the table --- */

#define TWO_LABELS "rows of two labels"
#define POSITIVES "rows of the positive label"

const struct metric_type metric_types[] = {
    {.name = "auc",
     .tasks = BINARY,
     .higher = true,
     .help = "area under the ROC curve",
     .needs = TALLY_RANKS,
     .value = auc,
     .interval = interval_auc,
     .by_group = {GROUP_AREA, GROUP_OF_BOTH, GROUP_BY_AUC},
     .constant = auc_of_equals,
     .rows_needed = TWO_LABELS},
    {.name = "pr_auc",
     .tasks = BINARY,
     .higher = true,
     .help = "average precision",
     .needs = TALLY_RANKS,
     .value = pr_auc,
     .interval = interval_pr_auc,
     .by_group = {GROUP_AREA, GROUP_OF_POSITIVE, GROUP_BY_PRECISION},
     .constant = pr_auc_of_equals,
     .rows_needed = POSITIVES},
    {.name = "logloss",
     .tasks = BINARY | MULTICLASS,
     .help = "mean of -ln of the probability given to the label",
     .needs = TALLY_LOSS,
     .value = loss_value,
     .interval = loss_ends,
     .sum = {MEASURE_CLASS, CLASS_CROSS_ENTROPY, TALLY_LOSS_MOST, false}},
    {.name = "accuracy",
     .tasks = BINARY | MULTICLASS,
     .higher = true,
     .share = true,
     .help = "share of rows answered with their label",
     .needs = TALLY_COUNTS,
     .value = accuracy,
     .interval = interval_share,
     .by_group = {GROUP_SHARE, GROUP_OF_ALL, GROUP_BY_VALUE},
     .sum = {MEASURE_RIGHT, CLASS_CROSS_ENTROPY, (double)INFINITY, false}},
    {.name = "f1",
     .tasks = BINARY,
     .higher = true,
     .help = "harmonic mean of precision and recall of the positive label",
     .needs = TALLY_COUNTS,
     .value = f1,
     .interval = interval_f1,
     .by_group = {GROUP_SHARE, GROUP_OF_EITHER, GROUP_BY_VALUE},
     .rows_needed = POSITIVES,
     .defined_by = "recall"},
    {.name = "precision",
     .tasks = BINARY,
     .higher = true,
     .share = true,
     .help = "share of positive answers that are right",
     .needs = TALLY_COUNTS,
     .value = precision,
     .interval = interval_precision,
     .by_group = {GROUP_SHARE, GROUP_OF_ANSWERED, GROUP_BY_VALUE},
     .rows_needed = POSITIVES,
     .defined_by = "recall"},
    {.name = "recall",
     .tasks = BINARY,
     .higher = true,
     .share = true,
     .help = "share of positive rows that are found",
     .needs = TALLY_COUNTS,
     .value = recall,
     .interval = interval_recall,
     .by_group = {GROUP_SHARE, GROUP_OF_POSITIVE, GROUP_BY_VALUE},
     .rows_needed = POSITIVES},
    {.name = "brier",
     .tasks = BINARY,
     .help = "mean squared difference of probability and outcome",
     .needs = TALLY_BRIER,
     .value = brier_value,
     .interval = brier_ends},
    {.name = "macro_f1",
     .tasks = MULTICLASS,
     .higher = true,
     .help = "mean F1 over the labels",
     .needs = TALLY_COUNTS,
     .value = macro_f1,
     .interval = interval_macro_f1,
     .by_group = {GROUP_SHARE, GROUP_OF_ALL, GROUP_BY_VALUE}},
    {.name = "macro_auc",
     .tasks = MULTICLASS,
     .higher = true,
     .help = "mean area under the ROC curve of each label against the rest",
     .needs = TALLY_RANKS,
     .value = macro_auc,
     .interval = interval_macro_auc,
     .by_group = {GROUP_AREA, GROUP_OF_ALL, GROUP_BY_MACRO_AUC},
     .constant = auc_of_equals,
     .rows_needed = TWO_LABELS},
    {.name = "ece",
     .tasks = BINARY | MULTICLASS,
     .help = "expected calibration error, 15 equal-width bins",
     .needs = TALLY_CALIBRATION,
     .value = ece,
     .interval = interval_ece,
     .by_group = {GROUP_PLAIN, GROUP_OF_ALL, GROUP_BY_VALUE}},
    {.name = "rmse",
     .tasks = REGRESSION,
     .help = "root of the mean squared error",
     .needs = TALLY_VALUES,
     .value = rmse,
     .interval = interval_rmse,
     .sum = {MEASURE_VALUE, VALUE_MSE, (double)INFINITY, true}},
    {.name = "mae",
     .tasks = REGRESSION,
     .help = "mean absolute error",
     .needs = TALLY_VALUES,
     .value = absolute_value,
     .interval = absolute_ends,
     .sum = {MEASURE_VALUE, VALUE_MAE, (double)INFINITY, false}},
    {.name = "r2",
     .tasks = REGRESSION,
     .higher = true,
     .help = "share of the target's variance explained",
     .needs = TALLY_VALUES,
     .value = r2,
     .interval = interval_r2,
     .by_group = {GROUP_REST, GROUP_OF_ALL, GROUP_BY_VALUE},
     .rows_needed = "targets that differ"},
    {.name = "pinball",
     .tasks = QUANTILE,
     .help = "of models of loss quantile: the mean loss at their q, and over several of them",
     .needs = TALLY_VALUES,
     .value = pinball_value,
     .interval = pinball_ends},
    {.name = "coverage",
     .of_level = true,
     .tasks = QUANTILE | INTERVALS | SETS,
     .higher = true,
     .share = true,
     .help = "share of rows inside their interval or set, near the level when right; of models "
             "of loss quantile: at or below the answer, near q; of several quantiles: between the "
             "lowest and the highest",
     .needs = TALLY_VALUES,
     .value = coverage,
     .interval = interval_share,
     .by_group = {GROUP_SHARE, GROUP_OF_ALL, GROUP_BY_VALUE}},
    {.name = "width",
     .tasks = INTERVALS,
     .help = "of models with intervals: their mean width",
     .needs = TALLY_VALUES,
     .value = size_value,
     .interval = size_ends},
    {.name = "set_size",
     .tasks = SETS,
     .help = "of models with sets: the mean number of labels in them",
     .needs = TALLY_COUNTS,
     .value = size_value,
     .interval = size_ends},
    {.name = NULL},
};
_Static_assert(sizeof metric_types / sizeof *metric_types - 1 <= METRIC_MOST - 1,
               "struct metrics has room for every metric and the loss");

const struct metric_type metric_loss = {.name = "loss",
                                        .help = "the loss that is trained",
                                        .needs = TALLY_CRITERION,
                                        .value = loss,
                                        .interval = interval_loss};

bool metric_belongs(const struct metric_type *t, int task)
{
    task &= ~METRIC_LOSS;
    return (t->tasks >> task & 1) ||
           (task >= METRIC_REGION && t->tasks >> (task - METRIC_REGION) & 1);
}

int metric_task(const struct criterion *c, int task, bool region)
{
    int own = loss_quantile(&c->loss) > 0 ? METRIC_QUANTILE
                                           : task + (region ? METRIC_REGION : 0);
    return criterion_is_metric(c) ? own : own | METRIC_LOSS;
}

const struct metric_type *metric_of(const struct criterion *c, int task)
{
    if (!criterion_is_metric(c))
        return &metric_loss;
    return c->loss.kind == LOSS_MAE        ? metric_find("mae", task)
           : c->loss.kind == LOSS_QUANTILE ? metric_find("pinball", METRIC_QUANTILE)
                                           : metric_default(task);
}

static void list_add(struct metrics *m, const struct metric_type *t)
{
    m->m[m->count].type = t;
    m->m[m->count].interval = (struct interval){0};
    m->m[m->count++].value = (double)NAN;
}

/* The metrics of a task, without their values. */
static struct metrics list_of(int task)
{
    struct metrics m = {0};
    for (const struct metric_type *t = metric_types; t->name; t++)
        if (metric_belongs(t, task))
            list_add(&m, t);
    if (task & METRIC_LOSS)
        list_add(&m, &metric_loss);
    return m;
}

void metrics_of(struct tally *y, struct metrics *m)
{
    *m = list_of(metric_task(&y->criterion, y->task, y->conformal != NULL));
    for (uint32_t i = 0; i < m->count; i++)
        m->m[i].value = m->m[i].type->value(y);
}

struct interval metric_interval(const struct metric_type *t, struct tally *y, double value)
{
    return y->groups ? group_interval(y, value, &t->by_group, t->value) : t->interval(y, value);
}

void metrics_intervals(struct tally *y, struct metrics *m)
{
    for (uint32_t i = 0; i < m->count; i++)
        m->m[i].interval = metric_interval(m->m[i].type, y, m->m[i].value);
}

bool metrics_disagree(const struct metrics *a, const struct metrics *b, const char *name)
{
    double variance = 0, value = 0;
    const struct metrics *both[] = {a, b};
    for (int k = 0; k < 2; k++) {
        const struct interval n = metrics_interval(both[k], name);
        double error = (n.high - n.low) / (2 * 1.96), own = metrics_get(both[k], name);
        variance += error > 0 ? error * error : (double)NAN;
        value += k ? -own : own;
    }
    return fabs(value) > 3 * sqrt(variance);
}

/* --- names --- */

static uint32_t place_of(const struct metrics *m, const char *name)
{
    uint32_t i = 0;
    while (i < m->count && strcmp(m->m[i].type->name, name) != 0)
        i++;
    return i;
}

const struct metric_type *metric_find(const char *name, int task)
{
    const struct metrics m = list_of(task);
    const uint32_t i = place_of(&m, name);
    return i < m.count ? m.m[i].type : NULL;
}

const struct metric_type *metric_default(int task)
{
    const bool values = metric_belongs(metric_find("rmse", TASK_REGRESSION), task);
    return metric_find(values ? "rmse" : "logloss", task);
}

const char *metric_nearest(const char *name, int task)
{
    const struct metrics m = list_of(task);
    const char *names[METRIC_MOST];
    for (uint32_t i = 0; i < m.count; i++)
        names[i] = m.m[i].type->name;
    return text_nearest(name, names, m.count);
}

void metric_names(int task, char *out, size_t room)
{
    const struct metrics m = list_of(task);
    size_t used = 0;
    for (uint32_t i = 0; i < m.count && used < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "",
                                 m.m[i].type->name);
}

double metrics_get(const struct metrics *m, const char *name)
{
    const uint32_t i = place_of(m, name);
    return i < m->count ? m->m[i].value : (double)NAN;
}

struct interval metrics_interval(const struct metrics *m, const char *name)
{
    const uint32_t i = place_of(m, name);
    return i < m->count ? m->m[i].interval : (struct interval){(double)NAN, (double)NAN};
}

/* --- the constant answer --- */

void metrics_baseline(int task, uint32_t classes, const double *class_share, const double *center,
                      const struct scores *on, const struct criterion *c, struct metrics *m)
{
    /* all scores are equal, so the areas are known without a walk and no row need be kept */
    struct tally *y =
        tally_new(task, classes, TALLY_ALL & ~(unsigned)(TALLY_CONFUSED | TALLY_RANKS));
    double *best = mem_zero(classes + 1, sizeof *best); /* the constant of the least loss */
    tally_judge_by(y, c);
    if (classes)
        criterion_constant(c, class_share, best);
    for (uint64_t r = 0; r < on->rows; r++) {
        struct scores one = {.task = task,
                             .rows = 1,
                             .classes = classes,
                             .probability = class_share,
                             .raw = best,
                             .value = center};
        if (task == TASK_REGRESSION)
            one.target = on->target + r;
        else
            one.label = on->label + r;
        one.weight = on->weight ? on->weight + r : NULL;
        tally_add(y, &one);
    }
    metrics_of(y, m);
    for (uint32_t i = 0; i < m->count; i++)
        if (m->m[i].type->constant)
            m->m[i].value = m->m[i].type->constant(y);
    mem_free(best);
    tally_free(y);
}
