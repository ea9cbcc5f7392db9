/* calibrate.c - see calibrate.h. The fit is Newton's method with halved steps: the loss is convex.
 * All sums are in the order of the rows. Scale and shifts have a normal prior, of mean 1 and 0 and
 * deviation 1, that weighs as much as a row: rows that are all right have no best scale, the larger
 * the better, and their answers would become sure. */
#include "measure/calibrate.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { STEPS = 50, HALVES = 40, CLASSES_MOST = 64 };
enum { FIT_MOST = 1 << 20 }; /* answers to fit on; of more rows, an evenly spaced sample */
#define FIT_SCALE_LEAST 0.01
#define FIT_SCALE_MOST 100.0
#define CONVERGED 1e-13

/* --- the gain --- */

/* Loss of row i after c; c NULL: uncalibrated. room [classes], or [criterion_values]. */
static double row_loss(const struct calibrate_rows *r, const struct calibration *c, uint64_t i,
                       double *room)
{
    const uint32_t values = r->classes ? 0 : criterion_values(r->criterion);
    for (uint32_t k = 0; k < values; k++)
        room[k] = c ? calibration_limit(c, r->value[i * values + k]) : r->value[i * values + k];
    if (values)
        return criterion_row(r->criterion, room, r->target[i]);
    memcpy(room, r->probability + i * r->classes, r->classes * sizeof *room);
    if (c)
        calibration_apply(c, 1, room);
    return -calibration_log(room[r->label[i]]);
}

static double weight_of(const struct calibrate_rows *r, uint64_t i)
{
    return r->label && r->label[i] < 0 ? 0 : (double)r->weight[i];
}

/* As many rows of like weight say as much. */
static double rows_alike(const struct calibrate_rows *r)
{
    double weight = 0, weights = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        double w = weight_of(r, i);
        weight += w;
        weights += w * w;
    }
    return weights > 0 ? weight * weight / weights : 0;
}

static void set_gain(const struct calibrate_rows *r, const struct calibration *c,
                     uint32_t parameters, struct calibrate_gain *g)
{
    double *room = mem_alloc(r->classes + QUANTILES_MOST, sizeof *room);
    double weight = 0, before = 0, after = 0, squares = 0, weights = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        double w = weight_of(r, i);
        if (!(w > 0))
            continue;
        double b = row_loss(r, NULL, i, room), a = row_loss(r, c, i, room);
        weight += w;
        weights += w * w;
        before += w * b;
        after += w * a;
        squares += w * w * (b - a) * (b - a);
    }
    mem_free(room);
    double mean = (before - after) / weight;
    double spread = fmax(squares - mean * mean * weights, 0);
    *g = (struct calibrate_gain){.before = before / weight,
                                   .after = after / weight,
                                   .gain = mean - parameters / rows_alike(r),
                                   .error = sqrt(spread) / weight};
}

bool calibrate_pays(const struct calibrate_gain *g)
{
    return g->gain > g->error;
}

/* --- the fit --- */

/* Gradient and second derivatives of the mean loss by the parameters scale, shift 1, shift 2, .. */
struct newton {
    uint32_t count; /* parameters */
    uint64_t each;  /* step between the rows to fit on */
    double rows;    /* number of rows of equal weight: the prior weighs 1 / rows in the mean loss */
    double *gradient, *curve, *q, *l;
};

static void add_row(struct newton *n, const struct calibrate_rows *r,
                    const struct calibration *c, uint64_t i, double w)
{
    const double *p = r->probability + i * r->classes;
    double mean = 0, spread = 0;
    memcpy(n->q, p, r->classes * sizeof *n->q);
    calibration_apply(c, 1, n->q);
    for (uint32_t k = 0; k < r->classes; k++)
        n->l[k] = calibration_log(p[k]);
    for (uint32_t k = 0; k < r->classes; k++) {
        mean += n->q[k] * n->l[k];
        spread += n->q[k] * n->l[k] * n->l[k];
    }
    n->gradient[0] += w * (mean - n->l[r->label[i]]);
    n->curve[0] += w * (spread - mean * mean);
    for (uint32_t a = 1; a < n->count; a++) {
        double *row = n->curve + (uint64_t)a * n->count;
        n->gradient[a] += w * (n->q[a] - (r->label[i] == (int32_t)a));
        row[0] += w * n->q[a] * (n->l[a] - mean);
        for (uint32_t b = 1; b <= a; b++)
            row[b] += w * n->q[a] * ((a == b) - n->q[b]);
    }
}

