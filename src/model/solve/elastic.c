/* elastic.c - see elastic.h. */
#include "model/solve/elastic.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { PASSES = 100, ROUNDS = 50, HALVINGS = 12 };
enum { MANY = 20000 };   /* rows: the clock may be looked at for each column */
#define TOLERANCE 1e-7   /* share of the constant's loss: the least gain of a step of one weight */
#define ENOUGH 0.02      /* share of the first pass's gain: Newton's step ends below it */
#define CURVE_LEAST 1e-6 /* least p (1 - p): Newton's steps stay finite at p 0 or 1 */
#define ETA_MOST 500.0  /* exponentials stay finite */

/* With several classes the gain is spread over many weights, which converge slowly. */
static double tolerance(const struct elastic *s)
{
    return (s->outputs > 1 ? 10 : 1) * TOLERANCE * s->constant;
}

static bool stops(const struct elastic *s)
{
    return stopper_asked(s->problem.stop);
}

/* Between two columns. */
static bool stops_inside(const struct elastic *s)
{
    return s->problem.x->rows >= MANY && stops(s);
}

/* --- loss and its derivatives --- */

/* The probability that row i should have of output k. */
static double wanted(const struct elastic *s, uint32_t k, uint64_t i)
{
    const struct elastic_problem *p = &s->problem;
    uint32_t class = s->outputs == 1 ? 1 : k;
    double rest = p->smoothing / p->classes;
    return rest + ((uint32_t)p->label[i] == class ? 1 - p->smoothing : 0);
}

static double grown_of(double eta)
{
    return exp(eta > ETA_MOST ? ETA_MOST : eta < -ETA_MOST ? -ETA_MOST : eta);
}

/* The sums of the exponentials of all outputs. */
static void sum_up(struct elastic *s)
{
    const uint64_t rows = s->problem.x->rows;
    if (!s->problem.classes)
        return;
    for (uint64_t i = 0; i < rows; i++)
        s->total[i] = s->outputs == 1 ? 1 : 0;
    for (uint32_t o = 0; o < s->outputs; o++)
        for (uint64_t i = 0; i < rows; i++)
            s->total[i] += s->grown[o * rows + i];
}

/* Exponentials after eta of output k has changed; they take the place of the old ones in the sums.
 * The rounding of that is lost with the next sum_up. */
static void grow(struct elastic *s, uint32_t k)
{
    const uint64_t rows = s->problem.x->rows;
    const double *eta = s->eta + k * rows;
    double *grown = s->grown + k * rows;
    for (uint64_t i = 0; s->problem.classes && i < rows; i++) {
        double rest = s->outputs == 1 ? 1 : fmax(s->total[i] - grown[i], 0);
        grown[i] = grown_of(eta[i]);
        s->total[i] = rest + grown[i];
    }
}

/* The share of the loss of row i that is linear in eta: the sum over outputs of wanted times
 * eta. */
static double wanted_eta(const struct elastic *s, uint64_t i)
{
    const struct elastic_problem *p = &s->problem;
    const uint64_t rows = p->x->rows;
    double sum = 0;
    if (!(p->smoothing > 0) && s->outputs > 1) /* the others are wanted with probability 0 */
        return s->eta[(uint32_t)p->label[i] * rows + i];
    for (uint32_t k = 0; k < s->outputs; k++)
        sum += wanted(s, k, i) * s->eta[k * rows + i];
    return sum;
}

/* The mean loss by the present answers; regression: half the squared error. */
static double loss_of(const struct elastic *s)
{
    const struct elastic_problem *p = &s->problem;
    const uint64_t rows = p->x->rows;
    double sum = 0;
    for (uint64_t i = 0; i < rows; i++) {
        double apart = p->classes ? 0 : p->target[i] - s->eta[i];
        double one = p->classes ? log(s->total[i]) - wanted_eta(s, i) : apart * apart / 2;
        sum += p->weight[i] * one;
    }
    return sum;
}

