/* cuda.cuh - what the files of the CUDA machine share. cuda.cu: opening, waiting, plan, launches;
 * cuda_memory.cu: memory; cuda_device.cu: devices; cuda_slot.cu: transfers; cuda_ops.cu:
 * operations; cuda_graph.cu: routines; cuda_fault.cu: every call of the CUDA runtime. */
#ifndef DNN_KERNELS_CUDA_CUH
#define DNN_KERNELS_CUDA_CUH

#include "device.cuh"
#include "kernels.h"

extern "C" {
#include "backend/guests.h"
#include "backend/machine.h"
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
}

/* --- calls of the runtime: cuda_fault.cu --- */

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
#include "cudart.def"
void cuda_end_calls(struct cuda_runtime *r, cudaError_t code);
bool cuda_ended(const struct cuda_runtime *r);

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

struct card;
/* True if code is no error. Otherwise the machine has failed; the message names the call and the
 * last work given to the card. Out of memory is no fault (any call may return it, as kernels are
 * loaded at first use): work in flight is waited for, and the card stays usable (machine_forgive).
 */
bool cuda_good(struct card *m, cudaError_t code, const char *call);
void cuda_fail(struct card *m, const struct err *e);
/* "; last given to it: dense (kernel gemm_tile)" into `room` bytes; "" if nothing was given. */
const char *cuda_last(const struct card *m, char *text, size_t room);
#define CUDA(m, name, arguments)                                                                   \
    cuda_good(m, call_##name((m)->runtime CUDA_AFTER arguments), "cuda" #name)
/* Help text for an error of the card itself. */
const char *cuda_advice(cudaError_t code);
/* For errors before any work: no device, an old driver, a full or busy card. Fills e with a help;
 * returns false (cuda_refused.cu). */
bool cuda_refused(struct cuda_runtime *r, cudaError_t code, const char *call, struct err *e);

/* --- devices: cuda_device.cu --- */

struct cuda_device {
    int index, count;      /* of how many */
    char name[64], uuid[48], core[24], driver[32];
    unsigned sms;
    size_t block_bytes;    /* of a block's memory, at most */
    int capability;        /* 90 for sm_90 */
    uint64_t total;        /* bytes */
};
/* Chooses a device by wish (auto, 0, cuda:0, GPU-.. or MIG-..; NULL: auto) and opens it. */
bool cuda_device_open(struct cuda_runtime *r, struct cuda_device *d, const char *wish,
                      cudaStream_t *stream, struct err *e);
/* Makes the device current, creates its first stream and loads a kernel: so a card without kernels
 * in this build is found now, not in the middle of the work. d->count is set. */
bool cuda_device_begin(struct cuda_runtime *r, struct cuda_device *d, int index,
                       cudaStream_t *stream, struct err *e);
bool cuda_device_uuid(struct cuda_runtime *r, int index, char *text, size_t room); /* "GPU-.." */
/* The device with the most free memory: cuda_freest.cu. */
bool cuda_device_auto(struct cuda_runtime *r, struct cuda_device *d, cudaStream_t *stream,
                      struct err *e);
uint64_t cuda_device_free(struct cuda_runtime *r); /* bytes; 0: not known */

/* --- the machine --- */

/* A block of device memory. mapped: a copy of these host bytes, lent `uses` times; uses 0: a
 * spare, kept for the next rows of that size. */
struct block {
    void *at;
    size_t bytes;
    const void *host;
    size_t host_bytes;
    unsigned uses;
    bool mapped;
    enum memory_kind kind;
};
struct pinned { char *at; size_t bytes; bool plain; }; /* plain: it could not be pinned */

/* A line of transfers. Bytes that are not pinned pass through `stage`. */
enum { STAGE_BYTES = 1 << 20, STAGE_PENDING = 64 };
struct slot {
    cudaStream_t stream;
    cudaEvent_t done;
    struct pinned stage;   /* of STAGE_BYTES, or empty */
    size_t staged;
    struct { void *to; size_t at, bytes; } pending[STAGE_PENDING]; /* from the stage at the fence */
    unsigned pending_count;
    bool busy;
    uint64_t behind;       /* the value of card.work that it waits for */
};

/* The last work given to the stream: the only trace when a card breaks. op NULL: a kernel of no
 * operation, or of several; kernel NULL: not a kernel of ours; until: a recorded round of `count`
 * operations, from op to until. */
struct given { const char *op, *kernel, *until; uint32_t count; };

struct cuda_routine; /* cuda_graph.cu */
struct card {
    struct machine head;
    struct cuda_runtime *runtime;
    struct cuda_device device;
    struct products products;
    bool wgmma;            /* warpgroup kernels serve large 16-bit products */
    char precision_why[96];
    unsigned guests;         /* of machine_options */
    struct guest_use *guest; /* cuBLASLt: cuda_guest.cu */
    struct recur_use *recur; /* cuDNN: cuda_recur.cu */
    cudaStream_t stream;   /* of the operations */
    cudaEvent_t issued;
    cudaEvent_t *marks;    /* [MACHINE_MARKS], each created at first use; NULL: none yet */
    struct slot slots[MACHINE_SLOTS];
    struct block *blocks;
    size_t block_count, block_room;
    struct pinned *pins;
    size_t pin_count, pin_room;
    uint64_t limit, allocated, peak;
    uint64_t allocated_of[MEMORY_KINDS], peak_of[MEMORY_KINDS]; /* peak_of: the parts of `peak` */
    /* Numbers of the newest work given to the stream and of the newest known to be done. */
    uint64_t work, done;
    const char *op;        /* the operation whose kernels are launched; NULL: none, or several */
    struct given last;     /* not changed in captures */
    bool one_by_one;       /* CUDA_LAUNCH_BLOCKING=1: wait for each kernel, no graphs */
    double longest;        /* seconds: the limit of any wait */
    double patience;       /* seconds: the limit of the current work */
    void *scratch;         /* the largest so far; older ones live on in routines */
    size_t scratch_bytes;
    struct cuda_routine *recorded; /* the routine being recorded, or NULL */
    bool unpinned;         /* some memory could not be pinned: said once */
    bool no_graphs;        /* graphs failed: said once */
    bool capturing;
    cudaError_t capture_failed; /* the first launch that did */
};
static inline struct card *card_of(struct machine *m) { return (struct card *)m; }
static inline const struct card *card_of(const struct machine *m)
{
    return (const struct card *)m;
}
/* True: the card has failed; issue nothing more. */
static inline bool cuda_lost(const struct card *m)
{
    return m->head.failure.id != ERR_NONE || cuda_ended(m->runtime);
}
/* True: the card has failed, not only by lack of memory: its device memory is not released any
 * more. */
static inline bool cuda_gone(const struct card *m)
{
    return cuda_ended(m->runtime) ||
           (m->head.failure.id != ERR_NONE && m->head.failure.id != ERR_GPU_MEMORY);
}

void cuda_mark(struct machine *m, uint32_t i);
double cuda_marked(struct machine *m, uint32_t i);
/* Waits for the event. False, with a failure, after `seconds`. */
bool cuda_await(struct card *m, cudaEvent_t event, double seconds);

/* --- memory: cuda_memory.cu --- */

/* Cleared device memory, counted for the machine's current memory kind; NULL: no room, or a
 * failure. */
void *cuda_allocate(struct card *m, size_t bytes, struct err *e);
/* Fills e: no memory for `what`; false. */
bool cuda_full(const struct card *m, const char *what, const char *why, struct err *e);
/* Host memory for transfers, pinned if possible; false after a failure of the card. */
bool cuda_pin(struct card *m, struct pinned *p, size_t bytes);
void cuda_unpin(struct card *m, struct pinned *p); /* of nothing: nothing */
bool cuda_is_pinned(const struct card *m, const void *at, size_t bytes);
void *cuda_alloc(struct machine *m, size_t bytes, struct err *e);
void cuda_release(struct machine *m, void *memory);
void *cuda_host_alloc(struct machine *m, size_t bytes, struct err *e);
void cuda_host_release(struct machine *m, void *memory);
const void *cuda_map_host(struct machine *m, const void *host, size_t bytes, struct err *e);
void cuda_unmap_host(struct machine *m, const void *mapped);
uint64_t cuda_bytes_free(struct machine *m);
/* Releases all, and logs the peak (verbose). */
void cuda_memory_close(struct card *m);

/* --- the arithmetic of products: cuda_precision.cu --- */

/* wish: a value of backend.precision; NULL: fp32. */
void cuda_precision(struct card *m, const char *wish);
const char *cuda_precision_name(const struct card *m);
/* The precision of a plan, if this card has it. */
void cuda_precision_set(struct card *m, const char *name);
/* Kept in 16 bits by a training: activations, and a copy of the parameters for products, which
 * every writer of parameters refreshes. */
size_t cuda_act_bytes(const struct machine *m);
uint32_t cuda_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back);
bool cuda_rounds(const struct machine *m, const struct group *groups, uint32_t count);
size_t cuda_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                         uint64_t n);
void cuda_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                  uint32_t count);
struct act cuda_shadow_of(const struct machine *m, const void *shadow, uint64_t offset);

