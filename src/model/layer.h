/* layer.h - a layer is one file and one line in layers.def. Its options appear in help, docs and
 * schema, its examples in the gradient and learning tests, with no other edit.
 *
 * Parameters, gradients, buffers (stored, not trained) and activations are one arena each. plan
 * declares parameters by name and states shapes and offsets once; forward and backward only issue
 * operations. Activations are [rows][steps][width] with ld = width; a table has one step. A buffer
 * has one shape, so that a machine may play any operation strip by strip. */
#ifndef DNN_MODEL_LAYER_H
#define DNN_MODEL_LAYER_H

#include "backend/backend.h"
#include "base/json/opt.h"
#include "base/text.h"
#include "model/param.h"

#define LAYER_MOST 4096 /* layers of a model, nested ones included */
#define LAYER_MOST_UNITS ((int64_t)1 << 24)
enum { VIEWS_MOST = 1024 };
#define LAYER_MOST_PARAMS ((uint64_t)1 << 40)

struct layer;

/* Collects the needs of layers. Offsets are in elements and multiples of 16, so that rows of a
 * matrix begin at cache lines; the gap between two ranges has no gradient and stays zero. */
struct planner {
    uint32_t rows; /* micro-batch */
    uint32_t steps; /* of a sequence, or the number of views; else 1 */
    /* of a sequence whose first layer has n steps: (n + more) / divide, rounded up; divide 0: the
     * steps are no sequence's */
    uint64_t more, divide;
    uint64_t length; /* lengths of the planned sequences: their place in the reals */
    uint32_t shards;
    uint64_t params, buffers; /* so far, gaps included */
    struct text path;         /* of the layer that is planned: "layers.2." */
    const struct layer *layer; /* that is planned; NULL: one of the first stage */
    struct text tables;        /* bytes that layers want in machine memory (plan_table) */
    /* the first stage */
    const struct features *features;
    uint64_t columns; /* of x so far */
    uint32_t *chunk_ends, chunk_count; /* the end of each feature's columns */
    uint32_t chunks_of; /* the position of the layer whose inputs have these ends */
    bool takes_ids;   /* the first hidden layer does */
    uint32_t pair_units; /* of the first hidden layer that takes pairs: its outputs; else 0 */
    double pair_rate;    /* of its weights for pairs (struct rates) */
    struct param_list list;
    uint64_t trained;         /* parameters without gaps */
    uint64_t flops;           /* of one row, forward: two for a multiplication and an addition */
    uint64_t acts;     /* activations and their gradients, in elements of FORM_REAL */
    uint64_t reals;    /* real scratch that lives through a step: bnorm mean, lnorm mean.. */
    uint32_t position; /* of the next layer, depth first: its random stream */
    struct group *groups; /* one a parameter range, grown; factors all 1 */
    uint8_t *kinds;       /* enum param_kind of each */
    struct rates *rates;  /* of each */
    /* last_groups: groups of the parameter declared last */
    uint32_t group_count, last_groups;
    bool sequences; /* the features are sequences */
    bool all_steps; /* a machine was asked for the memory of all steps: no batch has fewer */
    bool in_views;  /* steps are views of a row of one step */
    uint32_t own_rows; /* above 1: the number of views, each with rows of its own */
    bool training;  /* false: no gradients, no kept values */
    bool tracks;    /* shards have every parameter */
    uint32_t carried; /* numbers of a row that pass from window to window, so far */
    bool narrow;    /* some activations or their gradients are in 16 bits */
    const struct machine *machine; /* whose operations may keep something; NULL: none does */
    char too_large[48]; /* the limit that was passed, "" while none was: the plan is refused */
};
/* The plan is refused: more than `format` says, the first limit that was hit. */
__attribute__((format(printf, 2, 3))) void plan_refuse(struct planner *p, const char *format, ...);
/* Declares a parameter of the layer that is planned; returns its offset. Its gradient comes in
 * shards. PARAM_WEIGHT of rank 2 is a weight [in][out] of op_dense. */
uint64_t plan_param(struct planner *p, const char *name, struct param_shape shape,
                    enum param_kind kind);