/* residual: the negated derivative by eta of output k; curve: the second derivative. Both are
 * weighted. */
static void derive(struct elastic *s, uint32_t k)
{
    const struct elastic_problem *p = &s->problem;
    const uint64_t rows = p->x->rows;
    for (uint64_t i = 0; i < rows; i++) {
        double w = p->weight[i];
        if (p->classes) {
            double q = s->grown[k * rows + i] / s->total[i], curve = q * (1 - q);
            s->residual[i] = w * (wanted(s, k, i) - q);
            s->curve[i] = w * (curve > CURVE_LEAST ? curve : CURVE_LEAST);
        } else {
            s->residual[i] = w * (p->target[i] - s->eta[i]);
            s->curve[i] = w;
        }
    }
}

/* --- one output --- */

struct penalty {
    double l1, l2;
};

static double penalty_of(const struct elastic *s, uint32_t k, const struct penalty *p)
{
    const uint32_t columns = s->problem.x->columns;
    const double *b = s->beta + (size_t)k * columns;
    double sum = 0;
    for (uint32_t j = 0; j < columns; j++)
        sum += p->l1 * fabs(b[j]) + p->l2 / 2 * b[j] * b[j];
    return sum;
}

/* The best value of one weight with all others fixed; returns the gain's measure. */
static double move_one(struct elastic *s, double *b, uint32_t j, const struct penalty *p)
{
    const double curve = s->square[j], old = b[j];
    double slope = design_dot(s->problem.x, j, s->residual) + curve * old;
    double size = fabs(slope) - p->l1;
    double now = size > 0 ? copysign(size, slope) / (curve + p->l2) : 0;
    double step = now - old;
    if (!(step > 0 || step < 0))
        return 0;
    b[j] = now;
    design_move(s->problem.x, j, step, s->curve, s->residual);
    return curve * step * step;
}

static double move_intercept(struct elastic *s, uint32_t k)
{
    const uint64_t rows = s->problem.x->rows;
    double slope = 0, curve = 0;
    for (uint64_t i = 0; i < rows; i++) {
        slope += s->residual[i];
        curve += s->curve[i];
    }
    double step = slope / curve;
    s->intercept[k] += step;
    for (uint64_t i = 0; i < rows; i++)
        s->residual[i] -= step * s->curve[i];
    return curve * step * step;
}

/* One pass; few: over the weights that are not 0 alone. Returns the largest gain. */
static double pass(struct elastic *s, uint32_t k, const struct penalty *p, bool few)
{
    const uint32_t columns = s->problem.x->columns;
    double *b = s->beta + (size_t)k * columns, most = move_intercept(s, k);
    const bool *strong = s->strong + (size_t)k * columns;
    for (uint32_t j = 0; j < columns; j++)
        if (strong[j] && (!few || b[j] > 0 || b[j] < 0)) {
            if (stops_inside(s))
                break;
            most = fmax(most, move_one(s, b, j, p));
        }
    return most;
}


/* Lowers the quadratic approximation until a pass gains less than ENOUGH of the first pass: the
 * next approximation is nearer to the loss. */
static void descend(struct elastic *s, uint32_t k, const struct penalty *p)
{
    double enough = fmax(tolerance(s), ENOUGH * pass(s, k, p, false)), gain = 2 * enough;
    for (int passes = 1; passes < PASSES && gain >= enough && !stops(s); passes++) {
        while (passes++ < PASSES && !stops(s) && pass(s, k, p, true) >= enough) {
        }
        gain = pass(s, k, p, false);
    }
}

