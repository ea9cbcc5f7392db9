/* probability.h - from the network's numbers to what is said about a row, in one place for training,
 * evaluation and prediction. */
#ifndef DNN_MEASURE_PROBABILITY_H
#define DNN_MEASURE_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/real.h"

/* Logits [rows][classes] to probabilities of the same shape: softmax in double, rounded to float. A
 * logit that is NaN or plus infinity makes the row NaN everywhere; minus infinity is probability 0,
 * unless all are. */
void answer_probabilities(const real *logits, uint64_t rows, uint32_t classes, float *probability);
/* A standardised answer in the target's own units. */
double answer_value(real logit, double center, double scale);
/* The label that is answered: of two, the second when its probability reaches 0.5; of more, the
 * first of the largest. */
uint32_t answer_label(const float *probability, uint32_t classes);

/* Whether the nine digits that an answer is written with are coarser than a hundredth of the
 * target's deviation, as of milliseconds since 1970. *step: between two such numbers at the
 * target's size; *less: what to take off the target, a round number, so that they are not. */
bool answer_coarse(double center, double scale, double *step, double *less);

/* "%.9g" as text_number writes it, byte for byte, several times as fast. Returns the length;
 * room >= 32. */
size_t answer_number(char *out, double value);

#endif
