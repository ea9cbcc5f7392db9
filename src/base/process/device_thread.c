/* device_thread.c - see device_thread.h. */
#include "base/process/device_thread.h"

#include <pthread.h>

#include "base/process/thread.h"

/* The process has one thread for calls that may hang: a hang ends the work of the process
 * anyway. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static enum { NOT_STARTED, REFUSED, IDLE, WORKING, GIVEN_UP } state;
static void (*work_now)(void *context);
static void *context_now;
static struct err reason;

static void *serve(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (state != WORKING)
            pthread_cond_wait(&change, &lock);
        pthread_mutex_unlock(&lock);
        work_now(context_now);
        pthread_mutex_lock(&lock);
        if (state == WORKING)
            state = IDLE;
        pthread_cond_broadcast(&change);
    }
    return unused;
}

/* Once in a process: work that began without the thread stays with its caller's thread. */
static void create(void)
{
    pthread_t thread;
    state = thread_new(serve, NULL, &thread) ? IDLE : REFUSED;
    if (state == IDLE)
        pthread_detach(thread);
}

bool device_thread_begin(void (*work)(void *context), void *context)
{
    pthread_mutex_lock(&lock);
    if (state == NOT_STARTED)
        create();
    bool there = state != REFUSED;
    if (state == IDLE) { /* else it was given up: device_thread_end reports it */
        work_now = work;
        context_now = context;
        state = WORKING;
        pthread_cond_broadcast(&change);
    }
    pthread_mutex_unlock(&lock);
    return there;
}

bool device_thread_end(struct err *e)
{
    pthread_mutex_lock(&lock);
    while (state == WORKING)
        pthread_cond_wait(&change, &lock);
    bool good = state != GIVEN_UP;
    if (!good)
        *e = reason;
    pthread_mutex_unlock(&lock);
    return good;
}

bool device_thread_run(void (*work)(void *context), void *context, struct err *e)
{
    if (device_thread_begin(work, context))
        return device_thread_end(e);
    work(context); /* without a thread, the risk is the caller's */
    return true;
}

bool device_thread_give_up(const struct err *why)
{
    pthread_mutex_lock(&lock);
    bool waits = state == WORKING;
    if (waits) {
        state = GIVEN_UP;
        reason = *why;
        pthread_cond_broadcast(&change);
    }
    pthread_mutex_unlock(&lock);
    return waits;
}
