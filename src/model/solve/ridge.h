/* ridge.h - ridge regression with more columns than rows: the weights that minimise
 *
 *     sum v_i |t_i - c - b z_i|^2 + penalty |b|^2,   mean of v: 1,
 *
 * of standardised columns z, for several outputs at once. It is solved in the space of rows: the
 * matrix K of products of rows gets a Cholesky factor for each penalty. The same factor gives the
 * answer to each row by the weights of all others (leave-one-out), by which a penalty is chosen. In
 * double; sums follow from shapes: the same bytes with any number of threads. */
#ifndef DNN_MODEL_RIDGE_H
#define DNN_MODEL_RIDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/real.h"
#include "base/process/stop.h"

struct ridge {
    uint32_t rows, columns, outputs, blocks;
    real *x;                      /* [rows][columns], the caller's */
    const double *weight, *target; /* [rows]; [rows][outputs] */
    double *center;               /* [outputs]: c */
    double *mean, *variance;      /* [columns] */
    double *product, *factor;     /* blocks of the lower triangle: K, and its factor */
    double penalty;               /* of the following */
    double *dual;                 /* [blocks * RIDGE_BLOCK][outputs] */
    double *without;              /* [rows][outputs]: answers by leave-one-out */
    const struct stopper *stop;   /* borrowed */
};
enum { RIDGE_BLOCK = 64 };

/* x becomes (x - mean) / sqrt(variance + epsilon) * sqrt(v). weight: the mean is 1, above 0. All
 * three are borrowed. stop: asked at each block; once true it stays so. NULL: never. Caller:
 * ridge_free. */
struct ridge *ridge_new(real *x, uint32_t rows, uint32_t columns, const double *weight,
                        const double *target, uint32_t outputs, double epsilon,
                        const struct stopper *stop);
void ridge_free(struct ridge *r);
/* Fills penalty, dual and without. False: `stop` said so. */
bool ridge_solve(struct ridge *r, double penalty);
/* b [columns][outputs] of the last penalty, of the standardised columns. */
void ridge_weights(const struct ridge *r, double *b);
/* Bytes that it takes beside x. */
uint64_t ridge_bytes(uint64_t rows, uint64_t columns, uint64_t outputs);

#endif
