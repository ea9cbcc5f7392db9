/* network.h - a model on a machine: its memory, its training steps and its answers.
 * model/network/step.c plays them. Nothing else calls model_forward and model_backward. */
#ifndef DNN_MODEL_NETWORK_H
#define DNN_MODEL_NETWORK_H

#include "base/process/stop.h"
#include "model/loss.h"
#include "model/network/model.h"
#include "model/network/optim.h"

struct network;

struct network_options {
    const struct architecture *architecture;
    const struct features *features;
    uint32_t rows;  /* rows of a micro-batch; batches of answers have at least as many */
    uint32_t micro; /* micro-batches of a step (plan.micro) */
    uint32_t tracks; /* plan.tracks */
    /* Rows of a step if the last micro-batch has fewer than `rows`; 0: rows * micro. Not with
     * batch_norm: its statistics would count the missing rows. */
    uint32_t whole;
    uint32_t steps; /* training: the most of an epoch; 0: 1 */
    bool training;
    /* A network to share batch memory with, on the same machine; it must outlive this one, and of
     * all that share only one runs at a time. NULL: none. */
    const struct network *beside;
    /* For answers only, if the machine's memory is the host's: weights that are read in place, and
     * that outlive the network. NULL: network_set gives them. */
    real *params, *buffers;
    bool own_memory; /* the machine's memory is not the host's: rows without room are streamed */
    bool streams;    /* rows are always streamed, with own_memory; never sequences of records */
    bool stays;      /* rows to train on: fail instead of streaming */
    /* The most answers that stay on the machine until all are computed (and at most some millions
     * of numbers); 0: each batch of them is fetched. */
    uint64_t answers;
    bool keeps_best; /* there is room for a copy of the best weights */
    const struct loss_options *loss; /* training; resolved */
    const struct optim_options *optim;
    double clip_norm; /* 0: none */
};
/* Bytes of machine memory by kind, before anything is allocated. */
struct network_bytes {
    uint64_t weights, gradients, state, activations, scratch, total;
};
bool network_need(const struct network_options *o, struct machine *m, struct network_bytes *b,
                  struct err *e);
/* Bytes of machine memory that the rows take beside the network, with own_memory: all rows, or with
 * `streams` the lists alone (the parts that stream are in network_need's activations). */
uint64_t network_source_bytes(const struct network_options *o, const struct source *from);

/* The machine's plan (machine_plan) for a network of these features: sequences have shards by their
 * steps. */
void network_plan(const struct features *f, const struct machine *m, uint32_t batch,
                  uint32_t micro, struct plan *plan);
/* On a CPU, cuts the plan's batch into micro-batches of few sequences, in tracks, if the model can
 * be computed so. Each track has its own activations and its own gradient. The result follows from
 * the model and the shapes alone. The network then gets the rows of the step as `whole`. Not for a
 * loss that counts over all rows (soft_f1). */
void network_plan_tracks(const struct architecture *a, const struct features *f,
                         const struct machine *m, struct plan *plan);

/* Borrows the options' pointers until network_free. machine_set_plan comes before it. plan NULL:
 * the network only answers. */
struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e);
void network_free(struct network *n);
const struct model *network_model(const struct network *n);
/* True: the plan's precision rounds some product of the training. False: all products are small,
 * and the training is in fp32. */
bool network_rounds(const struct network *n);

/* State as host arrays: params [params], buffers [network_buffers], m1, m2 [params]. A NULL member
 * is not set or not fetched. The optimiser may have no m1 or m2 (optim_states). now: the step of a
 * training. */
struct network_state {
    real *params, *buffers, *m1, *m2;
    struct step now;
};
void network_set(struct network *n, const struct network_state *s);
/* Waits for the machine. False: it has failed, and s holds nothing of use. */
bool network_get(struct network *n, struct network_state *s, struct err *e);
/* The network's own arrays, not a copy. False: they are not in host memory; s is unchanged. */
bool network_view(const struct network *n, struct network_state *s);

/* The model's buffers, and in training the state that each row of a step passes from window to
 * window (data.sequence.carry_state). */
uint64_t network_buffers(const struct network *n);

/* --- training --- */
/* The rows to train on, in host memory that must not change while they are used. The network's
 * features count, not the source's. False: no room. */
bool network_source(struct network *n, const struct source *from, struct err *e);
/* Calls the fit hooks of the layers, in their order, with the rows that the first step takes.
 * Before the first epoch, after network_source and network_set. */
bool network_fit_layers(struct network *n, struct err *e);
/* The input of a layer, by its number, for all of these rows, by row-independent products: to
 * [from->count][the layer's in]. For a layer after the steps of sequences are pooled. Not between
 * the steps of an epoch. stop: asked between blocks of rows; *done: the number of rows computed,
 * one block at least. */
bool network_layer_input(struct network *n, const struct source *from, uint32_t layer, real *to,
                         const struct stopper *stop, uint64_t *done, struct err *e);
