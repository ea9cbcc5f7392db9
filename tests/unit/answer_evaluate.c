/* Gates, intervals, and evaluation of a trained model against metrics computed from its
 * predictions. */
#include "answer/evaluate/evaluate.h"

#include "answer/verify.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "scored.h"
#include "tap.h"
#include "tiny.h"

static double uniform(uint64_t i, uint32_t stream)
{
    return rng_uniform(19, i, stream, 0, RNG_TEST);
}

/* --- gates --- */

static bool passes(const char *text, int task, double value)
{
    struct gate g;
    struct err e = {0};
    if (!gate_read(&g, text, task, &e))
        return false;
    gate_measure(&g, value);
    bool pass = g.pass;
    gate_release(&g);
    return pass;
}

static void gates(void)
{
    ok(passes("auc>=0.85", TASK_BINARY, 0.85) && !passes("auc>=0.85", TASK_BINARY, 0.8499),
       "at least");
    ok(!passes("auc>0.85", TASK_BINARY, 0.85) && passes("auc>0.85", TASK_BINARY, 0.86), "above");
    ok(passes("logloss<=0.5", TASK_BINARY, 0.5) && !passes("logloss<=0.5", TASK_BINARY, 0.51),
       "at most");
    ok(!passes("rmse<3", TASK_REGRESSION, 3) && passes("rmse<3", TASK_REGRESSION, 2.9), "below");
    ok(passes("  auc  >=  0.5 ", TASK_BINARY, 0.6), "blanks may stand around");
    ok(passes("r2>=-1e-1", TASK_REGRESSION, 0), "a bound may have sign and exponent");
    ok(!passes("auc>=0", TASK_BINARY, (double)NAN) &&
           !passes("logloss<=9", TASK_BINARY, (double)NAN),
       "what is not a number passes nothing");
    static const char *const wrong[] = {
        "",      "auc",      "auc=0.5",  "auc>=",   "auc>=high",      "auc>=0.5x",
        ">=0.5", "auc>=inf", "auc>=nan", "rmse<=3", "auc >= 0.5 0.6", "auc=>0.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct gate g;
        struct err e = {0};
        ok(!gate_read(&g, wrong[i], TASK_BINARY, &e) && err_exit(&e) == EXIT_USAGE,
           "\"%s\" is no gate of binary", wrong[i]);
    }
    struct gate g;
    struct err e = {0};
    gate_read(&g, "acuracy>=0.5", TASK_BINARY, &e);
    ok(strstr(e.help, "accuracy") != NULL, "the nearest metric is named");
}

/* --- intervals --- */

static double logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static void binary_sample(uint64_t from, size_t rows, double *p, int32_t *label)
{
    for (size_t i = 0; i < rows; i++) {
        double q = logistic(4 * uniform(from + i, 0) - 2.4);
        p[2 * i] = 1 - q;
        p[2 * i + 1] = q;
        label[i] = uniform(from + i, 1) < q;
    }
}

static void value_sample(uint64_t from, size_t rows, double *value, double *target)
{
    for (size_t i = 0; i < rows; i++) {
        value[i] = 100 + 6 * uniform(from + i, 2);
        target[i] = value[i] + rng_normal(19, from + i, 3, 0, RNG_TEST);
    }
}

static void multi_sample(uint64_t from, size_t rows, double *p, int32_t *label)
{
    for (size_t i = 0; i < rows; i++) {
        double raw[3], sum = 0, draw = uniform(from + i, 7);
        for (uint32_t c = 0; c < 3; c++)
            sum += raw[c] = exp(3 * uniform(from + i, 4 + c));
        label[i] = 2;
        for (uint32_t c = 0; c < 3; c++)
            p[3 * i + c] = raw[c] / sum;
        if (draw < raw[0] / sum)
            label[i] = 0;
        else if (draw < (raw[0] + raw[1]) / sum)
            label[i] = 1;
    }
}

