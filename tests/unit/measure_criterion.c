/* measure_criterion.c - the loss that counts: every kind against its formula written out, its
 * error, its best constant against a search, and the choice of members by it. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/blend.h"
#include "measure/metric.h"
#include "measure/probability.h"
#include "tap.h"

enum { ROWS = 300, CLASSES = 3 };

static double p[ROWS][CLASSES], value[ROWS], target[ROWS];
static int32_t label[ROWS];
static float weight[ROWS];
static const float class_weight[CLASSES] = {0.5f, 1, 4};

static void make_rows(void)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        double sum = 0;
        label[i] = rng_bits(1, i, 0, 0, RNG_TEST) % 7 < 4   ? 0
                   : rng_bits(1, i, 0, 1, RNG_TEST) % 3 < 2 ? 1
                                                            : 2;
        weight[i] = (float)(rng_bits(1, i, 1, 0, RNG_TEST) % 3);
        for (uint32_t c = 0; c < CLASSES; c++)
            sum += p[i][c] = exp(rng_normal(2, i, c, 0, RNG_TEST) + ((int32_t)c == label[i]));
        for (uint32_t c = 0; c < CLASSES; c++)
            p[i][c] /= sum;
        target[i] = 3 + rng_normal(3, i, 0, 0, RNG_TEST);
        value[i] = target[i] + 0.5 + rng_normal(3, i, 1, 0, RNG_TEST);
    }
}

static double own_weight(const struct criterion *c, uint32_t i)
{
    return (double)weight[i] * (c->classes && c->class_weight
                                    ? (double)c->class_weight[label[i]] : 1);
}

/* The loss by its formula. */
static double formula(const struct criterion *c)
{
    double loss = 0, all = 0, tp[CLASSES] = {0}, both[CLASSES] = {0};
    for (uint32_t i = 0; i < ROWS; i++) {
        const double w = own_weight(c, i), q = p[i][label[i]], d = value[i] - target[i];
        double x = 0;
        switch ((enum loss_kind)c->loss.kind) {
        case LOSS_AUTO:
        case LOSS_CROSS_ENTROPY: x = -log(q); break;
        case LOSS_FOCAL: x = -pow(1 - q, c->loss.gamma) * log(q); break;
        case LOSS_SOFT_F1: break;
        case LOSS_MSE: x = d * d; break;
        case LOSS_MAE: x = fabs(d); break;
        case LOSS_HUBER: x = fabs(d) <= c->loss.delta ? d * d / 2
                                 : c->loss.delta * fabs(d) - c->loss.delta * c->loss.delta / 2;
            break;
        case LOSS_QUANTILE: x = fmax(c->loss.q[0] * -d, (1 - c->loss.q[0]) * d); break;
        }
        loss += w * x;
        all += w;
        for (uint32_t k = 0; k < CLASSES; k++) {
            tp[k] += (int32_t)k == label[i] ? w * p[i][k] : 0;
            both[k] += w * (p[i][k] + ((int32_t)k == label[i]));
        }
    }
    if (c->loss.kind != LOSS_SOFT_F1)
        return loss / all;
    double f = 0, count = 0;
    for (uint32_t k = 0; k < CLASSES; k++)
        if (loss_chosen(&c->loss, k)) {
            f += 1 - (2 * tp[k] + 1) / (both[k] + 1);
            count++;
        }
    return f / count;
}

static double sum_of(const struct criterion *c, struct criterion_sum *s)
{
    *s = (struct criterion_sum){0};
    for (uint32_t i = 0; i < ROWS; i++)
        criterion_add(c, s, c->classes ? p[i] : &value[i], label[i], target[i], (double)weight[i]);
    return criterion_mean(c, s);
}

