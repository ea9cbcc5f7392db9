/* training.h - inside one training: what its files share. Private to train.c, training.c, epoch.c,
 * training_read.c, training_state.c, training_end.c, training_network.c, train_save.c,
 * train_judge.c and src/check.
 *
 *     training_open   outputs probed, lock taken
 *     training_load   threads, the machine, the table, what the network sees of it, the config
 *     training_build  plan, network, weights: fresh, or a checkpoint's
 *     epochs_run      epochs, validation, early stopping, checkpoints
 *     train_save      best weights, final metrics, golden rows, the model file
 *     train_judge     compares the model with a constant answer: warnings
 *     training_close  frees everything, in any state */
#ifndef DNN_TRAIN_TRAINING_H
#define DNN_TRAIN_TRAINING_H

#include "base/lock.h"
#include "base/progress.h"
#include "model/modelfile.h"
#include "model/network.h"
#include "table/table.h"
#include "train/history.h"
#include "train/journal.h"
#include "train/resume.h"
#include "train/score.h"
#include "train/train.h"

struct training {
    const struct train_request *request; /* NULL: a check */
    struct config *config;
    /* Behind all links: lock, checkpoints and what is written aside lie beside it. NULL: of a
     * check, which trains nothing and leaves nothing. */
    char *output;
    bool resume;
    double began; /* clock_now() */
    double before; /* seconds that a process took which became this one */
    double used;  /* seconds of earlier runs of this training, and of that process */
    struct selection backend;

    struct lock lock;
    struct journal journal;
    struct keeper keeper;
    char *checkpoint;     /* path of the last one written or gone on from; NULL: none */
    double checkpoint_at; /* clock_now() of it, or of the start */

    struct checkpoint *found; /* to go on from; NULL: none, or not `looked` for yet */
    bool looked;
    bool dropped; /* checkpoints of another config or data were removed */

    struct machine *machine;
    double opening_s; /* that opening it took, but for what reading the data hid */
    const struct training *lender; /* whose data this run reads; it lives longer. NULL: its own */
    struct schema *schema;         /* the lender's, or owned; so is the table */
    struct table *table;
    struct features *features;
    char *config_text; /* resolved, portable */
    char **labels;     /* class texts in order */
    uint32_t classes;  /* 0: regression */
    float *class_weight;

    struct plan plan;
    struct network *network;
    struct stepper *stepper;
    struct source source; /* training rows */
    struct score_job score;
    struct history history;
    /* Weights and buffers after the best epoch (history.h); params NULL: none yet. On a GPU,
     * which may fail, the moments too: a checkpoint of them resumes to the same bytes. */
    struct network_state best;
    /* A GPU keeps the best weights itself (network_keep_best). They are brought here, with all that
     * belongs to them, now and then, for a card that breaks, and where somebody needs them. */
    struct {
        bool is;
        struct step now;
        int64_t epochs;
        uint64_t journal;
        double brought; /* clock_now() when all was, last */
    } there;
    int64_t best_epochs;
    uint64_t best_journal;
    /* Rows of a micro-batch and micro-batches of a step, as the config says, but never more than
     * there are training rows: those past them would be worked on for nothing. */
    uint32_t batch, micro;
    int64_t steps;             /* of an epoch */
    struct progress *progress;
    const char *stopped; /* why the epochs ended: train_result */
    char *broke;         /* "diverged": the reason, owned; else NULL */
    bool says_kept;      /* an error's message tells what is left to go on from */
    size_t said;         /* bytes of it before that; of a machine's failure */
};

bool training_open(struct training *t, const struct train_request *q, struct err *e);
/* Needs t->config alone; reads the data once. */
bool training_load(struct training *t, struct err *e);
/* The table; and the machine, unless the data are to decide which (training_open_machine then). */
bool training_read(struct training *t, struct err *e);
bool training_open_machine(struct training *t, struct err *e);
bool training_build(struct training *t, struct err *e);
void training_close(struct training *t);

/* A path for a message, escaped and cut. */
const char *training_quoted(const char *path, char room[512]);
/* The network's whole state as host arrays, owned by the caller. */
void training_state(const struct training *t, struct network_state *s);
void training_state_free(struct network_state *s);
/* Room for weights and buffers, nothing in it: training_state_free. */
void training_have_weights(const struct training *t, struct network_state *s);
/* The network's state, all of it or weights and buffers alone, until the next step: in place where
 * the machine's memory is the host's, else a copy. training_look_end in either case. False: the
 * machine has failed. */
