/* aside.h - runs work on a device in a thread of its own. A call of a driver may never come back;
 * then the waiting thread gets an error, and the thread in the call is abandoned. A process has one
 * such thread: its state is static, under a mutex. */
#ifndef DNN_BASE_ASIDE_H
#define DNN_BASE_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

/* Creates a thread in which only the signals of a crash are not blocked. Caller joins or detaches
 * it. False: the system gives no thread. */
bool aside_thread(void *(*run)(void *context), void *context, pthread_t *thread);
/* Starts work(context) in the one thread for devices; one piece of work at a time. False: that
 * thread could not be created; nothing is started. */
bool aside_begin(void (*work)(void *context), void *context);
/* Waits for its end. False: it was given up, e says why. The thread then never returns; the memory
 * it works with is left to it. */
bool aside_end(struct err *e);
/* Both; in this thread if there is no other. */
bool aside_run(void (*work)(void *context), void *context, struct err *e);
/* Called by a thread that knows that the work never comes back: ends aside_end with `why`. False:
 * no work is running. */
bool aside_give_up(const struct err *why);

#endif
