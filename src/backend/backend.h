/* backend.h - the door: what a machine is, and how operations are given to it. extern "C" clean; no
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
#include "base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

enum op_id {
#define ROW(name, text) OP_##name,
#define ALL(name, text) OP_##name,
#define ONE(name, text) OP_##name,
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE
    OP_COUNT
};

/* What is fixed before step 0, stored in every checkpoint and obeyed by --resume. Shards follow
 * from the batch alone, as the network and the machine reckon them; whatever else of the machine's
 * code decides about bits has a number in common, its version. */
struct plan {
    char backend[16];    /* "cpu" */
    char core[24];       /* instruction set our own code uses: c, avx2, avx512 */
    char blas[32];       /* "OpenBLAS 0.3.21", "none" when it does not serve */
    char blas_core[32];  /* its core type, or "none" */
    char precision[8];   /* of the training's products: fp32, tf32, bf16, fp16 */
    /* libraries that serve on a device, and from which sizes; its kernels of more than one kind */
    char guests[96];
    uint32_t batch;      /* rows of a micro-batch */
    uint32_t micro;      /* micro-batches of an applied step */
    uint32_t shards;     /* row shards of a gradient: clamp(batch / 64, 1, 16) */
    uint32_t version;    /* of the machine's code: another one may give other bits */
};
uint32_t plan_shards(uint32_t batch);
/* *differs: the name of the first field that does */
bool plan_same(const struct plan *a, const struct plan *b, const char **differs);

struct machine;
struct routine;

struct machine_options {
    const char *backend;       /* "cpu"; NULL: the same */
    /* guest libraries may serve (training): OpenBLAS, if blas_prepare found it; a device's */
    bool blas;
    /* a device's: auto, 0, cuda:0, GPU-.., MIG-..; NULL: auto. Of its memory the smaller of both
     * counts; 0: all */
    const char *device;
    double memory_limit_gb, memory_fraction;
    /* of a training's products: auto, fp32, tf32, bf16, fp16; NULL: fp32. What a device has not
     * becomes fp32, and machine_describe says why */
    const char *precision;
};
/* What they leave of a device with so many bytes. */
uint64_t machine_limit(const struct machine_options *o, uint64_t total);
/* Whether this build has a machine of that name. */
bool machine_known(const char *name);
/* NULL with an error: no such machine in this build, or what it needs is not there. An E1801 of a
 * GPU has as its cause: */
enum gpu_refusal {
    REFUSAL_DRIVER = 1, /* there is none */
    REFUSAL_LIBRARY,    /* its library is not of the module in the kernel, or no driver's */
    REFUSAL_RUNTIME,    /* the driver is older than the program */
    REFUSAL_HIDDEN,     /* no device is visible */
    REFUSAL_BEGIN,      /* the driver does not begin: a module or a device file is missing */
    REFUSAL_DEVICE,     /* not the one that was named */
    REFUSAL_KERNELS,    /* none in this build for its architecture */
    REFUSAL_COMPILER,   /* and the driver does not compile them */
    REFUSAL_SETUP,      /* a service or a fabric of cards is not ready */
    REFUSAL_CARD        /* the driver answers with an error of the card */
};
enum { FAULT_HANG = 1 }; /* the cause of ERR_MACHINE_FAULT: the device does not answer */
struct machine *machine_open(const struct machine_options *o, struct err *e);
void machine_close(struct machine *m);
/* Fills the plan for this batch: what the machine chooses, or was told to obey. */
void machine_plan(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan);
/* As far as this machine can: machine_plan tells afterwards what it made of it. */
void machine_obey(struct machine *m, const struct plan *plan);
/* What memory is for: parameters, their copies and what describes a model; gradients, and what the
 * optimiser and its steps keep; batches on their way and what operations need besides; rows. */
enum memory_kind { MEMORY_WEIGHTS, MEMORY_STATE, MEMORY_ACTIVATIONS, MEMORY_DATA, MEMORY_KINDS };
/* What it computes on, in bytes. The CPU: nothing, all 0 but to_come. */
struct machine_info {
    char device[64], driver[32]; /* "NVIDIA H200", "CUDA 12.4" */
    char uuid[48], runtime[32];  /* "GPU-..", "CUDA 12.2": what the program was built with */
    char precision[8], precision_why[96]; /* "bf16", "auto on sm_90" */
    uint32_t index, count;       /* which device of how many */
    uint64_t total, free;        /* of the device, whoever uses it */
    uint64_t allocated, peak;    /* by this machine */
    uint64_t peak_of[MEMORY_KINDS]; /* of that peak */
    uint64_t to_come;            /* of the host, that threads touch which had no work so far */
};
void machine_describe(const struct machine *m, struct machine_info *info);

