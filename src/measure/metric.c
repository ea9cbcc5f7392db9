/* metric.c - the table of metrics; each is read off a tally. */
#include "measure/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "measure/tally.h"

#define BINARY (1u << TASK_BINARY)
#define MULTICLASS (1u << TASK_MULTICLASS)
#define REGRESSION (1u << TASK_REGRESSION)

const struct metric_type metric_types[] = {
    {"auc", BINARY, true, "area under the ROC curve"},
    {"pr_auc", BINARY, true, "average precision"},
    {"logloss", BINARY | MULTICLASS, false, "mean of -ln of the probability given to the label"},
    {"accuracy", BINARY | MULTICLASS, true, "share of rows answered with their label"},
    {"f1", BINARY, true, "harmonic mean of precision and recall of the positive label"},
    {"precision", BINARY, true, "share of positive answers that are right"},
    {"recall", BINARY, true, "share of positive rows that are found"},
    {"brier", BINARY, false, "mean squared difference of probability and outcome"},
    {"macro_f1", MULTICLASS, true, "mean F1 over the labels"},
    {"macro_auc", MULTICLASS, true, "mean area under the ROC curve of each label against the rest"},
    {"ece", BINARY | MULTICLASS, false, "expected calibration error, 15 equal-width bins"},
    {"rmse", REGRESSION, false, "root of the mean squared error"},
    {"mae", REGRESSION, false, "mean absolute error"},
    {"r2", REGRESSION, true, "share of the target's variance explained"},
    {NULL, 0, false, NULL},
};

const struct metric_type metric_loss = {"loss", 0, false, "the loss that is trained"};

/* --- one metric off a tally --- */

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

static double logloss(struct tally *y)
{
    return tally_mean_value(&y->loss, y->weight);
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

static double brier(struct tally *y)
{
    return tally_mean_value(&y->brier, y->weight);
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
    return sqrt(tally_mean_value(&y->square, y->weight));
}

static double mae(struct tally *y)
{
    return tally_mean_value(&y->absolute, y->weight);
}

static double r2(struct tally *y)
{
    return y->target_square > 0 ? 1 - y->square.sum / y->target_square : (double)NAN;
}

static const struct how {
    const char *name;
    unsigned needs;
    double (*value)(struct tally *y);
} hows[] = {
    {"auc", TALLY_RANKS, auc},
    {"pr_auc", TALLY_RANKS, pr_auc},
    {"logloss", TALLY_LOSS, logloss},
    {"accuracy", TALLY_COUNTS, accuracy},
    {"f1", TALLY_COUNTS, f1},
    {"precision", TALLY_COUNTS, precision},
    {"recall", TALLY_COUNTS, recall},
    {"brier", TALLY_BRIER, brier},
    {"macro_f1", TALLY_COUNTS, macro_f1},
    {"macro_auc", TALLY_RANKS, macro_auc},
    {"ece", TALLY_CALIBRATION, ece},
    {"rmse", TALLY_VALUES, rmse},
    {"mae", TALLY_VALUES, mae},
    {"r2", TALLY_VALUES, r2},
};
_Static_assert(sizeof hows / sizeof *hows + 1 == sizeof metric_types / sizeof *metric_types,
               "a metric has a row in both tables, in one order");

static const struct how *how_of(const struct metric_type *t)
{
    return &hows[t - metric_types];
}

unsigned metric_needs(const struct metric_type *t)
{
    return how_of(t)->needs;
}

double metric_of(struct tally *y, const struct metric_type *t)
{
    return how_of(t)->value(y);
}

static bool belongs(const struct metric_type *t, int task)
{
    return t->tasks >> task & 1;
}

void metrics_of(struct tally *y, struct metrics *m)
{
    /* both areas of a binary task come from one sorted walk */
    struct rank_areas areas = {0};
    bool two = y->task == TASK_BINARY;
    if (two)
        areas = tally_areas(y, 1);
    m->count = 0;
    for (const struct metric_type *t = metric_types; t->name; t++) {
        if (!belongs(t, y->task))
            continue;
        m->m[m->count].type = t;
        if (how_of(t)->value == auc)
            m->m[m->count++].value = areas.auc;
        else if (how_of(t)->value == pr_auc)
            m->m[m->count++].value = areas.average_precision;
        else
            m->m[m->count++].value = metric_of(y, t);
    }
}

/* --- names --- */

const struct metric_type *metric_find(const char *name, int task)
{
    for (const struct metric_type *t = metric_types; t->name; t++)
        if (belongs(t, task) && strcmp(t->name, name) == 0)
            return t;
    return NULL;
}

const struct metric_type *metric_default(int task)
{
    return metric_find(task == TASK_REGRESSION ? "rmse" : "logloss", task);
}

const struct metric_type *metric_ranking(int task)
{
    for (const struct metric_type *t = metric_types; t->name; t++)
        if (belongs(t, task) && (how_of(t)->value == auc || how_of(t)->value == macro_auc))
            return t;
    return metric_default(task);
}

static size_t names_of(int task, const char *names[METRIC_MOST])
{
    size_t count = 0;
    for (const struct metric_type *t = metric_types; t->name; t++)
        if (belongs(t, task))
            names[count++] = t->name;
    return count;
}

const char *metric_nearest(const char *name, int task)
{
    const char *names[METRIC_MOST];
    return text_nearest(name, names, names_of(task, names));
}

void metric_names(int task, char *out, size_t room)
{
    const char *names[METRIC_MOST];
    size_t count = names_of(task, names), used = 0;
    if (room)
        out[0] = '\0';
    for (size_t i = 0; i < count && used < room; i++) {
        int length = snprintf(out + used, room - used, "%s%s", i ? ", " : "", names[i]);
        used += length > 0 ? (size_t)length : 0;
    }
}

double metrics_get(const struct metrics *m, const char *name)
{
    for (uint32_t i = 0; i < m->count; i++)
        if (strcmp(m->m[i].type->name, name) == 0)
            return m->m[i].value;
    return (double)NAN;
}

void metrics_write(const struct metrics *m, const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    for (uint32_t i = 0; i < m->count; i++)
        json_put_number(out, m->m[i].type->name, m->m[i].value);
    json_close(out, '}');
}

/* --- the constant answer --- */

void metrics_baseline(int task, uint32_t classes, const double *class_share, double mean,
                      const struct scores *on, struct metrics *m)
{
    /* all scores are equal, so the areas are known without a walk and no row need be kept */
    struct tally *y =
        tally_new(task, classes, TALLY_ALL & ~(unsigned)(TALLY_CONFUSED | TALLY_RANKS));
    for (uint64_t r = 0; r < on->rows; r++) {
        struct scores one = {
            .task = task, .rows = 1, .classes = classes, .probability = class_share, .value = &mean};
        if (task == TASK_REGRESSION)
            one.target = on->target + r;
        else
            one.label = on->label + r;
        one.weight = on->weight ? on->weight + r : NULL;
        tally_add(y, &one);
    }
    metrics_of(y, m);
    uint32_t present = 0;
    for (uint32_t c = 0; c < classes; c++)
        present += y->support[c] > 0;
    for (uint32_t i = 0; i < m->count; i++) {
        double (*value)(struct tally *) = how_of(m->m[i].type)->value;
        if (value == auc || value == macro_auc)
            m->m[i].value = present > 1 ? 0.5 : (double)NAN;
        else if (value == pr_auc)
            m->m[i].value = y->support[1] > 0 ? ratio(y->support[1], y->weight) : (double)NAN;
    }
    tally_free(y);
}
