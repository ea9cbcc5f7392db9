/* check_runs.h - the runs of an ensemble, each with its time and memory. Private to src/check. */
#ifndef DNN_CHECK_CHECK_RUNS_H
#define DNN_CHECK_CHECK_RUNS_H

#include "check/check.h"
#include "train/job.h"

/* Fills r->runs, r->runs_seconds and r->seconds, for as many runs at a time as in a training. On a
 * CPU some steps of a run of each member are timed, with one thread; quick: fewer of them. On a GPU
 * all follow from run 0 in r->seconds. Raises the host's bytes to the need of all runs. before:
 * bytes that were held before the first network. */
bool check_runs(struct train_job *j, double load_s, uint64_t before, bool quick,
                struct check_result *r, struct err *e);

#endif
