/* association.h - how strongly two columns depend on each other, from 0 to 1. Two columns of
 * numbers: |Spearman's rank correlation|. Two of categories: Cramer's V, corrected for chance
 * (Bergsma, 2013). One of each: the correlation ratio of the ranks, with a like correction (epsilon
 * squared; Kelley, 1935). */
#ifndef DNN_MEASURE_ASSOCIATION_H
#define DNN_MEASURE_ASSOCIATION_H

#include <stdbool.h>
#include <stdint.h>

/* The values of a column, prepared for association(). */
struct trait {
    uint32_t rows;
    bool tells; /* false: one value in all rows */
    /* numbers: ranks, equal values with their mean rank; NaN: missing. NULL: categories */
    float *rank;
    /* categories: 0 .. codes - 1, missing is one of them; the rows sorted by code: code c has
     * order[first[c]] .. order[first[c + 1]] */
    uint32_t *code, *order, *first, codes;
};
/* values [rows]; NaN: missing. */
struct trait trait_numbers(const float *values, uint32_t rows);
/* values [rows]: any numbers, one a category. */
struct trait trait_categories(const int32_t *values, uint32_t rows);
void trait_free(struct trait *t);
/* a and b: columns of the same rows. Rows without a number are left out; 0 if fewer than half are
 * left. scratch: [rows], zeros, and zeros again afterwards. */
double association(const struct trait *a, const struct trait *b, uint32_t *scratch);

#endif
