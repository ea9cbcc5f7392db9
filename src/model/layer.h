/* layer.h - a layer is one file and one line in the list (layer_list.def). Its options appear in help, docs and schema, its
 * examples in the gradient and learning tests, with no other edit.
 *
 * Parameters, gradients, buffers (saved, not trained) and kept activations are one arena each; a layer owns offsets in them.
 * plan states shapes and offsets once; forward and backward only issue operations. Activations are [rows][width]. */
#ifndef DNN_MODEL_LAYER_H
#define DNN_MODEL_LAYER_H

#include "backend/backend.h"
#include "base/opt.h"

struct layer;

/* Collects what layers need. Offsets are in elements. */
struct planner {
    uint32_t rows;             /* micro-batch */
    uint32_t shards;
    uint64_t params, buffers;  /* so far */
    uint64_t acts;             /* kept activations and gradients of activations, elements of struct act */
    uint64_t reals;            /* per-pass real scratch that lives through a step: bnorm mean, lnorm mean.. */
    uint32_t position;         /* of the layer in the resolved config: its random stream */
    struct group *groups;      /* one a parameter range, grown */
    uint32_t group_count, group_room;
    bool training;             /* false: no gradients, no kept values */
};
uint64_t plan_params(struct planner *p, uint64_t count, double lr_factor, double wd_factor, uint32_t in, uint32_t out,
                     bool sharded); /* its offset */
uint64_t plan_buffers(struct planner *p, uint64_t count);
uint64_t plan_acts(struct planner *p, uint32_t width); /* rows x width, 16-element aligned rows are not needed: ld = width */
uint64_t plan_reals(struct planner *p, uint64_t count);

/* One way through the network: where the arenas of this machine are. */
struct pass {
    struct machine *m;
    real *params, *grads, *buffers, *reals;
    void *shadow, *acts;
    const struct step *now;
    uint64_t shard_stride;     /* of grads */
    uint64_t count;            /* valid positions of the source */
    uint32_t rows, shards, micro;
    bool training, more;       /* more: a further micro-batch of the same step adds to the gradients */
    bool exact;                /* row-independent products */
    void *scratch;             /* machine memory, as planned */
    /* the batch */
    int32_t *ids;
    uint32_t ids_ld;
    real *weight;
};

struct layer_type {
    const char *name, *summary;
    const struct option *options;      /* beside "type" */
    const char *const *examples;       /* JSON objects, NULL-terminated: gradient tests run each */
    size_t spec_size;                  /* of the struct the options fill */
    /* Checks options, sets l->out and offsets. l->in is set. */
    bool (*plan)(struct layer *l, struct planner *p, struct err *e);
    /* Host arrays; draws from rng_* with l->position. NULL: nothing to do. */
    void (*init)(const struct layer *l, uint64_t seed, uint32_t model, real *params, real *buffers);
    /* x has ld = l->in; the layer writes its y (l->y in acts) and returns it. In-place layers may return x. */
    struct act *(*forward)(const struct layer *l, struct pass *p, const struct act *x);
    /* dy: gradient of y, may be overwritten. dx NULL: not wanted (first layer). add: dx is added to. */
    void (*backward)(const struct layer *l, struct pass *p, const struct act *x, struct act *dy, struct act *dx, bool add);
};

struct layer {
    const struct layer_type *type;
    void *spec;                        /* type->spec_size bytes, owned */
    uint32_t in, out, position;
    uint64_t w, b, extra;              /* parameter offsets (meaning is the type's own) */
    uint64_t buffer, real_at;          /* offsets */
    uint64_t y, z, dy;                 /* activation offsets */
    uint32_t fused_act;                /* dense: the activation that follows was taken in */
    double fused_slope;
    struct layer **children;           /* residual, block */
    uint32_t child_count;
    bool skipped;                      /* taken in by its neighbour: forward and backward pass through */
};

extern const struct layer_type *const layer_types[]; /* NULL-terminated */
const struct layer_type *layer_find(const char *name);

/* A list of layers from "layers": [{...}, ...] (JSON), planned one after the other. */
struct layer **layer_list_read(const struct json_doc *doc, const struct json *list, uint32_t *count, struct err *e);
bool layer_list_plan(struct layer **layers, uint32_t count, uint32_t in, struct planner *p, uint32_t *out, struct err *e);
void layer_list_init(struct layer *const *layers, uint32_t count, uint64_t seed, uint32_t model, real *params, real *buffers);
struct act *layer_list_forward(struct layer *const *layers, uint32_t count, struct pass *p, const struct act *x);
void layer_list_backward(struct layer *const *layers, uint32_t count, struct pass *p, const struct act *x,
                         struct act *dy, struct act *dx, bool add);
void layer_list_free(struct layer **layers, uint32_t count);

#endif
