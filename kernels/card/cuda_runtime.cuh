/* cuda_runtime.cuh - every call of the CUDA runtime, the watch over calls that do not return, and
 * errors of opening. */
#ifndef DNN_KERNELS_CUDA_RUNTIME_CUH
#define DNN_KERNELS_CUDA_RUNTIME_CUH

#include "device.cuh"

extern "C" {
#include "base/err.h"
}

/* The CUDA runtime as one machine uses it. After an error that stays, and after cuda_end_calls, its
 * machine makes no call any more: each gives that error. Other machines go on. */
struct cuda_watch;
struct cuda_runtime {
    int ended;                /* the error that stays; the watch thread writes it too */
    int device;               /* the current one of its calls; -1: none yet */
    int refusal;              /* why cuda_guest_enter said no */
    struct cuda_watch *watch; /* cuda_watch.cu */
};
struct cuda_runtime *cuda_runtime_open(double seconds); /* most time that a call may take */
void cuda_runtime_close(struct cuda_runtime *r);
/* From now on the calls of r are for this device, from whichever thread. */
cudaError_t cuda_runtime_select(struct cuda_runtime *r, int device);

/* call_NAME is cudaNAME, with a test hook that counts and fails it. */
#define CUDA_AFTER(...) , __VA_ARGS__
#define CALL(name, parameters, arguments)                                                          \
    cudaError_t call_##name(struct cuda_runtime *r CUDA_AFTER parameters);
#define CALL_PLAIN(name) cudaError_t call_##name(struct cuda_runtime *r);
#include "card/cudart.def"
/* Free memory of the device; 0: not known. */
uint64_t cuda_device_free(struct cuda_runtime *r);

/* The calls of r end with this error, if none has ended them yet. */
static inline void cuda_end_calls(struct cuda_runtime *r, cudaError_t code)
{
    int none = cudaSuccess;
    __atomic_compare_exchange_n(&r->ended, &none, (int)code, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}
/* The error that ended them; cudaSuccess: none. */
static inline cudaError_t cuda_ended_with(const struct cuda_runtime *r)
{
    return (cudaError_t)__atomic_load_n(&r->ended, __ATOMIC_ACQUIRE);
}
static inline bool cuda_ended(const struct cuda_runtime *r)
{
    return cuda_ended_with(r) != cudaSuccess;
}

/* A call of a guest library: counted, failed and watched like those. False: do not make it; its
 * status is r->refusal. */
bool cuda_guest_enter(struct cuda_runtime *r, const char *call);
int cuda_guest_leave(struct cuda_runtime *r, int status);

/* --- calls that do not return: cuda_watch.cu --- */

/* A call that takes longer than the limit ends the calls of its runtime and is reported to
 * machine_on_stuck; its thread never returns from it. */
struct cuda_watch *cuda_watch_open(struct cuda_runtime *runtime, double seconds);
/* False: a call hangs in it, so that it has to stay. */
bool cuda_watch_close(struct cuda_watch *w);
void cuda_watch_limit(struct cuda_watch *w, double seconds);
void cuda_watch_enter(struct cuda_watch *w, const char *call);
void cuda_watch_leave(struct cuda_watch *w);
/* Adds the cause and the help of a card that does not answer. */
void cuda_hangs(struct err *e);

/* --- errors of opening: cuda_refused.cu --- */

/* Help text for an error of the card itself. */
const char *cuda_advice(cudaError_t code);
/* For errors before any work: no device, an old driver, a full or busy card. Fills e with a help;
 * returns false. */
bool cuda_refused(struct cuda_runtime *r, cudaError_t code, const char *call, struct err *e);

#endif
