/* schedule.h - train.schedule: learning rate, weight decay and dropout of every step, computed in
 * double on the host. constant, step (gamma every `every` epochs), cosine (to `final` of the rate),
 * one_cycle (Smith and Topin, 2018), coslog4 and flat_cos (of RealMLP; Holzmueller et al., 2024);
 * each with a linear warm-up over a fraction of all steps. */
#ifndef DNN_MODEL_SCHEDULE_H
#define DNN_MODEL_SCHEDULE_H

#include "backend/ops.h"
#include "base/json/opt.h"

enum schedule_kind {
    SCHEDULE_CONSTANT,
    SCHEDULE_STEP,
    SCHEDULE_COSINE,
    SCHEDULE_ONE_CYCLE,
    SCHEDULE_COSLOG4,
    SCHEDULE_FLAT_COS
};
struct schedule_options {
    int kind;
    double warmup; /* fraction of all steps */
    double gamma;  /* step: factor */
    int64_t every; /* step: epochs between factors */
    double final;  /* cosine, one_cycle: last rate as a fraction of the highest */
    double rise;   /* one_cycle: fraction of steps going up */
    double start;  /* one_cycle: first rate as a fraction of the highest */
    int decay;     /* SCHEDULE_CONSTANT, else flat_cos */
    int dropout;   /* the same */
};
extern const struct option schedule_options_table[]; /* keys below "train.schedule" */
/* Step `tried` of `total`: factors on the learning rate and the weight decay, and the dropout
 * decay. */
struct hyper schedule_at(const struct schedule_options *o, int64_t tried, int64_t total,
                         int64_t steps_per_epoch);

#endif
