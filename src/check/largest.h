/* largest.h - the largest batches that fit: found by bisection, by the need of its network
 * (network_need) and the memory that a run has for it. Private to check.c and largest.c. */
#ifndef DNN_CHECK_LARGEST_H
#define DNN_CHECK_LARGEST_H

#include "train/job.h"

/* The machine, before a training has taken any of it. */
struct largest_room {
    struct plan opened;
    uint64_t train, predict; /* bytes; 0: not known */
};
/* predict: the config's memory limit does not hold for a model; the environment's does. */
bool largest_room(const struct train_job *j, struct largest_room *room, struct err *e);
/* train.batch_size; 0: not even one row. The network of j is made. The machine's plan is
 * another one after it. */
uint64_t largest_train(const struct train_job *j, const struct largest_room *room);
/* predict --batch-size. */
uint64_t largest_predict(const struct train_job *j, const struct largest_room *room);

#endif
