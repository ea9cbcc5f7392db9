/* Metrics against values worked out by hand and against quadratic references. */
#include "measure/metric.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/text.h"
#include "measure/rank.h"
#include "measure/tally.h"
#include "scored.h"
#include "tap.h"

/* probabilities of two classes from those of the positive one */
static double *both(const double *p, size_t rows)
{
    double *out = mem_alloc(2 * rows, sizeof *out);
    for (size_t r = 0; r < rows; r++) {
        out[2 * r] = 1 - p[r];
        out[2 * r + 1] = p[r];
    }
    return out;
}

static double uniform(uint64_t i, uint32_t stream)
{
    return rng_uniform(7, i, stream, 0, RNG_TEST);
}

static void binary_by_hand(void)
{
    /* scores .1 .4 .35 .8 of labels 0 0 1 1: one of four pairs is the wrong way round */
    const double p[] = {0.1, 0.4, 0.35, 0.8};
    const int32_t label[] = {0, 0, 1, 1};
    double *both_p = both(p, 4);
    struct scores s = {
        .task = TASK_BINARY, .rows = 4, .classes = 2, .probability = both_p, .label = label};
    struct metrics m;
    metrics_compute(&s, &m);
    is_int(m.count, 9, "binary has nine metrics");
    is_near(metrics_get(&m, "auc"), 0.75, 0, "auc by hand");
    is_near(metrics_get(&m, "pr_auc"), 0.5 + 0.5 * 2 / 3, 1e-15, "average precision by hand");
    is_near(metrics_get(&m, "accuracy"), 0.75, 0, "accuracy by hand");
    is_near(metrics_get(&m, "precision"), 1, 0, "precision by hand");
    is_near(metrics_get(&m, "recall"), 0.5, 0, "recall by hand");
    is_near(metrics_get(&m, "f1"), 2.0 / 3, 1e-15, "f1 by hand");
    is_near(metrics_get(&m, "brier"), (0.01 + 0.16 + 0.65 * 0.65 + 0.04) / 4, 1e-7,
            "brier by hand");
    is_near(metrics_get(&m, "logloss"), -(log(0.9) + log(0.6) + log(0.35) + log(0.8)) / 4, 1e-7,
            "logloss by hand");
    /* bins of width 1/15: .1 in 1; .35 in 5; .4 in 6; .8 in 12 */
    is_near(metrics_get(&m, "ece"), (0.1 + 0.65 + 0.4 + 0.2) / 4, 1e-7, "ece by hand");
    for (uint32_t i = 0; i < m.count; i++)
        ok(metric_compute(&s, m.m[i].type) == m.m[i].value, "%s alone is the same",
           m.m[i].type->name);
    mem_free(both_p);
}

static void undefined(void)
{
    const double p[] = {0.2, 0.3};
    const int32_t label[] = {0, 0};
    double *both_p = both(p, 2);
    struct scores s = {
        .task = TASK_BINARY, .rows = 2, .classes = 2, .probability = both_p, .label = label};
    struct metrics m;
    metrics_compute(&s, &m);
    const char *const none[] = {"auc", "pr_auc", "precision", "recall", "f1"};
    for (size_t i = 0; i < 5; i++)
        ok(isnan(metrics_get(&m, none[i])), "%s of one class is not defined", none[i]);
    is_near(metrics_get(&m, "accuracy"), 1, 0, "accuracy of one class is");
    struct json_out out = {0};
    metrics_write(&m, NULL, &out);
    ok(strstr(out.text.data, "\"auc\":null") != NULL, "an undefined metric is null in JSON");
    text_free(&out.text);
    s.rows = 0;
    metrics_compute(&s, &m);
    for (uint32_t i = 0; i < m.count; i++)
        ok(isnan(m.m[i].value), "%s of no rows is not defined", m.m[i].type->name);
    ok(isnan(metrics_get(&m, "rmse")), "a metric of another task is not there");
    mem_free(both_p);
}

