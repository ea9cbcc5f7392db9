/* device_thread.h - runs work on a device in a thread of its own. A call of a driver may never come
 * back; then the waiting thread gets an error, and the thread in the call is abandoned. A process
 * has one such thread: its state is static, under a mutex. */
#ifndef DNN_BASE_PROCESS_DEVICE_THREAD_H
#define DNN_BASE_PROCESS_DEVICE_THREAD_H

#include <stdbool.h>

#include "base/err.h"

/* Starts work(context) in the one thread for devices; one piece of work at a time. False: that
 * thread could not be created; nothing is started. */
bool device_thread_begin(void (*work)(void *context), void *context);
/* Waits for its end. False: it was given up, e says why. The thread then never returns; the memory
 * it works with is left to it. */
bool device_thread_end(struct err *e);
/* Both; in this thread if there is no other. */
bool device_thread_run(void (*work)(void *context), void *context, struct err *e);
/* Called by a thread that knows that the work never comes back: ends device_thread_end with `why`.
 * False: no work is running. */
bool device_thread_give_up(const struct err *why);

#endif
