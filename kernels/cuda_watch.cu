/* cuda_watch.cu - a call of the CUDA runtime that does not come back. Waiting for work polls with
 * a deadline (cuda_await), but any call may block in a driver that hangs, and whoever made it with
 * it: a thread of its own looks on. It counts its own naps instead of asking a clock, so that a
 * process that was stopped for an hour has waited for nothing. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda.cuh"

static uint64_t most_ns;            /* that a call may take */
static const char *call_name;
static unsigned turn;               /* odd: a call is being made */
static const unsigned GIVEN_UP = ~0u - 1; /* nobody waits for it any more */

void cuda_watch_limit(double seconds)
{
    __atomic_store_n(&most_ns, (uint64_t)(seconds * 1e9), __ATOMIC_RELAXED);
}

void cuda_watch_enter(const char *call)
{
    __atomic_store_n(&call_name, call, __ATOMIC_RELAXED);
    __atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
}

/* Others have taken over what the thread of this call had in its hands: it stays here. */
void cuda_watch_leave(void)
{
    if (__atomic_add_fetch(&turn, 1, __ATOMIC_ACQ_REL) > GIVEN_UP)
        for (;;)
            pause();
}

void cuda_late_help(struct err *e)
{
    err_help(e, "the process may have to be killed with -9; `nvidia-smi` and the kernel log "
                "(dmesg, lines with Xid) say more");
}

/* e: who leaves has begun it; empty: it hangs. */
static void give_up(double seconds, struct err *e)
{
    const char *call = __atomic_load_n(&call_name, __ATOMIC_RELAXED);
    size_t begun = strlen(e->what);
    if (e->id == ERR_NONE)
        err_set(e, ERR_MACHINE_FAULT, "the GPU hangs: %s has not come back for %.3g seconds",
                call, seconds);
    else
        snprintf(e->what + begun, sizeof e->what - begun,
                 ", and %s has not come back for %.0f seconds", call, seconds);
    cuda_late_help(e);
    if (e->id == ERR_MACHINE_FAULT)
        err_cause(e, FAULT_HANG);
    cuda_end_calls(cudaErrorUnknown);
    machine_stuck(e);
}

static void *watch(void *)
{
    double waited = 0;
    for (unsigned seen = 0;;) {
        double most = (double)__atomic_load_n(&most_ns, __ATOMIC_RELAXED) * 1e-9;
        double often = most / 8 < 1 ? most / 8 : 1;
        struct timespec nap = {(time_t)often, (long)((often - (double)(time_t)often) * 1e9)};
        nanosleep(&nap, NULL);
        unsigned now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE);
        waited = now == seen && now % 2 ? waited + often : 0;
        seen = now;
        struct err e = {};
        bool hangs = waited >= most && waited > 0;
        if ((!hangs && (waited < 1 || !machine_leaves(waited, &e))) ||
            !__atomic_compare_exchange_n(&turn, &now, GIVEN_UP, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        give_up(hangs ? most : waited, &e);
        return NULL;
    }
}

/* Signals are for the threads that know of them. Without a thread there is nobody to look on. */
void cuda_watch_begin(double seconds)
{
    static bool begun;
    pthread_t thread;
    sigset_t all, before;
    cuda_watch_limit(seconds);
    if (begun)
        return;
    begun = true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
