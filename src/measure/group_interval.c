/* group_interval.c - see interval.h. */
#include "measure/interval.h"

#include <math.h>

#include "base/mem.h"

static const struct interval none = {(double)NAN, (double)NAN};

double group_quantile(double n)
{
    const double half_pi = 1.5707963267948966, p = 0.05;
    if (n < 1 + 1e-9) /* Cauchy */
        return 1 / tan(p * half_pi);
    if (fabs(n - 2) < 1e-9)
        return sqrt(2 / (p * (2 - p)) - 2);
    const double a = 1 / (n - 0.5), b = 48 / (a * a);
    double c = ((20700 * a / b - 98) * a - 16) * a + 96.36;
    const double d = ((94.5 / (b + c) - 3) / b + 1) * sqrt(a * half_pi) * n;
    double x = d * p, y = pow(x, 2 / n);
    if (y > 0.05 + a) {
        x = -Z95;
        y = x * x;
        if (n < 5)
            c += 0.3 * (n - 4.5) * (x + 0.6);
        c = (((0.05 * d * x - 5) * x - 7) * x - 2) * x + b + c;
        y = (((((0.4 * y + 6.3) * y + 36) * y + 94.5) / c - y - 3) / b + 1) * x;
        y = expm1(a * y * y);
    } else {
        y = ((1 / (((n + 6) / (n * y) - 0.089 * d - 0.822) * (n + 2) * 3) + 0.5 / (n + 4)) * y -
             1) * (n + 1) / (n + 2) + 1 / y;
    }
    return sqrt(n * y);
}

/* --- how much a group moves the metric --- */

/* The weight of the rows of a group that count; other (GROUP_OF_BOTH): the rows of the other
 * class. */
static double counted(const struct tally *part, int of, bool other)
{
    switch ((enum group_of)of) {
    case GROUP_OF_POSITIVE: return part->support[1];
    case GROUP_OF_ANSWERED: return part->answered[1];
    case GROUP_OF_EITHER: return part->support[1] + part->answered[1];
    case GROUP_OF_BOTH: return part->support[!other];
    case GROUP_OF_ALL: break;
    }
    return part->weight;
}

static double effective_of(const struct tally_groups *g, int of, bool other)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < g->count; i++) {
        const double w = counted(g->part[i], of, other);
        sum += w;
        squares += w * w;
    }
    return squares > 0 ? sum * sum / squares : 0;
}

/* Kish's effective number of groups. If a pair needs two kinds of rows: twice the number of the
 * kind with fewer groups, at most. */
static double effective(const struct tally_groups *g, int of)
{
    double all = effective_of(g, of, false);
    if (of == GROUP_OF_BOTH)
        all = fmin(effective_of(g, GROUP_OF_ALL, false),
                   2 * fmin(all, effective_of(g, of, true)));
    return all;
}

/* Standard error from the values without each group. NaN if such a value is not defined, e.g. if
 * one group has all the positive rows. */
static double by_value(struct tally *y, double (*metric)(struct tally *y))
{
    const struct tally_groups *g = y->groups;
    struct tally *rest = tally_new(y->task, y->classes, 0);
    double mean = 0, squares = 0;
    rest->decision = y->decision;
    tally_judge_by(rest, &y->criterion);
    rest->conformal = y->conformal;
    for (uint32_t i = 0; i < g->count; i++) {
        tally_less(rest, y, g->part[i]);
        const double value = metric(rest), before = value - mean;
        mean += before / (i + 1);
        squares += before * (value - mean);
    }
    tally_free(rest);
    return sqrt(squares * (g->count - 1) / g->count);
}

static bool add_pulls(struct tally *y, uint32_t class_number, bool precision, double *moves)
{
    const uint32_t count = y->groups->count;
    double *auc = mem_zero(2 * (size_t)count, sizeof *auc);
    struct rank_areas areas;
    bool good = tally_pulls(y, class_number, &areas, auc, auc + count);
    for (uint32_t i = 0; good && i < count; i++)
        moves[i] += auc[i + (precision ? count : 0)];
    mem_free(auc);
    return good;
}

static double by_influence(struct tally *y, int by)
{
    const uint32_t count = y->groups->count;
    double *moves = mem_zero(count, sizeof *moves), squares = 0, classes = 1;
    bool good = !y->binned;
    if (by == GROUP_BY_MACRO_AUC) {
        classes = 0;
        for (uint32_t c = 0; good && c < y->classes; c++)
            classes += y->support[c] > 0 && add_pulls(y, c, false, moves);
    } else {
        good = add_pulls(y, 1, by == GROUP_BY_PRECISION, moves);
    }
    for (uint32_t i = 0; i < count; i++)
        squares += moves[i] * moves[i];
    mem_free(moves);
    return good ? sqrt(squares * count / (count - 1)) / classes : (double)NAN;
}

/* --- the interval --- */

static struct interval on_scale(double value, double error, double t, double groups, int scale)
{
    struct interval i;
    switch ((enum group_scale)scale) {
    case GROUP_REST:
        i = on_scale(1 - value, error, t, groups, GROUP_SIZE);
        return (struct interval){1 - i.high, 1 - i.low};
    case GROUP_SIZE:
        if (!(value > 0))
            return none;
        return (struct interval){value * exp(-t * error / value), value * exp(t * error / value)};
    case GROUP_SHARE: {
        /* interval_wilson is of Z95: rows that make up for t */
        const double rows = error > 0 ? value * (1 - value) / (error * error) : groups;
        return interval_wilson(value, rows * (Z95 * Z95) / (t * t));
    }
    case GROUP_AREA:
        if (!(value > 0 && value < 1))
            return interval_wilson(value, groups * (Z95 * Z95) / (t * t));
        return interval_logit(value, t * error / (value * (1 - value)));
    case GROUP_PLAIN: break;
    }
    return (struct interval){fmax(value - t * error, 0), fmin(value + t * error, 1)};
}

struct interval group_interval(struct tally *y, double value, const struct group_method *m,
                               double (*metric)(struct tally *y))
{
    const double groups = effective(y->groups, m->of);
    if (isnan(value) || !(groups >= 2 - 1e-9))
        return none;
    const double error =
        m->by == GROUP_BY_VALUE ? by_value(y, metric) : by_influence(y, m->by);
    if (isnan(error))
        return none;
    return on_scale(value, error, group_quantile(groups - 1), groups, m->scale);
}
