/* calibration.h - corrects a model's answers: probabilities get a temperature and a shift for each
 * class, values stay inside the range of the target. measure/calibrate.h fits it. */
#ifndef DNN_MODEL_CALIBRATION_H
#define DNN_MODEL_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: nothing is done. */
struct calibration {
    double scale;  /* 0: probabilities stay */
    double *shift; /* [classes], the first is 0 */
    uint32_t classes;
    bool limited;  /* values are held inside low .. high; an end without a limit is infinite */
    double low, high;
};

void calibration_free(struct calibration *c);
/* probability [rows][classes] becomes softmax(scale ln p + shift). */
void calibration_apply(const struct calibration *c, uint64_t rows, double *probability);
double calibration_limit(const struct calibration *c, double value);
double calibration_log(double p); /* ln p, of 0 a number far below */

#endif
