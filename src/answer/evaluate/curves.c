/* curves.c - see curves.h. */
#include "answer/evaluate/curves.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "measure/probability.h"
#include "measure/rank.h"
#include "model/conformal.h"

#define APART 0.004 /* of a chart's side: points that are nearer look the same */
#define CENTRAL 0.99

const double residual_quantiles[5] = {0.25, 0.5, 0.75, 0.9, 0.99};

void curve_free(struct curve *c)
{
    mem_free(c->x);
    mem_free(c->y);
    *c = (struct curve){0};
}

static void add_point(struct curve *c, double x, double y)
{
    if (!(c->count & (c->count + 1))) {
        c->x = mem_grow(c->x, 2 * (size_t)c->count + 2, sizeof *c->x);
        c->y = mem_grow(c->y, 2 * (size_t)c->count + 2, sizeof *c->y);
    }
    c->x[c->count] = x;
    c->y[c->count++] = y;
}

/* --- curves of a class --- */

struct walking {
    double positive, negative; /* totals */
    double hits, alarms;       /* so far */
    struct class_curves *to;
};

/* Adds the point, unless it lies on the last one. */
static void go_on(struct curve *c, double x, double y, bool last)
{
    const uint32_t n = c->count;
    if (!last && n && fabs(c->x[n - 1] - x) + fabs(c->y[n - 1] - y) < APART)
        return;
    add_point(c, x, y);
}

static bool walk_group(void *context, double score, double positive, double negative)
{
    struct walking *w = context;
    (void)score;
    w->hits += positive;
    w->alarms += negative;
    const double recall = w->hits / w->positive;
    bool last = w->hits >= w->positive && w->alarms >= w->negative;
    go_on(&w->to->roc, w->alarms / w->negative, recall, last);
    go_on(&w->to->gains, (w->hits + w->alarms) / (w->positive + w->negative), recall, last);
    if (w->hits + w->alarms > 0)
        go_on(&w->to->pr, recall, w->hits / (w->hits + w->alarms), last);
    return true;
}

void curves_of_class(const struct answers_kept *k, uint32_t class_number, struct class_curves *c)
{
    struct rank rank = {0};
    *c = (struct class_curves){0};
    for (uint64_t i = 0; i < k->rows; i++)
        if (k->label[i] >= 0)
            rank_add(&rank, answer_class_odds(k->score + i * k->classes, k->classes, class_number),
                     k->label[i] == (int32_t)class_number, k->weight[i], 0);
    struct walking w = {.positive = rank.positive, .negative = rank.negative, .to = c};
    if (rank.positive > 0 && rank.negative > 0) {
        add_point(&c->roc, 0, 0);
        add_point(&c->gains, 0, 0);
        rank_groups(&rank, walk_group, &w);
    }
    rank_free(&rank);
}

void class_curves_free(struct class_curves *c)
{
    curve_free(&c->roc);
    curve_free(&c->pr);
    curve_free(&c->gains);
}

/* --- histograms --- */

static void count_value(struct histogram *h, double value, double weight)
{
    double at = (value - h->low) / (h->high - h->low) * HISTOGRAM_BINS;
    int bin = at >= HISTOGRAM_BINS ? HISTOGRAM_BINS - 1 : at > 0 ? (int)at : 0;
    h->share[bin] += weight;
    h->weight += weight;
}

static void to_shares(struct histogram *h)
{
    for (int i = 0; h->weight > 0 && i < HISTOGRAM_BINS; i++)
        h->share[i] /= h->weight;
}

struct histogram histogram_of_class(const struct answers_kept *k, uint32_t class_number, bool of)
{
    struct histogram h = {.high = 1};
    for (uint64_t i = 0; i < k->rows; i++)
        if (k->label[i] >= 0 && (k->label[i] == (int32_t)class_number) == of)
            count_value(&h, k->score[i * k->classes + class_number], (double)k->weight[i]);
    to_shares(&h);
    return h;
}

struct histogram histogram_of_answers(const struct answers_kept *k, bool right)
{
    struct histogram h = {.high = 1};
    for (uint64_t i = 0; i < k->rows; i++) {
        const double *p = k->score + i * k->classes;
        uint32_t answer = decision_label(&k->decision, p, k->classes);
        if (k->label[i] >= 0 && (k->label[i] == (int32_t)answer) == right)
            count_value(&h, p[answer], (double)k->weight[i]);
    }
    to_shares(&h);
    return h;
}