/* The metric "loss" of the same rows, where no metric of the task is the criterion. */
static void check_metric(const struct criterion *c, double want, const char *name)
{
    const int task = c->classes ? TASK_MULTICLASS : TASK_REGRESSION;
    struct tally *y = tally_new(task, c->classes, TALLY_ALL);
    struct metrics m;
    double shifted[ROWS][CLASSES];
    tally_judge_by(y, c);
    for (uint32_t i = 0; i < ROWS; i++) /* calibrated otherwise: the criterion reads raw ones */
        for (uint32_t k = 0; k < CLASSES; k++)
            shifted[i][k] = p[i][(k + 1) % CLASSES];
    tally_add(y, &(struct scores){.task = task, .rows = ROWS, .classes = c->classes,
                                  .probability = shifted[0], .raw = p[0], .label = label,
                                  .value = value, .target = target, .weight = weight});
    metrics_of(y, &m);
    metrics_intervals(y, &m);
    const char *called = metric_of(c, task)->name;
    const double got = metrics_get(&m, called), root = c->loss.kind == LOSS_MSE ? sqrt(want) : want;
    const struct interval ends = metrics_interval(&m, called);
    if (c->loss.kind == LOSS_CROSS_ENTROPY && !c->class_weight)
        ok(strcmp(called, "logloss") == 0, "%s: is logloss", name);
    else
        ok(fabs(got - root) < 1e-12 && ends.low < got && got < ends.high,
           "%s: metric %s %.6f (%.4f to %.4f)", name, called, got, ends.low, ends.high);
    tally_free(y);
}

static void check_kind(struct criterion c, const char *name)
{
    struct criterion_sum s;
    const double got = sum_of(&c, &s), want = formula(&c);
    ok(fabs(got - want) < 1e-12, "%s: %.9f, the formula %.9f", name, got, want);
    if (c.loss.kind == LOSS_SOFT_F1) {
        double mean = 0;
        for (uint32_t i = 0; i < ROWS; i++)
            mean += own_weight(&c, i) / s.of_rows.weight * criterion_f1_row(&c, &s, p[i], label[i]);
        ok(fabs(mean - want) < 1e-12, "%s: the mean of the rows' shares is the loss", name);
    }
    check_metric(&c, want, name);
}

/* No constant on a grid is better; 0.01 for losses whose constant is a choice of candidates. */
static void check_constant(struct criterion c, double slack, const char *name)
{
    const double counts[CLASSES] = {60, 30, 10};
    double best[CLASSES], least = INFINITY, own;
    struct criterion_sum s = {0};
    criterion_constant(&c, counts, best);
    for (int32_t k = 0; k < CLASSES; k++)
        criterion_add(&c, &s, best, k, 0, counts[k]);
    own = criterion_mean(&c, &s);
    for (int a = 0; a <= 50; a++)
        for (int b = 0; a + b <= 50; b++) {
            const double now[CLASSES] = {a / 50.0, b / 50.0, (50 - a - b) / 50.0};
            s = (struct criterion_sum){0};
            for (int32_t k = 0; k < CLASSES; k++)
                criterion_add(&c, &s, now, k, 0, counts[k]);
            least = fmin(least, criterion_mean(&c, &s));
        }
    ok(own <= least + slack, "%s: constant %.5f, the best of a grid %.5f", name, own, least);
}

static void check_center(struct loss_options o, const char *name)
{
    struct weighted rows[ROWS];
    double least = INFINITY, own = 0, at = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        rows[i] = (struct weighted){target[i], (double)weight[i]};
    }
    double center;
    criterion_center(&o, rows, ROWS, &center);
    for (uint32_t i = 0; i < ROWS; i++)
        own += (double)weight[i] * criterion_error(&o, 0, center - target[i]);
    for (int k = -400; k <= 400; k++) {
        double loss = 0, now = center + k / 400.0;
        for (uint32_t i = 0; i < ROWS; i++)
            loss += (double)weight[i] * criterion_error(&o, 0, now - target[i]);
        if (loss < least) {
            least = loss;
            at = now;
        }
    }
    ok(own <= least + 1e-9, "%s: the best constant is %.4f, on a grid %.4f", name, center, at);
}

/* Two members: one has the least squared error, the other the least pinball loss at .95. */
static void check_choice(void)
{
    static double mean[ROWS], high[ROWS];
    const double *const of[] = {mean, high};
    const struct criterion square = {.loss = {.kind = LOSS_MSE}},
                           pinball = {.loss = {.kind = LOSS_QUANTILE, .q = {0.95}}};
    double weights[2];
    for (uint32_t i = 0; i < ROWS; i++) {
        mean[i] = 3;
        high[i] = 3 + 1.645;
    }
    struct blend b = {.members = 2, .rows = ROWS, .answer = of, .width = 1, .criterion = &square,
                      .target = target};
    blend_greedy(&b, 10, weights);
    ok(weights[0] > 0.89, "squared error takes the mean: %.2f", weights[0]);
    b.criterion = &pinball;
    blend_greedy(&b, 10, weights);
    ok(weights[1] > 0.69, "pinball loss takes the high quantile: %.2f", weights[1]);
    double error, gain = blend_gain(&b, (double[]){1, 0}, (double[]){0, 1}, &error);
    ok(gain > 3 * error && error > 0, "and says its gain: %.4f +- %.4f", gain, error);
}

