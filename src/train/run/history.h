/* history.h - the epochs of a run: loss, metric and learning rate of each, the best epoch, early
 * stopping. Checkpoints store it: a resumed run decides the same. */
#ifndef DNN_TRAIN_HISTORY_H
#define DNN_TRAIN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/metric.h"
#include "model/file/modelfile.h"

struct history_row {
    double loss, metric, learning_rate;
}; /* metric NaN: no validation rows, or the metric has no value on the answers */

struct history {
    const struct metric_type *metric; /* NULL without validation rows */
    double min_delta;
    bool last;                /* a gain of min_delta is enough: the last of equal metrics counts */
    int64_t patience;         /* epochs; 0: all of them run */
    int64_t min_steps;        /* least steps that patience lasts */
    struct history_row *rows; /* [epochs], owned */
    int64_t epochs;
    int64_t best_epoch; /* from 1; 0: none yet */
    double best;
    int64_t waited; /* epochs since the best one */
    bool begun;     /* the first weights have a metric, `start`: best_epoch 0 is a result */
    double start;
};

/* Counts the metric of the first weights as epoch 0. False: it has no value, or there is no
 * metric. */
bool history_begin(struct history *h, double start);

/* Adds an epoch. True: it is the best so far, better than the best before by more than min_delta. A
 * metric that is NaN is never the best; of metrics that are all 0 the lower training loss is
 * better. Without a metric the lowest training loss counts: a run that breaks goes back to it. */
bool history_add(struct history *h, struct history_row row);
/* True: the model still improved when the epochs ended. The last epoch is the best, and the last
 * tenth of the summed learning rates (at least HISTORY_LATE epochs) gave more than a hundredth of
 * the whole gain. False for fewer than HISTORY_MANY epochs. */
enum { HISTORY_MANY = 20, HISTORY_LATE = 5 };
bool history_unfinished(const struct history *h);
/* True: patience is used up, the run ends. steps: of an epoch. */
bool history_over(const struct history *h, int64_t steps);
/* Sets all from the rows of a checkpoint. */
void history_replay(struct history *h, const struct history_row *rows, int64_t epochs);
/* For the model file: *rows of HISTORY_COLUMNS numbers each (modelfile.h), at most HISTORY_MOST of
 * them. mem_free. NULL: no epoch. */
enum { HISTORY_MOST = 1000 };
double *history_table(const struct history *h, uint32_t *rows);
void history_release(struct history *h);

#endif