struct histogram histogram_of_values(const double *values, uint64_t count, double low,
                                     double high)
{
    struct histogram h = {.low = low, .high = high > low ? high : low + fmax(fabs(low), 1)};
    for (uint64_t i = 0; i < count; i++)
        count_value(&h, values[i], 1);
    to_shares(&h);
    return h;
}

/* --- residuals --- */

/* The rows with a target, by their answer; mem_free. */
static uint32_t *rows_by_answer(const struct answers_kept *k, uint64_t *count)
{
    float *answers = mem_alloc(k->rows + 1, sizeof *answers);
    uint32_t *order = mem_alloc(k->rows + 1, sizeof *order);
    uint32_t *rows = mem_alloc(k->rows + 1, sizeof *rows);
    *count = 0;
    for (uint64_t i = 0; i < k->rows; i++)
        if (answers_counts(k, i)) {
            answers[*count] = (float)answers_value(k, i);
            rows[(*count)++] = (uint32_t)i;
        }
    sort_order_floats(order, answers, *count);
    for (uint64_t i = 0; i < *count; i++)
        order[i] = rows[order[i]];
    mem_free(answers);
    mem_free(rows);
    return order;
}

/* A quantile of ascending values. */
static double quantile_of(const double *values, uint64_t count, double share)
{
    double at = share * (double)(count - 1);
    uint64_t below = (uint64_t)at;
    double part = at - (double)below;
    return below + 1 < count ? values[below] + part * (values[below + 1] - values[below])
                             : values[count - 1];
}

static double error_of(const struct answers_kept *k, uint64_t row)
{
    return answers_value(k, row) - k->target[row];
}

static void find_errors(const struct answers_kept *k, double *errors, uint64_t count,
                        struct residuals *r)
{
    double weights = 0;
    uint64_t n = 0;
    for (uint64_t i = 0; i < k->rows; i++) {
        if (!answers_counts(k, i))
            continue;
        errors[n++] = error_of(k, i);
        r->bias += (double)k->weight[i] * error_of(k, i);
        weights += (double)k->weight[i];
    }
    r->bias = weights > 0 ? r->bias / weights : (double)NAN;
    sort_doubles(errors, count);
    r->errors.low = quantile_of(errors, count, (1 - CENTRAL) / 2);
    r->errors.high = quantile_of(errors, count, (1 + CENTRAL) / 2);
    if (!(r->errors.high > r->errors.low))
        r->errors.high = r->errors.low + (r->errors.low > 0 ? r->errors.low : 1);
    for (uint64_t i = 0; i < k->rows; i++)
        if (answers_counts(k, i) && error_of(k, i) >= r->errors.low &&
            error_of(k, i) <= r->errors.high)
            count_value(&r->errors, error_of(k, i), (double)k->weight[i]);
    to_shares(&r->errors);
    for (uint64_t i = 0; i < count; i++)
        errors[i] = fabs(errors[i]);
    sort_doubles(errors, count);
    for (int i = 0; i < 5; i++)
        r->quantile[i] = quantile_of(errors, count, residual_quantiles[i]);
}

/* Fills `within` and `constant`. work: [count]. */
static void find_near(const struct answers_kept *k, double *work, uint64_t count,
                      struct residuals *r)
{
    double weights = 0, within = 0;
    uint64_t n = 0, zeros = 0;
    for (uint64_t i = 0; i < k->rows; i++) {
        if (!answers_counts(k, i))
            continue;
        const double truth = k->target[i], weight = (double)k->weight[i];
        weights += weight;
        within += fabs(answers_value(k, i) - truth) <= 0.1 * fabs(truth) ? weight : 0;
        zeros += truth == 0;
        work[n++] = truth;
    }
    sort_doubles(work, count);
    const bool signs = work[0] < 0 && work[count - 1] > 0;
    r->within = weights > 0 && !signs && zeros * 20 <= count ? within / weights : (double)NAN;
    const double median = quantile_of(work, count, 0.5);
    for (uint64_t i = 0; i < count; i++)
        work[i] = fabs(work[i] - median);
    sort_doubles(work, count);
    r->constant = quantile_of(work, count, 0.5);
}