/* The step of Newton's method is halved until the objective falls. */
static void hold_back(struct elastic *s, uint32_t k, const struct penalty *p, double intercept,
                      double objective)
{
    const uint64_t rows = s->problem.x->rows;
    const uint32_t columns = s->problem.x->columns;
    double *eta = s->eta + k * rows, *b = s->beta + (size_t)k * columns;
    for (int i = 0; i < HALVINGS; i++) {
        grow(s, k);
        s->now = loss_of(s);
        if (s->now + penalty_of(s, k, p) <= objective * (1 + 1e-12))
            return;
        for (uint64_t r = 0; r < rows; r++)
            eta[r] = (eta[r] + s->start[r]) / 2;
        for (uint32_t j = 0; j < columns; j++)
            b[j] = (b[j] + s->before[j]) / 2;
        s->intercept[k] = (s->intercept[k] + intercept) / 2;
    }
    grow(s, k);
    s->now = loss_of(s);
}

/* One step of Newton's method. Raises *gain to the largest change of the loss by one weight. */
static void newton(struct elastic *s, uint32_t k, const struct penalty *p, double *gain)
{
    const struct design *x = s->problem.x;
    const uint64_t rows = x->rows;
    double *eta = s->eta + k * rows, *b = s->beta + (size_t)k * x->columns;
    const double intercept = s->intercept[k];
    double objective = s->now + penalty_of(s, k, p);
    memcpy(s->before, b, x->columns * sizeof *b);
    memcpy(s->start, eta, rows * sizeof *eta);
    derive(s, k);
    for (uint32_t j = 0; j < x->columns; j++) {
        if (stops_inside(s))
            return;
        if (s->strong[(size_t)k * x->columns + j])
            s->square[j] = design_square(x, j, s->curve);
    }
    for (uint64_t i = 0; i < rows; i++)
        eta[i] += s->residual[i] / s->curve[i];
    descend(s, k, p);
    for (uint64_t i = 0; i < rows; i++) /* the approximation is exact in eta */
        eta[i] -= s->residual[i] / s->curve[i];
    hold_back(s, k, p, intercept, objective);
    for (uint32_t j = 0; j < x->columns; j++)
        if (b[j] > s->before[j] || b[j] < s->before[j])
            *gain = fmax(*gain, s->square[j] * (b[j] - s->before[j]) * (b[j] - s->before[j]));
}

/* --- all outputs --- */

static bool converge(struct elastic *s, const struct penalty *p)
{
    bool close = false;
    for (int round = 0; round < ROUNDS && !close && !stops(s); round++) {
        double gain = 0;
        for (uint32_t k = 0; k < s->outputs && !stops(s); k++)
            newton(s, k, p, &gain);
        sum_up(s);
        s->now = loss_of(s);
        close = gain < tolerance(s) && !stops(s);
    }
    return close;
}

/* The slopes of all weights by the present answers; slopes that `stop` leaves out stay
 * unchanged. */
static void measure_slopes(struct elastic *s)
{
    const uint32_t columns = s->problem.x->columns;
    for (uint32_t k = 0; k < s->outputs && !stops(s); k++) {
        derive(s, k);
        for (uint32_t j = 0; j < columns && !stops_inside(s); j++)
            s->slope[(size_t)k * columns + j] = design_dot(s->problem.x, j, s->residual);
    }
}

/* Weights outside of the set at work that should not be 0 join it. Returns how many. */
static uint64_t join(struct elastic *s, double least)
{
    const uint64_t all = (uint64_t)s->outputs * s->problem.x->columns;
    uint64_t joined = 0;
    for (uint64_t j = 0; j < all; j++)
        if (!s->strong[j] && fabs(s->slope[j]) > least) {
            s->strong[j] = true;
            joined++;
        }
    return joined;
}

static double l1_of(double l1)
{
    return l1 > 1e-3 ? l1 : 1e-3;
}

double elastic_most(const struct elastic *s, double l1)
{
    const uint64_t all = (uint64_t)s->outputs * s->problem.x->columns;
    double most = 0;
    for (uint64_t j = 0; j < all; j++)
        most = fmax(most, fabs(s->slope[j]));
    return most / l1_of(l1);
}

