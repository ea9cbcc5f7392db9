/* association.h - how much two columns say the same, from 0 to 1, of what the same rows have in
 * them: of two columns of numbers |Spearman's rank correlation|; of two of categories Cramer's V,
 * corrected for chance (Bergsma, 2013); of one of each the correlation ratio of the ranks, with a
 * like correction (epsilon squared; Kelley, 1935). */
#ifndef DNN_MEASURE_ASSOCIATION_H
#define DNN_MEASURE_ASSOCIATION_H

#include <stdbool.h>
#include <stdint.h>

/* What the rows have in a column. */
struct trait {
    uint32_t rows;
    bool tells; /* false: one value in all rows */
    /* numbers: ranks, equal values with their mean rank; NaN: missing. NULL: categories */
    float *rank;
    /* categories: 0 .. codes - 1, missing is one of them; the rows by their code: those of code c
     * are order[first[c]] .. order[first[c + 1]] */
    uint32_t *code, *order, *first, codes;
};
/* values [rows]; NaN: missing. */
struct trait trait_numbers(const float *values, uint32_t rows);
/* values [rows]: any numbers, one a category. */
struct trait trait_categories(const int32_t *values, uint32_t rows);
void trait_free(struct trait *t);
/* Both of the same rows. Rows without a number are left out; 0 where fewer than half are left.
 * scratch: [rows], zeros, and again zeros afterwards. */
double association(const struct trait *a, const struct trait *b, uint32_t *scratch);

#endif
