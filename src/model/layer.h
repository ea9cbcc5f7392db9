/* layer.h - a layer is one file and one line in layers.def. Its options appear in help, docs and
 * schema, its examples in the gradient and learning tests, with no other edit.
 *
 * Parameters, gradients, buffers (stored, not trained) and activations are one arena each. plan
 * declares parameters by name and states shapes and offsets once; forward and backward only issue
 * operations. Activations are [rows][steps][width] with ld = width; a table has one step. A buffer
 * has one shape, so that a machine may play any operation strip by strip. */
#ifndef DNN_MODEL_LAYER_H
#define DNN_MODEL_LAYER_H

#include "base/json/opt.h"
#include "model/init.h"
#include "model/pass.h"
#include "model/planner.h"

/* Some rows of a layer's input as training computes it, in host memory: [rows][width]. Inputs that
 * come as ids are not among them. */
struct fit_sample {
    const real *x;
    const int32_t *length; /* of sequences; rows is their number times the steps */
    uint32_t rows, width, model; /* model and seed: for random draws, as in init */
    uint64_t seed;
};

/* BOTH: rows and sequences alike, each step on its own. ROWS: rows of a table, or one step made by
 * a layer. STEPS: sequences. */
enum layer_of { LAYER_OF_BOTH, LAYER_OF_ROWS, LAYER_OF_STEPS };

struct layer_type {
    const char *name, *summary;
    const struct option *options; /* the first row is "type", a word; NULL: an input layer */
    const char *const *examples;  /* JSON objects, NULL-terminated: gradient tests run each */
    size_t spec_size; /* of the struct the options fill; plan may keep offsets in it too */
    uint32_t act;                 /* enum act_kind of an activation, ACT_NONE for all others */
    enum layer_of of;             /* the inputs that it reads */
    bool ends_steps;              /* it gives one step of many */
    bool nests;                   /* "layers" inside: read into children before check */
    bool answers;                 /* it may be the last layer: any sum of its inputs, no limits */
    bool takes_ids;               /* as the first layer: one-hot inputs as ids (l->onehot) */
    /* As the first layer it reads piecewise-linear numbers as pairs of bin and share (l->pairs),
     * and with takes_ids texts as terms (l->texts). Returns the number of its outputs; *rate: the
     * rate of the weights for pairs, as in struct rates. NULL: it reads columns. */
    uint32_t (*takes_pairs)(const struct layer *l, double *rate);
    bool takes_act;               /* it computes the activation after it too (l->fused_act) */
    bool takes_pool;              /* it computes the pool after it too (l->pooled) */
    bool whole_rows;              /* it cannot stand inside views */
    /* The number of networks in its output: each gets an output layer and a loss of its own
     * (view_dense). NULL: one. */
    uint32_t (*views)(const struct layer *l);
    bool (*own_rows)(const struct layer *l); /* in training each of them reads rows of its own */
    bool recurrent;               /* all sequences of a batch are in each of its products */
    bool carries;                 /* it may stand in a network that carries state from window to
                                   * window: it does so, or needs none */
    bool stacks;                  /* a machine may compute it in one piece with its neighbours that
                                   * do so too, with the same bits: kernels/ops/mlp_step.cu */
    /* Checks options against each other. NULL: no need. E13. */
    bool (*check)(const struct layer *l, const struct json_doc *doc, const struct json *at,
                  const char *path, struct err *e);
    /* Sets l->out and offsets. l->in is set. false only after children failed. */
    bool (*plan)(struct layer *l, struct planner *p, struct err *e);
    /* Host arrays, cleared; draws with l->position. NULL: nothing to do. */
    void (*init)(const struct layer *l, const struct first_values *v);
    /* Sets parameters and buffers (host arrays) from a sample of the layer's input. Called once,
     * before the first step, in the order of the layers: those before it are fitted already. NULL:
     * nothing to do. */
    void (*fit)(const struct layer *l, const struct fit_sample *x, real *params, real *buffers);
    /* Index of the first buffer with a value that training cannot leave (a negative variance), or
     * UINT64_MAX. NULL: any finite value is valid. */
    uint64_t (*unsound)(const struct layer *l, const real *buffers);
    /* x has ld = l->in; the layer writes its y (l->y in acts) and returns it. */
    struct act (*forward)(const struct layer *l, struct pass *p, struct act x);
    /* dy: gradient of y, may be overwritten. dx.at NULL: not wanted (first layer). add: dx is added
     * to. */
    void (*backward)(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add);
    /* Frees memory that plan allocated in the spec. NULL: nothing. */
    void (*release)(struct layer *l);
};

