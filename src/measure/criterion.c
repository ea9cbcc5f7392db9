/* criterion.c - see criterion.h. */
#include "measure/criterion.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "measure/probability.h"

#define PROBABILITY_LEAST 1e-15
enum { POWERS = 20, CENTER_STEPS = 60 };

/* --- a row --- */

bool criterion_is_metric(const struct criterion *c)
{
    switch ((enum loss_kind)c->loss.kind) {
    case LOSS_AUTO:
    case LOSS_CROSS_ENTROPY: return !c->class_weight;
    case LOSS_MSE:
    case LOSS_MAE:
    case LOSS_QUANTILE: return true;
    case LOSS_FOCAL:
    case LOSS_SOFT_F1:
    case LOSS_HUBER: break;
    }
    return false;
}

bool criterion_equal(const struct criterion *a, const struct criterion *b)
{
    const struct loss_options *x = &a->loss, *y = &b->loss;
    const bool weights = a->class_weight && b->class_weight
                             ? memcmp(a->class_weight, b->class_weight,
                                      a->classes * sizeof *a->class_weight) == 0
                             : !a->class_weight && !b->class_weight;
    if (x->kind != y->kind || !weights)
        return false;
    switch ((enum loss_kind)x->kind) {
    case LOSS_FOCAL: return memcmp(&x->gamma, &y->gamma, sizeof x->gamma) == 0;
    case LOSS_HUBER: return memcmp(&x->delta, &y->delta, sizeof x->delta) == 0;
    case LOSS_QUANTILE:
        return loss_values(x) == loss_values(y) &&
               memcmp(x->q, y->q, loss_values(x) * sizeof *x->q) == 0;
    case LOSS_SOFT_F1: return x->chosen == y->chosen;
    case LOSS_AUTO:
    case LOSS_CROSS_ENTROPY:
    case LOSS_MSE:
    case LOSS_MAE: break;
    }
    return true;
}

double criterion_own(const struct loss_options *o, double own)
{
    return o->kind == LOSS_FOCAL ? own * pow(-expm1(-own), o->gamma) : own;
}

double criterion_error(const struct loss_options *o, uint32_t k, double d)
{
    if (o->kind == LOSS_MAE)
        return fabs(d);
    if (o->kind == LOSS_HUBER)
        return fabs(d) > o->delta ? o->delta * (fabs(d) - o->delta / 2) : d * d / 2;
    if (o->kind == LOSS_QUANTILE)
        return d < 0 ? -o->q[k] * d : (1 - o->q[k]) * d;
    return d * d;
}

double criterion_row(const struct criterion *c, const double *answer, double target)
{
    const uint32_t values = criterion_values(c);
    double sum = 0;
    if (c->classes)
        return criterion_own(&c->loss, -log(*answer > PROBABILITY_LEAST ? *answer
                                                                        : PROBABILITY_LEAST));
    if (c->loss.kind == LOSS_HUBER && c->coding)
        return criterion_error(&c->loss, 0, coding_encode(c->coding, *answer) -
                                                coding_encode(c->coding, target));
    for (uint32_t k = 0; k < values; k++)
        sum += criterion_error(&c->loss, k, answer[k] - target);
    return sum / values;
}

double criterion_weight(const struct criterion *c, int32_t label, double weight)
{
    if (!c->classes)
        return weight;
    return label < 0 ? 0 : c->class_weight ? weight * (double)c->class_weight[label] : weight;
}

/* --- sums --- */

void criterion_add(const struct criterion *c, struct criterion_sum *s, const double *answer,
                   int32_t label, double target, double weight)
{
    const double w = criterion_weight(c, label, weight);
    if (!(w > 0))
        return;
    if (criterion_of_rows(c)) {
        mean_add(&s->of_rows, w, criterion_row(c, c->classes ? answer + label : answer, target));
        return;
    }
    mean_add(&s->of_rows, w, 0);
    for (uint32_t k = 0; k < c->classes && k < F1_CLASSES; k++) {
        const double t = (int32_t)k == label, r = answer[k] * t, a = answer[k] + t;
        s->right[k] += w * r;
        s->all[k] += w * a;
        s->right2[k] += w * w * r * r;
        s->cross[k] += w * w * r * a;
        s->all2[k] += w * w * a * a;
    }
}

/* -ln p of every class is top + ln sum - logit: nothing is rounded to 0 before its logarithm. */
static double of_class(const struct criterion *c, const real *logits, int32_t label)
{
    double top = (double)logits[0], sum = 0, all = 0;
    for (uint32_t k = 1; k < c->classes; k++)
        top = (double)logits[k] > top ? (double)logits[k] : top;
    for (uint32_t k = 0; k < c->classes; k++) {
        sum += exp((double)logits[k] - top);
        all += (double)logits[k] - top;
    }
    const double log_sum = log(sum), own = log_sum - ((double)logits[label] - top);
    if (c->loss.kind == LOSS_FOCAL)
        return criterion_own(&c->loss, own);
    const double smooth = c->loss.label_smoothing;
    return (1 - smooth) * own + smooth * (log_sum - all / c->classes);
}

/* The mean over the values of a row. Quantiles count in rising order, as they are answered. */
static double of_values(const struct criterion *c, const real *logits, double target)
{
    const uint32_t values = criterion_values(c);
    double value[QUANTILES_MOST], sum = 0;
    answer_values(NULL, logits, 1, values, value);
    for (uint32_t k = 0; k < values; k++)
        sum += criterion_error(&c->loss, k, value[k] - target);
    return sum / values;
}

