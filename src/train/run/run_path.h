/* run_path.h - presets without steps. rocket: see run_ridge.h. linear: the output layer's weights
 * are solved for along paths of penalties (model/solve/elastic.h) on the host, and put into the
 * network. Each penalty is an epoch: the validation rows choose one as they choose the best epoch.
 * Without validation rows, or with few of them by a random split, training rows choose it: each
 * fifth is answered by the four others (of many rows one fifth alone), the least mean loss counts,
 * and all of them are solved for with that penalty: one epoch.
 * Signals and the time limit are looked at after each class, and inside one of many rows. Of run*.c
 * and of the forecast in check. */
#ifndef DNN_TRAIN_RUN_PATH_H
#define DNN_TRAIN_RUN_PATH_H

#include "train/run/run.h"

struct run_path;
/* Bytes on the host that a path takes: rows x classes twice, in double, and the inputs as columns.
 * 0: the run has no path. */
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

#endif
