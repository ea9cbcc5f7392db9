/* inputs.h - the first stage: from records to the row x that the first hidden layer reads.
 * op_gather copies numbers and indicators into x and category ids beside it. Then the input layers
 * run side by side: each fills columns of its own in x. One-hot columns come last; if the first
 * hidden layer takes ids, they are never written and x ends before them. If it takes pairs,
 * components of piecewise-linear numbers and terms of texts are no columns either. Numbers of
 * sequences become steps x channels, and tokens of a text steps x rows of their table, which the
 * first hidden layer reads in place of x. For sequences of records x and the ids have a row a step;
 * no column stays an id or a pair. */
#ifndef DNN_MODEL_INPUTS_H
#define DNN_MODEL_INPUTS_H

#include "base/rowfmt.h"
#include "model/layer.h"

/* The kinds of input layers, in the order of their columns. To add one: a file, and a line in
 * layers.def. Of struct layer_type they use name, summary, spec_size, plan, init, fit, forward,
 * backward and release, and they have no options. plan reads planner.features and takes columns
 * with plan_columns; l->in is the row's width, l->out its own columns, l->y the row x. forward gets
 * x and returns it; backward gets the gradient of x as dy, and dx is NULL. Parameters are declared
 * with plan_param_whole. */
#define INPUT(name) extern const struct layer_type input_##name;
#include "model/layers/layers.def"

struct inputs {
    struct features features; /* copied */
    struct layer **layers;    /* side by side */
    uint32_t count;
    /* of a row: numbers, indicators, embeddings, components, one-hot columns; of a step:
     * channels */
    uint32_t width;
    uint32_t held;   /* columns of x: without those that stay ids or pairs */
    uint64_t params; /* they stand in front of all others; their gradients have no shards */
    bool back;       /* an input layer takes the gradient of x */
    struct act_place x, dx; /* dx: for training, if `back` */
    uint32_t steps;         /* of a sequence; 0: rows of a table */
    bool records;           /* a step is a record */
    bool tokens;            /* a step is a token of the one text: x is empty, and dx is of series */
    uint32_t each;          /* records of a row: x is [rows][each][held]. Steps, or views' rows */
    struct act_place series; /* steps x width, if a sequence is one record */
    uint64_t length;         /* steps of each sequence, in the reals */
    uint64_t begins;         /* features.carry: whether each is the first of its sequence */
};
/* Plans the input layers and x, and gives ids to the first hidden layer if it takes them. False
 * with E13 when there is nothing to learn from or too much. */
bool inputs_plan(struct inputs *in, const struct features *f, struct layer *first,
                 struct planner *p, struct err *e);
void inputs_release(struct inputs *in);
/* Fills x from the records. */
void inputs_forward(const struct inputs *in, struct pass *p, real *target);
/* The input of the first hidden layer; sets p's lengths. */
struct act inputs_given(const struct inputs *in, struct pass *p);
void inputs_backward(const struct inputs *in, struct pass *p, struct act dx);

#endif
