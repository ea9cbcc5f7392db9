/* lock.h - MODEL.lock: one training at a time writes MODEL and its checkpoints. flock holds it, so
 * that the kernel lets go when its owner dies; inside stand pid, host and the time it began, for
 * the message of whoever comes second. One lock a process. A file left behind by a run that was
 * killed is taken over. */
#ifndef DNN_BASE_LOCK_H
#define DNN_BASE_LOCK_H

#include <stdbool.h>

#include "base/err.h"

struct lock {
    int fd;
    char *path;
    bool held;
    bool abrupt; /* the file was there: the run before ended without taking it away */
};
char *lock_path(const char *output); /* of the file; mem_free */
/* Held by another: LOCKED (75) naming pid, host and time. A file of that name that no training
 * wrote: FILE_CREATE (73), and it stays. A file system without flock: a warning, and true. */
bool lock_take(struct lock *l, const char *output, struct err *e);
void lock_drop(struct lock *l); /* removes the file; harmless when not held */
void lock_abort(void);          /* async-signal-safe: removes the file of the lock that is held */

#endif
