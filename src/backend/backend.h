/* backend.h - the door: what a machine is, and how operations are given to it. extern "C" clean; no
 * file above src/backend includes anything else of this folder but ops.h.
 *
 *     struct machine *m = machine_open(&options, &e);
 *     machine_record(m); network_step(net, m); struct routine *r = machine_stop(m);
 *     machine_play(m, r, 100); machine_wait(m, &e);
 *
 * The first failure sticks in the machine; machine_wait reports it. One thread drives a machine. */
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

/* What is fixed before step 0, stored in every checkpoint and obeyed by --resume. Shards come from
 * the batch alone. */
struct plan {
    char backend[16];    /* "cpu" */
    char core[24];       /* instruction set our own code uses: c, avx2, avx512 */
    char blas_core[32];  /* OpenBLAS core type, "none" when it does not serve */
    char precision[8];   /* fp32 */
    uint32_t batch;      /* rows of a micro-batch */
    uint32_t micro;      /* micro-batches of an applied step */
    uint32_t shards;     /* row shards of a gradient: clamp(batch / 64, 1, 16) */
    uint32_t strip;      /* rows played together */
    uint32_t version;    /* of the machine's code: another one may give other bits */
};
uint32_t plan_shards(uint32_t batch);
/* *differs: the name of the first field that does */
bool plan_same(const struct plan *a, const struct plan *b, const char **differs);

struct machine;
struct routine;

struct machine_options {
    const char *backend;       /* "cpu" */
    bool blas;                 /* OpenBLAS may serve (training) */
};
struct machine *machine_open(const struct machine_options *o, struct err *e);
void machine_close(struct machine *m);
/* Fills core, blas_core, shards, strip for this batch. */
void machine_plan(struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan);
void machine_obey(struct machine *m, const struct plan *plan);
const char *machine_name(const struct machine *m);

/* Memory. Cleared. Out of device memory returns NULL with an error; the CPU never returns NULL
 * (base/mem). */
void *machine_alloc(struct machine *m, size_t bytes, struct err *e);
void machine_release(struct machine *m, void *memory);
void machine_upload(struct machine *m, void *to, const void *from, size_t bytes);
void machine_download(struct machine *m, void *to, const void *from, size_t bytes);
size_t machine_act_bytes(const struct machine *m);  /* of one activation */
/* The private copy of the weights (0: none), and building it from p after init, resume or load. */
size_t machine_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                            uint64_t n);
void machine_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                     uint32_t count);
/* of the matrix at that offset */
const void *machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset);
static inline struct act *act_at(const struct machine *m, void *base, size_t elements)
{
    return (struct act *)((char *)base + elements * machine_act_bytes(m));
}
void machine_act_download(struct machine *m, real *to, const struct act *from, size_t rows,
                          size_t width, size_t ld);

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

/* Recording: ops between record and stop are taken down, not run. Played any number of times; the
 * arguments' memory must live. */
void machine_record(struct machine *m);
struct routine *machine_stop(struct machine *m);
void machine_play(struct machine *m, struct routine *r, uint32_t times);
void routine_drop(struct machine *m, struct routine *r);
/* All issued work is done. False with the machine's first failure. */
bool machine_wait(struct machine *m, struct err *e);

size_t norm2_sums(uint64_t n); /* bytes of op_norm2's sums */

const char *op_name(enum op_id op);
const char *op_text(enum op_id op);

/* What this process's CPU backend found: for --version, check, BACKEND json. */
struct cpu_info {
    char core[24];       /* chosen vector code */
    char model[64];      /* processor name */
    char blas[32];       /* "OpenBLAS 0.3.21" or "none" */
    char blas_core[32];
    char blas_reason[128]; /* why it does not serve, "" when it does */
};
void cpu_describe(struct cpu_info *info, bool load_blas);

#ifdef __cplusplus
}
#endif

#endif
