/* conformal.h - what is told beside an answer so that it holds the truth with a given probability:
 * an interval around a value, or a set of labels. measure/conform.h fits it. */
#ifndef DNN_MODEL_CONFORMAL_H
#define DNN_MODEL_CONFORMAL_H

#include "model/calibration.h"
#include "table/encoder/coding.h"

/* The numbers stand in model files. */
enum conformal_rule {
    CONFORMAL_NONE,
    CONFORMAL_VALUE,  /* value - reach .. value + reach */
    CONFORMAL_LEARNT, /* CONFORMAL_VALUE for the target as the first encoder codes it */
    CONFORMAL_SPREAD, /* value -+ reach (spread + floor), spread: among the networks, see folds */
    CONFORMAL_SETS,   /* labels whose probability is at least reach, and the answer */
    CONFORMAL_RULES
};
extern const char *const conformal_rules[CONFORMAL_RULES]; /* value, learnt, spread, .. */
/* Zeroed: nothing is told. */
struct conformal {
    int rule;     /* enum conformal_rule */
    double level; /* 0.9: nine of ten rows */
    double reach, floor;
    /* SPREAD: network k of a model is of fold k % folds. The spread is the weighted standard
     * deviation over the networks of a fold, and of several folds the mean of theirs: out of fold a
     * row has the networks of one fold. */
    uint32_t folds;
};
static inline bool conformal_is_interval(const struct conformal *c)
{
    return c->rule > CONFORMAL_NONE && c->rule < CONFORMAL_SETS;
}
/* The ends, inside the limits of the calibration. coding: the first encoder's. A NaN gives NaN. */
void conformal_interval(const struct conformal *c, const struct calibration *limits,
                        const struct target_coding *coding, double value, double spread,
                        double ends[2]);
/* True: the label is in the set. answer: the predicted label, which is always in it. */
static inline bool conformal_holds(const struct conformal *c, const double *probability,
                                   uint32_t answer, uint32_t label)
{
    return label == answer || probability[label] >= c->reach;
}

#endif
