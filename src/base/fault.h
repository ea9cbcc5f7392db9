/* fault.h - one point of injection for every fallible call. DNN_FAULT is a comma list of
 *   KIND:N[:ERRNO]   the Nth call (from 1) of that kind fails with that errno (default: a fitting
 *                    one)
 *   KIND:N+[:ERRNO]  that call and all later ones
 *   kill:KIND:N      the process gets SIGKILL in place of the Nth call of that kind
 * KINDs: alloc, open, read, write, fsync, rename, close, unlink, thread, and play: a machine is
 * given a routine, or an operation by itself; fetch: one brings something back; cuda: a call of the
 * CUDA runtime, cuda.Malloc one of that name, whose ERRNO is CUDA's number. A count is kept whether
 * or not a fault is set;
 * DNN_FAULT=count prints the counts at exit on standard error, so that a sweep knows how far to
 * go. */
#ifndef DNN_BASE_FAULT_H
#define DNN_BASE_FAULT_H

#include <stdbool.h>

enum fault_kind {
    FAULT_ALLOC, FAULT_OPEN, FAULT_READ, FAULT_WRITE, FAULT_FSYNC, FAULT_RENAME, FAULT_CLOSE,
    FAULT_UNLINK, FAULT_THREAD, FAULT_PLAY, FAULT_FETCH, FAULT_CUDA, FAULT_KINDS
};
/* 0: go on; else the errno to fail with. Reads DNN_FAULT on first use. Cheap and thread-safe. */
int fault_hit(enum fault_kind kind);
/* The same for a call by its name; rules that name one count its calls alone. */
int fault_hit_call(enum fault_kind kind, const char *call);
/* The same for a question that is asked until something is done: how often, is chance. It is in no
 * count, and rules that name it alone count it. */
int fault_hit_poll(enum fault_kind kind, const char *call);

#endif
