/* cuda_watch.cu - watches for runtime calls that never return. cuda_await polls with a deadline,
 * but any call may block inside a driver that hangs. One watch thread a machine counts its own naps
 * instead of reading a clock: a process that was stopped for an hour has waited for nothing. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "card/cuda_runtime.cuh"

extern "C" {
#include "backend/machine.h"
#include "base/mem.h"
}

static const unsigned GIVEN_UP = ~0u - 1; /* the value of `turn` after a hang */

struct cuda_watch {
    uint64_t limit_ns;      /* most time that a call may take */
    const char *call;       /* the newest */
    unsigned turn;          /* odd: a call is running */
    bool running, closing;  /* the thread; closing under lock */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct cuda_runtime *runtime;
};

void cuda_watch_limit(struct cuda_watch *w, double seconds)
{
    __atomic_store_n(&w->limit_ns, (uint64_t)(seconds * 1e9), __ATOMIC_RELAXED);
}

void cuda_watch_enter(struct cuda_watch *w, const char *call)
{
    __atomic_store_n(&w->call, call, __ATOMIC_RELAXED);
    __atomic_add_fetch(&w->turn, 1, __ATOMIC_RELEASE);
}

/* After a hang another thread has taken over the work: this one waits for the end of the process.
 */
void cuda_watch_leave(struct cuda_watch *w)
{
    if (__atomic_add_fetch(&w->turn, 1, __ATOMIC_ACQ_REL) > GIVEN_UP)
        for (;;)
            pause();
}

void cuda_hangs(struct err *e)
{
    err_cause(e, FAULT_HANG);
    err_help(e, "the process may need kill -9; `nvidia-smi` and the kernel log (dmesg, lines with "
                "Xid) say more");
}

static void give_up(struct cuda_watch *w, double seconds)
{
    struct err e = {};
    err_set(&e, ERR_MACHINE_FAULT, "the GPU hangs: %s has not come back for %.3g seconds",
            __atomic_load_n(&w->call, __ATOMIC_RELAXED), seconds);
    cuda_hangs(&e);
    cuda_end_calls(w->runtime, cudaErrorUnknown);
    machine_stuck(&e);
}

/* False: the machine is being closed. */
static bool nap(struct cuda_watch *w, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&w->lock);
    while (!w->closing && pthread_cond_timedwait(&w->wake, &w->lock, &until) == 0)
        ;
    bool closing = w->closing;
    pthread_mutex_unlock(&w->lock);
    return !closing;
}

static void *watch(void *context)
{
    struct cuda_watch *w = (struct cuda_watch *)context;
    double waited = 0;
    for (unsigned seen = 0;;) {
        double limit = (double)__atomic_load_n(&w->limit_ns, __ATOMIC_RELAXED) * 1e-9;
        double pause_s = limit / 8 < 1 ? limit / 8 : 1;
        if (!nap(w, pause_s))
            return NULL;
        unsigned now = __atomic_load_n(&w->turn, __ATOMIC_ACQUIRE);
        waited = now == seen && now % 2 ? waited + pause_s : 0;
        seen = now;
        if (waited < limit || waited <= 0 ||
            !__atomic_compare_exchange_n(&w->turn, &now, GIVEN_UP, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        give_up(w, limit);
        return NULL;
    }
}

struct cuda_watch *cuda_watch_open(struct cuda_runtime *runtime, double seconds)
{
    struct cuda_watch *w = (struct cuda_watch *)mem_zero(1, sizeof *w);
    pthread_condattr_t clock;
    sigset_t all, before;
    w->runtime = runtime;
    cuda_watch_limit(w, seconds);
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all); /* signals are for other threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->running = pthread_create(&w->thread, NULL, watch, w) == 0; /* false: nothing is watched */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return w;
}

bool cuda_watch_close(struct cuda_watch *w)
{
    bool hung = __atomic_load_n(&w->turn, __ATOMIC_ACQUIRE) >= GIVEN_UP;
    if (hung) {
        if (w->running)
            pthread_detach(w->thread);
        return false;
    }
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    if (w->running)
        pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
    return true;
}
