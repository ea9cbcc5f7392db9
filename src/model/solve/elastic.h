/* elastic.h - elastic net: the weights of a linear model that minimise
 *
 *     sum w_i loss_i + penalty (l1 |b|_1 + (1 - l1) / 2 |b|_2^2),   sum w_i = 1,
 *
 * for cross-entropy and half the squared error, solved to convergence by coordinate descent on
 * Newton's quadratic approximation, with a path of penalties from large to small, each from the
 * weights of the one before and with the strong rule (Friedman, Hastie, Tibshirani: Regularization
 * paths for generalized linear models via coordinate descent, 2010; Tibshirani et al., 2012). In
 * double, by one thread: the same bytes with any number of threads. */
#ifndef DNN_MODEL_ELASTIC_H
#define DNN_MODEL_ELASTIC_H

#include <stdbool.h>

#include "base/process/stop.h"
#include "model/solve/design.h"

/* The problem; borrowed. */
struct elastic_problem {
    const struct design *x;
    const double *weight;  /* [rows], above 0, the sum is 1 */
    uint32_t classes;      /* 0: regression */
    const int32_t *label;  /* classes: [rows] */
    const double *target;  /* regression: [rows] */
    double smoothing;      /* of labels, towards the uniform distribution */
    /* Asked at each class, and at each column of many rows: true ends the work at hand. NULL:
     * never. Once true it stays so. */
    const struct stopper *stop;
};
struct elastic {
    struct elastic_problem problem;
    uint32_t outputs;  /* classes; 1 for regression and two classes: the logit of the second */
    double *beta;      /* [outputs][columns], of the columns of the design */
    double *intercept; /* [outputs], not penalised */
    double constant;   /* loss of the intercepts alone */
    double loss;       /* of the last solution, without the penalty */
    /* of the rows: [outputs][rows] */
    double *eta, *grown; /* answers; classes: their exponentials */
    double *total;       /* [rows]: sum of the exponentials */
    double now;          /* the loss by these answers */
    /* of the output at work: [rows] */
    double *curve, *residual, *start;
    double *slope;     /* [outputs][columns]: the loss's, negated */
    bool *strong;      /* [outputs][columns]: in the set at work */
    double *square;    /* [columns] */
    double *before;    /* [columns] */
};

/* Begins at the intercepts alone. Caller: elastic_free. */
struct elastic *elastic_new(const struct elastic_problem *p);
void elastic_free(struct elastic *s);
void elastic_reset(struct elastic *s); /* back to the intercepts alone */
/* The least penalty for which all weights are 0; l1 0 counts as 0.001. */
double elastic_most(const struct elastic *s, double l1);
/* Solves for a penalty, from the present weights. `last`: the penalty of these weights; the first
 * time elastic_most. False: no convergence within many passes, or `stop` was true: the weights are
 * on the way to the solution. */
bool elastic_solve(struct elastic *s, double penalty, double last, double l1);
/* Bytes that a problem takes beside its design. */
uint64_t elastic_bytes(uint64_t rows, uint64_t columns, uint32_t classes);

#endif