bool training_look(struct training *t, bool all, struct network_state *s, struct err *e);
void training_look_end(const struct training *t, struct network_state *s);
struct network_options training_network(const struct training *t);
/* Makes it of t->plan, and gives it the training rows. A GPU without room for it gets micro-batches
 * of half as many rows, which changes t->plan, and the CPU takes over where even that is too much.
 */
bool training_make_network(struct training *t, struct err *e);
/* Warns of a precision that is asked for now and is not that of c's plan, which is obeyed. */
void training_say_kept(const struct training *t, const struct checkpoint *c);
/* GPU_BATCH_SIZE: the largest micro-batch on a GPU. */
void training_keep_to_size(struct training *t);
/* t->batch, t->micro and t->steps for batches of so many rows (train.batch_size). */
void training_size(struct training *t, int64_t batch_size);
/* Whether training_make_network would make it whole for batches of so many rows: not halved, and
 * not without a GPU. room: bytes that the machine has for it, 0: not known; opened: its plan
 * before t's network was made. The machine's plan is another one then. */
bool training_fits(const struct training *t, int64_t batch_size, const struct plan *opened,
                   uint64_t room);
double training_seconds(const struct training *t); /* used so far, over all runs */
double training_rate(const struct training *t, int64_t step); /* learning rate of a step, from 0 */
/* Durable when true; becomes t->checkpoint. */
bool training_checkpoint(struct training *t, struct err *e);
/* A signal asked to stop: writes a checkpoint if there is anything to keep, and fills e (STOPPED or
 * INTERRUPTED); of a check, which has no output, only that. False. */
bool training_stopped(struct training *t, struct err *e);
/* All weights and buffers are finite; else DIVERGED. */
bool training_finite(struct training *t, const struct network_state *s, struct err *e);
/* Whether weights and buffers are finite, else DIVERGED: training_sound_ask, then whatever is
 * waited for, then this. */
void training_sound_ask(struct training *t);
bool training_sound(struct training *t, const struct step *now, struct err *e);
/* The best epoch so far has ended: its state becomes t->best's, or the machine keeps it (there).
 * False: the machine has failed, and t->best is what it was. */
bool training_remember(struct training *t, const struct step *now, struct err *e);
/* Writes t->best, moments included, as a checkpoint, durable; becomes t->checkpoint. */
bool training_write_best(struct training *t, struct err *e);
/* Whether what was fetched from the machine is what it had: a machine that failed gives 0. */
bool training_answered(struct training *t, struct err *e);
/* After a failure of the machine: leaves a checkpoint to resume from, t->best where that is whole
 * and newer than the last one written. text: "the last good checkpoint is kept: ..", or why there
 * is none. False: none. */
bool training_keep_last(struct training *t, char *text, size_t room);
/* If it was the machine that failed, or was left as it did not answer: keeps the last good state,
 * and e says so; stopped, where a signal had asked for that and a CPU would have gone on. False. */
bool training_failed(struct training *t, struct err *e);
/* Whether another program can read its data again: nothing comes through a pipe. */
bool training_lasts(const struct training *t);
/* The run broke at step number `step`: `what`, as "the loss is not finite". Fills e (DIVERGED) with
 * the place; epochs_run goes back to the best epoch. False. */
bool training_diverged(struct training *t, int64_t step, const char *what, struct err *e);
/* No epoch was better than a constant answer: nothing is written, this run's checkpoints go. e gets
 * what broke, why nothing is left, and what to change. False. */
bool training_useless(struct training *t, const char *broke, const char *why, struct err *e);
/* What to change in a run that broke. */
void training_advice(const struct training *t, char *text, size_t room);

/* True: the epochs ended, t->stopped says why. A run that breaks goes back to its best epoch and
 * ends there ("diverged"). */
bool epochs_run(struct training *t, struct err *e);
bool train_save(struct training *t, struct train_result *r, struct err *e);

/* --- train_judge.c --- */
/* The trained loss of the model, and of a constant answer (the class shares or the mean of the
 * training rows), on the same rows. */
struct against {
    enum part part;
    double loss, constant;
};
bool against_better(const struct against *a); /* than the constant; false for NaN */
/* Warns of a model that is no better than a constant answer, or whose epochs ended too soon. */
void train_judge(const struct training *t, const struct train_result *r, const struct against *a);

#endif
