/* aside.h - work on a device beside the thread that waits for it. A call of a driver may never come
 * back; made here, it takes nobody with it: whoever waits is told, and goes on without. */
#ifndef DNN_BASE_ASIDE_H
#define DNN_BASE_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"

/* A thread of its own, for whoever joins it. Signals are for the threads that know of them, but
 * those of a crash. False: there is none to be had. */
bool aside_thread(void *(*run)(void *context), void *context, pthread_t *thread);
/* Begins work(context) on a thread that is always the same; one piece at a time. False: there was
 * no such thread to be had when the first began, and nothing is begun. */
bool aside_begin(void (*work)(void *context), void *context);
/* Waits for its end. False: it was given up, e says why; that thread then touches nothing any more,
 * and what it worked with is left to it. */
bool aside_end(struct err *e);
/* Both; where there is no such thread, here. */
bool aside_run(void (*work)(void *context), void *context, struct err *e);
/* By another thread, which knows that what runs there never comes back: tells whoever waits. False:
 * nothing runs there. */
bool aside_give_up(const struct err *why);

#endif