/* As plan_param, for a gradient in one piece: of sums over the whole batch, or the micro-batches of
 * a track. The parameter is no weight of op_dense. */
uint64_t plan_param_whole(struct planner *p, const char *name, struct param_shape shape,
                          enum param_kind kind);
/* How the optimiser moves a parameter. rate: a factor on its learning rate, and on its weight
 * decay. scale: the parameter is `scale` times one that the optimiser moves (NTK parametrisation,
 * Jacot et al., 2018): steps and decay act on that one, with every optimiser. */
struct rates {
    double rate, scale;
};
/* Sets them for the parameter declared last; without it both are 1. */
void plan_rates(struct planner *p, double rate, double scale);
/* Buffers of one shape, one right after another; names ends with NULL. Returns the first offset. */
uint64_t plan_buffers(struct planner *p, const char *const *names, struct param_shape shape);
/* Places of rows x steps x width activations. plain: in fp32, as computed. acts (kept for the way
 * back) and back (their gradients, for `steps` steps): in the form in which the machine keeps them,
 * maybe 16 bits. */
struct act_place plan_plain(struct planner *p, uint32_t width);
struct act_place plan_acts(struct planner *p, uint32_t width);
struct act_place plan_back(struct planner *p, uint32_t width, uint32_t steps);
uint64_t plan_reals(struct planner *p, uint64_t count);
/* The sequences of later layers have (steps + more) / divide steps, rounded up, and lengths of
 * their own (pass_lengths). */
void plan_lengths(struct planner *p, uint32_t more, uint32_t divide);
/* Later layers have one step. */
void plan_one_step(struct planner *p);
/* Bytes that no step changes, copied to machine memory; returns their place (pass_table). */
uint64_t plan_table(struct planner *p, const void *bytes, size_t size);
/* Bytes that the machine keeps from forward to backward; returns their offset in the reals. */
uint64_t plan_kept(struct planner *p, uint64_t bytes);
/* As plan_kept for an operation by its need, with the shapes of its arguments. False: the machine
 * keeps nothing for it, or there is no machine. */
bool plan_need(struct planner *p, enum op_id op, const void *arguments, uint64_t *kept);

/* One pass, forward or backward: the arenas in machine memory, and the batch. */
struct pass {
    struct machine *m;
    real *params, *grads, *buffers, *reals;
    real *moved; /* training: running statistics that become the buffers when the step is good */
    void *shadow, *acts;
    const struct step *now;
    struct schedule schedule;
    const struct source *from; /* machine memory */
    /* of the batch; the width and the steps are the layer's own */
    struct dims dims;
    uint32_t micro; /* which micro-batch of the step this is, from 0 */
    uint32_t whole; /* rows of the step: the last micro-batch may have fewer; 0: no end */
    uint32_t most;  /* steps of its longest sequence or more, at least 2; 0: as planned */
    bool training, more; /* more: a further micro-batch of the same step adds to the gradients */
    bool exact;          /* row-independent products */
    /* the batch */
    int32_t *ids;
    uint32_t ids_ld;
    real *target, *weight;
    double *part_loss, *part_weight; /* training: the sums of each shard */
    const int32_t *length; /* [rows]: steps of each sequence */
    /* State that passes from window to window: [rows][carried], read from `state`, written to
     * state_to; in answers both are the same. NULL: none */
    real *state, *state_to;
    const int32_t *begins; /* then: [rows], 1: the window is the first of its sequence */
    uint32_t carried;
    const void *tables; /* machine memory: the bytes of plan_table */
    /* Called before each layer, with its input, when layers are fitted on the way (netfit.c);
     * NULL: they are not. fitting: its own. */
    void (*before)(const struct layer *l, struct pass *p, struct act x);
    struct fitting *fitting;
};
/* Places in an arena, computed as integers: a network that is only counted has no arena. */
static inline void *bytes_at(const void *arena, uint64_t at)
{
    return (void *)((uintptr_t)arena + (uintptr_t)at);
}
static inline real *reals_at(real *arena, uint64_t at)
{
    return bytes_at(arena, at * sizeof(real));
}
static inline struct act pass_act(const struct pass *p, struct act_place at)
{
    return act_at(p->m, p->acts, at);
}
/* The begin of part j of a row, in parts `width` wide; none stays none. */
static inline struct act act_part(struct machine *m, struct act a, uint32_t j, uint32_t width)
{
    size_t bytes = a.form == FORM_REAL ? machine_act_bytes(m) : sizeof(uint16_t);
    if (a.at)
        a.at = bytes_at(a.at, (uint64_t)j * width * bytes);
    return a;
}
static inline const void *pass_table(const struct pass *p, uint64_t at)
{
    return bytes_at(p->tables, at);
}
/* The shape of an operation of the batch that takes `width` numbers a step. */
static inline struct dims pass_dims(const struct pass *p, uint32_t width)
{
    struct dims d = p->dims;
    d.width = width;
    return d;
}
/* The padding among the rows of such an operation. */
static inline struct padding pass_padding(const struct pass *p)
{
    struct padding some = {p->length, p->dims.steps, 0}, none = {NULL, 0, 0};
    return p->length && p->dims.steps > 1 ? some : none;
}
/* The steps of a layer's input and of its output in this batch. */
uint32_t pass_steps(const struct pass *p, const struct layer *l);
uint32_t pass_steps_out(const struct pass *p, const struct layer *l);
/* Lengths that stand in the reals. */
static inline int32_t *lengths_at(const struct pass *p, uint64_t at)
{
    return (int32_t *)(void *)reals_at(p->reals, at);
}
/* Writes the lengths after a layer that changes the number of steps: (length + more) / divide,
 * rounded up. */
