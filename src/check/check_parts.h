/* check_parts.h - shared by the files of `dnn check`. Private to src/check. */
#ifndef DNN_CHECK_CHECK_PARTS_H
#define DNN_CHECK_CHECK_PARTS_H

#include "check/check.h"
#include "train/job.h"

/* --- steps of a training, timed, and the batch size by them: batch_size.c --- */

#define STEPS_TIMED 0.2 /* seconds */
/* Makes steps whose rate is 0, for `trial` seconds and at most an epoch. *step_s: seconds of one.
 * clock: of base/clock.h; the thread's clock if it works alone, so that a busy machine gives the
 * same result. */
bool batch_size_time(struct run *r, double trial, double (*clock)(void), double *step_s,
                     struct err *e);
/* Tries powers of two and both ends, as far as they fit (r->largest_batch_train): r->tried,
 * r->best_batch. The best size is the smallest whose rows a second are within 5 % of the most: with
 * fewer rows a step, an epoch has more steps. Leaves the network of the last size. */
bool batch_size_find(struct train_job *j, const struct check_request *q, struct check_result *r,
                     struct err *e);

/* --- the runs of an ensemble, each with its time and memory: check_runs.c --- */

/* Fills r->runs, r->runs_seconds and r->seconds, for as many runs at a time as in a training. On a
 * CPU some steps of a run of each member are timed, with one thread; quick: fewer of them. On a GPU
 * all follow from run 0 in r->seconds. Raises the host's bytes to the need of all runs. before:
 * bytes that were held before the first network. */
bool check_runs(struct train_job *j, double load_s, uint64_t before, bool quick,
                struct check_result *r, struct err *e);

/* --- the largest batches that fit, by bisection: largest.c --- */

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