/* --- memory --- */

/* Cleared. Out of device memory returns NULL with an error; the CPU never returns NULL
 * (base/mem). Released in any order, also after a failure; NULL does nothing. */
void *machine_alloc_for(struct machine *m, enum memory_kind kind, size_t bytes, struct err *e);
void *machine_alloc(struct machine *m, size_t bytes, struct err *e); /* for activations */
void machine_release(struct machine *m, void *memory);
/* Host memory that transfers are fast from and to. Cleared. */
void *machine_host_alloc(struct machine *m, size_t bytes, struct err *e);
void machine_host_release(struct machine *m, void *memory);
/* Host memory handed over for reading: the address at which operations read it, NULL with an error.
 * It must live and stay as it is until it is disowned, once for each adopt. The CPU reads it in
 * place; a device copies or maps it. NULL, of no bytes, is NULL without an error. */
const void *machine_adopt(struct machine *m, const void *host, size_t bytes, struct err *e);
void machine_disown(struct machine *m, const void *adopted);
/* Whether its memory is the host's: what stands there may be read without a transfer. */
bool machine_in_place(const struct machine *m);
/* What can still be had, in bytes; 0: not known. */
uint64_t machine_bytes_free(struct machine *m);

/* --- transfers --- */

/* A slot is a line of transfers: they are begun in their order, and the memory on both sides is
 * theirs until machine_fence(slot) returns. Then they are done, and what is issued from now on sees
 * them; transfers begun later come after what was issued before them. */
enum { MACHINE_SLOTS = 4 };
void machine_send(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
/* After a failure `to` is cleared. */
void machine_fetch(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
void machine_fence(struct machine *m, uint32_t slot);
/* The half of a fence that nobody waits for: what is issued from now on comes after the slot's
 * transfers and sees them. The memory on both sides stays theirs. */
void machine_join(struct machine *m, uint32_t slot);
/* One transfer in slot 0 and its fence. */
void machine_upload(struct machine *m, void *to, const void *from, size_t bytes);
void machine_download(struct machine *m, void *to, const void *from, size_t bytes);
void machine_act_download(struct machine *m, real *to, struct act from, size_t rows,
                          size_t width, size_t ld);

size_t machine_act_bytes(const struct machine *m);  /* of one activation in FORM_REAL */
/* The form in which a training keeps rows x width activations, or the gradients of such (back). One
 * that is not FORM_REAL takes two bytes a number. */
uint32_t machine_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back);
/* A place in an arena of activations: elements of machine_act_bytes from its begin. */
struct act_place {
    uint64_t at;
    uint32_t form, pad;
};
/* The address is computed as a number: while only needs are measured the arena is NULL. */
static inline struct act act_at(const struct machine *m, const void *arena, struct act_place place)
{
    uintptr_t at = (uintptr_t)arena + (uintptr_t)(place.at * machine_act_bytes(m));
    struct act a = {(void *)at, place.form, 0};
    return a;
}
/* Whether a training by the plan that is obeyed rounds any of the products of these groups: those
 * that are too small for it stay in fp32. */
bool machine_rounds(const struct machine *m, const struct group *groups, uint32_t count);
/* The private copy of the weights (0: none), and building it from p after init, resume or load. The
 * groups stand on the host. */
size_t machine_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                            uint64_t n);
void machine_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                     uint32_t count);
/* of the matrix at that offset */
struct act machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset);

/* --- operations --- */

