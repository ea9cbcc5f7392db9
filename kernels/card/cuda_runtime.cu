/* cuda_runtime.cu - all calls of the CUDA runtime. A test hook counts and fails them; after an
 * error that stays, none is made. */
#include <string.h>

#include "card/cuda_runtime.cuh"

extern "C" {
#include "base/fault.h"
#include "base/mem.h"
}

struct cuda_runtime *cuda_runtime_open(double seconds)
{
    struct cuda_runtime *r = (struct cuda_runtime *)mem_zero(1, sizeof *r);
    r->device = -1;
    r->watch = cuda_watch_open(r, seconds);
    return r;
}

/* A thread that hangs in a call may still return to it: then r is never freed. */
void cuda_runtime_close(struct cuda_runtime *r)
{
    if (cuda_watch_close(r->watch))
        mem_free(r);
}

/* Errors after which the device and its context still work. All others stay, from an illegal
 * address to a card that fell off the bus. */
static bool passes(cudaError_t code)
{
    switch ((int)code) {
    case 0: case 1: case 2:    /* invalid value, memory allocation */
    case 9: case 46:           /* invalid configuration, busy */
    case 34: case 35: case 36: /* the toolkit's stub, driver too old */
    case 98: case 100: case 101: case 200: case 209: /* no kernel, no device, no image */
    case 218: case 221: case 222: case 223: /* PTX: wrong, no compiler, newer, forbidden */
    case 400: case 600: case 701: case 720: /* handle, not ready, resources, too large a grid */
    case 801: case 803: case 804: case 805: case 806: case 807: /* not supported, mismatch, MPS */
        return true;
    default:
        return (int)code >= 900 && (int)code < 910; /* captures */
    }
}

/* The runtime keeps the current device by thread; so does this. */
static thread_local int current = -1;

/* These calls release their argument even if they fail: an injected failure still makes the
 * call. */
static bool ends_graph(const char *name)
{
    return strcmp(name, "StreamEndCapture") == 0 || strcmp(name, "GraphDestroy") == 0;
}

/* cudaSuccess: make the call. whole: its name with its prefix. */
static cudaError_t enter(struct cuda_runtime *r, const char *name, const char *whole)
{
    if (cuda_ended(r))
        return cuda_ended_with(r);
    bool poll = strcmp(name, "EventQuery") == 0; /* how many there are is chance */
    cudaError_t code = (cudaError_t)(poll ? fault_hit_poll : fault_hit_call)(FAULT_CUDA, name);
    if (code != cudaSuccess && !(ends_graph(name) && passes(code)))
        return code;
    cuda_watch_enter(r->watch, whole);
    if (r->device < 0 || r->device == current)
        return cudaSuccess;
    code = cudaSetDevice(r->device);
    if (code == cudaSuccess)
        current = r->device;
    else
        cuda_watch_leave(r->watch);
    return code;
}
static cudaError_t leave(struct cuda_runtime *r, cudaError_t code)
{
    if (!passes(code))
        cuda_end_calls(r, code);
    return code;
}

#define WRAPPER(name, arguments) \
    { \
        cudaError_t code = enter(r, #name, "cuda" #name); \
        if (code == cudaSuccess) { \
            code = cuda##name arguments; \
            cuda_watch_leave(r->watch); \
        } \
        return leave(r, code); \
    }
#define CALL(name, parameters, arguments) \
    cudaError_t call_##name(struct cuda_runtime *r CUDA_AFTER parameters) WRAPPER(name, arguments)
#define CALL_PLAIN(name) cudaError_t call_##name(struct cuda_runtime *r) WRAPPER(name, ())
#include "card/cudart.def"

cudaError_t cuda_runtime_select(struct cuda_runtime *r, int device)
{
    r->device = -1;
    cudaError_t code = call_SetDevice(r, device);
    if (code == cudaSuccess)
        current = r->device = device;
    return code;
}

uint64_t cuda_device_free(struct cuda_runtime *r)
{
    size_t left = 0, total = 0;
    return call_MemGetInfo(r, &left, &total) == cudaSuccess ? left : 0;
}

bool cuda_guest_enter(struct cuda_runtime *r, const char *call)
{
    r->refusal = (int)enter(r, call, call);
    return r->refusal == 0;
}
int cuda_guest_leave(struct cuda_runtime *r, int status)
{
    cuda_watch_leave(r->watch);
    return status;
}
