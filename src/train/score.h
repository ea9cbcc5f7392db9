/* score.h - the network's answers to a part of the training table, measured. Exact
 * (row-independent) answers, block by block: memory does not grow with the rows but for what a
 * metric keeps. */
#ifndef DNN_TRAIN_SCORE_H
#define DNN_TRAIN_SCORE_H

#include "measure/metric.h"
#include "measure/score_loss.h"
#include "model/step.h"
#include "table/table.h"

enum { SCORE_ROWS = 8192 };   /* the most that are answered at once */
enum { SCORE_TALLIED = 256 }; /* rows whose probabilities are held at once */

struct score_job {
    struct stepper *stepper;
    const struct loss_options *loss; /* the one that is trained */
    const float *class_weight;       /* NULL: all 1 */
    const struct table *table;
    const struct schema *schema;
    const struct features *features;
};
/* One metric of a part, with the weights as they are; metric_loss is the mean of the loss. False: e
 * says why, or a signal asked to stop and e->id is ERR_NONE. */
bool score_metric(const struct score_job *j, enum part part, const struct metric_type *t,
                  double *value, struct err *e);
bool score_metrics(const struct score_job *j, enum part part, struct metrics *m, struct err *e);
/* The loss with them, behind the others; the value of `followed` is score_metric's, bit for bit. */
bool score_all(const struct score_job *j, enum part part, const struct metric_type *followed,
               struct metrics *m, struct err *e);
/* No answer to the part is infinite or NaN; also false when it could not be asked (e says why). */
bool score_finite(const struct score_job *j, enum part part, struct err *e);
/* What always answering the training rows' class shares (or mean) would reach on a part. */
void score_baseline(const struct score_job *j, enum part part, struct metrics *m);
/* Has a row of the part a weight? */
bool score_weighs(const struct score_job *j, enum part part);
/* True: the metric can have a value on the part. Else WEIGHT_SUM (all of its rows weigh 0) or
 * METRIC_ROWS (auc with one label). Precision may still lack a positive answer. */
bool score_defined(const struct score_job *j, enum part part, const struct metric_type *t,
                   struct err *e);
/* The trained loss on a part of a constant answer: the class shares (with class weights) or the
 * mean of the training rows. */
double score_constant(const struct score_job *j, enum part part);
/* Logits [count][outputs] of the table's first rows, in table order. */
bool score_first(const struct score_job *j, uint32_t count, real *logits, struct err *e);
uint32_t score_classes(const struct score_job *j); /* 0: regression */
/* Rows that are answered at once, at most. */
uint64_t score_block(const struct stepper *s, uint32_t outputs);
/* Sum of the training rows' weights by class: [classes]. */
void score_class_counts(const struct score_job *j, double *counts);

#endif
