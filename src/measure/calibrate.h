/* calibrate.h - fits a calibration (model/calibration.h) on answers to rows that no network was
 * trained on. */
#ifndef DNN_MEASURE_CALIBRATE_H
#define DNN_MEASURE_CALIBRATE_H

#include "measure/criterion.h"
#include "model/calibration.h"

enum calibrate { CALIBRATE_AUTO, CALIBRATE_NONE, CALIBRATE_AFFINE, CALIBRATE_PRIOR };

/* Answers and the truth. */
struct calibrate_rows {
    uint64_t count;
    uint32_t classes;          /* 0: values */
    const double *probability; /* [count][classes] */
    const int32_t *label;      /* below 0: the row counts for nothing */
    const double *value, *target; /* value [count][criterion_values] */
    const float *weight;
    const struct criterion *criterion; /* of values: the loss that counts */
};
/* The mean loss (log-loss; for values the criterion) before and after, the gain beyond what free
 * parameters gain by chance, and the standard error of that gain. */
struct calibrate_gain {
    double before, after, gain, error;
};
/* Scale and shifts with the least log-loss, with a prior as heavy as one row. With many classes the
 * scale alone. False: no fit, e.g. if a class has no rows; c stays zeroed. */
bool calibrate_fit(const struct calibrate_rows *r, struct calibration *c,
                     struct calibrate_gain *g);
/* Shifts that undo weights of classes (NULL: all 1) under which probabilities were learnt: the
 * share of a class is divided by its weight. A weight of 0 cannot be undone. */
void calibrate_prior(const float *weight, uint32_t classes, struct calibration *c);
/* Limits values to low .. high. chosen: only ends that pay, each measured alone; another end stays
 * infinite. g: the gain of the limits together. False: no limit; c stays zeroed. */
bool calibrate_range(const struct calibrate_rows *r, double low, double high, bool chosen,
                     struct calibration *c, struct calibrate_gain *g);
/* More than a standard error is gained. */
bool calibrate_pays(const struct calibrate_gain *g);

#endif
