/* network.h - a model on a machine: arenas, and what it issues - whole training steps, batches of
 * answers. run/step plays it; the only caller of model_forward and model_backward. */
#ifndef DNN_MODEL_NETWORK_H
#define DNN_MODEL_NETWORK_H

#include "model/loss.h"
#include "model/model.h"
#include "model/optim.h"

struct network;

struct network_options {
    const struct model_options *model;
    const struct features *features;
    uint32_t rows;  /* of a micro-batch; answers come in batches of at least as many */
    uint32_t micro; /* how many micro-batches a step has (train.grad_accumulation) */
    /* Rows of a step, where the last micro-batch has fewer than `rows`, which is not for
     * batch_norm: its statistics would take them in. 0: rows * micro. */
    uint32_t whole;
    uint32_t steps; /* training: the most of an epoch; 0: 1 */
    bool training;
    /* The machine's memory is its own. Rows for which it has no room then pass through it, in parts
     * that are copied while others are computed on; with `streams` they always do, and rows to
     * train on never with `stays`: there is no room for them then. */
    bool own_memory, streams, stays;
    /* Answers that are kept there at once (network_ask); 0: each batch of them is brought back by
     * itself. As many as are asked for, or some millions of numbers. */
    uint64_t answers;
    bool keeps_best; /* there is room for the best weights as well */
    const struct loss_options *loss; /* training; resolved */
    const struct optim_options *optim;
    double clip_norm; /* 0: none */
};
/* Bytes it will take on the machine, by kind, before anything is allocated. */
struct network_bytes {
    uint64_t weights, gradients, state, activations, scratch, total;
};
bool network_need(const struct network_options *o, struct machine *m, struct network_bytes *b,
                  struct err *e);
/* What the rows take beside it of a memory that is not the host's: all of them, or with `streams`
 * what leads to the parts (the parts themselves are activations of network_need). */
uint64_t network_source_bytes(const struct network_options *o, const struct source *from);

/* Borrows the options' pointers until network_free. Plan of the machine must be set (machine_obey)
 * before; plan NULL: for answers only. */
struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e);
void network_free(struct network *n);
const struct model *network_model(const struct network *n);
/* Whether its training has anything that the plan's precision rounds: where all is too small for
 * it, all is computed in fp32. */
bool network_rounds(const struct network *n);

/* State as host arrays: params [params], buffers [buffers], m1, m2 [params]. What is NULL is left
 * as it is (put) or out (get); the optimiser may have no m1 or m2 (optim_states). now counts in
 * training only. */
struct network_state {
    real *params, *buffers, *m1, *m2;
    struct step now;
};
void network_put(struct network *n, const struct network_state *s);
/* Waits for the machine. False: it has failed, and what s holds is not the network's. */
bool network_get(struct network *n, struct network_state *s, struct err *e);
/* The network's own arrays and its counters, where the machine's memory is the host's: no copy.
 * False: it is not, and s is as it was. */
bool network_view(const struct network *n, struct network_state *s);

/* --- training --- */
/* The rows to train on, in host memory that must live and stay as it is; the machine reads it in
 * place or copies it. Its features are not read: they are the network's. False: no room. */
bool network_source(struct network *n, const struct source *from, struct err *e);
/* Calls the fit hooks of the layers, in their order, with the rows that the first step takes.
 * Before the first epoch, after network_source and network_put. */
bool network_fit_layers(struct network *n, struct err *e);
/* Begins an epoch at its first row: hyper-parameters for `count` >= 1 steps from step->tried on;
 * clears the epoch's sums. To go on inside an epoch, put the state once more after it. False when
 * the network was made for fewer steps. */
bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *table, uint32_t count,
                   struct err *e);
/* How many of the next `steps` steps may be issued now, 1 at least: their rows are there, or wait
 * in front of them. Where all rows are there, all. */
uint32_t network_feed(struct network *n, uint32_t steps);
/* Machine memory of rows that pass through it; 0: those to train on lie there. */
uint64_t network_streams(const struct network *n);
void network_issue_step(void *network, struct machine *m); /* the next step: machine_issuer */
/* The same, part by part in their order: its micro-batches, and last the update. Until that one is
 * issued nothing has moved, and the step may be left where it is. */
uint32_t network_parts(const struct network *n);
void network_issue_part(struct network *n, struct machine *m, uint32_t part);
void network_step(struct network *n, struct step *now); /* counters and sums as they stand */
/* Where answers are kept on the machine: fetches them behind what was issued, and from then on
 * until the next network_feed they are asked of nobody. Steps are issued only after that, then. */
void network_tell(struct network *n);
/* The gradient norms of `count` steps of this epoch, from its step `first` on: the first step of
 * the table that network_epoch was given is 0. */
void network_norms(struct network *n, uint32_t first, uint32_t count, double *norms);

/* --- answers: exact (row-independent) forward; also during training, with the weights as they are
 * --- */
/* The rows to answer for, in their order, as network_source takes them. */
bool network_answer_source(struct network *n, const struct source *from, struct err *e);
void network_answer_end(struct network *n); /* the rows are the caller's alone again */
/* The same rows asked for again and again: they live and stay as they are until others are asked
 * for, and are given to the machine once. */
bool network_answer_hold(struct network *n, const struct source *from, struct err *e);
/* Answers come in batches of a few shapes, so that one row does not cost a whole batch: the
 * largest that so many rows fill by more than a half, else the smallest. *most: how many it
 * holds. */
struct netshape;
struct netshape *network_shape(struct network *n, uint64_t rows, uint32_t *most);
void network_answer_from(struct network *n, uint64_t row0); /* where the next batch begins */
void network_issue_answer(void *shape, struct machine *m);  /* a batch: machine_issuer */
/* Logits [rows][outputs] of that batch. A row's logits depend on the weights and that row alone. */
void network_logits(const struct netshape *s, uint32_t rows, real *logits);

/* --- answers that stay on the machine until all are there: nothing waits in between --- */

/* How many logits' rows it keeps; 0: it was not made for it. */
uint64_t network_room(const struct network *n);
/* Answers to `count` rows from row0 on begin. Their logits are kept (then at most network_room
 * rows), or measured as `what` says, or both; NULL: not measured. */
void network_ask(struct network *n, uint64_t row0, uint64_t count, const struct answers *what,
                 bool kept);
/* How many of the next `times` batches, the first of them at row0, may be played now: 1 at least.
 */
uint32_t network_ask_feed(struct network *n, uint64_t row0, uint64_t times);
/* Waits for all of them. logits [count][outputs] where they were kept; told, logits: NULL: not
 * wanted. False: the machine has failed. */
bool network_told(struct network *n, struct answers *told, real *logits, struct err *e);

/* Whether weights and buffers are finite: asked, and answered with whatever is waited for next. */
void network_look(struct network *n);
bool network_looked(struct network *n, bool *finite, struct err *e);
/* The best weights and buffers, on the machine: whether there is room for them; the network's
 * become the best, the best become the network's; in from the host, out to it (params, buffers). */
bool network_keeps_best(const struct network *n);
void network_keep_best(struct network *n);
void network_take_best(struct network *n);
void network_set_best(struct network *n, const struct network_state *s);
bool network_get_best(struct network *n, struct network_state *s, struct err *e);

#endif
