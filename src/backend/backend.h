/* backend.h - the door: opens a machine and gives operations to it. extern "C" clean; no
 * file above src/backend includes anything else of this folder but ops.h, opcase.h and peak.h
 * (cases of the operations, limits), card.h (what GPUs should give), nvml.h and guests.h
 * (libraries).
 *
 *     struct machine *m = machine_open(&options, &e);
 *     struct routine *r = machine_record(m, network_issue_step, network);
 *     machine_play(m, r, 100); good = machine_wait(m, MACHINE_PATIENCE, &e);
 *
 * The first failure sticks in the machine: nothing more is issued, and machine_wait reports it. One
 * thread drives a machine. */
#ifndef DNN_BACKEND_BACKEND_H
#define DNN_BACKEND_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/ops.h"
#include "backend/order.h"
#include "base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum op_id {
#define ROW(name, text) OP_##name,
#include "backend/ops.def"
    OP_COUNT
};
/* Room for the arguments of any operation. */
union op_arguments {
#define ROW(name, text) struct op_##name name;
#include "backend/ops.def"
};

/* Decided before step 0, stored in every checkpoint, obeyed by --resume. Shards follow from the
 * batch. `version` stands for all other code that decides about bits. */
struct plan {
    char backend[16];    /* "cpu" */
    char core[24];       /* instruction set of our own code: c, avx2, avx512 */
    char blas[32];       /* "OpenBLAS 0.3.21", or "none" */
    char blas_core[32];  /* its core type, or "none" */
    char precision[8];   /* of products in training: fp32, tf32, bf16, fp16 */
    /* guest libraries of a device, and its choice among kernels; the CPU's code of bf16 */
    char guests[96];
    uint32_t batch;      /* rows of a micro-batch */
    uint32_t micro;      /* micro-batches of an applied step */
    uint32_t shards;     /* shards of a gradient: by its rows (plan_shards), or one a track */
    uint32_t tracks;     /* number of tracks: micro-batches that run side by side; 0: one by one */
    uint32_t version;    /* of the machine's code; another version may give other bits */
};
/* Shards for rows of tables: one for each 64 rows, at least 1, at most 16. */
uint32_t plan_shards(uint32_t rows);
/* Shards for sequences: as for a table of all their steps, up to 8 of 16 rows or more. A short
 * sequence alone is work for a thread; each shard has a gradient of all weights. */
uint32_t plan_series_shards(uint32_t rows, uint32_t steps);
/* *differs: name of the first field that differs */
bool plan_same(const struct plan *a, const struct plan *b, const char **differs);

struct machine;
struct routine;

struct machine_options {
    const char *backend;       /* "cpu"; NULL: the same */
    /* true: guest libraries may serve (training): OpenBLAS if blas_prepare loaded it, or a device's
     */
    bool blas;
    /* auto, 0, cuda:0, GPU-.., MIG-..; NULL: auto. The smaller of both memory limits counts; 0: no
     * limit */
    const char *device;
    double memory_limit_gb, memory_fraction;
    /* of products in training: auto, fp32, tf32, bf16, fp16; NULL: fp32. fp32 is used if the device
     * lacks it; machine_describe gives the reason */
    const char *precision;
    unsigned guests; /* bits: which libraries of NVIDIA may serve a training on a device */
};
enum { GUESTS_BY_TABLE = 1, /* if a row of measurements has it as faster */
       GUESTS_CUBLASLT = 2, GUESTS_CUDNN = 4 /* all that it can */ };
/* The memory limit of a device with `total` bytes. */
uint64_t machine_limit(const struct machine_options *o, uint64_t total);
/* True: this build has a machine of that name. */
bool machine_known(const char *name);
/* NULL with an error: no such machine in this build, or a part of it is missing. The causes of
 * E1801 for a GPU: */