/* The last `width` inputs of a layer, if they are one-hot columns that come as ids. */
struct layer_onehot {
    const struct onehot_column *columns; /* [count], host memory of the model */
    uint64_t table;                      /* the same in machine memory (pass_table) */
    uint32_t count, width;
};
/* Further inputs of a layer: piecewise-linear numbers as pairs of bin and share. */
struct layer_pairs {
    uint64_t table;          /* struct ple_column [count], in machine memory (pass_table) */
    uint64_t weight;         /* [components][out]: a parameter of the first stage */
    uint64_t bins, shares;   /* of a batch, in the reals */
    uint32_t count, components;
};
/* Further inputs of a layer: the terms of texts, which lie among the ids. */
struct layer_texts {
    uint64_t table, weights; /* struct text_column [count], float [buckets] (pass_table) */
    uint64_t weight;         /* [buckets][out]: a parameter of the first stage */
    uint64_t scales;         /* of a batch, in the reals */
    uint32_t count, buckets;
};
/* The place for the sums of the terms of texts, or their gradient: columns at..at + units - 1 of
 * rows ld apart. set: replaces the values there. */
struct text_place {
    struct act act;
    uint32_t units, ld, at;
    bool set;
};
void texts_forward(const struct layer_texts *t, struct pass *p, struct text_place y);
void texts_backward(const struct layer_texts *t, struct pass *p, struct text_place dy);
/* The pool after a linear layer, computed on its inputs: pooling (mean, or one step) commutes with
 * a linear layer, so the layer has products of one step instead of many. x: the inputs, pooled; dx:
 * their gradient. */
struct pooled_input {
    bool on;
    uint32_t kind; /* enum pool_kind */
    struct act_place x, dx;
    uint64_t length; /* 1, or 0 of a sequence without steps, in the reals */
};
/* True: a layer is a pool that commutes; *kind: its kind. */
bool pool_commutes(const struct layer *l, uint32_t *kind);
/* Plans the pool in the layer that takes it: later layers have one step. gradient: dx is needed. */
void pooled_plan(struct layer *l, struct planner *p, bool gradient);
/* Returns x, pooled; the pass has one step from there on. Without such a pool: x. */
struct act pooled_forward(const struct layer *l, struct pass *p, struct act x);
/* The padding for the products: a sequence without steps has sums of 0, as the pool would give. */
struct padding pooled_padding(const struct layer *l, const struct pass *p);
/* The arguments of the products on the way back, between pooled_back and pooled_end. */
struct pooled_grad {
    struct act x, dx;
    bool add;
};
struct pooled_grad pooled_back(const struct layer *l, struct pass *p, struct act x, struct act dx,
                               bool add);
/* The gradient of all steps from the gradient of one, `from`. Without such a pool it does
 * nothing. */
void pooled_end(const struct layer *l, struct pass *p, struct act from, struct act x,
                struct act dx, bool add);
enum { FIRST_VALUE = 2 }; /* slots 0 and 1 of a category are missing and unknown */

