/* history.h - what the epochs brought: loss, metric and learning rate of each, the best one, and
 * how long ago it was. The rule of early stopping stands here alone. Saved in checkpoints, so that
 * a resumed run decides as the uninterrupted one. */
#ifndef DNN_TRAIN_HISTORY_H
#define DNN_TRAIN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/metric.h"

struct history_row {
    double loss, metric, learning_rate;
}; /* metric NaN: no validation rows */

struct history {
    const struct metric_type *metric; /* NULL without validation rows */
    double min_delta;
    int64_t patience;         /* 0: all epochs run */
    struct history_row *rows; /* [epochs], owned */
    int64_t epochs, room;
    int64_t best_epoch; /* from 1; 0: none yet */
    double best;
    int64_t waited;   /* epochs since the best one */
    double untrained; /* loss of the first step's rows, before it changed anything; 0: not known */
    double constant;  /* loss of an answer of no training */
    double constant_metric; /* what such an answer reaches; 0: that tells nothing */
    bool rooted; /* the metric is in the target's units, the loss in their squares */
};

/* True when this epoch is the best so far: better than the best before by more than min_delta. A
 * NaN is never best. Without a metric every epoch is the best: the last weights are kept. */
bool history_add(struct history *h, struct history_row row);
/* This loss is more than HISTORY_FACTOR times that of a constant answer, and that of the weights
 * that nothing had trained yet: where data are not scaled, good trainings begin high. */
enum { HISTORY_RUNAWAY = 3, HISTORY_FACTOR = 1000, HISTORY_STEPS = 100 };
bool history_ruins(const struct history *h, double loss);
bool history_ruined(const struct history *h, int64_t epoch); /* that of an epoch, from 1, is */
/* That epoch left nothing to go back to: ruined, or its metric is more than HISTORY_FAR times that
 * of an answer of no training. It is not by itself a reason to end: a training may come from far,
 * and from as much further as the loss of its first rows was above a constant's (or its root). */
enum { HISTORY_FAR = 10 };
bool history_useless(const struct history *h, int64_t epoch);
/* The loss is lost: the last HISTORY_RUNAWAY epochs were ruined. Before the epochs are over, it
 * must also have stopped falling while it was: neither a new low since more than HISTORY_RUNAWAY
 * epochs and HISTORY_STEPS steps, nor below what it was so long ago; a loss that falls may come
 * back. What gradients say is not enough: their norms are compared with those of the same training
 * (norms.h), and one that was ruined by its first steps goes on evenly. `steps`: of an epoch. */
bool history_runaway(const struct history *h, int64_t steps, bool over);
/* The epochs were over while it still got better: the last epoch was the best, and over the last
 * tenth of the way (of the learning rates summed up: a schedule that ends near 0 goes its last
 * tenth in over a third of the epochs; HISTORY_LATE epochs at least) came more than a hundredth
 * of all that the metric gained. Never of fewer than HISTORY_MANY epochs: such a number is chosen
 * on purpose. */
enum { HISTORY_MANY = 20, HISTORY_LATE = 5 };
bool history_unfinished(const struct history *h);
/* Patience is used up: no further epoch. */
bool history_over(const struct history *h);
/* The best epoch, waited and best anew from the rows: what a checkpoint's rows say counts, not what
 * stands beside them. */
void history_replay(struct history *h, const struct history_row *rows, int64_t epochs);
void history_release(struct history *h);

#endif
