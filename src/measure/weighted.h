/* weighted.h - values with weights, and their quantiles. */
#ifndef DNN_MEASURE_WEIGHTED_H
#define DNN_MEASURE_WEIGHTED_H

#include <stddef.h>

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