/* curve x = gradient by Cholesky, x in place of the gradient. False: not positive. */
static bool solve(struct newton *n)
{
    const uint32_t m = n->count;
    double *s = n->curve, *x = n->gradient;
    for (uint32_t a = 0; a < m; a++)
        for (uint32_t b = 0; b <= a; b++) {
            double sum = s[(uint64_t)a * m + b];
            for (uint32_t k = 0; k < b; k++)
                sum -= s[(uint64_t)a * m + k] * s[(uint64_t)b * m + k];
            if (a == b && !(sum > 0))
                return false;
            s[(uint64_t)a * m + b] = a == b ? sqrt(sum) : sum / s[(uint64_t)b * m + b];
        }
    for (uint32_t a = 0; a < m; a++) {
        for (uint32_t k = 0; k < a; k++)
            x[a] -= s[(uint64_t)a * m + k] * x[k];
        x[a] /= s[(uint64_t)a * m + a];
    }
    for (uint32_t a = m; a-- > 0;) {
        for (uint32_t k = a + 1; k < m; k++)
            x[a] -= s[(uint64_t)k * m + a] * x[k];
        x[a] /= s[(uint64_t)a * m + a];
    }
    return true;
}

/* The prior is of the shifts less their mean: which class is the first does not count. */
static double mean_shift(const struct newton *n, const struct calibration *c)
{
    double sum = 0;
    for (uint32_t a = 1; a < n->count; a++)
        sum += c->shift[a];
    return sum / n->count;
}

static void add_prior(struct newton *n, const struct calibration *c, double w)
{
    double mean = mean_shift(n, c);
    n->gradient[0] += w * (c->scale - 1);
    n->curve[0] += w;
    for (uint32_t a = 1; a < n->count; a++) {
        n->gradient[a] += w * (c->shift[a] - mean);
        for (uint32_t b = 1; b <= a; b++)
            n->curve[(uint64_t)a * n->count + b] += w * ((a == b) - 1.0 / n->count);
    }
}

static double loss_of(const struct newton *n, const struct calibrate_rows *r,
                      const struct calibration *c)
{
    double sum = 0, weight = 0, squares = (c->scale - 1) * (c->scale - 1), mean = mean_shift(n, c);
    for (uint32_t a = 0; a < n->count && n->count > 1; a++)
        squares += (c->shift[a] - mean) * (c->shift[a] - mean);
    for (uint64_t i = 0; i < r->count; i += n->each) {
        double w = weight_of(r, i);
        if (!(w > 0))
            continue;
        sum += w * row_loss(r, c, i, n->q);
        weight += w;
    }
    return sum / weight + squares / (2 * n->rows);
}

static void step_to(const struct newton *n, const struct calibration *from, double part,
                    struct calibration *to)
{
    to->scale = from->scale - part * n->gradient[0];
    for (uint32_t a = 1; a < n->count; a++)
        to->shift[a] = from->shift[a] - part * n->gradient[a];
}

