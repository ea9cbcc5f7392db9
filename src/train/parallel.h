/* parallel.h - items of work side by side: runs of an ensemble, folds, trials. Threads take the
 * items by number, from 0 on, and each result belongs to its number: results do not depend on
 * threads or time. On a CPU each thread has a machine of its own with one thread; a GPU does one
 * item after another. Private to src/train and src/check. */
#ifndef DNN_TRAIN_PARALLEL_H
#define DNN_TRAIN_PARALLEL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct machine;

enum parallel_turn { PARALLEL_DO, PARALLEL_PASS, PARALLEL_END };
struct parallel_jobs {
    /* Set by the owner before parallel_run. */
    void *owner;
    uint32_t count;          /* items 0 .. count - 1 */
    uint32_t threads;        /* the most items at a time; 0 counts as 1 */
    /* used if one item is done at a time; else threads have machines like it; NULL: any */
    struct machine *machine;
    /* Asked with the lock, for each item in order: do it, pass over it, or end before it. NULL: do
     * each. */
    enum parallel_turn (*turn)(void *owner, uint32_t item);
    /* Does an item, without the lock. False: e says why, and all end; e->id ERR_NONE: a signal
     * asked to stop. */
    bool (*work)(void *owner, uint32_t item, struct machine *m, struct err *e);
    /* While parallel_run runs, under `lock`. */
    pthread_mutex_t lock;
    uint32_t next;
    bool failed, stopped;
    struct err e; /* of the first failure */
};

/* Returns when all items are done or the work has ended. False: an item failed, e says why; or a
 * signal asked to stop, and e->id is ERR_NONE. */
bool parallel_run(struct parallel_jobs *s, struct err *e);
/* Makespan of items with these durations on `threads` workers, in seconds. */
double parallel_seconds(const double *each, uint32_t count, uint32_t threads);
/* Around data that items share: inside `work` alone. */
void parallel_lock(struct parallel_jobs *s);
void parallel_unlock(struct parallel_jobs *s);
/* An item has failed: the others give up. Takes the lock. */
bool parallel_failed(struct parallel_jobs *s);

#endif
