/* curves.h - the data of a report's charts: weighted curves and histograms of answers and
 * labels. */
#ifndef DNN_ANSWER_CURVES_H
#define DNN_ANSWER_CURVES_H

#include "answer/evaluate/compare.h"

struct curve {
    double *x, *y; /* [count] */
    uint32_t count;
};
void curve_free(struct curve *c);
/* A class against all others, ranked as by rank.h; the curves are thinned to points that can be
 * told apart. Without rows of both kinds: count 0. */
struct class_curves {
    struct curve roc;   /* recall over the share of false alarms */
    struct curve pr;    /* precision over recall */
    struct curve gains; /* recall over the share of rows */
};
void curves_of_class(const struct answers_kept *k, uint32_t class_number, struct class_curves *c);
void class_curves_free(struct class_curves *c);

enum { HISTOGRAM_BINS = 24 };
struct histogram {
    double low, high;
    double share[HISTOGRAM_BINS], weight; /* of its weight */
};
/* Probabilities of the class on rows that are of it (`of` true), or of another class. */
struct histogram histogram_of_class(const struct answers_kept *k, uint32_t class_number, bool of);
/* A histogram of values, each of weight 1; a range without width is widened. */
struct histogram histogram_of_values(const double *values, uint64_t count, double low,
                                     double high);
/* A histogram of the answer's probability, on rows with a right answer, or a wrong one. */
struct histogram histogram_of_answers(const struct answers_kept *k, bool right);

/* Regression: errors are the answer minus the truth. */
enum { RESIDUAL_DOTS = 600, RESIDUAL_BANDS = 10 };
struct residuals {
    struct histogram errors;    /* within the middle 99 % of them */
    double quantile[5];         /* of |error|: 0.25, 0.5, 0.75, 0.9, 0.99 */
    double bias;                /* mean error */
    /* Share of the weight in rows whose answer is within a tenth of the truth; NaN: some targets
     * are above 0 and some below, or more than a twentieth of them is 0 */
    double within;
    double constant;            /* the median of |error| if every answer is the median target */
    struct curve dots;          /* x truth, y answer of rows at equal distances in the file */
    /* By the answer, in bands of equally many rows: mean answer, and the 10 %, 50 %, 90 % points of
     * the error */
    struct curve band[3];
    struct curve covered; /* the same bands: mean answer, weight share with truth <= answer */
};
extern const double residual_quantiles[5];
void residuals_of(const struct answers_kept *k, struct residuals *r);
void residuals_free(struct residuals *r);

/* Intervals and sets of answers, band by band. */
enum { REGION_BANDS = 10, REGION_SIZES = 12 };
/* Rows, and by weight: the share that is inside, the mean width or number of labels. */
struct region_band {
    double from, to; /* the answers; of labels 0 */
    uint64_t rows;
    double weight, coverage, size;
};
struct regions {
    struct region_band *band; /* [count]: tenths of the rows by the answer, or a label each */
    uint32_t count;
    double share[REGION_SIZES]; /* by weight, of sets with 1, 2, .. labels; the last one: or more */
};
/* k->conformal is not NULL. Caller: regions_free. */
void regions_of(const struct answers_kept *k, struct regions *r);
void regions_free(struct regions *r);

#endif
