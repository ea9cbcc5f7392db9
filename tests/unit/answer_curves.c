/* answer_curves.c - the curves of a report: areas against the metrics of the same rows, shares of
 * histograms, residuals against values counted by hand. */
#include <math.h>

#include "answer/evaluate/curves.h"
#include "base/rng.h"
#include "tap.h"

enum { ROWS = 4000 };

static double uniform(uint32_t i, uint32_t what)
{
    return (double)(rng_bits(7, i, what, 0, RNG_TEST) >> 8) / (1 << 24);
}

/* Of three labels; each ninth row does not count. */
static struct answers_kept make_classes(struct tally *t)
{
    struct answers_kept k = {.task = TASK_MULTICLASS, .classes = 3, .decision = {.threshold = 0.5}};
    for (uint32_t i = 0; i < ROWS; i++) {
        double p[3], sum = 0;
        int32_t label = (int32_t)(uniform(i, 0) * 3);
        float weight = i % 2 ? 1 : 2;
        bool bad = i % 9 == 0;
        for (uint32_t c = 0; c < 3; c++)
            sum += p[c] = uniform(i, 1 + c) + (c == (uint32_t)label ? 0.4 : 0);
        for (uint32_t c = 0; c < 3; c++)
            p[c] /= sum;
        struct scores s = {.task = TASK_MULTICLASS, .rows = 1, .bad = &bad, .classes = 3,
                           .probability = p, .label = &label, .weight = &weight};
        answers_keep(&k, &s);
        tally_add(t, &s);
    }
    return k;
}

static double area(const struct curve *c)
{
    double sum = 0;
    for (uint32_t i = 1; i < c->count; i++)
        sum += (c->x[i] - c->x[i - 1]) * (c->y[i] + c->y[i - 1]) / 2;
    return sum;
}

static double sum_of(const struct histogram *h)
{
    double sum = 0;
    for (int i = 0; i < HISTOGRAM_BINS; i++)
        sum += h->share[i];
    return sum;
}

static void check_classes(void)
{
    struct tally *t = tally_new(TASK_MULTICLASS, 3, TALLY_ALL);
    struct answers_kept k = make_classes(t);
    for (uint32_t c = 0; c < 3; c++) {
        struct class_curves all;
        struct rank_areas areas = tally_areas(t, c);
        curves_of_class(&k, c, &all);
        ok(fabs(area(&all.roc) - areas.auc) < 0.002, "class %u: the area below the ROC curve", c);
        ok(fabs(area(&all.pr) - areas.average_precision) < 0.01, "class %u: below the other", c);
        ok(all.roc.count < 600 &&
               fabs(all.roc.x[all.roc.count - 1] + all.roc.y[all.roc.count - 1] - 2) < 1e-12,
           "class %u: few points, to the end", c);
        /* of a share p of positive rows: the area below gains is p / 2 + (1 - p) auc */
        const double p = t->support[c] / t->weight;
        ok(fabs(area(&all.gains) - p / 2 - (1 - p) * areas.auc) < 0.003, "class %u: gains", c);
        struct histogram of = histogram_of_class(&k, c, true),
                         others = histogram_of_class(&k, c, false);
        ok(fabs(sum_of(&of) - 1) < 1e-9 && fabs(sum_of(&others) - 1) < 1e-9 &&
               fabs(of.weight + others.weight - t->weight) < 1e-6,
           "class %u: histograms of all rows that count", c);
        class_curves_free(&all);
    }
    struct histogram right = histogram_of_answers(&k, true);
    ok(fabs(right.weight - t->right) < 1e-6, "right answers are those of the tally");
    answers_free(&k);
    tally_free(t);
}

static void check_residuals(void)
{
    struct answers_kept k = {.task = TASK_REGRESSION};
    const bool bad = false;
    for (uint32_t i = 0; i < ROWS; i++) { /* errors -1, -0.5, 0, 0.5, 1 */
        double target = i, value = target + ((double)(i % 5) - 2) / 2;
        float weight = 1;
        answers_keep(&k, &(struct scores){.task = TASK_REGRESSION, .rows = 1, .value = &value,
                                          .target = &target, .weight = &weight,
                                          .bad = &bad});
    }
    struct residuals r;
    residuals_of(&k, &r);
    ok(fabs(r.bias) < 1e-9, "no bias");
    ok(r.errors.low == -1 && r.errors.high == 1 && fabs(sum_of(&r.errors) - 1) < 1e-9,
       "all errors are in the histogram");
    ok(r.quantile[0] == 0.5 && r.quantile[1] == 0.5 && r.quantile[2] == 1, "quantiles of |error|");
    ok(r.dots.count > 500 && r.dots.count <= RESIDUAL_DOTS, "some hundred dots");
    ok(r.band[1].count == RESIDUAL_BANDS && r.band[1].y[4] == 0 && r.band[0].y[4] == -1 &&
           fabs(r.band[1].x[0] - 199.5) < 1,
       "bands of equally many rows");
    ok(r.covered.count == RESIDUAL_BANDS && r.covered.x[4] == r.band[1].x[4] &&
           fabs(r.covered.y[4] - 0.6) < 1e-9,
       "three of five answers are not below the truth");
    ok(fabs(r.within - 3994.0 / ROWS) < 1e-9, "six answers are not within a tenth of the truth");
    ok(fabs(r.constant - 1000) < 1e-9, "the typical error of the median target");
    residuals_free(&r);
    k.target[0] = -1;
    residuals_of(&k, &r);
    ok(isnan(r.within), "no tenth of a truth that may be below 0");
    residuals_free(&r);
    answers_free(&k);
    const struct answers_kept none = {.task = TASK_REGRESSION};
    residuals_of(&none, &r);
    ok(r.dots.count == 0, "no rows");
}

int main(void)
{
    check_classes();
    check_residuals();
    return done();
}
