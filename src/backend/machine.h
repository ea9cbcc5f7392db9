/* machine.h - implementing a machine. struct machine_type holds its functions; its own struct
 * begins with struct machine, its routines with struct routine. machine.c has the common parts:
 * types, the first failure, counters. Private to src/backend, and to tests with machines of their
 * own. All members of a type are set, except those marked at its end. After the first failure only
 * close, release, host_release, unmap_host, drop, and functions that return sizes or plans are
 * called. */
#ifndef DNN_BACKEND_MACHINE_H
#define DNN_BACKEND_MACHINE_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct machine_type {
    const char *name; /* as in machine_options and plan */
    /* open: NULL with an error. close never gets NULL. */
    struct machine *(*open)(const struct machine_options *o, struct err *e);
    void (*close)(struct machine *m);

    /* memory: see backend.h */
    void *(*alloc)(struct machine *m, size_t bytes, struct err *e);
    void (*release)(struct machine *m, void *memory);
    void *(*host_alloc)(struct machine *m, size_t bytes, struct err *e);
    void (*host_release)(struct machine *m, void *memory);
    const void *(*map_host)(struct machine *m, const void *host, size_t bytes, struct err *e);
    void (*unmap_host)(struct machine *m, const void *mapped);
    uint64_t (*bytes_free)(struct machine *m);

    /* transfers: in order within a slot, complete at its fence */
    void (*upload)(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
    void (*download)(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
    void (*act_download)(struct machine *m, real *to, struct act from, size_t rows,
                         size_t width, size_t ld);
    void (*fence)(struct machine *m, uint32_t slot);
    /* False if the work takes longer; failures go to machine_fail. */
    bool (*wait)(struct machine *m, double seconds);

    /* Operations between record and stop are recorded, others run. During stop, m->recording is
     * still set. */
    void (*issue)(struct machine *m, enum op_id op, const void *arguments);
    void (*record)(struct machine *m);
    struct routine *(*stop)(struct machine *m);
    void (*play)(struct machine *m, struct routine *r, uint32_t times);
    void (*drop)(struct machine *m, struct routine *r);
    void (*need)(const struct machine *m, enum op_id op, const void *arguments, struct need *n);

    void (*plan)(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan);
    void (*set_plan)(struct machine *m, const struct plan *plan);

    size_t (*act_bytes)(const struct machine *m);
    size_t (*shadow_bytes)(const struct machine *m, const struct group *groups, uint32_t count,
                           uint64_t n);
    void (*refresh)(struct machine *m, void *shadow, const real *p, const struct group *groups,
                    uint32_t count);
    struct act (*shadow_of)(const struct machine *m, const void *shadow, uint64_t offset);

    /* Optional. NULL: activations are reals, no product is rounded, nothing to describe, it cannot
     * hang, scratch is allocated when needed, no interrupt. */
    uint32_t (*act_form)(const struct machine *m, uint32_t rows, uint32_t width, bool back);
    bool (*rounds)(const struct machine *m, const struct group *groups, uint32_t count);
    void (*describe)(const struct machine *m, struct machine_info *info);
    void (*expect)(struct machine *m, double seconds);
    /* both: for machines that work inside issue */
    void (*interrupt)(struct machine *m, bool (*stop)(void));
    bool (*broken_off)(const struct machine *m);
    bool (*reserve)(struct machine *m, uint64_t scratch, struct err *e); /* see backend.h */
    /* for machines that work asynchronously; NULL: the clock is read */
    void (*mark)(struct machine *m, uint32_t i);
    double (*marked)(struct machine *m, uint32_t i);
    void (*join)(struct machine *m, uint32_t slot); /* see backend.h; NULL: fence is used */
    bool in_place; /* its memory is the host's */
    bool (*path)(const struct routine *r, struct machine_path *path); /* NULL: it does not tell */
    void (*work)(struct machine *m, const struct machine_work *work); /* NULL: all work is alike */
    void (*track)(struct machine *m, uint32_t track); /* NULL: one after the other */
};

struct machine {
    const struct machine_type *type;
    struct err failure;        /* the first */
    struct plan plan;          /* the one set; batch 0: none yet */
    struct machine_counts counts;
    enum memory_kind kind;     /* the kind of the current allocation */
    bool recording;
    bool measuring;
    double marks[MACHINE_MARKS]; /* clock_now(), if the type has no mark */
    struct traced *traced;       /* traced operations; NULL: no trace */
    uint32_t traced_count;
    const void *owner;           /* of the operations that are issued: machine_owner */
    struct need measured;
};
struct routine {
    struct machine *machine;
    machine_issuer *issuer;    /* the source of the recording; a listing machine compares it */
    void *context;
};

/* Keeps the first failure (a fault replaces lack of memory); no more work is issued, and
 * machine_wait reports it. */
void machine_fail(struct machine *m, const struct err *e);
void machine_stuck(const struct err *e); /* calls the handler of machine_on_stuck */
/* Shape and shards of an operation's arguments; NULL: it has none. */
struct dims *op_dims(enum op_id op, void *arguments);
/* Rows of one step; every step a row to the machine; whole sequences. */
enum op_shape { SHAPE_TABLE, SHAPE_STEPS, SHAPE_SERIES };
enum op_shape op_shape(enum op_id op);
/* Bytes of struct op_NAME. */
size_t op_size(enum op_id op);
/* Adds a type of machine for tests; it must stay valid. */
void machine_register(const struct machine_type *type);

extern const struct machine_type machine_cpu;
/* its address is NULL in builds without kernels */
extern const struct machine_type machine_cuda __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
