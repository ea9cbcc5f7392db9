/* trend.h - whether the target changes with a date of the table: a split by chance hides it. */
#ifndef DNN_TABLE_TREND_H
#define DNN_TABLE_TREND_H

#include "table/dataset/dataset.h"
#include "table/encoder/encoder.h"
#include "table/schema/options.h"
#include "table/schema/remark.h"

/* The rows by time are cut into this many blocks; rows of one time stay together. */
#define TREND_BLOCKS 10
/* Told from here: a chance of 1e-4, and 1 % of the target's variance beyond chance, which Cohen
 * ("Statistical Power Analysis for the Behavioral Sciences", 1988) calls a small effect: w = 0.1,
 * eta squared = 0.01. */
#define TREND_Z 3.719
#define TREND_SHARE 0.01

struct trend {
    double share;    /* of the variance, beyond chance; 0: none or too few rows */
    double z;        /* of a normal distribution, as rare as this or more */
    /* The mean, or the share of the last class: of the first and the last block, the least and the
     * greatest of a block. */
    double from, to, low, high;
    uint32_t blocks;
};
/* Rows of a time and a value: the target, of classes (0: values) its class. The test is Pearson's
 * of blocks and classes, or Kruskal and Wallis's of blocks and ranks (Journal of the American
 * Statistical Association 47, 1952), both near chi-square; its tail by Wilson and Hilferty
 * (Proceedings of the National Academy of Sciences 17, 1931). */
struct trend_row { double time, value; };
/* Sorts the rows by time. */
struct trend trend_of(struct trend_row *rows, uint32_t count, uint32_t classes);
/* Adds a remark if rows of data.train are split by chance and the target changes with a column of
 * type datetime that is no date of birth by its name; only the strongest one. The rows of d must be
 * raw. */
void trend_check(const struct encoder *c, const struct dataset *d, const struct data_options *o,
                 struct remarks *remarks);

#endif