/* soft_f1 of the mean of two members, and its gain with an error. */
static void check_f1(void)
{
    static double other[ROWS][CLASSES];
    const double *const of[] = {p[0], other[0]};
    const struct criterion c = {.loss = {.kind = LOSS_SOFT_F1}, .classes = CLASSES};
    struct criterion_sum s = {0};
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < CLASSES; k++)
            other[i][k] = 1.0 / CLASSES;
    struct blend b = {.members = 2, .rows = ROWS, .answer = of, .width = blend_width(&c),
                      .criterion = &c, .label = label, .weight = weight};
    const double half[] = {0.5, 0.5}, one[] = {1, 0}, two[] = {0, 1};
    for (uint32_t i = 0; i < ROWS; i++) {
        double mean[CLASSES];
        for (uint32_t k = 0; k < CLASSES; k++)
            mean[k] = (p[i][k] + other[i][k]) / 2;
        criterion_add(&c, &s, mean, label[i], 0, (double)weight[i]);
    }
    ok(fabs(blend_loss(&b, half) - criterion_mean(&c, &s)) < 1e-12, "soft_f1 of a mean of members");
    double error, gain = blend_gain(&b, two, one, &error);
    ok(fabs(gain - (blend_loss(&b, two) - blend_loss(&b, one))) < 1e-12 && error > 0 && error < 0.1,
       "soft_f1: the gain over uniform answers is %.4f +- %.4f", gain, error);
    double weights[2];
    blend_greedy(&b, 8, weights);
    ok(weights[0] > 0.99, "soft_f1 chooses the member that knows more: %.2f", weights[0]);
}

static double pinball_of(double q, double answer, double truth)
{
    return answer < truth ? q * (truth - answer) : (1 - q) * (answer - truth);
}

/* A list of quantiles: rising answers cost no more, the mean over them is the loss that counts, and
 * the best constant is that of each. */
