/* interval.c - see interval.h. */
#include "measure/interval.h"

#include <math.h>

#define BINOMIAL_LEAST 20   /* rows times share times the other share */

static const struct interval none = {(double)NAN, (double)NAN};

struct interval interval_wilson(double share, double rows)
{
    if (!(rows > 0) || isnan(share))
        return none;
    double z2 = Z95 * Z95, scale = 1 + z2 / rows, middle = (share + z2 / (2 * rows)) / scale;
    double half = Z95 / scale * sqrt(share * (1 - share) / rows + z2 / (4 * rows * rows));
    struct interval i = {middle - half, middle + half};
    if (i.low < 0 || share <= 0)
        i.low = 0;
    if (i.high > 1 || share >= 1)
        i.high = 1;
    return i;
}

void interval_put(const struct interval *i, struct text *out)
{
    if (i->high > i->low)
        text_printf(out, " (%s to %s)", text_figure(i->low, 4), text_figure(i->high, 4));
}

void interval_write(const struct interval *i, const char *key, struct json_out *out)
{
    json_open(out, key, '[');
    json_put_number(out, NULL, i->low);
    json_put_number(out, NULL, i->high);
    json_close(out, ']');
}

static double effective(double weight, double weight2)
{
    return weight2 > 0 ? weight * weight / weight2 : 0;
}

struct interval interval_normal(double value, double error, double least, double most)
{
    if (isnan(value) || isnan(error))
        return none;
    return (struct interval){fmax(value - Z95 * error, least), fmin(value + Z95 * error, most)};
}

struct interval interval_logit(double value, double half)
{
    if (isnan(value) || isnan(half))
        return none;
    double middle = log(value / (1 - value));
    return (struct interval){1 / (1 + exp(-(middle - half))), 1 / (1 + exp(-(middle + half)))};
}

static struct interval of_area(double value, double error, double rows)
{
    if (isnan(value))
        return none;
    if (value <= 0 || value >= 1)
        return interval_wilson(value, rows);
    return interval_logit(value, Z95 * (error / (value * (1 - value))));
}

struct interval interval_auc(struct tally *t, double value)
{
    struct rank_areas a = tally_areas(t, 1);
    return of_area(value, a.auc_error, fmin(a.positives, a.negatives));
}

/* By the binomial distribution of the positive rows (Boyd, Eng and Page, 2013); by the influence of
 * the rows if they are too few for its normal approximation, e.g. near 1. */
struct interval interval_pr_auc(struct tally *t, double value)
{
    const struct rank_areas areas = tally_areas(t, 1);
    const double rows = areas.positives, spread = rows * value * (1 - value);
    if (isnan(value) || value <= 0 || value >= 1)
        return interval_wilson(value, rows);
    if (spread >= BINOMIAL_LEAST || t->classes != 2)
        return interval_logit(value, Z95 * (1 / sqrt(spread)));
    return of_area(value, rank_precision_error(&t->rank, &areas), rows);
}

struct interval interval_macro_auc(struct tally *t, double value)
{
    double error = 0, classes = 0, rows = INFINITY;
    for (uint32_t c = 0; c < t->classes; c++) {
        if (!(t->support[c] > 0))
            continue;
        struct rank_areas a = tally_areas(t, c);
        if (isnan(a.auc))
            continue;
        error += a.auc_error;
        rows = fmin(rows, fmin(a.positives, a.negatives));
        classes++;
    }
    return of_area(value, error / classes, rows);
}

struct interval interval_share(struct tally *t, double value)
{
    return interval_wilson(value, effective(t->weight, t->weight2));
}

struct interval interval_precision(struct tally *t, double value)
{
    return interval_wilson(value, effective(t->answered[1], t->confusion2[1] + t->confusion2[3]));
}

struct interval interval_recall(struct tally *t, double value)
{
    return interval_wilson(value, effective(t->support[1], t->confusion2[2] + t->confusion2[3]));
}

/* F1 = 2 J / (1 + J), J the share of hits among the rows that are positive or answered so. If all
 * such rows are alike, the formula for errors gives 0: Wilson's interval of J. */
static struct interval f1_at_end(const struct tally *t, double value)
{
    const double *w = t->confusion, *w2 = t->confusion2;
    struct interval j =
        interval_wilson(value, effective(w[1] + w[2] + w[3], w2[1] + w2[2] + w2[3]));
    return (struct interval){2 * j.low / (1 + j.low), 2 * j.high / (1 + j.high)};
}

