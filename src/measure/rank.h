/* rank.h - area under the ROC curve and average precision of scored rows, exactly, in 16 bytes a
 * row. The order of the rows changes only the last bits of sums of weights. */
#ifndef DNN_MEASURE_RANK_H
#define DNN_MEASURE_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rank_row {
    uint64_t key;   /* of the score, in its order */
    float weight;   /* of a negative row: -weight, its sign set even at 0 */
    uint32_t group; /* rows that are not independent of each other */
};
struct rank {
    struct rank_row **chunks; /* of RANK_CHUNK rows */
    size_t chunk_count;
    uint64_t count;
    bool sorted;
    double positive, negative;   /* sums of weights */
    double positive2, negative2; /* sums of their squares */
};
#define RANK_CHUNK ((size_t)1 << 16)

/* auc: Mann-Whitney with ties counted half. auc_error: its standard error (DeLong, DeLong and
 * Clarke-Pearson, 1988; with weights the numbers of rows are Kish's effective ones).
 * average_precision: sum over distinct scores, from the highest, of precision times the recall
 * gained. NaN when one side is missing (auc_error: has fewer than two rows). */
struct rank_areas {
    double auc, auc_error, average_precision;
    double positives, negatives; /* effective numbers of rows */
};

/* weight >= 0. Any score that orders the rows; this program uses answer_odds (probability.h), so
 * that the areas follow the logits, and equal the areas of the other label. */
void rank_add(struct rank *r, double score, bool positive, float weight, uint32_t group);
struct rank_areas rank_finish(struct rank *r); /* sorts in place */
/* Adds to auc and precision [groups], at the group of each row, how much the row pulls an area away
 * from its value: weight times influence function (Hampel, 1974), whose sum over all rows is 0.
 * areas: from rank_finish, and defined. */
void rank_pulls(struct rank *r, const struct rank_areas *areas, double *auc, double *precision);
/* The standard error of average_precision by the influence of each row. */
double rank_precision_error(struct rank *r, const struct rank_areas *areas);
/* Calls `group` for each distinct score, from the highest down, with the sums of weights, while it
 * returns true. */
typedef bool rank_group_fn(void *context, double score, double positive, double negative);
void rank_groups(struct rank *r, rank_group_fn *group, void *context); /* sorts in place */
void rank_clear(struct rank *r);               /* keeps the memory of the first chunk */
void rank_free(struct rank *r);                /* its memory, not r itself */

/* As rank_finish, from groups of equal scores given from the highest down. */
struct rank_walk {
    double positive, negative, positive2, negative2; /* totals, set before the first group */
    double above_positive, above_negative;           /* so far */
    double pairs, over_positives2, over_negatives2, precision;
};
void rank_walk_group(struct rank_walk *w, double positive, double negative);
struct rank_areas rank_walk_end(const struct rank_walk *w);

#endif