static void certain_and_wrong(void)
{
    const double p[] = {1, 0};
    const int32_t label[] = {0, 1};
    double *both_p = both(p, 2);
    struct scores s = {
        .task = TASK_BINARY, .rows = 2, .classes = 2, .probability = both_p, .label = label};
    is_near(metric_compute(&s, metric_find("logloss", TASK_BINARY)), -log(1e-15), 1e-12,
            "logloss of certain, wrong answers is finite");
    is_near(metric_compute(&s, metric_find("auc", TASK_BINARY)), 0, 0, "their auc is 0");
    mem_free(both_p);
}

/* every pair is looked at */
static double slow_auc(const double *p, const int32_t *label, const float *w, size_t rows)
{
    double over = 0, all = 0;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++)
            if (label[i] == 1 && label[j] == 0) {
                double pair = (double)w[i] * (double)w[j];
                all += pair;
                float mine = (float)p[2 * i + 1], other = (float)p[2 * j + 1];
                over += mine > other ? pair : mine == other ? pair / 2 : 0;
            }
    return over / all;
}

static double slow_average_precision(const double *p, const int32_t *label, const float *w,
                                     size_t rows)
{
    double sum = 0, positive = 0;
    for (size_t i = 0; i < rows; i++) {
        if (label[i] != 1)
            continue;
        double hits = 0, all = 0;
        for (size_t j = 0; j < rows; j++)
            if ((float)p[2 * j + 1] >= (float)p[2 * i + 1]) {
                all += (double)w[j];
                hits += label[j] == 1 ? (double)w[j] : 0;
            }
        sum += (double)w[i] * hits / all;
        positive += (double)w[i];
    }
    return sum / positive;
}

static double slow_auc_error(const double *p, const int32_t *label, size_t rows)
{
    double sums[2] = {0}, squares[2] = {0}, counts[2] = {0};
    for (size_t i = 0; i < rows; i++)
        counts[label[i]]++;
    for (size_t i = 0; i < rows; i++) {
        double right = 0;
        for (size_t j = 0; j < rows; j++)
            if (label[j] != label[i]) {
                float mine = (float)p[2 * i + 1], other = (float)p[2 * j + 1];
                bool above = label[i] == 1 ? mine > other : mine < other;
                right += above ? 1 : mine == other ? 0.5 : 0;
            }
        double share = right / counts[!label[i]];
        sums[label[i]] += share;
        squares[label[i]] += share * share;
    }
    double variance = 0;
    for (int c = 0; c < 2; c++) {
        double mean = sums[c] / counts[c];
        variance +=
            (squares[c] / counts[c] - mean * mean) * counts[c] / (counts[c] - 1) / counts[c];
    }
    return sqrt(variance);
}

static void against_pairs(void)
{
    enum { MOST = 700 };
    double worst_auc = 0, worst_precision = 0, worst_error = 0, worst_weighted = 0;
    for (uint32_t round = 0; round < 12; round++) {
        size_t rows = 20 + round * 61;
        double p[MOST];
        int32_t label[MOST];
        float one[MOST], weight[MOST];
        for (size_t i = 0; i < rows; i++) {
            label[i] = uniform(i, round) < 0.3;
            double raw = 0.6 * uniform(i, 100 + round) + 0.3 * label[i];
            p[i] = round % 2 ? floor(raw * 20) / 20 : raw; /* many ties in every other round */
            one[i] = 1;
            weight[i] = (float)(0.1 + uniform(i, 200 + round));
        }
        double *q = both(p, rows);
        struct scores s = {
            .task = TASK_BINARY, .rows = rows, .classes = 2, .probability = q, .label = label};
        struct metrics m;
        metrics_compute(&s, &m);
        double d = fabs(metrics_get(&m, "auc") - slow_auc(q, label, one, rows));
        worst_auc = d > worst_auc ? d : worst_auc;
        d = fabs(metrics_get(&m, "pr_auc") - slow_average_precision(q, label, one, rows));
        worst_precision = d > worst_precision ? d : worst_precision;
        struct tally *y = tally_new(TASK_BINARY, 2, TALLY_RANKS);
        tally_add(y, &s);
        d = fabs(tally_areas(y, 1).auc_error - slow_auc_error(q, label, rows));
        worst_error = d > worst_error ? d : worst_error;
        tally_free(y);
        s.weight = weight;
        metrics_compute(&s, &m);
        d = fabs(metrics_get(&m, "auc") - slow_auc(q, label, weight, rows)) +
            fabs(metrics_get(&m, "pr_auc") - slow_average_precision(q, label, weight, rows));
        worst_weighted = d > worst_weighted ? d : worst_weighted;
        mem_free(q);
    }
    is_near(worst_auc, 0, 1e-14, "auc is that of all pairs");
    is_near(worst_precision, 0, 1e-13, "average precision is that of all thresholds");
    is_near(worst_error, 0, 1e-12, "the standard error of auc is DeLong's");
    is_near(worst_weighted, 0, 1e-12, "both with weights");
}