/* F1 of the positive class is a ratio of sums: a row adds 2 [hit] above and [positive] + [answered]
 * below. */
struct interval interval_f1(struct tally *t, double value)
{
    double whole = t->support[1] + t->answered[1], sum = 0;
    if (isnan(value) || !(whole > 0))
        return none;
    if (value <= 0 || value >= 1)
        return f1_at_end(t, value);
    double hit = 2 - 2 * value;
    sum = t->confusion2[3] * hit * hit + (t->confusion2[1] + t->confusion2[2]) * value * value;
    return interval_normal(value, sqrt(sum) / whole, 0, 1);
}

/* As above for the mean over classes: a row of label i answered j moves F1 of i and of j. */
struct interval interval_macro_f1(struct tally *t, double value)
{
    double classes = 0, sum = 0;
    if (isnan(value) || !t->confusion2)
        return none;
    if (value <= 0 || value >= 1) /* every row wrong, or every one right */
        return interval_wilson(value, effective(t->weight, t->weight2));
    for (uint32_t c = 0; c < t->classes; c++)
        classes += t->support[c] > 0 || t->answered[c] > 0;
    for (uint32_t i = 0; i < t->classes; i++)
        for (uint32_t j = 0; j < t->classes; j++) {
            double weight2 = t->confusion2[(size_t)i * t->classes + j];
            if (!(weight2 > 0))
                continue;
            double whole_i = t->support[i] + t->answered[i],
                   whole_j = t->support[j] + t->answered[j];
            double f_i = 2 * t->hit[i] / whole_i, f_j = 2 * t->hit[j] / whole_j;
            double moves = i == j ? (2 - 2 * f_i) / whole_i : -f_i / whole_i - f_j / whole_j;
            sum += weight2 * moves * moves;
        }
    return interval_normal(value, sqrt(sum) / classes, 0, 1);
}

struct interval interval_loss(struct tally *t, double value)
{
    return interval_normal(value, criterion_error_of(&t->criterion, &t->own), 0, INFINITY);
}

struct interval interval_rmse(struct tally *t, double value)
{
    (void)value; /* the root of that mean */
    const struct interval i = interval_normal(mean_value(&t->square),
                                              mean_error(&t->square), 0, INFINITY);
    return (struct interval){sqrt(i.low), sqrt(i.high)};
}

/* The variance of a share among `rows` rows. If all rows are alike, the usual estimate is 0, as if
 * more rows could not differ: then the variance at the middle of Wilson's interval. */
static double share_variance(double share, double rows)
{
    double s = share > 0 && share < 1 ? share : (share * rows + Z95 * Z95 / 2) / (rows + Z95 * Z95);
    return s * (1 - s) / rows;
}

struct interval interval_ece(struct tally *t, double value)
{
    double variance = 0, n = effective(t->weight, t->weight2);
    for (int b = 0; b < TALLY_BINS; b++) {
        const struct tally_bin *bin = &t->bins[b];
        if (!(bin->weight > 0))
            continue;
        double share = bin->weight / t->weight, observed = bin->observed / bin->weight;
        variance += share * share * share_variance(observed, share * n);
    }
    return interval_normal(value, n >= 2 ? sqrt(variance) : (double)NAN, 0, 1);
}

/* 1 - r2 is the ratio of sum e^2 to sum d^2, d = target - mean: error of sum (e^2 - r d^2) / sum
 * d^2. The mean is known only at the end, so d = t - shift is expanded in the moments of t. */
struct interval interval_r2(struct tally *t, double value)
{
    double n = effective(t->weight, t->weight2);
    if (isnan(value) || n < 2)
        return none;
    const struct tally_moments *m = &t->moments;
    double r = 1 - value, s = t->target_mean - m->shift;
    double e2_d2 = m->e2_t[2] - 2 * s * m->e2_t[1] + s * s * m->e2_t[0];
    double d4 = m->t[4] - 4 * s * m->t[3] + 6 * s * s * m->t[2] - 4 * s * s * s * m->t[1] +
                s * s * s * s * m->t[0];
    double sum = m->e4 - 2 * r * e2_d2 + r * r * d4;
    return interval_normal(value, sqrt((sum > 0 ? sum : 0) * n / (n - 1)) / t->target_square,
                           -(double)INFINITY, 1);
}
