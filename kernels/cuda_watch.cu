/* cuda_watch.cu - a call of the CUDA runtime that does not come back. Waiting for work polls with
 * a deadline (cuda_await), but any call may block in a driver that hangs, and whoever made it with
 * it: a thread of its own looks on. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "cuda.cuh"

static double patience;
static const char *volatile call_name;
static uint64_t call_began; /* nanoseconds, 0: none is being made */

static uint64_t nanoseconds(void)
{
    return (uint64_t)(clock_now() * 1e9) + 1;
}

void cuda_watch_enter(const char *call)
{
    call_name = call;
    __atomic_store_n(&call_began, nanoseconds(), __ATOMIC_RELEASE);
}

void cuda_watch_leave(void)
{
    __atomic_store_n(&call_began, (uint64_t)0, __ATOMIC_RELEASE);
}

static void *watch(void *)
{
    double often = patience / 8 < 1 ? patience / 8 : 1;
    struct timespec nap = {(time_t)often, (long)((often - (double)(time_t)often) * 1e9)};
    for (;;) {
        nanosleep(&nap, NULL);
        uint64_t began = __atomic_load_n(&call_began, __ATOMIC_ACQUIRE);
        if (!began || (double)(nanoseconds() - began) * 1e-9 < patience)
            continue;
        struct err e = {};
        err_set(&e, ERR_MACHINE_FAULT, "the GPU hangs: cuda%s has not come back for %.3g seconds",
                call_name, patience);
        err_help(&e, "the process may have to be killed with -9; `nvidia-smi` and the kernel log "
                     "(dmesg, lines with Xid) say more");
        machine_stuck(&e);
        return NULL;
    }
}

/* Signals are for the threads that know of them. Without a thread there is nobody to look on. */
void cuda_watch_begin(double seconds)
{
    static bool begun;
    pthread_t thread;
    sigset_t all, before;
    if (begun)
        return;
    begun = true;
    patience = seconds;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