/* order: the rows with a target, by their answer. */
static void find_bands(const struct answers_kept *k, const uint32_t *order, uint64_t count,
                       double *errors, struct residuals *r)
{
    static const double share[3] = {0.1, 0.5, 0.9};
    for (uint64_t band = 0; band < RESIDUAL_BANDS; band++) {
        uint64_t from = band * count / RESIDUAL_BANDS, to = (band + 1) * count / RESIDUAL_BANDS;
        double mean = 0, weight = 0, covered = 0;
        if (to - from < 3)
            continue;
        for (uint64_t i = from; i < to; i++) {
            errors[i - from] = error_of(k, order[i]);
            mean += answers_value(k, order[i]) / (double)(to - from);
            weight += (double)k->weight[order[i]];
            covered += errors[i - from] >= 0 ? (double)k->weight[order[i]] : 0;
        }
        if (weight > 0)
            add_point(&r->covered, mean, covered / weight);
        sort_doubles(errors, to - from);
        for (int q = 0; q < 3; q++)
            add_point(&r->band[q], mean, quantile_of(errors, to - from, share[q]));
    }
}

void residuals_of(const struct answers_kept *k, struct residuals *r)
{
    uint64_t count, n = 0;
    uint32_t *order = rows_by_answer(k, &count);
    double *errors = mem_alloc(count + 1, sizeof *errors);
    const uint64_t step = (count + RESIDUAL_DOTS - 1) / RESIDUAL_DOTS;
    *r = (struct residuals){0};
    for (uint64_t i = 0; i < k->rows; i++)
        if (answers_counts(k, i) && n++ % step == 0)
            add_point(&r->dots, k->target[i], answers_value(k, i));
    if (count) {
        find_near(k, errors, count, r);
        find_errors(k, errors, count, r);
        find_bands(k, order, count, errors, r);
    }
    mem_free(errors);
    mem_free(order);
}

void residuals_free(struct residuals *r)
{
    curve_free(&r->dots);
    curve_free(&r->covered);
    for (int q = 0; q < 3; q++)
        curve_free(&r->band[q]);
}

/* --- intervals and sets --- */

static void add_row(struct region_band *b, double weight, bool inside, double size)
{
    b->rows++;
    b->weight += weight;
    b->coverage += inside ? weight : 0;
    b->size += weight * size;
}

static void end_band(struct region_band *b)
{
    b->coverage = b->weight > 0 ? b->coverage / b->weight : (double)NAN;
    b->size = b->weight > 0 ? b->size / b->weight : (double)NAN;
}

static void of_values(const struct answers_kept *k, struct regions *r)
{
    uint64_t count;
    uint32_t *order = rows_by_answer(k, &count);
    r->band = mem_zero(REGION_BANDS, sizeof *r->band);
    for (uint64_t b = 0; b < REGION_BANDS; b++) {
        uint64_t from = b * count / REGION_BANDS, to = (b + 1) * count / REGION_BANDS;
        struct region_band *band = &r->band[r->count];
        if (from == to)
            continue;
        band->from = answers_value(k, order[from]);
        band->to = answers_value(k, order[to - 1]);
        for (uint64_t n = from; n < to; n++) {
            const uint32_t i = order[n];
            const bool inside = k->low[i] <= k->target[i] && k->target[i] <= k->high[i];
            add_row(band, (double)k->weight[i], inside, k->high[i] - k->low[i]);
        }
        end_band(band);
        r->count++;
    }
    mem_free(order);
}

static void of_labels(const struct answers_kept *k, struct regions *r)
{
    double weight = 0;
    r->count = k->classes;
    r->band = mem_zero(r->count, sizeof *r->band);
    for (uint64_t i = 0; i < k->rows; i++) {
        const double *p = k->score + i * k->classes, w = (double)k->weight[i];
        const uint32_t answer = decision_label(&k->decision, p, k->classes);
        uint32_t size = 0;
        if (k->label[i] < 0)
            continue;
        for (uint32_t c = 0; c < k->classes; c++)
            size += conformal_holds(k->conformal, p, answer, c);
        add_row(&r->band[k->label[i]], w,
                conformal_holds(k->conformal, p, answer, (uint32_t)k->label[i]), size);
        r->share[size < REGION_SIZES ? size - 1 : REGION_SIZES - 1] += w;
        weight += w;
    }
    for (uint32_t c = 0; c < r->count; c++)
        end_band(&r->band[c]);
    for (int s = 0; s < REGION_SIZES; s++)
        r->share[s] = weight > 0 ? r->share[s] / weight : 0;
}

void regions_of(const struct answers_kept *k, struct regions *r)
{
    *r = (struct regions){0};
    if (k->classes)
        of_labels(k, r);
    else
        of_values(k, r);
}

void regions_free(struct regions *r)
{
    mem_free(r->band);
    *r = (struct regions){0};
}
