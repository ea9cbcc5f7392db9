/* group_interval.h - 95 % intervals of metrics if rows come in groups (rows of one customer,
 * windows of one recording) that are independent of each other, while rows of a group are not.
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
#ifndef DNN_MEASURE_GROUP_INTERVAL_H
#define DNN_MEASURE_GROUP_INTERVAL_H

#include "measure/interval.h"

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