/* Begins an epoch at its first row, with the rates of `count` >= 1 steps from step->tried on. The
 * epoch's sums become 0. To go on inside an epoch, set the state once more after it. False: the
 * network was made for fewer steps. */
bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *rates, uint32_t count,
                   struct err *e);
/* The number of steps, of the next `steps`, that may be issued now, at least 1. Streamed rows are
 * sent for them. Sequences of these steps have like lengths (network_max_steps). */
uint32_t network_feed(struct network *n, uint32_t steps);
/* Steps of time that a training step, or a batch of answers, computes now; 0: all. It is a part of
 * what a routine is recorded for. */
uint32_t network_max_steps(const struct network *n, bool answers);
/* Bytes of the stream in machine memory; 0: the rows to train on lie there. */
uint64_t network_streams(const struct network *n);
void network_issue_step(void *network, struct machine *m); /* the next step: machine_issuer */
/* A step in its parts, in this order: the gradients of each micro-batch 0..network_micros - 1,
 * added up in the arena of gradients together with the sums of loss and weight; the update of
 * weights, optimiser state and counters. Only the update changes the network: a step may be given
 * up before it. */
uint32_t network_micros(const struct network *n);
void network_issue_gradients(struct network *n, struct machine *m, uint32_t micro);
void network_issue_update(struct network *n, struct machine *m);
void network_step(struct network *n, struct step *now); /* counters and sums as they stand */
/* Fetches counters and sums after all issued steps; network_step then waits for nothing until the
 * next network_feed. Only if answers stay on the machine. */
void network_fetch_step(struct network *n);

/* --- answers, by row-independent products; also during training, with the present weights --- */
/* The rows to answer for, in their order, as network_source takes them. */
bool network_answer_source(struct network *n, const struct source *from, struct err *e);
void network_answer_release(struct network *n); /* the rows are the caller's again */
/* As above, for rows that are answered repeatedly: the machine gets them once. They must not change
 * until others are given. */
bool network_answer_hold(struct network *n, const struct source *from, struct err *e);
/* Batches come in a few shapes. Returns the largest one that `rows` rows fill by more than a half,
 * else the smallest. *most: its rows. */
struct netshape;
struct netshape *network_shape(struct network *n, uint64_t rows, uint32_t *most);
/* Sets the begin of the next batch, and its shape. */
void network_answer_from(struct network *n, const struct netshape *s, uint64_t row0);
void network_issue_answer(void *shape, struct machine *m);  /* a batch: machine_issuer */
/* Logits [rows][outputs] of that batch; of sequences with an answer a step [rows][steps][outputs].
 * They depend on the weights and each row alone. */
void network_logits(const struct netshape *s, uint32_t rows, real *logits);

/* --- answers that stay on the machine until all are computed --- */

/* Rows whose logits it keeps; 0: it was not made for it. */
uint64_t network_room(const struct network *n);
/* Begins answers to `count` rows from row0 on. what: the measure, NULL: none. kept: their
 * logits are kept, at most network_room rows. */
void network_answers_begin(struct network *n, uint64_t row0, uint64_t count,
                           const struct answers *what, bool kept);
/* The number of batches of this shape, of the next `times` from row0 on, that may be played now; at
 * least 1. */
uint32_t network_answers_feed(struct network *n, const struct netshape *s, uint64_t row0,
                              uint64_t times);
/* Waits for all of them. measured, logits [count][outputs]: NULL: not wanted. False: the machine
 * has failed. */
bool network_answers_wait(struct network *n, struct answers *measured, real *logits, struct err *e);

/* Checks that weights and buffers are finite: the first computes it, the second fetches the result,
 * or the next wait in between does. */
void network_check_finite(struct network *n);
bool network_is_finite(struct network *n, bool *finite, struct err *e);
/* The copy of the best weights and buffers on the machine: whether it exists; made from the present
 * ones; put back in their place; set from the host; fetched (params, buffers). */
bool network_has_best_copy(const struct network *n);
void network_save_best(struct network *n);
void network_restore_best(struct network *n);
void network_set_best(struct network *n, const struct network_state *s);
bool network_get_best(struct network *n, struct network_state *s, struct err *e);

/* --- where a number first was not finite --- */

/* A bad step changes no weights, nor does a later step of its epoch (op_norm2's halt): it is
 * computed once more, operation by operation. Writes "the output of layer 3 of 5 (dense)" into
 * text, or "a weight of layer ..", "the loss", "the gradient of layer ..", or "a gradient" when the
 * step is finite this time. Layers are counted from 1 in the resolved config; a nested one counts
 * after the layer that holds it; the last one is the output layer. Overwrites gradients and
 * activations; the counters stay. */
void network_nonfinite(struct network *n, char *text, size_t room);
/* "a weight of layer 3 of 5 (dense)", for the parameter at this offset. */
void model_name_weight(const struct model *m, uint64_t at, char *text, size_t room);

#endif
