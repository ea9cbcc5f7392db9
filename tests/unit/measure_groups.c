/* measure_groups.c - intervals by groups: the jackknife against tallies without each group, the
 * influence of rows on areas against small changes of weights, and the coverage over 200 simulated
 * test sets of 30 groups of 10 rows. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "measure/metric.h"
#include "tap.h"

enum { GROUPS = 30, EACH = 10, ROWS = GROUPS * EACH, SETS = 200, POPULATION = 20000 };

static double uniform(uint64_t seed, uint64_t row, uint32_t kind)
{
    return ((double)rng_bits(seed, row, kind, 0, RNG_TEST) + 0.5) * 0x1p-32;
}

static double normal(uint64_t seed, uint64_t row, uint32_t kind)
{
    return sqrt(-2 * log(uniform(seed, row, kind))) *
           cos(6.283185307179586 * uniform(seed, row, kind + 100));
}

/* Rows of a task: binary with p, regression with value and target. */
struct set {
    double p[2 * ROWS], value[ROWS], target[ROWS];
    int32_t label[ROWS];
    float weight[ROWS];
    uint64_t group[ROWS];
};

/* A group moves labels, scores and targets; of `alike` all its rows have one label. */
static void fill(struct set *s, uint64_t seed, bool alike)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        const uint64_t g = i / EACH;
        double u = normal(seed, g, 1), v = normal(seed, g, 2), e = normal(seed, i, 3),
               f = normal(seed, i, 4), z = alike ? 2 * u : 1.5 * u + 0.7 * f;
        double score = 1.2 * u + 0.8 * v + 0.5 * e + (alike ? 0 : 0.3 * f);
        s->label[i] = uniform(seed, alike ? g : i, 5 + !alike) < 1 / (1 + exp(-z));
        s->p[2 * i + 1] = 1 / (1 + exp(-score));
        s->p[2 * i] = 1 / (1 + exp(score));
        s->target[i] = 1.5 * v + f;
        s->value[i] = 0.8 * v + 0.3 * e;
        s->weight[i] = 1;
        s->group[i] = g * 7 + 3;
    }
}

static void add(struct tally *t, const struct set *s, uint32_t from, uint32_t rows, bool groups)
{
    tally_add(t, &(struct scores){.task = t->task,
                                  .rows = rows,
                                  .classes = t->classes,
                                  .probability = s->p + 2 * from,
                                  .label = s->label + from,
                                  .value = s->value + from,
                                  .target = s->target + from,
                                  .weight = s->weight + from,
                                  .group = groups ? s->group + from : NULL});
}

static struct criterion judge; /* zeroed: that of the task */

static struct tally *tally_of(const struct set *s, int task, bool groups, uint32_t without)
{
    struct tally *t = tally_new(task, task == TASK_BINARY ? 2 : 0, TALLY_ALL);
    tally_judge_by(t, &judge);
    for (uint32_t g = 0; g < GROUPS; g++)
        if (g != without)
            add(t, s, g * EACH, EACH, groups);
    return t;
}

/* Every metric without a group, by the difference of sums and anew. */
static void check_less(int task, int loss)
{
    struct set *s = mem_alloc(1, sizeof *s);
    struct metrics m, want;
    double worst = 0;
    judge = (struct criterion){.loss = {.kind = loss, .gamma = 2, .delta = 1, .q = {0.7}},
                               .classes = task == TASK_BINARY ? 2 : 0};
    fill(s, 5, false);
    for (uint32_t i = 0; i < ROWS; i++) {
        s->weight[i] = (float)(1 + i % 3);
        s->target[i] += 1e4;
        s->value[i] += 1e4;
    }
    struct tally *all = tally_of(s, task, true, GROUPS),
                 *rest = tally_new(task, all->classes, 0);
    is_int(all->groups->count, GROUPS, "each group has a tally");
    for (uint32_t g = 0; g < GROUPS; g++) {
        struct tally *t = tally_of(s, task, false, g);
        tally_judge_by(rest, &judge);
        tally_less(rest, all, all->groups->part[g]);
        metrics_of(t, &want);
        metrics_of(rest, &m);
        for (uint32_t k = 0; k < m.count; k++)
            if (!(m.m[k].type->needs & TALLY_RANKS))
                worst = fmax(worst, fabs(m.m[k].value / want.m[k].value - 1));
        tally_free(t);
    }
    ok(worst < 1e-11 && m.count > 2, "%s, %s, without a group: %.2g off",
       task == TASK_BINARY ? "binary" : "regression", loss_names[loss], worst);
    judge = (struct criterion){0};
    tally_free(all);
    tally_free(rest);
    mem_free(s);
}