static void many_chunks(void)
{
    /* scores 0/n .. (n-1)/n in a scattered order, positive above a half but for each tenth row */
    uint32_t rows = (uint32_t)(3 * RANK_CHUNK + 12345);
    struct rank a = {0}, b = {0};
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t at = rng_permute(1, 0, 0, rows, i);
        rank_add(&a, (double)at / rows, (at > rows / 2) != (at % 10 == 0), 1, 0);
        rank_add(&b, (double)i / rows, (i > rows / 2) != (i % 10 == 0), 1, 0);
    }
    struct rank_areas x = rank_finish(&a), y = rank_finish(&b), again = rank_finish(&a);
    ok(x.auc == y.auc && x.average_precision == y.average_precision,
       "the order of rows does not matter");
    ok(x.auc == again.auc, "areas can be taken twice");
    is_near(x.auc, 0.9 * 0.9 + 2 * 0.9 * 0.1 * 0.5, 1e-4, "auc over several chunks");
    rank_clear(&a);
    rank_add(&a, 0.25, true, 1, 0);
    rank_add(&a, 0.75, false, 1, 0);
    is_near(rank_finish(&a).auc, 0, 0, "a cleared rank starts anew");
    rank_free(&a);
    rank_free(&b);
}

/* Weights so far apart that the smaller ones are lost in sums: areas are shares all the same. */
static void weights_far_apart(void)
{
    enum { ROWS = 60 };
    static const float heavy[] = {1e16f, 1e30f, 3e37f};
    bool shares = true, one = true;
    for (uint32_t round = 0; round < 180; round++) {
        struct rank of_chance = {0}, perfect = {0};
        for (uint32_t i = 0; i < ROWS; i++) {
            bool positive = uniform(i, 400 + round) < 0.5;
            float weight = i == round / 3 ? heavy[round % 3] : (float)uniform(i, 600 + round);
            float score = (float)floor(20 * uniform(i, 800 + round)) / 20;
            rank_add(&of_chance, score, i % 2, weight, 0);
            rank_add(&perfect, positive ? 1 + score : score, positive, weight, 0);
        }
        struct rank_areas a = rank_finish(&of_chance), b = rank_finish(&perfect);
        shares = shares && a.auc >= 0 && a.auc <= 1 && a.average_precision >= 0 &&
                 a.average_precision <= 1;
        one = one && b.auc <= 1 && fabs(b.auc - 1) < 1e-14 && b.average_precision <= 1 &&
              fabs(b.average_precision - 1) < 1e-14;
        rank_free(&of_chance);
        rank_free(&perfect);
    }
    ok(shares, "areas of weights far apart are between 0 and 1");
    ok(one, "and 1 where every positive row stands above the others");
}

