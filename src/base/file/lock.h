/* lock.h - MODEL.lock: one training at a time writes MODEL and its checkpoints. It is a flock,
 * which the kernel releases when the process ends. The file holds pid, host and start time, for the
 * error message of a second training. A file left by a killed process is reused. One lock a process
 * at a time: lock_abort removes it from a signal handler. */
#ifndef DNN_BASE_LOCK_H
#define DNN_BASE_LOCK_H

#include <stdbool.h>

#include "base/err.h"

struct lock {
    int fd;
    char *path;
    bool held;
    bool abrupt; /* the file existed: the process before did not end in order */
};
char *lock_path(const char *output); /* of the file; mem_free */
/* Held by another: LOCKED (75) naming pid, host and time. A file of that name that no training
 * wrote: FILE_CREATE (73), and it stays. A file system without flock: a warning, and true. */
bool lock_take(struct lock *l, const char *output, struct err *e);
void lock_drop(struct lock *l); /* removes the file; harmless when not held */
void lock_abort(void);          /* async-signal-safe: removes the file of the lock that is held */

#endif
