/* probability.h - logits to probabilities, labels, values and text. Training, evaluation and
 * prediction all use these functions. */
#ifndef DNN_MEASURE_PROBABILITY_H
#define DNN_MEASURE_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/real.h"
#include "model/calibration.h"
#include "table/coding.h"

/* Softmax in double of each row: logits [rows][classes] to probability [rows][classes]. A logit of
 * NaN or plus infinity makes its row NaN. Minus infinity gives 0, unless all logits of the row are
 * minus infinity (NaN). As text of nine digits a row sums to 1 within 5e-9. */
void answer_probabilities(const real *logits, uint64_t rows, uint32_t classes, double *probability);
/* The mean of several networks: logits [members][rows][outputs], weights [members] with the sum 1,
 * added in the order of the members. Probabilities [end - begin][classes] of rows begin .. end - 1;
 * the value of one row. One network: its own answer, without a weight. The mean is calibrated; for
 * the spread each network's answer is. */
struct answer_mean {
    const real *logits;
    const double *weights;
    uint64_t rows;
    uint32_t members;
    const struct target_coding *const *codings; /* regression: by member; NULL: values stay as the
                                                 * networks give them */
    const struct calibration *calibration; /* NULL: none */
};
void answer_mean_probabilities(const struct answer_mean *m, uint64_t begin, uint64_t end,
                               uint32_t classes, double *probability);
double answer_mean_value(const struct answer_mean *m, uint64_t row);
/* The weighted standard deviation over the networks of the probability of `label`, the predicted
 * one (probability [classes]: the mean of the row), or of the value; 0 for one network. */
double answer_mean_spread(const struct answer_mean *m, uint64_t row, uint32_t classes,
                          const double *probability, uint32_t label);
double answer_mean_value_spread(const struct answer_mean *m, uint64_t row, double value);
/* The predicted label. Two classes: the second if its probability is at least the threshold (0.5
 * where nothing else was chosen: threshold.h). More classes: the most probable one, the first of
 * equal ones. */
uint32_t answer_label(const double *probability, uint32_t classes, double threshold);

/* True: nine digits are too coarse for a target of this mean and deviation (steps above a hundredth
 * of the latter), such as milliseconds since 1970. *step: distance of two neighbouring numbers of
 * nine digits. *less: a round number to subtract from the target as a remedy. */
bool answer_coarse(double center, double scale, double *step, double *less);

/* Writes value as "%.9g", with the bytes of text_number but several times as fast. Returns the
 * length. out has room for 32 bytes. */
size_t answer_number(char *out, double value);

#endif