/* Issue one operation: run at once, or taken down while recording. */
void machine_issue(struct machine *m, enum op_id op, const void *arguments);
#define ROW(name, text) \
    static inline void op_##name(struct machine *m, const struct op_##name *a) \
    { \
        machine_issue(m, OP_##name, a); \
    }
#define ALL(name, text) ROW(name, text)
#define ONE(name, text) ROW(name, text)
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE

/* Something that issues operations. It reads only what does not change while a routine made of it
 * lives. */
typedef void machine_issuer(void *context, struct machine *m);
/* Takes down what issuer(context, m) issues, without running it; NULL after a failure. The memory
 * that the arguments name, and the context, must live as long as the routine. */
struct routine *machine_record(struct machine *m, machine_issuer *issuer, void *context);
void machine_play(struct machine *m, struct routine *r, uint32_t times);
void routine_drop(struct machine *m, struct routine *r); /* NULL does nothing */
/* How a machine plays a routine: its operations in so many pieces, rounds of strips on a CPU and
 * launches on a device. name: "strips" or "fused" where a piece has several, else "plain". */
struct machine_path {
    const char *name;
    uint32_t operations, pieces;
    uint32_t longest; /* operations of the longest piece */
};
/* Behind a play of it. False: this kind of machine does not tell. */
bool machine_path_of(const struct routine *r, struct machine_path *path);
/* All issued work is done. False with the machine's first failure, which may be that it took longer
 * than so many seconds. */
#define MACHINE_PATIENCE 600.0 /* without an end for so long: it hangs */
bool machine_wait(struct machine *m, double seconds, struct err *e);

/* Long work may be broken off. Whoever plays asks `stop`, from any thread, between parts of it that
 * take a fraction of a second; once it says true, the rest of what is issued does nothing, until
 * machine_ask is called again. A step that has come to its norm2 is finished first, so that
 * parameters, moments, running statistics and struct step are those of the last whole step; what
 * else was written is not defined. NULL: nobody is asked. A device is not interrupted. */
void machine_ask(struct machine *m, bool (*stop)(void));
bool machine_broken_off(const struct machine *m); /* since machine_ask */

/* What is issued from now on takes no longer than so many seconds, with all that is waited for: a
 * device that is not done by then hangs. Before anybody knows: MACHINE_PATIENCE. */
void machine_expect(struct machine *m, double seconds);

/* It has failed: what is issued does nothing. */
bool machine_failed(const struct machine *m);
/* Once all that was made on it is given back: a device that had no room for something is sound, and
 * goes on as if nothing had been. False: it has failed otherwise. */
bool machine_forgive(struct machine *m);
/* Whether a device broke in this process: what its driver does at an orderly end may never end. */
bool machine_abandoned(void);
/* A call to a device does not come back, and neither will whoever made it: the handler, called by
 * another thread, says so and ends the process. NULL: nobody is told. */
void machine_on_stuck(void (*handler)(const struct err *e));

/* Whoever waits for a device asks this after each second or so, from any thread: true, to leave it,
 * though it may not hang. `why` has an id then, and a message to which is added who did not answer.
 * NULL: nobody is asked. */
void machine_on_wait(bool (*leaves)(double waited_s, struct err *why));

/* Memory that an operation asks for beside its arguments, in bytes. scratch: while it runs, the
 * machine's own, one block as large as the largest wish. kept: the caller's, named in the
 * arguments, from this operation to those that read it. */
struct need { uint64_t scratch, kept; };
void machine_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n);
/* Of all that issuer(context, m) issues: the largest scratch, the sum of kept. Nothing is run;
 * addresses in arguments need not be real. */
void machine_measure(struct machine *m, machine_issuer *issuer, void *context, struct need *n);

/* So much scratch is there from now on: what needs no more takes no memory when it is issued. */
bool machine_reserve(struct machine *m, uint64_t scratch, struct err *e);

/* Mark i is passed when all issued before it is done; its time, in seconds since mark 0, may be
 * asked for after machine_wait. */
enum { MACHINE_MARKS = 1024 };
void machine_mark(struct machine *m, uint32_t i);
double machine_marked(struct machine *m, uint32_t i);
/* Until trace is NULL: what is issued, not recorded, has marks 2i and 2i + 1 around it and goes to
 * trace[i], of MACHINE_MARKS / 2; what comes later has none. Returns how many there were. */
uint32_t machine_trace(struct machine *m, enum op_id *trace);

/* Since the machine was opened. */
struct machine_counts {
    uint64_t operations;       /* run at once */
    uint64_t routines;         /* recorded */
    uint64_t plays;            /* of routines; several times in a row are one */
    uint64_t allocations;
};
void machine_count(const struct machine *m, struct machine_counts *counts);

const char *op_name(enum op_id op);

/* What this process's CPU backend found: for --version, check, BACKEND json. */
struct cpu_info {
    char core[24];       /* chosen vector code */
    char model[64];      /* processor name */
    char blas[32];       /* "OpenBLAS 0.3.21" or "none" */
    char blas_core[32];
    char blas_reason[128]; /* why it does not serve, "" when it does */
};
void cpu_describe(struct cpu_info *info);
/* Which products train on a CPU; auto: by a table (cpu_blas.c). */
enum blas_choice { BLAS_AUTO, BLAS_OWN, BLAS_OPENBLAS };
extern const char *const blas_choices[]; /* their names, NULL-terminated */
/* Opens OpenBLAS for `threads` callers at once, if it is chosen. Call it before the thread pool
 * starts, as it reads and changes the environment; once in a process. cpu_describe tells the
 * result. Machines opened later can use it. */
void blas_prepare(unsigned threads, enum blas_choice choice);

#ifdef __cplusplus
}
#endif

#endif
