/* machine.h - behind the door: what a machine is made of. One struct machine_type says what a kind
 * of machine does; a machine is a struct of its own that begins with struct machine, and its
 * routines begin with struct routine. What all kinds share - the list of types, the first failure,
 * counters, recording - is machine.c's. Private to src/backend, and to tests that bring a machine.
 *
 * Every member of a type but the last ones is set, and after the first failure none is called but
 * close, release, host_release, disown, drop, and those that only tell sizes or plans. */
#ifndef DNN_BACKEND_MACHINE_H
#define DNN_BACKEND_MACHINE_H

#include "backend/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

struct machine_type {
    const char *name; /* as in struct machine_options and struct plan */
    /* NULL with an error. close is given what open gave, NULL never. */
    struct machine *(*open)(const struct machine_options *o, struct err *e);
    void (*close)(struct machine *m);

    /* memory: see backend.h */
    void *(*alloc)(struct machine *m, size_t bytes, struct err *e);
    void (*release)(struct machine *m, void *memory);
    void *(*host_alloc)(struct machine *m, size_t bytes, struct err *e);
    void (*host_release)(struct machine *m, void *memory);
    const void *(*adopt)(struct machine *m, const void *host, size_t bytes, struct err *e);
    void (*disown)(struct machine *m, const void *adopted);
    uint64_t (*bytes_free)(struct machine *m);

    /* transfers: begun in order within a slot, done at its fence */
    void (*upload)(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
    void (*download)(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes);
    void (*act_download)(struct machine *m, real *to, struct act from, size_t rows,
                         size_t width, size_t ld);
    void (*fence)(struct machine *m, uint32_t slot);
    /* False when the work is not done within so many seconds; a failure goes to machine_fail. */
    bool (*wait)(struct machine *m, double seconds);

    /* Operations between record and stop are taken down, others are run. stop: m->recording is
     * still set. */
    void (*issue)(struct machine *m, enum op_id op, const void *arguments);
    void (*record)(struct machine *m);
    struct routine *(*stop)(struct machine *m);
    void (*play)(struct machine *m, struct routine *r, uint32_t times);
    void (*drop)(struct machine *m, struct routine *r);
    void (*need)(const struct machine *m, enum op_id op, const void *arguments, struct need *n);

    void (*plan)(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan);
    void (*obey)(struct machine *m, const struct plan *plan);

    size_t (*act_bytes)(const struct machine *m);
    size_t (*shadow_bytes)(const struct machine *m, const struct group *groups, uint32_t count,
                           uint64_t n);
    void (*refresh)(struct machine *m, void *shadow, const real *p, const struct group *groups,
                    uint32_t count);
    struct act (*shadow_of)(const struct machine *m, const void *shadow, uint64_t offset);

    /* These may be NULL: a machine of the host keeps activations as they are, rounds no product,
     * has nothing to tell, does not hang, and takes scratch as it comes; a device is not asked. */
    uint32_t (*act_form)(const struct machine *m, uint32_t rows, uint32_t width, bool back);
    bool (*rounds)(const struct machine *m, const struct group *groups, uint32_t count);
    void (*describe)(const struct machine *m, struct machine_info *info);
    void (*expect)(struct machine *m, double seconds);
    /* both: where work is done while it is issued */
    void (*ask)(struct machine *m, bool (*stop)(void));
    bool (*broken_off)(const struct machine *m);
    bool (*reserve)(struct machine *m, uint64_t scratch, struct err *e); /* see backend.h */
    /* where work is not done when it has been issued: else the clock does */
    void (*mark)(struct machine *m, uint32_t i);
    double (*marked)(struct machine *m, uint32_t i);
    void (*join)(struct machine *m, uint32_t slot); /* see backend.h; NULL: its fence waits */
    bool in_place; /* its memory is the host's */
    bool (*path)(const struct routine *r, struct machine_path *path); /* NULL: it does not tell */
};

struct machine {
    const struct machine_type *type;
    struct err failure;        /* the first */
    struct plan plan;          /* the one obeyed; batch 0: none yet */
    struct machine_counts counts;
    enum memory_kind kind;     /* what memory is for that is being taken */
    bool recording;
    bool measuring;
    double marks[MACHINE_MARKS]; /* clock_now(), of a machine without its own */
    enum op_id *traced;          /* operations with a mark before and behind each; NULL: none */
    uint32_t traced_count;
    struct need measured;
};
struct routine {
    struct machine *machine;
    machine_issuer *issuer;    /* what was recorded, to be compared by a machine that lists */
    void *context;
};

/* The first failure sticks (a fault takes the place of "no room"): nothing more is issued, and
 * machine_wait reports it. */
void machine_fail(struct machine *m, const struct err *e);
void machine_stuck(const struct err *e); /* calls the handler of machine_on_stuck */
bool machine_leaves(double waited_s, struct err *why); /* asks that of machine_on_wait */
/* The shape and shards in the arguments of an operation; NULL: it has none. */
struct dims *op_dims(enum op_id op, void *arguments);
/* Whether it may have several steps a row. */
bool op_steps(enum op_id op);
/* What arguments are made of: bytes of struct op_NAME. */
size_t op_size(enum op_id op);
/* Another kind of machine, found by its name from now on; for tests. The type must live. */
void machine_register(const struct machine_type *type);

extern const struct machine_type machine_cpu;
/* NULL as an address where no kernels are linked (kernels/cuda.cu). */
extern const struct machine_type machine_cuda __attribute__((weak));

#ifdef __cplusplus
}
#endif

#endif