static void weights_are_repeats(void)
{
    enum { ROWS = 50 };
    double p[ROWS], repeated_p[3 * ROWS];
    int32_t label[ROWS], repeated_label[3 * ROWS];
    float weight[ROWS];
    size_t repeated = 0;
    for (size_t i = 0; i < ROWS; i++) {
        p[i] = uniform(i, 300);
        label[i] = uniform(i, 301) < 0.4;
        weight[i] = (float)(i % 4); /* 0 leaves the row out */
        for (size_t k = 0; k < i % 4; k++, repeated++) {
            repeated_p[repeated] = p[i];
            repeated_label[repeated] = label[i];
        }
    }
    double *q = both(p, ROWS), *repeated_q = both(repeated_p, repeated);
    struct scores s = {.task = TASK_BINARY,
                       .rows = ROWS,
                       .classes = 2,
                       .probability = q,
                       .label = label,
                       .weight = weight};
    struct scores t = {.task = TASK_BINARY,
                       .rows = repeated,
                       .classes = 2,
                       .probability = repeated_q,
                       .label = repeated_label};
    struct metrics a, b;
    metrics_compute(&s, &a);
    metrics_compute(&t, &b);
    for (uint32_t i = 0; i < a.count; i++)
        is_near(a.m[i].value, b.m[i].value, 1e-13, a.m[i].type->name);
    mem_free(q);
    mem_free(repeated_q);
}

static void multiclass_by_hand(void)
{
    const double p[] = {0.7, 0.2,  0.1,  0.1, 0.8, 0.1, 0.5, 0.4, 0.1,
                        0.2, 0.25, 0.55, 0.3, 0.4, 0.3, 0.4, 0.3, 0.3};
    const int32_t label[] = {0, 1, 1, 2, 2, 0};
    struct scores s = {
        .task = TASK_MULTICLASS, .rows = 6, .classes = 3, .probability = p, .label = label};
    struct metrics m;
    metrics_compute(&s, &m);
    is_int(m.count, 5, "multiclass has five metrics");
    is_near(metrics_get(&m, "accuracy"), 4.0 / 6, 1e-15, "accuracy by hand");
    /* answers 0 1 0 2 1 0: f1 of 0: 2*2/(2+3), of 1: 2*1/(2+2), of 2: 2*1/(2+1) */
    is_near(metrics_get(&m, "macro_f1"), (0.8 + 0.5 + 2.0 / 3) / 3, 1e-15, "macro_f1 by hand");
    is_near(metrics_get(&m, "logloss"),
            -(log(0.7) + log(0.8) + log(0.4) + log(0.55) + log(0.3) + log(0.4)) / 6, 1e-7,
            "logloss by hand");
    /* class 0: .7 .4 against .1 .5 .2 .3: 7 of 8; class 1: .8 .4 against .2 .25 .4 .3: 7.5 of 8;
     * class 2: .55 .3 against .1 .1 .1 .3: 7.5 of 8 */
    is_near(metrics_get(&m, "macro_auc"), (7 + 7.5 + 7.5) / 24, 1e-15, "macro_auc by hand");
    /* confidence .7 right, .8 right, .5 wrong, .55 right, .4 wrong, .4 right; bins 10, 12, 7, 8, 6,
     * 6 */
    is_near(metrics_get(&m, "ece"), (0.3 + 0.2 + 0.5 + 0.45 + fabs(0.8 - 1)) / 6, 1e-6,
            "ece by hand");
    struct scores two = s;
    two.rows = 3; /* class 2 is not there: the mean is over the others */
    metrics_compute(&two, &m);
    is_near(metrics_get(&m, "macro_auc"), (1 + 1) / 2.0, 1e-15,
            "macro_auc over the classes present");
}

