/* network.h - a model on a machine: arenas, and the routines that are recorded - one whole training
 * step, batches of answers. Used by run/train and run/predict; the only callers of model_forward
 * and model_backward. */
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
    uint32_t micro; /* micro-batches of a step (train.grad_accumulation) */
    bool training;
    const struct loss_options *loss; /* training; resolved */
    const struct optim_options *optim;
    double clip_norm; /* 0: none */
};
/* Bytes it will take on the machine, by kind, before anything is allocated. */
struct network_bytes {
    uint64_t weights, gradients, state, activations, scratch, total;
};
bool network_need(const struct network_options *o, const struct machine *m, struct network_bytes *b,
                  struct err *e);

/* Borrows the options' pointers until network_free. Plan of the machine must be set (machine_obey)
 * before; plan NULL: for answers only. */
struct network *network_new(const struct network_options *o, struct machine *m,
                            const struct plan *plan, struct err *e);
void network_free(struct network *n);
const struct model *network_model(const struct network *n);

/* State as host arrays: params [params], buffers [buffers], m1, m2 [params]. What is NULL is left
 * as it is (put) or out (get); the optimiser may have no m1 or m2 (optim_states). now counts in
 * training only. */
struct network_state {
    real *params, *buffers, *m1, *m2;
    struct step now;
};
void network_put(struct network *n, const struct network_state *s);
void network_get(struct network *n, struct network_state *s);

/* --- training --- */
/* The rows to train on; its arrays live in host memory (the CPU machine reads them in place).
 * features may be NULL. */
void network_source(struct network *n, const struct source *from);
/* Begins an epoch at its first row: hyper-parameters for `count` >= 1 steps from step->tried on;
 * clears the epoch's sums. To go on inside an epoch, put the state once more after it. False when
 * the machine has no room for the table. */
bool network_epoch(struct network *n, uint32_t epoch, const struct hyper *table, uint32_t count,
                   struct err *e);
/* The next `steps` steps; the routine is recorded at the first call. Returns after the machine is
 * done. */
bool network_train(struct network *n, uint32_t steps, struct err *e);
void network_step(struct network *n, struct step *now); /* counters and sums as they stand */
/* The gradient norms of `count` steps of this epoch, from its step `first` on: the first step of
 * the table that network_epoch was given is 0. */
void network_norms(struct network *n, uint32_t first, uint32_t count, double *norms);

/* --- answers: exact (row-independent) forward; also during training, with the weights as they are
 * --- */
/* Logits [count][outputs] of positions row0.. of `from` (no shuffle); any count, played in batches.
 * A row's logits depend on the weights and that row alone. */
bool network_answer(struct network *n, const struct source *from, uint64_t row0, uint64_t count,
                    real *logits, struct err *e);

#endif
