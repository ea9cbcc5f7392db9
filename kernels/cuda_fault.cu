/* cuda_fault.cu - every call of the CUDA runtime, in one place: counted and failed for DNN_FAULT,
 * never made again after an error that stays; and what an error means to the user. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda.cuh"

#include "backend/toolkit.h"

static volatile cudaError_t ended = cudaSuccess; /* also by who looks on (cuda_watch.cu) */

void cuda_end_calls(cudaError_t code)
{
    if (ended == cudaSuccess)
        ended = code;
}
bool cuda_ended(void)
{
    return ended != cudaSuccess;
}

/* Those after which the device and its context can still be used. All others stay: from an illegal
 * address over an ECC error to a card that fell off the bus. */
static bool passes(cudaError_t code)
{
    switch ((int)code) {
    case 0: case 1: case 2:    /* invalid value, memory allocation */
    case 9: case 35: case 36: case 46: /* invalid configuration, driver too old, busy */
    case 98: case 100: case 101: case 209: case 222: /* no kernel, no device, no image, newer PTX */
    case 400: case 600: case 701: case 720: /* handle, not ready, resources, too large a grid */
    case 801: case 803: case 804: case 805: case 806: case 807: /* not supported, mismatch, MPS */
        return true;
    default:
        return (int)code >= 900 && (int)code < 910; /* captures */
    }
}

/* cudaSuccess: the call may be made. */
static cudaError_t enter(const char *name)
{
    if (ended != cudaSuccess)
        return ended;
    cudaError_t code = (cudaError_t)fault_hit_call(FAULT_CUDA, name);
    if (code == cudaSuccess)
        cuda_watch_enter(name);
    return code;
}
static cudaError_t leave(cudaError_t code)
{
    if (!passes(code))
        cuda_end_calls(code);
    return code;
}

#define CALL(name, parameters, arguments) \
    cudaError_t call_##name parameters \
    { \
        cudaError_t code = enter(#name); \
        if (code == cudaSuccess) { \
            code = cuda##name arguments; \
            cuda_watch_leave(); \
        } \
        return leave(code); \
    }
#include "cudart.def"
#undef CALL

static int refusal;

bool cuda_guest_enter(const char *call)
{
    refusal = (int)enter(call);
    return refusal == 0;
}
int cuda_guest_leave(int status)
{
    cuda_watch_leave();
    return status;
}
int cuda_guest_refusal(void)
{
    return refusal;
}

/* A kernel may have done it: addresses, instructions, assertions, launches. */
static bool is_of_work(cudaError_t code)
{
    return ((int)code >= 700 && (int)code <= 720) || code == cudaErrorUnknown;
}

static const char *advice(cudaError_t code)
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
    bool bracketed = *kernel == '('; /* as LAUNCH has one that holds commas */
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

/* The card is sound: what is on its way comes to its end, before what it uses is given back. */
static void settle(struct card *m)
{
    cudaStream_t streams[1 + MACHINE_SLOTS] = {m->stream};
    for (unsigned i = 0; i < MACHINE_SLOTS; i++)
        streams[1 + i] = m->slots[i].stream;
    for (unsigned i = 0; i <= MACHINE_SLOTS && m->issued && !m->capturing && !cuda_gone(m); i++)
        if (streams[i] && call_EventRecord(m->issued, streams[i]) == cudaSuccess)
            cuda_await(m, m->issued, m->patience);
}

static bool full(struct card *m, const char *call)
{
    struct err e = {};
    char last[160], what[64];
    call_GetLastError(); /* this one is dealt with */
    snprintf(what, sizeof what, "what %s needs", call);
    cuda_full(m, what, cuda_last(m, last, sizeof last), &e);
    cuda_fail(m, &e);
    return false;
}

bool cuda_good(struct card *m, cudaError_t code, const char *call)
{
    if (code == cudaSuccess)
        return true;
    if (code == cudaErrorMemoryAllocation && !cuda_ended())
        return full(m, call);
    struct err e = {};
    char last[160];
    err_set(&e, ERR_MACHINE_FAULT, "GPU %d (%s) failed: %s (%d) from %s%s", m->device.index,
            text_quote_z(m->device.name), cudaGetErrorName(code), (int)code, call,
            cuda_last(m, last, sizeof last));
    bool sought = is_of_work(code) && !m->one_by_one && *last;
    err_help(&e, "%s%s", advice(code),
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

/* MPS, or a system of cards, is not ready. */
static bool is_setup(cudaError_t code)
{
    return (int)code == 600 || (int)code == 802 || ((int)code >= 805 && (int)code <= 810);
}

/* The least driver for this runtime, CUDA's way of writing versions (13000: 13.0). */
static const char *driver_wanted(int runtime)
{
    const struct toolkit *t = toolkit_of((unsigned)(runtime / 1000 * 10 + runtime % 1000 / 10));
    return t ? t->driver : "of these years";
}

bool cuda_refused(cudaError_t code, const char *call, struct err *e)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    int driver = 0, runtime = 0;
    switch ((int)code) {
    case 2:
        err_set(e, ERR_GPU_MEMORY, "out of memory (%s)", call);
        return err_help(e, "wait until others have left the card, or ask for less: "
                           "train.batch_size, backend.predict_batch_size");
    case 46:
        err_set(e, ERR_GPU_BUSY,
                "the GPU is busy, or in exclusive mode with another process on it");
        return err_help(e, "`nvidia-smi` lists who uses it: try again later; where it finds no "
                           "card, that has gone (Xid 79 in the kernel log), and waiting does not "
                           "bring it back");
    case 35: case 36: case 803: case 804:
        call_DriverGetVersion(&driver);
        call_RuntimeGetVersion(&runtime);
        if (driver == 0) {
            err_set(e, ERR_NO_GPU, "no CUDA driver");
            err_cause(e, REFUSAL_DRIVER);
            return err_help(e, "install the driver of the card; a container needs --gpus all");
        }
        err_set(e, ERR_NO_GPU, "the CUDA driver serves CUDA %d.%d, this program needs %d.%d",
                driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
        err_cause(e, REFUSAL_RUNTIME);
        return err_help(e, "install driver %s or newer, or build with an older toolkit: `dnn help "
                           "gpu` has the table", driver_wanted(runtime));
    case 100:
        if (visible)
            err_set(e, ERR_NO_GPU, "no GPU is visible; CUDA_VISIBLE_DEVICES=\"%s\"",
                    text_quote_z(visible));
        else
            err_set(e, ERR_NO_GPU, "no GPU is visible");
        err_cause(e, REFUSAL_HIDDEN);
        return err_help(e, "`nvidia-smi -L` lists the cards of this machine; permissions of "
                           "/dev/nvidia*, and --gpus of a container, may hide them");
    case 98: case 209: case 222:
        err_set(e, ERR_NO_GPU, "this build has no kernels for the architecture of the GPU");
        err_cause(e, REFUSAL_KERNELS);
        return err_help(e, "build with CUDA_ARCHS=, see `make help`");
    default:
        err_set(e, ERR_NO_GPU, "%s (%d) from %s", cudaGetErrorName(code), (int)code, call);
        err_cause(e, is_setup(code) ? REFUSAL_SETUP : REFUSAL_CARD);
        return err_help(e, "%s", advice(code));
    }
}
