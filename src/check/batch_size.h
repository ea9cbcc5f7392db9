/* batch_size.h - steps of a training, timed, and the batch size by them. Private to src/check. */
#ifndef DNN_CHECK_BATCH_SIZE_H
#define DNN_CHECK_BATCH_SIZE_H

#include "check/check.h"
#include "train/job.h"

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

#endif
