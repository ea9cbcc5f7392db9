/* fit_values.h - order statistics of the values of a column. Private to fit*.c. */
#ifndef DNN_TABLE_FIT_VALUES_H
#define DNN_TABLE_FIT_VALUES_H

#include <stdbool.h>
#include <stdint.h>

/* The values of a column without missing ones. */
struct values {
    float *v;
    uint32_t count;
    double unit;       /* values of one row (weighed.h) */
    bool sorted;       /* v is ascending */
    bool has_median;   /* without v */
    double median;
    double low, high;
    double mean, deviation; /* set by values_spread */
};

/* Removes missing values; returns the number left. -0 is below 0, as in sort_floats. */
uint32_t values_range(float *v, uint64_t rows, float *low, float *high);
/* Interpolates between the values of a pair: the one at the rank rounded down, and the next. */
double values_between(const float pair[2], double rank);
/* Returns the value at a rank, or at a share of the rows. */
double values_at_rank(const struct values *s, double rank);
double values_at_share(const struct values *s, double share);
/* Sets mean and deviation of sorted values. */
void values_spread(struct values *s);
/* Leaves out, at each end of sorted values, up to three different ones, in a hundredth to a half of
 * the rows and in ten at least, that are farther from the others than those are from each other:
 * they stand for something else, as -999 does. */
void values_leave_far(struct values *s);
/* Counts distinct values of sorted ones, up to `most`. */
uint32_t values_distinct(const struct values *s, uint32_t most);
/* Counts the rows of the most frequent of sorted values. Exact above a quarter of the rows;
 * otherwise a number up to a quarter. */
uint32_t values_often(const struct values *s);

#endif