bool elastic_solve(struct elastic *s, double penalty, double last, double l1)
{
    const struct penalty p = {penalty * l1, penalty * (1 - l1)};
    const uint64_t all = (uint64_t)s->outputs * s->problem.x->columns;
    bool good = true;
    for (uint64_t j = 0; j < all; j++)
        s->strong[j] = s->beta[j] > 0 || s->beta[j] < 0;
    join(s, l1 * (2 * penalty - last)); /* the strong rule */
    do {
        good = converge(s, &p) && good;
        measure_slopes(s);
    } while (join(s, p.l1 * (1 + 1e-9)) && !stops(s)); /* weights that it wrongly left out */
    s->loss = s->now;
    return good;
}

/* --- begin and end --- */

void elastic_reset(struct elastic *s)
{
    const struct elastic_problem *p = &s->problem;
    const uint64_t rows = p->x->rows;
    double *share = mem_zero(s->outputs, sizeof *share), first = 0;
    memset(s->beta, 0, (size_t)s->outputs * p->x->columns * sizeof *s->beta);
    for (uint32_t k = 0; k < s->outputs; k++)
        for (uint64_t i = 0; i < rows; i++)
            share[k] += p->weight[i] * (p->classes ? wanted(s, k, i) : p->target[i]);
    for (uint32_t k = 0; k < s->outputs; k++) {
        double q = fmax(share[k], 1e-12);
        s->intercept[k] = !p->classes ? share[k] : s->outputs == 1 ? log(q / fmax(1 - q, 1e-12))
                                                                   : log(q);
        first += fabs(s->intercept[k]);
        for (uint64_t i = 0; i < rows; i++)
            s->eta[k * rows + i] = s->intercept[k];
    }
    for (uint64_t i = 0; p->classes && i < s->outputs * rows; i++)
        s->grown[i] = grown_of(s->eta[i]);
    sum_up(s);
    s->constant = s->loss = s->now = loss_of(s);
    if (!(s->constant > 0))
        s->constant = 1e-12 * (1 + first);
    measure_slopes(s);
    mem_free(share);
}

uint64_t elastic_bytes(uint64_t rows, uint64_t columns, uint32_t classes)
{
    const uint64_t outputs = classes > 2 ? classes : 1, weights = outputs * columns;
    return (weights * 2 + outputs + rows * (outputs * (classes ? 2 : 1) + (classes ? 4 : 3)) +
            2 * columns) * sizeof(double) + weights * sizeof(bool);
}

struct elastic *elastic_new(const struct elastic_problem *p)
{
    struct elastic *s = mem_zero(1, sizeof *s);
    const uint64_t rows = p->x->rows + 1, columns = (uint64_t)p->x->columns + 1;
    s->problem = *p;
    s->outputs = p->classes > 2 ? p->classes : 1;
    s->beta = mem_zero(s->outputs * columns, sizeof *s->beta);
    s->slope = mem_zero(s->outputs * columns, sizeof *s->slope);
    s->strong = mem_zero(s->outputs * columns, sizeof *s->strong);
    s->intercept = mem_zero(s->outputs, sizeof *s->intercept);
    s->eta = mem_zero(s->outputs * rows, sizeof *s->eta);
    s->grown = p->classes ? mem_zero(s->outputs * rows, sizeof *s->grown) : NULL;
    s->total = p->classes ? mem_zero(rows, sizeof *s->total) : NULL;
    s->curve = mem_zero(rows, sizeof *s->curve);
    s->residual = mem_zero(rows, sizeof *s->residual);
    s->start = mem_zero(rows, sizeof *s->start);
    s->square = mem_zero(columns, sizeof *s->square);
    s->before = mem_zero(columns, sizeof *s->before);
    elastic_reset(s);
    return s;
}

void elastic_free(struct elastic *s)
{
    if (!s)
        return;
    mem_free(s->beta);
    mem_free(s->slope);
    mem_free(s->strong);
    mem_free(s->intercept);
    mem_free(s->eta);
    mem_free(s->grown);
    mem_free(s->total);
    mem_free(s->curve);
    mem_free(s->residual);
    mem_free(s->start);
    mem_free(s->square);
    mem_free(s->before);
    mem_free(s);
}