static void many_rows_of_classes(void)
{
    /* beyond TALLY_EXACT the areas come from bins */
    enum { CLASSES = 5 };
    uint64_t rows = TALLY_EXACT / CLASSES + 1000;
    double *p = mem_alloc(rows * CLASSES, sizeof *p);
    int32_t *label = mem_alloc(rows, sizeof *label);
    for (uint64_t r = 0; r < rows; r++) {
        label[r] = (int32_t)(uniform(r, 400) * CLASSES);
        double sum = 0, raw[CLASSES];
        for (int c = 0; c < CLASSES; c++) {
            struct rng4 bits = rng_philox(3, (uint32_t)r, (uint32_t)c, 0, RNG_TEST);
            raw[c] = exp(6 * (double)bits.v[0] / 4294967296.0 + 2 * (c == label[r]));
            sum += raw[c];
        }
        for (int c = 0; c < CLASSES; c++)
            p[r * CLASSES + (unsigned)c] = raw[c] / sum;
    }
    struct scores s = {.task = TASK_MULTICLASS,
                       .rows = rows,
                       .classes = CLASSES,
                       .probability = p,
                       .label = label};
    struct tally *binned = tally_new(TASK_MULTICLASS, CLASSES, TALLY_RANKS);
    tally_add(binned, &s);
    ok(binned->binned && !binned->kept, "many scores are counted in bins");
    double worst = 0;
    for (uint32_t c = 0; c < CLASSES; c++) {
        struct rank exact = {0};
        for (uint64_t r = 0; r < rows; r++)
            rank_add(&exact, p[r * CLASSES + c], label[r] == (int32_t)c, 1, 0);
        struct rank_areas e = rank_finish(&exact), b = tally_areas(binned, c);
        double d = fabs(e.auc - b.auc);
        worst = d > worst ? d : worst;
        d = fabs(e.auc_error - b.auc_error);
        worst = d > worst ? d : worst;
        rank_free(&exact);
    }
    is_near(worst, 0, 1e-5, "their areas are those of the exact walk within 1e-5");
    /* block by block: the same bits */
    struct tally *pieces = tally_new(TASK_MULTICLASS, CLASSES, TALLY_ALL);
    for (uint64_t at = 0; at < rows; at += 77777) {
        struct scores piece = s;
        piece.rows = rows - at < 77777 ? rows - at : 77777;
        piece.probability = p + at * CLASSES;
        piece.label = label + at;
        tally_add(pieces, &piece);
    }
    struct metrics a, b;
    metrics_of(pieces, &a);
    metrics_compute(&s, &b);
    bool same = true;
    for (uint32_t i = 0; i < a.count; i++)
        same = same && a.m[i].value == b.m[i].value;
    ok(same, "rows in pieces give the same bits as rows at once");
    tally_free(pieces);
    tally_free(binned);
    mem_free(p);
    mem_free(label);
}

static void regression_by_hand(void)
{
    const double value[] = {2.5, 0, 2, 8}, target[] = {3, -0.5, 2, 7};
    struct scores s = {.task = TASK_REGRESSION, .rows = 4, .value = value, .target = target};
    struct metrics m;
    metrics_compute(&s, &m);
    is_int(m.count, 3, "regression has three metrics");
    is_near(metrics_get(&m, "mae"), 0.5, 0, "mae by hand");
    is_near(metrics_get(&m, "rmse"), sqrt(0.375), 1e-15, "rmse by hand");
    is_near(metrics_get(&m, "r2"), 1 - 1.5 / 29.1875, 1e-14, "r2 by hand");
    const double flat[] = {5, 5, 5, 5};
    s.target = flat;
    ok(isnan(metric_compute(&s, metric_find("r2", TASK_REGRESSION))),
       "r2 of a constant target is not defined");
}

static void baseline(void)
{
    enum { ROWS = 40 };
    double p[ROWS];
    int32_t label[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        p[i] = 0.25;
        label[i] = i % 5 == 0;
    }
    double *q = both(p, ROWS);
    struct scores s = {
        .task = TASK_BINARY, .rows = ROWS, .classes = 2, .probability = q, .label = label};
    struct metrics want, got;
    metrics_compute(&s, &want);
    const double share[] = {0.75, 0.25};
    metrics_baseline(TASK_BINARY, 2, share, NULL, &s, &(struct criterion){.classes = 2}, &got);
    for (uint32_t i = 0; i < want.count; i++) {
        double a = got.m[i].value, b = want.m[i].value;
        ok(a == b || (isnan(a) && isnan(b)), "baseline %s is that of the constant answer",
           want.m[i].type->name);
    }
    mem_free(q);
    const double target[] = {1, 2, 3}, value[] = {2, 2, 2};
    struct scores v = {.task = TASK_REGRESSION, .rows = 3, .value = value, .target = target};
    metrics_compute(&v, &want);
    metrics_baseline(TASK_REGRESSION, 0, NULL, value, &v, &(struct criterion){.classes = 0}, &got);
    ok(metrics_get(&got, "rmse") == metrics_get(&want, "rmse"), "baseline of values is the mean");
}