enum gpu_refusal {
    REFUSAL_DRIVER = 1, /* no driver */
    REFUSAL_LIBRARY,    /* libcuda and the kernel module do not match, or it is a stub */
    REFUSAL_RUNTIME,    /* the driver is older than the program */
    REFUSAL_HIDDEN,     /* no device is visible */
    REFUSAL_BEGIN,      /* the driver does not start: a module or a device file is missing */
    REFUSAL_DEVICE,     /* the named device is not there */
    REFUSAL_KERNELS,    /* no kernels in this build for its architecture */
    REFUSAL_COMPILER,   /* and the driver cannot compile them */
    REFUSAL_SETUP,      /* a service or the NVSwitch fabric is not ready */
    REFUSAL_CARD        /* the driver reports an error of the card */
};
enum { FAULT_HANG = 1 }; /* the cause of ERR_MACHINE_FAULT: the device does not answer */
struct machine *machine_open(const struct machine_options *o, struct err *e);
void machine_close(struct machine *m);
/* Fills the plan for this batch: the machine's choice, or the plan it obeys. */
void machine_plan(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan);
/* Obeys a plan as far as possible; machine_plan then returns the result. */
void machine_set_plan(struct machine *m, const struct plan *plan);
/* The work of a training. rows and batch count each step of a sequence. */
struct machine_work {
    double rows;                /* of all epochs */
    uint32_t batch;             /* rows of a micro-batch */
    uint32_t group_count;
    const struct group *groups; /* on the host */
};
/* Tells the machine its work before the plan of a new training is made: a library that is faster
 * but takes time to load is opened if that pays. The plan then names it. */
void machine_work(struct machine *m, const struct machine_work *work);
/* Kinds of memory: weights and their copies; gradients and optimiser state; batches and scratch;
 * rows. */
enum memory_kind { MEMORY_WEIGHTS, MEMORY_STATE, MEMORY_ACTIVATIONS, MEMORY_DATA, MEMORY_KINDS };
/* The device, sizes in bytes. CPU: all 0 but precision and to_come. */
struct machine_info {
    char device[64], driver[32]; /* "NVIDIA H200", "CUDA 12.4" */
    char uuid[48], runtime[32];  /* "GPU-.."; CUDA version of the build, "CUDA 12.2" */
    char precision[8], precision_why[96]; /* "bf16", "auto on sm_90", "amx" */
    uint32_t index, count;       /* which device of how many */
    uint64_t total, free;        /* of the device, for all processes */
    uint64_t allocated, peak;    /* by this machine */
    uint64_t peak_of[MEMORY_KINDS]; /* of that peak */
    uint64_t to_come;            /* host memory that threads without work so far will touch */
};
void machine_describe(const struct machine *m, struct machine_info *info);

/* --- memory --- */

/* Returns cleared memory; NULL with an error if the device has no room. The CPU never returns NULL
 * (base/mem). Release in any order, also after a failure; NULL does nothing. */
void *machine_alloc_for(struct machine *m, enum memory_kind kind, size_t bytes, struct err *e);
void *machine_alloc(struct machine *m, size_t bytes, struct err *e); /* for activations */
void machine_release(struct machine *m, void *memory);
/* Cleared host memory for fast transfers. */
void *machine_host_alloc(struct machine *m, size_t bytes, struct err *e);
void machine_host_release(struct machine *m, void *memory);
/* Lends host memory to the machine for reading; returns the address for operations, NULL with an
 * error. It must not change until it is unmapped, once for each map_host. The CPU reads it in
 * place; a device copies it. NULL gives NULL without an error. */
const void *machine_map_host(struct machine *m, const void *host, size_t bytes, struct err *e);
void machine_unmap_host(struct machine *m, const void *mapped);
/* True: its memory is the host's and may be read without a transfer. */
bool machine_in_place(const struct machine *m);
/* Bytes that can still be allocated; 0: not known. */
uint64_t machine_bytes_free(struct machine *m);

/* --- transfers --- */