/* --- products of warpgroups: cuda_wgmma.cu --- */

/* wish: as above. Runs the trial if they are wanted. */
void cuda_wgmma_begin(struct card *m, const char *wish);
void cuda_wgmma_plan(const struct card *m, struct plan *plan);
void cuda_wgmma_set_plan(struct card *m, const struct plan *plan);

/* --- a library of NVIDIA in the place of kernels: cuda_guests.cu --- */

struct card_guest {
    enum guest_id id;
    bool loaded, tried, on, failed;
    bool all;               /* the config or a test asks for it, at all sizes */
    struct guest library;
};
/* A size from which on a library was measured faster on a card, and both rates, in operations a
 * second. `of`: the kind of work, an enumeration of the library's file. */
struct guest_row { int capability; uint32_t of; double least, ours, theirs; };
enum { GUEST_EMULATED = 0 }; /* in place of the capability */
/* The row of the largest size that is not above `size`; NULL: our kernels serve. */
const struct guest_row *cuda_guest_row(const struct card *m, const struct guest_row *rows,
                                       size_t count, uint32_t of, double size);
/* Seconds that the library saves in this number of operations; row NULL: 0. */
double cuda_guest_saves(const struct guest_row *row, double operations);
/* True: the config asks for the library; a test build by DNN_GUESTS=always or its name, and any
 * other word says no. */
