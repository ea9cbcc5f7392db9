/* run_path.h - presets without steps. rocket: the output layer is solved for by ridge regression of
 * the classes, or of the target, on the features (model/solve/ridge.h), on the host, with the
 * penalty that answers best to each training row by all others. Classes: answers are scaled so that
 * these have the least cross-entropy. No validation row is used, and there is one epoch.
 *
 * linear: the output layer's weights are solved for along paths of penalties
 * (model/solve/elastic.h) on the host, and put into the network. Each penalty is an epoch: the
 * validation rows choose one as they choose the best epoch. Without validation rows, or with few of
 * them by a random split, training rows choose it: each fifth is answered by the four others (of
 * many rows one fifth alone), the least mean loss counts, and all of them are solved for with that
 * penalty: one epoch. Signals and the time limit are looked at after each class, and inside one of
 * many rows.
 *
 * Of run*.c and of the forecast in check. */
#ifndef DNN_TRAIN_RUN_PATH_H
#define DNN_TRAIN_RUN_PATH_H

#include "train/run/run.h"

struct run_path;
/* Bytes on the host that it takes: of a path rows x classes twice, in double, and the inputs as
 * columns. 0: the run makes steps. */
uint64_t run_path_bytes(const struct run *r);
/* NULL: no row has a weight, or a category is an embedding: E13 or E14. */
struct run_path *run_path_open(struct run *r, struct err *e);
/* Solves for the next penalty and sets the weights. *loss: of the training rows. The time limit
 * ends it too: the weights are then on the way to the penalty. False: paths are over, or a signal
 * asked to end. */
bool run_path_next(struct run_path *p, double *loss, struct err *e);
/* Says which penalty was the best. */
void run_path_tell(const struct run_path *p);
void run_path_close(struct run_path *p);

uint64_t run_ridge_bytes(const struct run *r);
/* Floating-point operations of a usual search. 0 if run_is_ridge is false. */
double run_ridge_work(const struct run *r);
/* Solves and sets the weights. *loss: on the training rows by leave-one-out. False without an
 * error: a signal. */
bool run_ridge(struct run *r, double *loss, struct err *e);

#endif
