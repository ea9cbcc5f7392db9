/* weighted.h - values with weights: their mean and its standard error, and their quantiles. */
#ifndef DNN_MEASURE_WEIGHTED_H
#define DNN_MEASURE_WEIGHTED_H

#include <math.h>
#include <stddef.h>

/* Sums over values x with weights w. Zeroed to begin with. */
struct mean {
    double weight, sum, weight2, sum2, square2; /* of w, w x, w^2, w^2 x, w^2 x^2 */
};
static inline void mean_add(struct mean *m, double weight, double x)
{
    m->weight += weight;
    m->sum += weight * x;
    m->weight2 += weight * weight;
    m->sum2 += weight * weight * x;
    m->square2 += weight * weight * x * x;
}
static inline double mean_value(const struct mean *m) /* NaN without weight */
{
    return m->weight > 0 ? m->sum / m->weight : (double)NAN;
}
/* The standard error of a ratio of sums: sqrt(sum w^2 (x - mean)^2) / sum w, times sqrt(n / (n -
 * 1)) with Kish's effective number of values; NaN below two of them. */
double mean_error(const struct mean *m);

struct weighted {
    double value, weight;
};
/* Sorts by value, no NaN; equal values keep their order. Returns the sum of the weights in that
 * order. */
double weighted_sort(struct weighted *w, size_t count);
/* The first of the sorted values at which the sum of the weights, from the least value on, is at
 * least `part`; count: none. */
size_t weighted_reach(const struct weighted *w, size_t count, double part);
/* The least value at or below which `share` of the weight lies, after weighted_sort; 0 of no
 * value. The product of share and sum is rounded: a share that must not miss its value by that is
 * given as share * (1 - 1e-12). */
double weighted_quantile(struct weighted *w, size_t count, double share);

#endif