struct layer {
    const struct layer_type *type;
    void *spec; /* type->spec_size bytes, owned */
    uint32_t in, out, position;
    struct span from, to; /* of its input and of y */
    /* the output layer: answers of a row in training, y is [rows][answers][out]; 0: 1 */
    uint32_t answers;
    struct layer_onehot onehot;     /* count 0: all inputs are numbers */
    struct layer_pairs pairs; /* count 0: none */
    struct layer_texts texts; /* count 0: none */
    uint64_t params;          /* how many, children included */
    uint64_t room;            /* elements of its activations and their gradients, as above */
    struct act_place y, dy;   /* dy belongs to the list, but for the last */
    bool logits;              /* the output layer: y is read by the loss, and stays plain */
    uint32_t fused_act;       /* takes_act: the activation that follows, or ACT_NONE */
    double fused_slope;
    struct pooled_input pooled; /* takes_pool: the pool that follows */
    uint32_t next_act;       /* the activation that this layer's output meets first; for init */
    struct layer **children; /* residual */
    uint32_t child_count;
    bool skipped; /* taken in by its neighbour, or without effect: passed through */
};

extern const struct layer_type *const layer_types[]; /* NULL-terminated */
#define LAYER(name) extern const struct layer_type layer_##name;
#include "model/layers/layers.def"
const struct layer_type *layer_find(const char *name);

/* A layer of this type without options; layer_list_free. */
struct layer *layer_new(const struct layer_type *type);
void layer_free(struct layer *l);
/* A copy of a layer that was read and not planned; _wide: with `units`, an option that its type
 * has. Caller: layer_free. */
struct layer *layer_copy(const struct layer *l);
struct layer *layer_copy_wide(const struct layer *l, uint32_t units);
/* A list of layers from "layers": [{...}, ...], which stands at `path` ("model.layers") for
 * messages. NULL after an error; an empty list is not NULL. Nothing of doc is kept. */
struct layer **layer_list_read(const struct json_doc *doc, const struct json *list,
                               const char *path, uint32_t *count, struct err *e);
/* False, E13: the layer that is planned `what`. */
bool layer_refuse(const struct layer *l, const struct planner *p, struct err *e, const char *what,
                  const char *hint);
/* Planned one after the other. */
bool layer_list_plan(struct layer **layers, uint32_t count, uint32_t in, struct planner *p,
                     uint32_t *out, struct err *e);
void layer_list_init(struct layer *const *layers, uint32_t count, struct first_values v);
uint64_t layer_list_unsound(struct layer *const *layers, uint32_t count, const real *buffers);
struct act layer_list_forward(struct layer *const *layers, uint32_t count, struct pass *p,
                               struct act x);
/* The layer's way back, as its own in a trace. */
void layer_run_backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                        struct act dx, bool add);
/* width: x's, for a list without layers. */
void layer_list_backward(struct layer *const *layers, uint32_t count, struct pass *p,
                         struct act x, struct act dy, struct act dx, bool add,
                         uint32_t width);
void layer_list_free(struct layer **layers, uint32_t count);
/* The list with every option filled in, as config (training: also options that answers do not
 * need); with shapes and counts of parameters, for people. */
void layer_list_write(struct layer *const *layers, uint32_t count, const char *key, bool training,
                      struct json_out *out);
void layer_list_describe(struct layer *const *layers, uint32_t count, const char *key,
                         struct json_out *out);
/* The member "layer" of a JSON Schema's "$defs": any of the types; nested lists refer to
 * "#/$defs/layer". */
void layer_schema(struct json_out *out);

/* The number of an activation layer: leaky_relu's slope, elu's alpha, else 0. */
double act_slope(const struct layer *l);

/* First row of every options table; the spec's first member is `int type`. */
#define LAYER_TYPE_ROW(name_)                                                                      \
    {                                                                                              \
        .key = "type", .type = OPT_WORD, .flags = OPT_REQUIRED, .offset = 0,                       \
        .words = (const char *const[]){name_, NULL}, .help = "Which layer this is."                \
    }

#endif
