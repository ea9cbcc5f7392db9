/* score_loss.h - the training loss on validation rows. Early stopping follows it if the metric of
 * the task would choose another epoch. The formulas are the operations' (backend/ops.h), in
 * double. */
#ifndef DNN_MEASURE_SCORE_LOSS_H
#define DNN_MEASURE_SCORE_LOSS_H

#include "measure/criterion.h"
#include "table/coding.h"

struct score_loss {
    const struct loss_options *options;
    const float *class_weight; /* [classes]; NULL: all 1 */
    double sum, weight;
    double right[F1_CLASSES], all[F1_CLASSES]; /* soft_f1: sums of w p t, of w (p + t) by class */
    uint32_t classes;
};
struct loss_rows {
    uint64_t rows;
    uint32_t classes;   /* 0: regression */
    const real *logits; /* [rows][classes], or [rows][loss_values] */
    const int32_t *label;
    const double *target; /* in its own units */
    const struct target_coding *coding;
    const float *weight; /* NULL: all 1 */
};
/* Cross-entropy or squared error, nothing weighted by class or smoothed: logloss and rmse order
 * epochs as the loss does. */
bool loss_is_plain(const struct loss_options *o);
void score_loss_add(struct score_loss *s, const struct loss_rows *r);
double score_loss_mean(const struct score_loss *s); /* NaN without weight */

#endif