bool cuda_guest_asked(const struct card *m, const struct card_guest *g);
/* True: the library may serve unasked, by its rows. In a test build DNN_GUESTS=rule means yes, any
 * other word no; on an emulated card only that word does. */
bool cuda_guest_may(const struct card *m);
/* "cuBLASLt 13.1.0", as in a plan. */
void cuda_guest_write(const struct card_guest *g, char *to, size_t room);
void cuda_guest_add(const struct card_guest *g, struct plan *plan); /* if it is on */
/* named: the plan names the library. same: with this version; another one gives other bits. */
bool cuda_guest_named(const struct card_guest *g, const struct plan *plan);
bool cuda_guest_same(const struct card_guest *g, const struct plan *plan);
/* Switches the library off after a failure, with a warning; or the card itself has failed. */
void cuda_guest_fail(struct card *m, struct card_guest *g, const char *call, int status);

/* --- cuBLASLt in the place of product kernels: cuda_guest.cu --- */

void cuda_guest_begin(struct card *m);
void cuda_guest_end(struct card *m);
void cuda_guest_plan(const struct card *m, struct plan *plan);
void cuda_guest_set_plan(struct card *m, const struct plan *plan);
/* Opens it for this training if that pays (machine_work). */
void cuda_guest_work(struct card *m, const struct machine_work *work);
/* Scratch bytes that the library needs for this operation. */
size_t cuda_guest_scratch(const struct card *m, enum op_id op);

/* --- cuDNN in the place of recurrent kernels: cuda_recur.cu --- */

void cuda_recur_begin(struct card *m);
void cuda_recur_end(struct card *m);
void cuda_recur_plan(const struct card *m, struct plan *plan); /* adds itself */
void cuda_recur_set_plan(struct card *m, const struct plan *plan);
/* Adds the workspace of cuDNN for a whole layer (struct recur_inputs); kept stays 0: not
 * supported. */
void cuda_recur_need(const struct card *m, enum op_id op, const void *arguments, struct need *n);

/* --- slots: cuda_slot.cu --- */

bool slot_open(struct card *m, struct slot *s);
void slot_close(struct card *m, struct slot *s);
void slot_abandon(struct slot *s);
void cuda_upload(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void cuda_download(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void cuda_act_download(struct machine *m, real *to, struct act from, size_t rows,
                       size_t width, size_t ld);
void cuda_fence(struct machine *m, uint32_t slot);
void cuda_join(struct machine *m, uint32_t slot);

/* --- operations: cuda_ops.cu --- */

/* Launches the kernels of one operation. */
void cuda_run(struct card *m, enum op_id op, const void *arguments);
/* Launches the first operation, or the first few as one fused group; returns how many. */
uint32_t cuda_run_front(struct card *m, const struct kernel_op *ops, uint32_t count);
void cuda_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n);
bool cuda_reserve_bytes(struct machine *m, uint64_t bytes, struct err *e);
/* Makes room for the operation's scratch. */
bool cuda_reserve(struct card *m, enum op_id op, const void *arguments);

/* --- routines: cuda_graph.cu --- */

void cuda_issue(struct machine *m, enum op_id op, const void *arguments);
void cuda_record(struct machine *m);
struct routine *cuda_stop(struct machine *m);
void cuda_play(struct machine *m, struct routine *r, uint32_t times);
void cuda_drop(struct machine *m, struct routine *r);
bool cuda_path(const struct routine *r, struct machine_path *path);

#endif
