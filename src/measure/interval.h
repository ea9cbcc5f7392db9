/* interval.h - 95 % intervals of metrics on independent rows (below: rows in groups),
 * each by a formula; nothing is drawn at random. With weights the number of rows is Kish's
 * effective one, (sum w)^2 / sum w^2.
 *
 *   accuracy, precision, recall, coverage   Wilson, 1927
 *   auc         error of DeLong et al., 1988, on the logit scale; at 0 and 1 Wilson's over the
 *               smaller class
 *   macro_auc   the same with the mean of the classes' errors, an upper bound
 *   pr_auc      Boyd, Eng and Page, 2013: logit scale, error 1 / sqrt(positives p (1 - p)); at 0
 *               and 1 Wilson's
 *   f1, macro_f1, r2   linearised ratios (delta method): error of sum (a - r b) / sum b; F1 at 0
 *               and 1 Wilson's
 *   logloss, brier, mae, pinball, width, set_size, loss   mean and its standard error; not below 0,
 *               brier not above 1
 *   rmse        root of the interval of the mean squared error
 *   ece         sqrt(sum over bins of share^2 o (1 - o) / rows), o the share observed; not below 0,
 *               not above 1
 */
#ifndef DNN_MEASURE_INTERVAL_H
#define DNN_MEASURE_INTERVAL_H

#include "base/json/json.h"
#include "base/text.h"
#include "measure/tally.h"

/* NaN: none, of too few rows or of a metric without a value. */
struct interval {
    double low, high;
};
#define Z95 1.959963984540054 /* 97.5 % of a normal distribution */
struct interval interval_wilson(double share, double rows);
/* Within 0 and 1: symmetric on the logit scale, `half` to each side there. */
struct interval interval_logit(double value, double half);
/* value +- 1.96 error, within least and most. */
struct interval interval_normal(double value, double error, double least, double most);
/* Appends " (low to high)"; nothing without an interval. */
void interval_put(const struct interval *i, struct text *out);
void interval_write(const struct interval *i, const char *key, struct json_out *out); /* [..] */

/* value: the metric on the same tally. t holds the counters that the metric needs, and for macro_f1
 * and precision the confusion matrix. */
struct interval interval_auc(struct tally *t, double value);
struct interval interval_pr_auc(struct tally *t, double value);
struct interval interval_macro_auc(struct tally *t, double value);
struct interval interval_share(struct tally *t, double value); /* of all rows */
struct interval interval_precision(struct tally *t, double value);
struct interval interval_recall(struct tally *t, double value);
struct interval interval_f1(struct tally *t, double value);
struct interval interval_macro_f1(struct tally *t, double value);
struct interval interval_rmse(struct tally *t, double value);
struct interval interval_loss(struct tally *t, double value);
struct interval interval_ece(struct tally *t, double value);
struct interval interval_r2(struct tally *t, double value);

/* Rows that come in groups (rows of one customer, windows of one recording), which are independent
 * of each other, while rows of a group are not.
 *
 * The error is the jackknife's over groups (Efron and Stein, 1981): how the metric moves when
 * a group is left out. For areas below curves it is the sum of the influence of the group's rows
 * (Obuchowski, 1997, of auc). The quantile is Student's t with one degree of freedom less
 * than there are groups, by Kish's effective number of them: groups weigh by their rows that the
 * metric counts. Nothing is drawn at random.
 *
 *   GROUP_SIZE    symmetric on the scale of logarithms: a mean loss, an error
 *   GROUP_SHARE   Wilson's, with the rows that would give this error (Korn and Graubard, 1998)
 *   GROUP_AREA    symmetric on the logit scale
 *   GROUP_REST    as GROUP_SIZE, of 1 - value
 *   GROUP_PLAIN   symmetric, not below 0, not above 1
 */
enum group_scale { GROUP_SIZE, GROUP_SHARE, GROUP_AREA, GROUP_REST, GROUP_PLAIN };
/* The rows that a metric counts. */
enum group_of {
    GROUP_OF_ALL,
    GROUP_OF_POSITIVE,
    GROUP_OF_ANSWERED, /* positive */
    GROUP_OF_EITHER,   /* positive, or answered so */
    GROUP_OF_BOTH      /* pairs of a positive and another row */
};
/* The way to compute the metric without a group. */
enum group_by { GROUP_BY_VALUE, GROUP_BY_AUC, GROUP_BY_PRECISION, GROUP_BY_MACRO_AUC };

struct group_method {
    int scale, of, by;
};
/* y: with groups. NaN: fewer than two effective groups, or a metric without a value. */
struct interval group_interval(struct tally *y, double value, const struct group_method *m,
                               double (*metric)(struct tally *y));
/* 97.5 % of Student's t (Hill, 1970, algorithm 396); degrees of freedom at least 1. */
double group_quantile(double freedom);

#endif
