/* blend.h - the weights of an ensemble's members, chosen on answers to rows that the members did
 * not train on: greedy selection with replacement (Caruana et al., 2004). */
#ifndef DNN_MEASURE_BLEND_H
#define DNN_MEASURE_BLEND_H

#include <stdbool.h>
#include <stdint.h>

#include "measure/criterion.h"

#define BLEND_LEAST 0.03 /* smaller weights are dropped */

/* Answers of the members to the same rows. All borrowed. */
struct blend {
    uint32_t members;
    uint64_t rows;
    /* [members][rows][width]: the probability of the row's own label (soft_f1: of all classes);
     * regression: the value, or its quantiles */
    const double *const *answer;
    uint32_t width; /* blend_width */
    const struct criterion *criterion; /* the loss that counts */
    const int32_t *label; /* classes: [rows]; below 0: the row counts for nothing */
    const double *target; /* regression: [rows]; else NULL */
    const float *weight;  /* [rows]; NULL: all 1 */
};
/* Numbers of a row's answer: 1, all classes, or all quantiles. */
uint32_t blend_width(const struct criterion *c);
/* The loss of the mean of the members' answers. NaN without weight. The weights need not sum to
 * 1. */
double blend_loss(const struct blend *b, const double *weights);
/* The mean decrease of the loss from weights `from` to weights `with`, row by row, and *error, its
 * standard error; NaN below two effective rows. with NULL: the loss itself. */
double blend_gain(const struct blend *b, const double *from, const double *with, double *error);
/* Fills weights [members] with the sum 1. In each round the member is added, again if need be, that
 * gives the lowest loss (of equal ones the first); the best prefix of the rounds counts. Weights
 * below BLEND_LEAST become 0. */
void blend_greedy(const struct blend *b, uint32_t rounds, double *weights);

#endif