void criterion_add_logits(const struct criterion *c, struct criterion_sum *s, const real *logits,
                          int32_t label, double target, double weight)
{
    const double w = criterion_weight(c, label, weight);
    double p[F1_CLASSES];
    if (!(w > 0))
        return;
    if (!criterion_of_rows(c)) {
        answer_probabilities(logits, 1, c->classes, p);
        criterion_add(c, s, p, label, 0, weight);
    } else if (c->classes) {
        mean_add(&s->of_rows, w, of_class(c, logits, label));
    } else {
        mean_add(&s->of_rows, w, of_values(c, logits, coding_encode(c->coding, target)));
    }
}

static double f1_of(const struct criterion_sum *s, uint32_t k)
{
    return (2 * s->right[k] + 1) / (s->all[k] + 1);
}

double criterion_mean(const struct criterion *c, const struct criterion_sum *s)
{
    double loss = 0, count = 0;
    if (criterion_of_rows(c) || !(s->of_rows.weight > 0))
        return mean_value(&s->of_rows);
    for (uint32_t k = 0; k < c->classes; k++)
        if (loss_chosen(&c->loss, k)) {
            loss += 1 - f1_of(s, k);
            count++;
        }
    return loss / count;
}

double criterion_error_of(const struct criterion *c, const struct criterion_sum *s)
{
    const struct mean *m = &s->of_rows;
    const double rows = m->weight2 > 0 ? m->weight * m->weight / m->weight2 : 0;
    double error = 0, count = 0;
    if (criterion_of_rows(c) || rows < 2)
        return mean_error(m);
    for (uint32_t k = 0; k < c->classes; k++)
        if (loss_chosen(&c->loss, k)) {
            double f = f1_of(s, k);
            double v = 4 * s->right2[k] - 4 * f * s->cross[k] + f * f * s->all2[k];
            error += sqrt((v > 0 ? v : 0) * rows / (rows - 1)) / (s->all[k] + 1);
            count++;
        }
    return error / count;
}

double criterion_f1_row(const struct criterion *c, const struct criterion_sum *s,
                        const double *answer, int32_t label)
{
    double sum = 0, count = 0;
    for (uint32_t k = 0; k < c->classes; k++)
        if (loss_chosen(&c->loss, k)) {
            const double f = f1_of(s, k), t = (int32_t)k == label;
            const double pull = 2 * answer[k] * t - f * (answer[k] + t), all = s->all[k] + 1;
            sum += 1 - f - pull * s->of_rows.weight / all + (f - 1) / all;
            count++;
        }
    return sum / count;
}

/* --- the constant --- */

/* The loss of answering p to all rows. */
static double loss_of(const struct criterion *c, const double *counts, const double *p)
{
    struct criterion_sum s = {0};
    for (uint32_t k = 0; k < c->classes; k++)
        criterion_add(c, &s, p, (int32_t)k, 0, counts[k]);
    return criterion_mean(c, &s);
}

/* Keeps the better one in p. */
static void try_constant(const struct criterion *c, const double *counts, const double *now,
                         double *p, double *least)
{
    double loss = loss_of(c, counts, now);
    if (loss < *least) {
        *least = loss;
        memcpy(p, now, c->classes * sizeof *p);
    }
}

void criterion_constant(const struct criterion *c, const double *counts, double *p)
{
    double sum = 0, least = INFINITY;
    for (uint32_t k = 0; k < c->classes; k++) {
        p[k] = counts[k] * (c->class_weight ? (double)c->class_weight[k] : 1);
        sum += p[k];
    }
    for (uint32_t k = 0; k < c->classes; k++)
        p[k] = sum > 0 ? p[k] / sum : 1.0 / c->classes;
    if (!(sum > 0) || (c->loss.kind != LOSS_FOCAL && c->loss.kind != LOSS_SOFT_F1))
        return;
    double *share = mem_copy(p, c->classes * sizeof *share);
    double *now = mem_alloc(c->classes, sizeof *now);
    for (int i = POWERS; i >= 0; i--) {
        double all = 0;
        for (uint32_t k = 0; k < c->classes; k++)
            all += now[k] = share[k] > 0 ? pow(share[k], (double)i / POWERS) : 0;
        for (uint32_t k = 0; k < c->classes; k++)
            now[k] /= all;
        try_constant(c, counts, now, p, &least);
    }
    for (uint32_t sure = 0; c->loss.kind == LOSS_SOFT_F1 && sure < c->classes; sure++) {
        memset(now, 0, c->classes * sizeof *now);
        now[sure] = 1;
        try_constant(c, counts, now, p, &least);
    }
    mem_free(share);
    mem_free(now);
}

static double weighted_mean(struct weighted *rows, uint64_t count)
{
    double mean = 0, sum = 0;
    for (uint64_t i = 0; i < count; i++) {
        sum += rows[i].weight;
        if (sum > 0)
            mean += (rows[i].value - mean) * (rows[i].weight / sum);
    }
    return mean;
}

void criterion_center(const struct loss_options *o, struct weighted *rows, uint64_t count,
                      double *to)
{
    if (o->kind == LOSS_QUANTILE) {
        for (uint32_t k = 0; k < loss_values(o); k++)
            to[k] = weighted_quantile(rows, count, o->q[k]);
        return;
    }
    if (o->kind != LOSS_MAE && o->kind != LOSS_HUBER) {
        *to = weighted_mean(rows, count);
        return;
    }
    double center = weighted_quantile(rows, count, 0.5);
    for (int step = 0; o->kind == LOSS_HUBER && step < CENTER_STEPS; step++) {
        double sum = 0, weight = 0; /* reweighted least squares */
        for (uint64_t i = 0; i < count; i++) {
            double d = fabs(rows[i].value - center);
            double w = rows[i].weight * (d > o->delta ? o->delta / d : 1);
            sum += w * (rows[i].value - center);
            weight += w;
        }
        center += weight > 0 ? sum / weight : 0;
    }
    *to = center;
}
