/* score.h - metrics and loss of a network on the rows of a part, by exact (row-independent)
 * answers, block by block: only some metrics keep memory for each row. */
#ifndef DNN_TRAIN_SCORE_H
#define DNN_TRAIN_SCORE_H

#include "measure/gate.h"
#include "measure/metric.h"
#include "model/network/step.h"
#include "table/dataset/dataset.h"
#include "table/schema/part.h"
#include "table/sequence/samples.h"
#include "table/encoder/encoder.h"

enum { SCORE_ROWS = 8192 };   /* the most that are answered at once */
enum { SCORE_TALLIED = 256 }; /* rows whose probabilities are held at once */

/* All borrowed. */
struct score_job {
    struct stepper *stepper;
    const struct loss_options *loss; /* the trained loss */
    const float *class_weight;       /* NULL: all 1 */
    const double *class_counts;      /* sums of the training rows' weights [classes] */
    const struct encoder *encoder;
    const struct features *features;
    struct rows rows;                /* encoded */
    const double *target;            /* regression: of each row */
    struct row_list list[PARTS];
    const struct dataset *groups;    /* whose rows these are, with groups; NULL: rows have none */
    const struct calibration *calibration; /* of the metrics on the host; NULL: none */
    const struct conformal *conformal;     /* the same */
    struct decision decision;        /* of them; threshold 0: one half; borrowed offsets */
    struct gate *gates;              /* judged by score_all; NULL: none */
    size_t gate_count;
    bool intervals; /* score_all measures them */
};
/* One metric of a part, by the present weights; metric_loss is the mean of the loss. False: e says
 * why, or a signal asked to stop and e->id is ERR_NONE. */
bool score_metric(const struct score_job *j, enum part part, const struct metric_type *t,
                  double *value, struct err *e);
/* All metrics and, as the last one, the loss; the value of `followed` equals score_metric's, bit
 * for bit. */
bool score_all(const struct score_job *j, enum part part, const struct metric_type *followed,
               struct metrics *m, struct err *e);
/* The threshold that a rule chooses on a part; *reached: as threshold_choose. Errors:
 * score_metric. */
bool score_threshold(const struct score_job *j, enum part part, const struct threshold_rule *rule,
                     struct threshold_point *p, bool *reached, struct err *e);
/* True: no answer to the part is infinite or NaN. False with an error: the machine failed. */
bool score_finite(const struct score_job *j, enum part part, struct err *e);
/* Metrics of a constant answer on a part: the class shares, or score_center in the units of the
 * target. */
void score_baseline(const struct score_job *j, enum part part, struct metrics *m);
/* True: a row of the part has a weight above 0. */
bool score_weighs(const struct score_job *j, enum part part);
/* True: the metric can have a value on the part. Else WEIGHT_SUM (all of its rows weigh 0) or
 * METRIC_ROWS (auc with one label). Precision may still lack a positive answer. */
bool score_defined(const struct score_job *j, enum part part, const struct metric_type *t,
                   struct err *e);
/* The trained loss on a part of the constant answer that has the least one on the training rows. */
double score_constant(const struct score_job *j, enum part part);
/* Logits [count][outputs] of the listed answers, in their order. False without an error: a signal
 * asked to stop. */
bool score_answer(const struct score_job *j, const struct row_list *rows, real *logits,
                  struct err *e);
static inline uint32_t score_classes(const struct score_job *j) /* 0: regression */
{
    return j->encoder->schema->task == TASK_REGRESSION ? 0 : j->features->outputs;
}
/* Rows that are answered at once, at most. */
uint64_t score_block(const struct stepper *s, uint32_t outputs);
/* Computes class_counts. */
void score_class_counts(const struct score_job *j, double *counts);
/* Regression: the constant answer of least loss on the training rows [loss_values], as the network
 * learns it (criterion_center); and in the units of the target, for mse the mean of the targets. */
void score_center_learnt(const struct score_job *j, double *center);
void score_center(const struct score_job *j, double *center);
/* The constant answer that models are compared with [outputs]: class shares, or score_center.
 * mem_free. */
double *score_constant_answer(const struct score_job *j);
/* The constant answer of least loss: one logit a class, the log of its probability. */
void score_constant_logits(const struct score_job *j, real *logits);
/* The loss that counts for the answers of j's network. */
struct criterion score_criterion(const struct score_job *j);

#endif