void pass_lengths(struct pass *p, const struct layer *l, uint32_t more, uint32_t divide);
/* The machine's private copy of the weights at this parameter offset; NULL: it keeps none. */
static inline struct act pass_shadow(const struct pass *p, uint64_t at)
{
    return p->shadow ? machine_shadow_of(p->m, p->shadow, at) : no_act();
}

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
    const struct option *options; /* the first row is "type", a word with this name alone */
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
    bool stacks;                  /* a machine may compute it in one piece with its neighbours that
                                   * do so too, with the same bits: kernels/mlp.cu */
    /* Checks options against each other. NULL: no need. E13. */
    bool (*check)(const struct layer *l, const struct json_doc *doc, const struct json *at,
                  const char *path, struct err *e);
    /* Sets l->out and offsets. l->in is set. false only after children failed. */
    bool (*plan)(struct layer *l, struct planner *p, struct err *e);
    /* Host arrays, cleared; draws from rng_* with l->position. NULL: nothing to do. */
    void (*init)(const struct layer *l, uint64_t seed, uint32_t model, real *params, real *buffers);
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
    uint32_t steps, steps_out; /* of its input and of y, at most (pass_steps) */
    uint64_t more, divide, more_out, divide_out; /* as in struct planner, before and after it */
    uint64_t length;  /* of its input's sequences, in the reals */
    uint64_t length_out; /* lengths of its output's sequences */
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
void layer_list_init(struct layer *const *layers, uint32_t count, uint64_t seed, uint32_t model,
                     real *params, real *buffers);
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
/* The list with every option filled in, as config; with shapes and counts of parameters, for
 * people. */
void layer_list_write(struct layer *const *layers, uint32_t count, const char *key,
                      struct json_out *out);
void layer_list_describe(struct layer *const *layers, uint32_t count, const char *key,
                         struct json_out *out);
/* The member "layer" of a JSON Schema's "$defs": any of the types; nested lists refer to
 * "#/$defs/layer". */
void layer_schema(struct json_out *out);

/* The number of an activation layer: leaky_relu's slope, elu's alpha, else 0. */
double act_slope(const struct layer *l);

/* First row of every options table; the spec's first member is `int type`. */
#define LAYER_TYPE_ROW(words_)                                                                     \
    {                                                                                              \
        .key = "type", .type = OPT_WORD, .flags = OPT_REQUIRED, .offset = 0, .words = words_,      \
        .help = "Which layer this is."                                                             \
    }

#endif