/* One step of Newton's method, halved until the loss falls. False: it falls no more. */
static bool improve(struct newton *n, const struct calibrate_rows *r, struct calibration *c,
                    struct calibration *next, double *loss)
{
    double weight = 0;
    memset(n->gradient, 0, n->count * sizeof *n->gradient);
    memset(n->curve, 0, (size_t)n->count * n->count * sizeof *n->curve);
    for (uint64_t i = 0; i < r->count; i += n->each) {
        double w = weight_of(r, i);
        weight += w;
        if (w > 0)
            add_row(n, r, c, i, w);
    }
    add_prior(n, c, weight / n->rows);
    if (!solve(n))
        return false;
    for (double part = 1; part > 1.0 / ((uint64_t)1 << HALVES); part /= 2) {
        step_to(n, c, part, next);
        if (!(next->scale > FIT_SCALE_LEAST && next->scale < FIT_SCALE_MOST))
            continue;
        double after = loss_of(n, r, next);
        if (!(after < *loss))
            continue;
        bool more = *loss - after > CONVERGED;
        struct calibration old = *c;
        *c = *next;
        *next = old;
        *loss = after;
        return more;
    }
    return false;
}

static bool has_all_classes(const struct calibrate_rows *r)
{
    uint64_t *count = mem_zero(r->classes, sizeof *count);
    bool all = true;
    for (uint64_t i = 0; i < r->count; i++)
        if (weight_of(r, i) > 0)
            count[r->label[i]]++;
    for (uint32_t k = 0; k < r->classes; k++)
        all = all && count[k] > 0;
    mem_free(count);
    return all;
}

bool calibrate_fit(const struct calibrate_rows *r, struct calibration *c,
                     struct calibrate_gain *g)
{
    *c = (struct calibration){0};
    if (!has_all_classes(r))
        return false;
    uint32_t free_ones = r->classes > CLASSES_MOST ? 1 : r->classes;
    const uint64_t each = (r->count * r->classes + FIT_MOST - 1) / FIT_MOST;
    struct newton n = {.count = free_ones,
                       .each = each,
                       .rows = rows_alike(r) / (double)each,
                       .gradient = mem_alloc(free_ones, sizeof *n.gradient),
                       .curve = mem_alloc((size_t)free_ones * free_ones, sizeof *n.curve),
                       .q = mem_alloc(r->classes, sizeof *n.q),
                       .l = mem_alloc(r->classes, sizeof *n.l)};
    struct calibration next = {.scale = 1, .classes = r->classes};
    *c = next;
    c->shift = mem_zero(r->classes, sizeof *c->shift);
    next.shift = mem_zero(r->classes, sizeof *next.shift);
    double loss = loss_of(&n, r, c);
    for (int i = 0; i < STEPS && improve(&n, r, c, &next, &loss); i++)
        continue;
    calibration_free(&next);
    mem_free(n.gradient);
    mem_free(n.curve);
    mem_free(n.q);
    mem_free(n.l);
    set_gain(r, c, free_ones, g);
    return true;
}

void calibrate_prior(const float *weight, uint32_t classes, struct calibration *c)
{
    *c = (struct calibration){.scale = 1,
                              .classes = classes,
                              .shift = mem_zero(classes, sizeof *c->shift)};
    for (uint32_t k = 0; weight && k < classes; k++)
        c->shift[k] = weight[k] > 0 ? -log((double)weight[k]) : 0;
    for (uint32_t k = classes; k-- > 0;)
        c->shift[k] -= c->shift[0];
}

bool calibrate_range(const struct calibrate_rows *r, double low, double high, bool chosen,
                     struct calibration *c, struct calibrate_gain *g)
{
    const struct calibration ends[2] = {{.limited = true, .low = low, .high = (double)INFINITY},
                                        {.limited = true, .low = -(double)INFINITY, .high = high}};
    bool pays[2];
    for (int i = 0; i < 2; i++) {
        set_gain(r, &ends[i], 0, g);
        pays[i] = !chosen || calibrate_pays(g);
    }
    *c = (struct calibration){.limited = pays[0] || pays[1],
                              .low = pays[0] ? low : -(double)INFINITY,
                              .high = pays[1] ? high : (double)INFINITY};
    set_gain(r, c, 0, g);
    if (!c->limited)
        *c = (struct calibration){0};
    return pays[0] || pays[1];
}