/* Pulls are derivatives: weights of a group a little larger move the areas by them. */
static void check_pulls(void)
{
    struct set *s = mem_alloc(1, sizeof *s);
    double auc[GROUPS] = {0}, precision[GROUPS] = {0}, worst = 0, sum = 0;
    struct rank_areas a;
    fill(s, 9, false);
    for (uint32_t i = 0; i < ROWS; i++) { /* with ties */
        s->p[2 * i + 1] = round(20 * s->p[2 * i + 1]) / 20;
        s->p[2 * i] = 1 - s->p[2 * i + 1];
        s->weight[i] = (float)(1 + i % 3);
    }
    struct tally *t = tally_of(s, TASK_BINARY, true, GROUPS);
    ok(tally_pulls(t, 1, &a, auc, precision), "the areas are defined");
    for (uint32_t g = 0; g < GROUPS; g++) {
        double change[2][2];
        for (int k = 0; k < 2; k++) {
            for (uint32_t i = g * EACH; i < (g + 1) * EACH; i++)
                s->weight[i] *= k ? 0.9990234375f / 1.0009765625f : 1.0009765625f;
            struct tally *moved = tally_of(s, TASK_BINARY, false, GROUPS);
            change[k][0] = tally_areas(moved, 1).auc;
            change[k][1] = tally_areas(moved, 1).average_precision;
            tally_free(moved);
        }
        for (uint32_t i = g * EACH; i < (g + 1) * EACH; i++)
            s->weight[i] = (float)(1 + i % 3);
        const double two = 2 * 0.0009765625;
        worst = fmax(worst, fabs((change[0][0] - change[1][0]) / two - auc[g]));
        worst = fmax(worst, fabs((change[0][1] - change[1][1]) / two - precision[g]));
        sum += fabs(auc[g]) + fabs(precision[g]);
    }
    ok(worst < 1e-5 && sum > 0.1, "pulls are derivatives: %.2g off", worst);
    tally_free(t);
    mem_free(s);
}

static void check_quantile(void)
{
    is_near(group_quantile(1), 12.706204736432095, 1e-9, "t of 1 degree of freedom");
    is_near(group_quantile(2), 4.302652729911275, 1e-9, "of 2");
    is_near(group_quantile(3), 3.182446305284263, 2e-3, "of 3");
    is_near(group_quantile(10), 2.2281388519649385, 1e-4, "of 10");
    is_near(group_quantile(29), 2.045229642132703, 1e-5, "of 29");
    is_near(group_quantile(1e6), 1.959966, 1e-5, "of many");
}

/* The share of simulated sets whose interval holds the metric of the population. */
static void check_coverage(bool alike)
{
    static const char *const names[] = {"auc", "pr_auc", "accuracy", "f1", "recall", "logloss",
                                        "rmse", "mae"};
    enum { NAMES = sizeof names / sizeof *names };
    struct set *s = mem_alloc(1, sizeof *s);
    struct tally *whole[2] = {tally_new(TASK_BINARY, 2, TALLY_ALL),
                              tally_new(TASK_REGRESSION, 0, TALLY_ALL)};
    struct metrics m[2];
    double truth[NAMES], held[NAMES] = {0}, rows_held[NAMES] = {0};
    for (uint32_t k = 0; k < POPULATION / GROUPS; k++) {
        fill(s, 100000 + k, alike);
        for (int t = 0; t < 2; t++)
            add(whole[t], s, 0, ROWS, false);
    }
    for (int t = 0; t < 2; t++)
        metrics_of(whole[t], &m[t]);
    for (int k = 0; k < NAMES; k++)
        truth[k] = metrics_get(&m[k > 5], names[k]);
    for (uint32_t set = 0; set < SETS; set++) {
        fill(s, 1 + set + 1000 * alike, alike);
        for (int groups = 0; groups < 2; groups++)
            for (int t = 0; t < 2; t++) {
                struct tally *y = tally_of(s, t ? TASK_REGRESSION : TASK_BINARY, groups, GROUPS);
                metrics_of(y, &m[0]);
                metrics_intervals(y, &m[0]);
                for (int k = t ? 6 : 0; k < (t ? NAMES : 6); k++) {
                    struct interval i = metrics_interval(&m[0], names[k]);
                    (groups ? held : rows_held)[k] += i.low <= truth[k] && truth[k] <= i.high;
                }
                tally_free(y);
            }
    }
    for (int k = 0; k < NAMES; k++)
        ok(held[k] / SETS >= 0.915 && held[k] / SETS <= 0.985,
           "%s of %.4g: intervals hold it in %.1f %% of %d sets (by row %.1f %%)", names[k],
           truth[k], 100 * held[k] / SETS, SETS, 100 * rows_held[k] / SETS);
    tally_free(whole[0]);
    tally_free(whole[1]);
    mem_free(s);
}

/* More groups than tallies: the interval stays that of independent rows. */
static void check_many(void)
{
    enum { MANY = 6000 };
    struct tally *t[2] = {tally_new(TASK_REGRESSION, 0, TALLY_ALL),
                          tally_new(TASK_REGRESSION, 0, TALLY_ALL)};
    for (uint64_t i = 0; i < MANY; i++) {
        double value = 0, target = normal(3, i, 1);
        struct scores one = {.task = TASK_REGRESSION, .rows = 1, .value = &value,
                             .target = &target};
        tally_add(t[0], &one);
        one.group = &i;
        tally_add(t[1], &one);
    }
    struct metrics m[2];
    for (int k = 0; k < 2; k++) {
        metrics_of(t[k], &m[k]);
        metrics_intervals(t[k], &m[k]);
    }
    struct interval rows = metrics_interval(&m[0], "rmse"),
                    groups = metrics_interval(&m[1], "rmse");
    is_int(t[1]->groups->count, TALLY_GROUPS, "groups share tallies");
    ok(fabs((groups.high - groups.low) / (rows.high - rows.low) - 1) < 0.08,
       "groups of one row: widths %.4g and %.4g", groups.high - groups.low, rows.high - rows.low);
    tally_free(t[0]);
    tally_free(t[1]);
}

int main(void)
{
    check_quantile();
    static const int losses[] = {LOSS_AUTO, LOSS_FOCAL, LOSS_SOFT_F1, LOSS_QUANTILE, LOSS_HUBER};
    for (int k = 0; k < 5; k++)
        check_less(k < 3 ? TASK_BINARY : TASK_REGRESSION, losses[k]);
    check_pulls();
    check_many();
    check_coverage(false);
    check_coverage(true);
    return done();
}
