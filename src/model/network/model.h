/* model.h - the network as a plan: inputs -> layers -> logits. It has no machine memory; network.h
 * has. */
#ifndef DNN_MODEL_MODEL_H
#define DNN_MODEL_MODEL_H

#include "base/rowfmt.h"
#include "model/preset/architecture.h"
#include "model/layers/inputs.h"
#include "model/layer.h"

struct model {
    struct inputs inputs;     /* the first stage */
    struct layer **layers;    /* the output layer is the last */
    uint32_t layer_count;
    struct text tables;       /* bytes that the layers want in machine memory */
    uint64_t params, buffers; /* sizes of the arenas */
    uint64_t trained;         /* parameters, without the gaps of the arena */
    struct param_list list;   /* every parameter and buffer, by name */
    struct param_groups groups; /* optim_groups makes the optimiser's */
    uint32_t outputs; /* features.outputs */
    uint32_t answers; /* logits of a row in training: [rows][answers][outputs]; each has a loss */
    uint32_t tags;    /* answers of a sequence, one a step: everything of a row is of a step; 1 */
    uint32_t own_rows; /* in training: views of a row, each with a row of the table of its own; 1 */
    uint64_t flops;   /* of one row, forward: two for a multiply-add, none for a table */
    /* of one plan (rows, training) */
    uint32_t rows, shards;
    bool training;
    bool narrow; /* some activations or their gradients are in 16 bits */
    bool all_steps; /* no batch of sequences has fewer steps than planned */
    uint64_t acts, reals; /* sizes in elements */
    uint32_t carried; /* numbers of a row that pass from window to window */
    struct act_place logits, dlogits;
};
/* Plans for micro-batches of `rows` and this many gradient shards. Parameter offsets depend on
 * architecture and features alone. NULL after an error; model_free. */
struct model *model_plan(const struct architecture *a, const struct features *f, uint32_t rows,
                         uint32_t shards, bool training, struct err *e);
/* As above, with memory for values that this machine's operations keep from forward to backward.
 * tracks: each shard is the gradient of a track, which has every parameter. */
struct model *model_plan_on(const struct machine *machine, const struct architecture *a,
                            const struct features *f, uint32_t rows, uint32_t shards,
                            bool training, bool tracks, struct err *e);
void model_free(struct model *m);
/* First weights into host arrays of m->params and m->buffers reals, which are cleared first. */
void model_init(const struct model *m, uint64_t seed, uint32_t model_number, real *params,
                real *buffers);
/* The first buffer with a value that training cannot give (a negative variance), or UINT64_MAX. */
uint64_t model_unsound(const struct model *m, const real *buffers);
/* The dims of a micro-batch of this plan. Shards beyond the first lack the parameters of the first
 * stage. */
struct dims model_dims(const struct model *m);
/* Inputs, then layers; target [rows] is gathered too. Returns the logits. */
struct act model_forward(const struct model *m, struct pass *p, real *target);
/* From the gradient of the logits, at m->dlogits of p's activations, to p's gradients. */
void model_backward(const struct model *m, struct pass *p);
/* True: a machine may compute all layers in one piece (layer_type.stacks). */
bool model_stacks(const struct model *m);
/* Layers with shapes and numbers of parameters, for inspect and check. */
void model_describe(const struct model *m, struct json_out *out);

#endif
