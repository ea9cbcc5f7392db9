/* tree.h - a regression tree on one column: cuts a number so that the pieces tell most about the
 * target. Exact: sums are integers, so that the cuts do not depend on the order of rows. */
#ifndef DNN_TABLE_TREE_H
#define DNN_TABLE_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct tree {
    const float *v;     /* [count], ascending */
    const int32_t *y;   /* [count], of the same rows: a class, or a value (tree_value) */
    uint32_t count;
    uint32_t classes;   /* 0: y are values */
    uint32_t leaves;    /* at most */
    uint32_t least;     /* rows of a leaf, at least 1 */
};
/* A target of spread 1 around 0 as a whole number; far outliers are limited. */
int32_t tree_value(double y);
/* Cuts the leaf with the largest gain first (squared error; for classes of the one-hot target,
 * which is Gini's gain); ties: the first. cuts: room for leaves - 1; ascending, each between two
 * neighbouring values. Returns their number. */
uint32_t tree_cuts(const struct tree *t, float *cuts);

#endif