/* How often the interval of a sample holds the value of a very large one. */
static void coverage(int task, double least, double most)
{
    enum { ROWS = 400, TIMES = 250, LARGE = 400000 };
    uint32_t classes = task == TASK_BINARY ? 2 : task == TASK_MULTICLASS ? 3 : 0;
    size_t width = classes ? classes : 1;
    double *p = mem_alloc(LARGE * width, sizeof *p);
    int32_t *label = mem_alloc(LARGE, sizeof *label);
    double *value = mem_alloc(LARGE, sizeof *value), *target = mem_alloc(LARGE, sizeof *target);
    struct scores s = {.task = task,
                       .classes = classes,
                       .probability = p,
                       .label = label,
                       .value = value,
                       .target = target};
    struct metrics truth = {0}, m;
    unsigned held[METRIC_MOST] = {0};
    for (uint64_t time = 0; time <= TIMES; time++) {
        s.rows = time ? ROWS : LARGE;
        uint64_t from = time * 10000000;
        if (task == TASK_BINARY)
            binary_sample(from, s.rows, p, label);
        else if (task == TASK_MULTICLASS)
            multi_sample(from, s.rows, p, label);
        else
            value_sample(from, s.rows, value, target);
        if (time == 0) {
            metrics_compute(&s, &truth);
            continue;
        }
        struct tally *t = tally_new(task, classes, TALLY_ALL);
        tally_add(t, &s);
        metrics_of(t, &m);
        for (uint32_t i = 0; i < m.count; i++) {
            struct interval at = m.m[i].type->interval(t, m.m[i].value);
            if (strcmp(m.m[i].type->name, "ece") ==
                0) /* biased upwards on few rows: must hold its own value */
                held[i] += at.low <= m.m[i].value && m.m[i].value <= at.high;
            else
                held[i] += at.low <= truth.m[i].value && truth.m[i].value <= at.high;
        }
        tally_free(t);
    }
    for (uint32_t i = 0; i < m.count; i++) {
        double share = held[i] / (double)TIMES;
        bool own = strcmp(m.m[i].type->name, "ece") == 0;
        ok(own ? held[i] == TIMES : share >= least && share <= most,
           "interval of %s %s: held in %.3f", task_names[task], m.m[i].type->name, share);
    }
    mem_free(p);
    mem_free(label);
    mem_free(value);
    mem_free(target);
}

static void intervals(void)
{
    struct interval w = interval_wilson(0.5, 100);
    is_near(w.low, 0.4038315, 1e-6, "Wilson of 50 in 100, low");
    is_near(w.high, 0.5961685, 1e-6, "Wilson of 50 in 100, high");
    w = interval_wilson(0, 20);
    ok(w.low == 0 && w.high > 0.15 && w.high < 0.17, "Wilson of 0 in 20");
    ok(isnan(interval_wilson((double)NAN, 5).low), "no interval of what is not defined");
    coverage(TASK_BINARY, 0.89, 0.99);
    coverage(TASK_MULTICLASS, 0.90, 1.0);
    coverage(TASK_REGRESSION, 0.90, 0.99);
    const double p[] = {0.1, 0.9, 0.8, 0.2};
    const int32_t label[] = {1, 0};
    struct scores s = {
        .task = TASK_BINARY, .rows = 2, .classes = 2, .probability = p, .label = label};
    struct tally *t = tally_new(TASK_BINARY, 2, TALLY_ALL);
    tally_add(t, &s);
    struct interval area = metric_find("auc", TASK_BINARY)->interval(t, 1);
    ok(area.low > 0 && area.low < 0.5 && area.high == 1,
       "a perfect area of two rows is not certain");
    area = metric_find("f1", TASK_BINARY)->interval(t, 1);
    ok(area.low > 0 && area.low < 0.5 && area.high == 1, "nor is a perfect F1");
    area = metric_find("ece", TASK_BINARY)->interval(t, 0.15);
    ok(area.low == 0 && area.high > 0.3, "nor an ece of bins that are all alike: %g", area.high);
    area = metric_find("ece", TASK_BINARY)->interval(t, 0.5);
    ok(area.low == 0 && area.high == 1, "which is not above 1: %g", area.high);
    tally_free(t);
    const int32_t wrong[] = {0, 1};
    s.label = wrong;
    t = tally_new(TASK_BINARY, 2, TALLY_ALL);
    tally_add(t, &s);
    area = metric_find("f1", TASK_BINARY)->interval(t, 0);
    ok(area.low == 0 && area.high > 0.7 && area.high < 1, "nor one of 0: %g", area.high);
    tally_free(t);
    s.task = TASK_MULTICLASS;
    t = tally_new(TASK_MULTICLASS, 2, TALLY_ALL);
    tally_add(t, &s);
    area = metric_find("macro_f1", TASK_MULTICLASS)->interval(t, 0);
    ok(area.low == 0 && area.high > 0.5 && area.high < 1, "nor a mean of 0: %g", area.high);
    tally_free(t);
}

/* --- a trained model --- */

