/* probability.h - logits to probabilities, values and text. Training, evaluation and
 * prediction all use these functions. */
#ifndef DNN_MEASURE_PROBABILITY_H
#define DNN_MEASURE_PROBABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/real.h"
#include "model/conformal.h"
#include "table/encoder/coding.h"
#include "table/schema/options.h"

/* Softmax in double of each row: logits [rows][classes] to probability [rows][classes]. A logit of
 * NaN or plus infinity makes its row NaN. Minus infinity gives 0, unless all logits of the row are
 * minus infinity (NaN). As text of nine digits a row sums to 1 within 5e-9. */
void answer_probabilities(const real *logits, uint64_t rows, uint32_t classes, double *probability);
/* Values of each row: outputs [rows][values] of a network to value [rows][values], decoded (coding
 * NULL: as they are) and put into rising order. So quantiles never cross, and the pinball loss is
 * at most what it was (Chernozhukov, Fernandez-Val, Galichon: Quantile and Probability Curves
 * Without Crossing, Econometrica 78, 2010). */
void answer_values(const struct target_coding *coding, const real *outputs, uint64_t rows,
                   uint32_t values, double *value);
/* The mean of several networks: logits [members][rows][outputs], weights [members] with the sum 1,
 * added in the order of the members. Probabilities [end - begin][classes] of rows begin .. end - 1;
 * the value of one row. One network: its own answer, without a weight. The mean is calibrated; for
 * the spread each network's answer is. */
struct answer_mean {
    const real *logits;
    const double *weights;
    uint64_t rows;
    uint32_t members;
    uint32_t values; /* regression: numbers of an answer */
    uint32_t middle; /* the index of the value that spread, interval and answer_mean_value use */
    const struct target_coding *const *codings; /* regression: by member; NULL: values stay as the
                                                 * networks give them */
    const struct calibration *calibration; /* NULL: none */
    const struct conformal *conformal;     /* NULL: none */
};
void answer_mean_probabilities(const struct answer_mean *m, uint64_t begin, uint64_t end,
                               uint32_t classes, double *probability);
/* value [values], rising. */
void answer_mean_values(const struct answer_mean *m, uint64_t row, double *value);
double answer_mean_value(const struct answer_mean *m, uint64_t row);
/* Whether a limit of the calibration holds a value (of several, the first or the last): -1 the low
 * end, 1 the high end, 0 neither. */
int answer_mean_held(const struct answer_mean *m, uint64_t row);
/* The weighted standard deviation over the networks of the probability of `label`, the predicted
 * one (probability [classes]: the mean of the row), or of the value; 0 for one network. */
double answer_mean_spread(const struct answer_mean *m, uint64_t row, uint32_t classes,
                          const double *probability, uint32_t label);
double answer_mean_value_spread(const struct answer_mean *m, uint64_t row, double value);
/* The ends of the interval around the value of a row; m->conformal is an interval. */
void answer_mean_interval(const struct answer_mean *m, uint64_t row, double value, double ends[2]);
/* The ends of the intervals around `count` answers of one network. coding: its target's. */
void answer_intervals(const struct conformal *c, const struct calibration *limits,
                      const struct target_coding *coding, uint64_t count, const double *value,
                      double *low, double *high);

/* The score that ranks answers: the odds of a class with probability p, rest: the probability of
 * all others; odds below 1 as minus the odds against it. The order is the order of the logits, in
 * double, also if p is 1 in double; for the other class it is the same, mirrored to the bit. */
static inline double answer_odds(double p, double rest)
{
    return p >= rest ? p / rest : -(rest / p);
}
/* The odds of class c of a row: both parts have all their digits. */
double answer_class_odds(const double *probability, uint32_t classes, uint32_t c);
/* The probability that has these odds. */
static inline double answer_of_odds(double odds)
{
    return odds > 0 ? 1 / (1 + 1 / odds) : 1 / (1 - odds);
}

/* True: nine digits are too coarse for a target of this mean and deviation (steps above a ten
 * thousandth of the deviation), e.g. milliseconds since 1970. */
bool answer_coarse(double center, double scale);

/* Writes value as "%.9g", with the bytes of text_number but several times as fast. Returns the
 * length. out has room for 32 bytes. */
size_t answer_number(char *out, double value);
/* A value of a regression; fine: as "%.17g". */
size_t answer_value(char *out, double value, bool fine);

#endif
