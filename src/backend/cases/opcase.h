/* opcase.h - every case of every operation, once: shapes, gate, work. Parity tests, the GPU check
 * and the benchmark make a case on one or two machines, issue it, and compare the results.
 *
 *     for (size_t i = 0; (c = opcase_at(i)); i++) {
 *         struct opdata *d = opcase_make(c, m, seed);
 *         machine_issue(m, c->op, &d->arguments);
 *         ... opcase_free(d);
 *     }
 *
 * Two instances of a case with the same seed have the same inputs. Everything written starts as a
 * pattern, so that an untouched place shows; the pattern also fills the gap between width and ld
 * and the bytes after the last row; opcase_inside checks it there. */
#ifndef DNN_BACKEND_OPCASE_H
#define DNN_BACKEND_OPCASE_H

#include "backend/backend.h"

/* The meaning of these numbers stands with the operation's cases. */
struct opcase {
    enum op_id op;
    uint32_t rows, in, out; /* width of x and of y; n of parameters in `in` */
    uint32_t kind;          /* activation, loss */
    uint32_t pad;           /* ld = width + pad */
    uint32_t flags;
    /* largest |difference| over largest |value|, against a double reference */
    double gate;
    /* enum act_form of the activations, which the machine keeps in that form when they are large.
     * Not for operations that read records or logits. */
    uint32_t form;
};
enum opcase_flag {
    CASE_ADD = 1,      /* adds to the gradient of the input */
    CASE_MORE = 2,     /* a further micro-batch */
    /* without the optional parts: bias, shadow, dx, dlogits, momentum, running statistics; gather:
     * views */
    CASE_BARE = 4,
    CASE_SHADOW = 8,
    CASE_KEEP_Z = 16,
    CASE_SHUFFLE = 32,
    CASE_RAGGED = 64,  /* the source ends inside the batch */
    CASE_ONE_ROW = 128, /* it ends after the first row */
    CASE_SECOND = 256, /* focal, decoupled, Nesterov */
    CASE_BAD = 512,    /* the step is a bad one */
    CASE_CLIP = 1024,
    CASE_HOT = 2048,   /* with one-hot inputs that stay ids */
    /* every second number of x, y and dy is 0, as after relu; products of x are then those of
     * training, which may skip zeros */
    CASE_ZEROS_IN = 4096,
    CASE_ZEROS_OUT = 8192,
    CASE_FALLS = 16384 /* dropout is less than its p */
};

enum opbuffer_type { BUFFER_REAL, BUFFER_ACT, BUFFER_DOUBLE, BUFFER_INT, BUFFER_BYTES };
struct opbuffer {
    const char *name;
    enum opbuffer_type type;
    void *memory;             /* of the machine */
    size_t rows, width, ld;   /* elements; ld >= width */
    /* above 0: the number of shards of a gradient, each rows * ld elements; only their sum is
     * compared */
    uint32_t shards;
    bool written;
};
enum { OPBUFFERS = 20 };
struct opdata {
    const struct opcase *of;
    struct machine *machine;
    uint64_t seed;
    uint32_t form;            /* form of its activations */
    union op_arguments arguments;
    struct opbuffer buffers[OPBUFFERS];
    unsigned count;
    double flops, bytes;      /* of one issue */
    struct err failure;       /* the machine had no room for it */
    void *host[8];            /* host memory of the data, owned */
    const void *mapped[8];   /* mapped by the machine */
    unsigned host_count, mapped_count;
};

const struct opcase *opcase_at(size_t index); /* NULL at the end */
/* A case of any size, without a gate: a batch of `rows` and layers of `width` (opcase_size.c), for
 * benchmarks. Returns the number of items: rows, or parameters. */
struct opcase opcase_sized(enum op_id op, uint32_t rows, uint32_t width);
double opcase_items(const struct opcase *c);
/* Sets the form of its activations as a training on the machine has it. */
void opcase_keep(struct opcase *c, const struct machine *m);
/* "dense 64 x 14 -> 128" into text. */
void opcase_name(const struct opcase *c, char *text, size_t room);
struct opdata *opcase_make(const struct opcase *c, struct machine *m, uint64_t seed);
/* True: the machine had room for all of it. False: do not issue it; *e (may be NULL) has the
 * machine's error. */
bool opcase_ready(const struct opdata *d, struct err *e);
/* Copies the buffers of `from`, the same case on another machine. */
void opcase_refill(struct opdata *d, const struct opdata *from);
void opcase_free(struct opdata *d);
/* The worst |difference| over the largest |value| of b, over all written buffers; *where: the
 * buffer's name. Infinite if one value is not finite and the other differs. A loss is compared by
 * its sum over shards, a step by its norm within rounding and all else exactly, a dropout mask bit
 * by bit; a shadow and other buffers without a type are compared by opcase_same alone. */
double opcase_difference(const struct opdata *a, const struct opdata *b, const char **where);
/* True: all written buffers are equal bit for bit, the gaps between width and ld included. */
bool opcase_same(const struct opdata *a, const struct opdata *b, const char **where);
/* True: no buffer was written between width and ld, or after the last row. */
bool opcase_inside(const struct opdata *d, const char **where);

/* --- for the lists of cases (opcase_*.c) --- */

/* A buffer of rows x width with ld = width + pad. Inputs: normal numbers times `scale`; outputs:
 * the pattern, or numbers if the operation adds (`fill`). */
void *opdata_input(struct opdata *d, const char *name, enum opbuffer_type type, size_t rows,
                   size_t width, size_t pad, double scale);
void *opdata_output(struct opdata *d, const char *name, enum opbuffer_type type, size_t rows,
                    size_t width, size_t pad, bool fill);
/* shards x n; returns shard 0. */
void *opdata_shards(struct opdata *d, const char *name, size_t n, uint32_t shards, bool fill);
/* Values set by the caller, on the host. */
void *opdata_values(struct opdata *d, const char *name, enum opbuffer_type type, const void *values,
                    size_t count, bool written);
/* The lengths of sequences, from 0 to all `out` steps. */
int32_t *opdata_lengths(struct opdata *d, const struct opcase *c);
void *opdata_host(struct opdata *d, size_t count, size_t size); /* cleared, freed with d */
/* The memory as operations read it; do not change it afterwards. */
const void *opdata_map_host(struct opdata *d, const void *host, size_t bytes);
/* The step of all cases of layers and losses: row0 0, 100 steps tried. */
struct step *opdata_step(struct opdata *d);
struct schedule opdata_schedule(struct opdata *d);
/* Activations of a case: rows x width, ld = width + the case's pad. */
struct act opdata_act_input(struct opdata *d, const char *name, const struct opcase *c,
                             uint32_t width, double scale);
struct act opdata_act_output(struct opdata *d, const char *name, const struct opcase *c,
                              uint32_t width, bool fill);
uint64_t opcase_count(const struct opcase *c); /* how many rows of the batch are data */
/* the next of this instance's stream */
uint64_t opdata_random(struct opdata *d, uint64_t below);

struct opcase_list { const struct opcase *cases; size_t count; void (*make)(const struct opcase *c,
        struct opdata *d); };
#define ROW(name, text) extern const struct opcase_list opcases_##name;
#include "backend/ops.def"
#define OPCASES(name)                                                                              \
    const struct opcase_list opcases_##name = {                                                    \
        cases_##name, sizeof cases_##name / sizeof *cases_##name, make_##name}

#endif
