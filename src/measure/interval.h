/* interval.h - 95 % intervals of metrics on independent rows (group_interval.h: rows in groups),
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

#endif