static void check_list(void)
{
    const struct loss_options three = {
        .kind = LOSS_QUANTILE, .q = {0.1, 0.5, 0.9}, .q_count = 3};
    const struct criterion c = {.loss = three};
    static double rising[ROWS][3], flat[ROWS][3];
    static struct weighted rows[ROWS];
    double crossed = 0, want = 0, all = 0, square = 0, between = 0, below[3] = {0}, center[3];
    struct criterion_sum s = {0};
    struct tally *t = tally_new(TASK_REGRESSION, 0, TALLY_ALL);
    struct metrics m;
    tally_judge_by(t, &c);
    for (uint32_t i = 0; i < ROWS; i++) {
        const double w = (double)weight[i], y = target[i];
        real raw[3];
        bool rises = true;
        for (uint32_t k = 0; k < 3; k++) {
            raw[k] = (real)(value[i] + rng_normal(9, i, k, 0, RNG_TEST));
            crossed += w * pinball_of(three.q[k], (double)raw[k], y) / 3;
            flat[i][k] = 3;
            rows[i] = (struct weighted){y, w};
        }
        answer_values(NULL, raw, 1, 3, rising[i]);
        for (uint32_t k = 0; k < 3; k++) {
            rises = rises && (k == 0 || rising[i][k - 1] <= rising[i][k]);
            want += w * pinball_of(three.q[k], rising[i][k], y) / 3;
            below[k] += y <= rising[i][k] ? w : 0;
        }
        if (!rises)
            ok(false, "row %u rises", i);
        between += rising[i][0] <= y && y <= rising[i][2] ? w : 0;
        square += w * (rising[i][1] - y) * (rising[i][1] - y);
        all += w;
        criterion_add(&c, &s, rising[i], 0, y, w);
    }
    ok(want < crossed, "rising order costs %.6f, the answers as they came %.6f", want / all,
       crossed / all);
    is_near(criterion_mean(&c, &s), want / all, 1e-12, "the loss of a list is the mean over it");
    tally_add(t, &(struct scores){.task = TASK_REGRESSION, .rows = ROWS, .value = rising[0],
                                  .target = target, .weight = weight});
    metrics_of(t, &m);
    is_near(metrics_get(&m, "pinball"), want / all, 1e-12, "  metric pinball");
    is_near(metrics_get(&m, "coverage"), between / all, 1e-12, "  coverage of the outer two");
    is_near(metrics_get(&m, "rmse"), sqrt(square / all), 1e-12, "  rmse of the middle one");
    for (uint32_t k = 0; k < 3; k++)
        is_near(t->below[k] / t->weight, below[k] / all, 1e-12, "  share at or below each");
    tally_free(t);
    criterion_center(&three, rows, ROWS, center);
    for (uint32_t k = 0; k < 3; k++) {
        double one;
        criterion_center(&(struct loss_options){.kind = LOSS_QUANTILE, .q = {three.q[k]}}, rows,
                         ROWS, &one);
        is_near(center[k], one, 0, "  the best constant of each");
    }
    const double *const of[] = {flat[0], rising[0]};
    const struct blend b = {.members = 2, .rows = ROWS, .answer = of, .width = blend_width(&c),
                            .criterion = &c, .target = target, .weight = weight};
    const double second[] = {0, 1}, half[] = {0.5, 0.5};
    double mixed = 0;
    is_int(b.width, 3, "members are weighed by all numbers");
    is_near(blend_loss(&b, second), want / all, 1e-12, "  the loss of one");
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t k = 0; k < 3; k++)
            mixed += (double)weight[i] / 3 *
                     pinball_of(three.q[k], (flat[i][k] + rising[i][k]) / 2, target[i]);
    is_near(blend_loss(&b, half), mixed / all, 1e-12, "  the loss of the mean");
}

int main(void)
{
    const struct loss_options ce = {.kind = LOSS_CROSS_ENTROPY},
                              focal = {.kind = LOSS_FOCAL, .gamma = 2},
                              f1 = {.kind = LOSS_SOFT_F1},
                              one = {.kind = LOSS_SOFT_F1, .chosen = 4},
                              mse = {.kind = LOSS_MSE}, mae = {.kind = LOSS_MAE},
                              huber = {.kind = LOSS_HUBER, .delta = 0.7},
                              high = {.kind = LOSS_QUANTILE, .q = {0.9}};
    make_rows();
    check_kind((struct criterion){.loss = ce, .classes = CLASSES}, "cross_entropy");
    check_kind((struct criterion){.loss = ce, .classes = CLASSES, .class_weight = class_weight},
               "cross_entropy with class weights");
    check_kind((struct criterion){.loss = focal, .classes = CLASSES}, "focal");
    check_kind((struct criterion){.loss = focal, .classes = CLASSES, .class_weight = class_weight},
               "focal with class weights");
    check_kind((struct criterion){.loss = f1, .classes = CLASSES}, "soft_f1");
    check_kind((struct criterion){.loss = one, .classes = CLASSES, .class_weight = class_weight},
               "soft_f1 of one label with class weights");
    check_kind((struct criterion){.loss = mse}, "mse");
    check_kind((struct criterion){.loss = mae}, "mae");
    check_kind((struct criterion){.loss = huber}, "huber");
    check_kind((struct criterion){.loss = high}, "quantile");
    check_constant((struct criterion){.loss = ce, .classes = CLASSES}, 1e-9, "cross_entropy");
    check_constant((struct criterion){.loss = ce, .classes = CLASSES, .class_weight = class_weight},
                   1e-9, "cross_entropy with class weights");
    check_constant((struct criterion){.loss = focal, .classes = CLASSES}, 0.002, "focal");
    check_constant((struct criterion){.loss = f1, .classes = CLASSES}, 0.005, "soft_f1");
    check_constant((struct criterion){.loss = one, .classes = CLASSES}, 1e-9, "soft_f1 of a label");
    check_center(mse, "mse");
    check_center(mae, "mae");
    check_center(huber, "huber");
    check_center(high, "quantile");
    check_choice();
    check_list();
    check_f1();
    return done();
}