/* A slot is a queue of transfers. They run in order; the memory on both sides must stay untouched
 * until machine_fence(slot) returns. Operations issued after the fence see the data; transfers
 * begun later run after operations issued before them. */
enum { MACHINE_SLOTS = 4 };
void machine_send(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
/* After a failure `to` is cleared. */
void machine_fetch(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void machine_fence(struct machine *m, uint32_t slot);
/* A fence without waiting: operations issued from now on run after the slot's transfers. The memory
 * on both sides must still stay untouched. */
void machine_join(struct machine *m, uint32_t slot);
/* One transfer in slot 0 and its fence. */
void machine_upload(struct machine *m, void *to, const void *from, size_t bytes);
void machine_download(struct machine *m, void *to, const void *from, size_t bytes);
void machine_act_download(struct machine *m, real *to, struct act from, size_t rows,
                          size_t width, size_t ld);

size_t machine_act_bytes(const struct machine *m);  /* of one activation in FORM_REAL */
/* The form of rows x width activations in training, or of their gradients (back). A form other than
 * FORM_REAL takes two bytes a number. */
uint32_t machine_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back);
/* A place in an arena of activations, in elements of machine_act_bytes. */
struct act_place {
    uint64_t at;
    uint32_t form, pad;
};
/* Computed as a number: the arena is NULL while needs are measured. */
static inline struct act act_at(const struct machine *m, const void *arena, struct act_place place)
{
    uintptr_t at = (uintptr_t)arena + (uintptr_t)(place.at * machine_act_bytes(m));
    struct act a = {(void *)at, place.form, 0};
    return a;
}
/* True: by the plan set, some product of these groups is rounded; small ones stay in fp32. */
bool machine_rounds(const struct machine *m, const struct group *groups, uint32_t count);
/* Bytes of the machine's private copy of the weights (0: none); machine_refresh makes it from p
 * after init, resume or load. Groups are on the host. */
size_t machine_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                            uint64_t n);
void machine_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                     uint32_t count);
/* the copy of the matrix at that offset */
struct act machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset);

/* --- operations --- */

/* Runs one operation, or records it. */
void machine_issue(struct machine *m, enum op_id op, const void *arguments);
#define ROW(name, text) \
    static inline void op_##name(struct machine *m, const struct op_##name *a) \
    { \
        machine_issue(m, OP_##name, a); \
    }
#include "backend/ops.def"

/* A function that issues operations. It must issue the same ones as long as a routine made from it
 * lives. */
typedef void machine_issuer(void *context, struct machine *m);
/* Records the operations of issuer(context, m) without running them; NULL after a failure. The
 * memory in their arguments, and the context, must outlive the routine. */
struct routine *machine_record(struct machine *m, machine_issuer *issuer, void *context);
void machine_play(struct machine *m, struct routine *r, uint32_t times);
void routine_drop(struct machine *m, struct routine *r); /* NULL does nothing */
/* How a machine plays a routine: the number of pieces, strip rounds on a CPU, launches on a device.
 * name: "strips" or "fused" if a piece has several operations, else "plain". */
struct machine_path {
    const char *name;
    uint32_t operations, pieces;
    uint32_t longest; /* operations of the longest piece */
};
/* Valid after a play. False: not known. */
bool machine_path_of(const struct routine *r, struct machine_path *path);
/* Waits for all issued work. False with the machine's first failure, for example a timeout after
 * `seconds`. */
#define MACHINE_PATIENCE 600.0 /* a device without an answer for so long hangs */
bool machine_wait(struct machine *m, double seconds, struct err *e);

/* Interrupts long work. While work is played, `stop` is called several times a second, from any
 * thread. Once it returns true, the machine skips the rest of its work until the next
 * machine_interrupt. A step that has reached norm2 is finished first: parameters, moments, running
 * statistics and struct step then belong to the last whole step; other memory is undefined. NULL:
 * never. A device is not interrupted. */
void machine_interrupt(struct machine *m, bool (*stop)(void));
bool machine_broken_off(const struct machine *m); /* since machine_interrupt */

/* Sets the time limit of everything issued or waited for from now on; a device that exceeds it
 * hangs. Default: MACHINE_PATIENCE. */
void machine_expect(struct machine *m, double seconds);

/* True: it has failed and skips all work. */
bool machine_failed(const struct machine *m);
/* Call it after all its memory is released: a failure for lack of memory is cleared, and the device
 * works as before. False: it has failed otherwise. */
bool machine_forgive(struct machine *m);
/* True: a device failed in this process; its driver's exit code may hang. */
bool machine_abandoned(void);
/* Sets the handler for a call that hangs inside a driver. Another thread calls it; it reports the
 * error and ends the process. NULL: none. */
void machine_on_stuck(void (*handler)(const struct err *e));

/* Memory of an operation besides its arguments, in bytes. scratch: used while it runs; the machine
 * keeps one block of the largest size. kept: owned by the caller, named in the arguments, from this
 * operation to the last reader. */
struct need { uint64_t scratch, kept; };
void machine_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n);
/* Over all operations of issuer(context, m): the largest scratch and the sum of kept. Nothing runs;
 * addresses in arguments are not used. */
