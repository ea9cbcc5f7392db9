/* cuda_fault.cu - all calls of the CUDA runtime. A test hook counts and fails them; after an error
 * that stays, none is made. Then: the failure of a machine. */
#include <stdio.h>
#include <string.h>

#include "cuda.cuh"

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

static cudaError_t ended_with(const struct cuda_runtime *r)
{
    return (cudaError_t)__atomic_load_n(&r->ended, __ATOMIC_ACQUIRE);
}
void cuda_end_calls(struct cuda_runtime *r, cudaError_t code)
{
    int none = cudaSuccess;
    __atomic_compare_exchange_n(&r->ended, &none, (int)code, false, __ATOMIC_ACQ_REL,
                                __ATOMIC_RELAXED);
}
bool cuda_ended(const struct cuda_runtime *r)
{
    return ended_with(r) != cudaSuccess;
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
        return ended_with(r);
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
#include "cudart.def"

cudaError_t cuda_runtime_select(struct cuda_runtime *r, int device)
{
    r->device = -1;
    cudaError_t code = call_SetDevice(r, device);
    if (code == cudaSuccess)
        current = r->device = device;
    return code;
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

/* Errors that a kernel can cause: addresses, instructions, assertions, launches. */
static bool is_of_work(cudaError_t code)
{
    return ((int)code >= 700 && (int)code <= 720) || code == cudaErrorUnknown;
}

const char *cuda_advice(cudaError_t code)
{
    switch ((int)code) {
    case 214: case 220: /* ECC, NVLink */
        return "the card reports an uncorrectable error of its hardware: see Xid 48, 63, 64, 94 or "
               "95 in the kernel log (dmesg), and have it reset or replaced";
    case 100: case 999: case 46:
        return "the card may have gone (Xid 79 in the kernel log); `nvidia-smi` says whether it "
               "answers";
    default:
        return "`nvidia-smi` and the kernel log (dmesg, lines with Xid) say more; "
               "--backend dnn_cpu goes without the GPU";
    }
}

const char *cuda_last(const struct card *m, char *text, size_t room)
{
    static const char begin[] = "; last given to it: ";
    const struct given *g = &m->last;
    const char *kernel = g->kernel ? g->kernel : "";
    bool bracketed = *kernel == '('; /* LAUNCH passes names with commas in parentheses */
    int length = (int)strlen(kernel) - 2 * bracketed;
    kernel += bracketed;
    if (g->until)
        snprintf(text, room, "%sa recorded round of %u operations, %s to %s", begin, g->count,
                 g->op, g->until);
    else if (g->op && *kernel)
        snprintf(text, room, "%s%s (kernel %.*s)", begin, g->op, length, kernel);
    else if (g->op || *kernel)
        snprintf(text, room, "%s%s%.*s", begin, g->op ? g->op : "kernel ", length, kernel);
    else
        *text = '\0';
    return text;
}

/* The card works: waits for all work in flight before its memory is released. */
static void settle(struct card *m)
{
    cudaStream_t streams[1 + MACHINE_SLOTS] = {m->stream};
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        streams[1 + i] = m->slots[i].stream;
    for (unsigned i = 0; i <= MACHINE_SLOTS && m->issued && !m->capturing && !cuda_gone(m); i++)
        if (streams[i] && call_EventRecord(m->runtime, m->issued, streams[i]) == cudaSuccess)
            cuda_await(m, m->issued, m->patience);
}

static bool full(struct card *m, const char *call)
{
    struct err e = {};
    char last[160], what[64];
    call_GetLastError(m->runtime); /* this one is dealt with */
    snprintf(what, sizeof what, "what %s needs", call);
    cuda_full(m, what, cuda_last(m, last, sizeof last), &e);
    cuda_fail(m, &e);
    return false;
}

bool cuda_good(struct card *m, cudaError_t code, const char *call)
{
    if (code == cudaSuccess)
        return true;
    if (code == cudaErrorMemoryAllocation && !cuda_ended(m->runtime))
        return full(m, call);
    struct err e = {};
    char last[160];
    err_set(&e, ERR_MACHINE_FAULT, "GPU %d (%s) failed: %s (%d) from %s%s", m->device.index,
            text_quote_z(m->device.name), cudaGetErrorName(code), (int)code, call,
            cuda_last(m, last, sizeof last));
    bool sought = is_of_work(code) && !m->one_by_one && *last;
    err_help(&e, "%s%s", cuda_advice(code),
             sought ? "; CUDA_LAUNCH_BLOCKING=1 waits for each kernel, and so names the one" : "");
    cuda_fail(m, &e);
    return false;
}

void cuda_fail(struct card *m, const struct err *e)
{
    bool first = !cuda_lost(m);
    machine_fail(&m->head, e);
    if (first && e->id == ERR_GPU_MEMORY)
        settle(m);
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        slot_abandon(&m->slots[i]);
}