static void disagreeing(void)
{
    const struct metric_type *t = metric_find("logloss", TASK_BINARY);
    struct metrics a = {.count = 1, .m = {{t, 0.5, {0.48, 0.52}}}}, b = a;
    ok(!metrics_disagree(&a, &b, "logloss"), "equal values agree");
    b.m[0].value = 0.54; /* errors of 0.0102 each: three of both are 0.0433 */
    ok(!metrics_disagree(&a, &b, "logloss"), "nearly three errors apart they do");
    b.m[0].value = 0.55;
    ok(metrics_disagree(&a, &b, "logloss") && metrics_disagree(&b, &a, "logloss"),
       "further apart they do not");
    b.m[0].interval = (struct interval){0};
    ok(!metrics_disagree(&a, &b, "logloss"), "without an interval nobody knows");
}

static void quantiles(void)
{
    const double target[] = {1, 2, 3, 4}, value[] = {2, 2, 2, 2};
    const float weight[] = {1, 1, 1, 3};
    struct scores s = {.task = TASK_REGRESSION, .rows = 4, .value = value, .target = target,
                       .weight = weight};
    struct metrics m;
    struct tally *t = tally_new(TASK_REGRESSION, 0, TALLY_ALL);
    tally_judge_by(t, &(struct criterion){.loss = {.kind = LOSS_QUANTILE, .q = {0.75}}});
    tally_add(t, &s);
    metrics_of(t, &m);
    ok(m.count == 5, "a quantile's tally has two metrics more");
    is_near(metrics_get(&m, "pinball"), (0.25 + 0 + 0.75 + 3 * 1.5) / 6, 1e-12, "pinball");
    is_near(metrics_get(&m, "coverage"), 2.0 / 6, 1e-12, "an equal target is covered");
    tally_free(t);
    metrics_compute(&s, &m);
    ok(m.count == 3 && isnan(metrics_get(&m, "coverage")), "others have none of them");
    ok(metric_find("pinball", METRIC_QUANTILE) && !metric_find("pinball", TASK_REGRESSION) &&
       metric_find("mae", METRIC_QUANTILE), "found where they belong");
    is_string(metric_default(METRIC_QUANTILE)->name, "rmse", "the default of quantiles");
}

static void names(void)
{
    ok(metric_find("auc", TASK_BINARY) != NULL, "auc is a metric of binary");
    ok(metric_find("auc", TASK_REGRESSION) == NULL, "auc is none of regression");
    is_string(metric_default(TASK_BINARY)->name, "logloss", "default of classes");
    is_string(metric_default(TASK_REGRESSION)->name, "rmse", "default of values");
    is_string(metric_nearest("acuracy", TASK_BINARY), "accuracy", "the nearest name");
    char text[200];
    metric_names(TASK_REGRESSION, text, sizeof text);
    is_string(text, "rmse, mae, r2", "the names of a task");
}

static void tasks(void)
{
    static const char *const usual[] = {"logloss", "logloss", "rmse"};
    static const int all[] = {TASK_BINARY, TASK_MULTICLASS, TASK_REGRESSION};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        is_string(metric_default(all[i])->name, usual[i], "the task's own metric");
}

int main(void)
{
    binary_by_hand();
    disagreeing();
    quantiles();
    undefined();
    certain_and_wrong();
    against_pairs();
    many_chunks();
    weights_far_apart();
    weights_are_repeats();
    multiclass_by_hand();
    many_rows_of_classes();
    regression_by_hand();
    baseline();
    names();
    tasks();
    return done();
}