void machine_measure(struct machine *m, machine_issuer *issuer, void *context, struct need *n);

/* Sets the track of the operations issued from now on: 1 and up without a gap; 0: no track. Tracks
 * that follow one another do not depend on each other, and a machine that records may run them side
 * by side; the operations of a track run in order. */
void machine_track(struct machine *m, uint32_t track);

/* Reserves scratch: operations that need no more allocate nothing. */
bool machine_reserve(struct machine *m, uint64_t scratch, struct err *e);

/* Mark i is passed when all work issued before it is done. machine_marked: its time in seconds
 * since mark 0; call it after machine_wait. */
enum { MACHINE_MARKS = 8192 };
void machine_mark(struct machine *m, uint32_t i);
double machine_marked(struct machine *m, uint32_t i);
/* Traces operations until it is called with NULL: operation i that is issued, not recorded, gets
 * marks 2i and 2i + 1 around it and is stored in trace[i]; at most MACHINE_MARKS / 2. Returns the
 * number of the previous trace. */
struct traced {
    enum op_id op;
    const void *owner;
};
uint32_t machine_trace(struct machine *m, struct traced *trace);
/* Sets the owner of the next operations in a trace; returns the owner before. */
const void *machine_owner(struct machine *m, const void *owner);

/* Since the machine was opened. */
struct machine_counts {
    uint64_t operations;       /* run at once */
    uint64_t routines;         /* recorded */
    uint64_t plays;            /* of routines; repeats in one call count once */
    uint64_t allocations;
};
void machine_count(const struct machine *m, struct machine_counts *counts);

const char *op_name(enum op_id op);

/* The CPU backend of this process: for --version, check, BACKEND json. */
struct cpu_info {
    char core[24];       /* chosen vector code */
    char model[64];      /* processor name */
    char blas[32];       /* "OpenBLAS 0.3.21" or "none" */
    char blas_core[32];
    char blas_reason[128]; /* why it does not serve, or "" */
};
void cpu_describe(struct cpu_info *info);
/* Products of training on a CPU; auto: by a table (cpu_blas.c). */
enum blas_choice { BLAS_AUTO, BLAS_OWN, BLAS_OPENBLAS };
extern const char *const blas_choices[]; /* their names, NULL-terminated */
/* Loads OpenBLAS for `threads` callers, if it is chosen. Call it once, before the thread pool
 * starts: it changes the environment. Machines opened later can use it; cpu_describe reports the
 * result. */
void blas_prepare(unsigned threads, enum blas_choice choice);

#ifdef __cplusplus
}
#endif

#endif
