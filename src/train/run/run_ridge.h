/* run_ridge.h - preset rocket without steps: the output layer is solved for by ridge regression of
 * the classes, or of the target, on the features (model/solve/ridge.h), on the host, with the
 * penalty that answers best to each training row by all others. Classes: answers are scaled so
 * that these have the least cross-entropy. No validation row is used, and there is one epoch. Of
 * run*.c and of the forecast in check. */
#ifndef DNN_TRAIN_RUN_RIDGE_H
#define DNN_TRAIN_RUN_RIDGE_H

#include "train/run/run.h"

/* Bytes on the host that it takes; floating-point operations of a usual search. 0 if run_is_ridge
 * is false. */
uint64_t run_ridge_bytes(const struct run *r);
double run_ridge_work(const struct run *r);
/* Solves and sets the weights. *loss: on the training rows by leave-one-out. False without an
 * error: a signal. */
bool run_ridge(struct run *r, double *loss, struct err *e);

#endif