static void models(void)
{
    struct err e = {0};
    struct tiny t;
    if (!ok(tiny_open(&t, TASK_BINARY, &e), "a small binary model is trained: %s", e.what))
        return;
    char *inputs[] = {t.data};
    char *gate_texts[] = {"auc>=0.5", "logloss<=0.0001"};
    struct evaluate_request q = {.rows.model = t.model,
                                 .rows.inputs = inputs,
                                 .rows.input_count = 1,
                                 .require = gate_texts,
                                 .require_count = 2,
                                 .rows.overrides = tiny_overrides};
    struct evaluate_result r;
    ok(evaluate_run(&q, &r, &e), "evaluate: %s", e.what);
    is_int(r.rows, TINY_ROWS, "all rows are measured");
    ok(metrics_get(&r.metrics, "auc") > 0.8, "the model has learned: auc %.4f",
       metrics_get(&r.metrics, "auc"));
    ok(r.gate_count == 2 && r.gates[0].pass && !r.gates[1].pass && !r.passed,
       "one gate is met, one is not");
    struct json_out out = {0};
    evaluate_write(&r, &out);
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "summary", &e);
    if (ok(doc != NULL, "the summary is JSON: %s", e.what)) {
        const struct json *root = json_root(doc);
        is_string(json_string(json_get(root, "schema")), "dnn.evaluate/1", "its schema");
        is_int(json_count(json_get(root, "intervals")), r.metrics.count, "an interval a metric");
        is_int(json_count(json_get(root, "calibration")), 15, "fifteen bins");
        is_int(json_count(json_path(root, "confusion.counts")), 2, "the confusion of two labels");
        is_int(json_count(json_get(root, "gates")), 2, "both gates");
        double support = 0;
        size_t c = 0;
        for (const struct json *l = json_at(json_get(root, "per_label"), 0); l; l = json_next(l)) {
            const struct json *answers = json_at(json_path(root, "confusion.counts"), c);
            double hit = json_number(json_at(answers, c++)), of = 0;
            for (const struct json *a = json_at(answers, 0); a; a = json_next(a))
                of += json_number(a);
            ok(of > 0 && hit != of && json_number(json_get(l, "recall")) == hit / of,
               "recall of \"%s\": its hits of its rows", json_key(l));
            support += json_number(json_get(l, "support"));
        }
        ok(support > 0, "labels have support");
    }
    json_free(doc);
    text_free(&out.text);
    struct metrics first = r.metrics;
    evaluate_release(&r);

    q.require_count = 0;
    q.better_than = t.model;
    ok(evaluate_run(&q, &r, &e), "compared with itself: %s", e.what);
    ok(r.gate_count == 1 && !r.passed && r.gates[0].value == 0, "no model is better than itself");
    ok(metrics_get(&r.metrics, "auc") == metrics_get(&first, "auc"), "the same metrics again");
    evaluate_release(&r);
    q.by = -0.01;
    ok(evaluate_run(&q, &r, &e) && r.passed, "but it is not more than 0.01 worse");
    evaluate_release(&r);
    q.on = "rmse";
    ok(!evaluate_run(&q, &r, &e) && err_exit(&e) == EXIT_USAGE, "a metric of another task: %s",
       e.what);
    evaluate_release(&r);

    q = (struct evaluate_request){
        .rows = {
            .model = t.model, .inputs = inputs, .input_count = 1, .overrides = tiny_overrides}};
    char *bad = tiny_file(&t, "unseen.csv", "id,x,color,y\n1,0.5,red,yes\n2,0.5,red,perhaps\n");
    inputs[0] = bad;
    err_clear(&e);
    ok(!evaluate_run(&q, &r, &e) && err_exit(&e) == EXIT_DATA && e.line == 3,
       "N04: an unseen label has its line: %s", e.what);
    evaluate_release(&r);
    mem_free(bad);
    bad = tiny_file(&t, "norows.csv", "id,x,color,y\n");
    inputs[0] = bad;
    err_clear(&e);
    ok(!evaluate_run(&q, &r, &e) && e.id == ERR_CSV_NO_ROWS, "C02: no rows cannot be measured: %s",
       e.what);
    evaluate_release(&r);
    mem_free(bad);

    struct verify_result v;
    err_clear(&e);
    ok(verify_run(t.model, &tiny_overrides, true, &v, &e), "verify: %s", e.what);
    ok(v.pass && v.bits && v.largest_difference == 0 && v.rows > 0,
       "golden rows give the same bits here");
    tiny_close(&t);
}

static void regression(void)
{
    struct err e = {0};
    struct tiny t;
    if (!ok(tiny_open(&t, TASK_REGRESSION, &e), "a small regression is trained: %s", e.what))
        return;
    char *inputs[] = {t.data};
    struct evaluate_request q = {
        .rows = {
            .model = t.model, .inputs = inputs, .input_count = 1, .overrides = tiny_overrides}};
    struct evaluate_result r;
    ok(evaluate_run(&q, &r, &e), "evaluate: %s", e.what);
    ok(metrics_get(&r.metrics, "r2") > 0.5, "the model has learned: r2 %.4f",
       metrics_get(&r.metrics, "r2"));
    evaluate_release(&r);
    struct verify_result v;
    ok(verify_run(t.model, &tiny_overrides, true, &v, &e) && v.pass, "golden rows: %s", e.what);
    tiny_close(&t);
}

int main(void)
{
    log_setup(getenv("TEST_VERBOSE") ? 1 : 0, false);
    gates();
    intervals();
    models();
    regression();
    return done();
}
