/* conform.h - fits intervals and label sets (model/conformal.h) on rows that no network was trained
 * on: conformal prediction.
 *
 * The score of a row is the distance of the truth from the answer. The reach is the score of rank
 * ceil((n + 1) level) among n rows, from below. If these rows and the rows to come are
 * exchangeable, and the network does not depend on them, a new row is covered with a probability of
 * at least `level`, and at most level + 1 / (n + 1) without ties, over the draws of both: split
 * conformal prediction (Papadopoulos et al., 2002; Lei et al., 2018). It is a promise about the
 * mean over all rows, not about each kind of row.
 *
 * What bends that promise, each a little: validation rows also chose the epoch, the calibration and
 * the rule. Rows out of fold have the answer of the networks of one fold, while the model answers
 * with the mean of all folds. This is no CV+ (Barber et al., 2021), whose intervals are built from
 * the answers of each fold and hold with at least 2 level - 1; that bound is not proved for the
 * mean. The error of a mean is not above the mean of the errors, and its coverage is near the level
 * if networks change little with a part of their rows, as that paper proves of the jackknife.
 *
 * Scores. Values: |target - value|; likewise on the learnt scale; or divided by the spread of the
 * networks and a floor (locally weighted, Lei et al., 2018, section 5.2). The rule is chosen by
 * halves of the rows: the reach of each half gives the widths of the other one, and a rule other
 * than the first is chosen if its mean width is 2 % less. Labels: the probability of the label, the
 * least ambiguous sets (Sadinle, Lei and Wasserman, 2019): of all sets that hold their level over
 * all rows these are the smallest. The decided label is in each set, so a row that it answers
 * rightly is held by any reach: its score is the lowest. Sets that held the level without that
 * label would hold more with it, most if a decision follows class weights. If the answers are
 * right more often than the level, sets cover that share. Adaptive sets (Romano et al., 2020) are
 * larger, and nearer to the level for each kind of row.
 *
 * Weights: shares of the weight instead of rows; the row to come weighs (sum w^2) / (sum w), so
 * that n is Kish's effective number of rows. Rows of a group are not exchangeable, groups are: a
 * group counts as one row of its weight there, so that n is the effective number of groups. The
 * coverage still counts rows (as by pooled distributions: Dunn, Wasserman and Ramdas, 2023), and
 * halves keep groups whole. */
#ifndef DNN_MEASURE_CONFORM_H
#define DNN_MEASURE_CONFORM_H

#include "model/conformal.h"
#include "model/decision.h"

struct conform_rows {
    uint64_t count;
    uint32_t classes;          /* 0: values */
    const double *probability; /* [count][classes], calibrated */
    const struct decision *decision; /* of these answers: its label is in each set */
    const int32_t *label;      /* below 0: the row counts for nothing */
    const double *value, *target; /* the value inside the limits */
    const double *spread;      /* of the networks; NULL: there is one */
    const float *weight;
    const uint64_t *group;     /* a hash of what the row belongs to; NULL: rows are independent */
    const struct calibration *limits;
    const struct target_coding *coding; /* of the first encoder */
    uint32_t folds;            /* of struct conformal */
};
/* Mean widths by the rule, judged by halves; INFINITY: it was not judged. share: of the weight that
 * the reach holds, (n + 1) / n of the level. */
struct conform_widths {
    double of[CONFORMAL_RULES], share;
};
/* The least number of rows of equal weight for a level. */
uint64_t conform_least(double level);
/* An interval or sets of this level. False: rows are too few; then the largest finite score is the
 * reach, or sets have every label. Without a row of weight c stays zeroed. w may be NULL. */
bool conform_fit(const struct conform_rows *r, double level, struct conformal *c,
                 struct conform_widths *w);

#endif
