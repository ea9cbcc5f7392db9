/* run.h - one network in training, as a value: its recipe, its rows, its seed; network, optimiser,
 * history, best weights. A run knows no command line, no output file and no lock: those belong to
 * its owner (job.h). Many runs can train on the same encoded rows, one after another or side by
 * side in threads. Each needs a machine of its own, and side by side threads_alone (thread.h).
 *
 *     struct run r = {.config = config, .seed = 1, .encoder = encoder, .rows = view->rows,
 *                     .target = target, .list = {train, valid, test}, .machine = machine};
 *     good = run_open(&r, &e) && run_plan(&r, NULL) == NULL && run_network(&r, &e) &&
 *            run_begin(&r, &e) && run_epochs(&r, &e) == RUN_ENDED &&
 *            run_use_best(&r, &last, &e) && run_answer(&r, &valid, logits, &e);
 *     run_unmap_state(&r, &last);
 *     run_close(&r);
 *
 * A signal ends every run of the process (base/process/stop.h). */
#ifndef DNN_TRAIN_RUN_H
#define DNN_TRAIN_RUN_H

#include "config/config.h"
#include "model/network/lanes.h"
#include "train/run/checkpoint.h"
#include "train/run/history.h"
#include "train/run/score.h"
#include "train/run/warm.h"

struct run;

/* An epoch that has ended. */
struct run_epoch {
    const struct step *now;
    double loss, metric;         /* metric NaN: it has no value */
    const struct metrics *valid; /* all metrics, if the owner wants them; else none */
    bool best;
    double rows_per_s, seconds;
};
/* Calls to the owner of a run; each may be NULL. */
struct run_watch {
    void *owner;
    bool all_metrics; /* every metric of the validation rows after each epoch */
    /* After some 0.05 s of steps; `done` steps of the epoch. */
    void (*steps)(void *owner, const struct run *r, const struct step *now, int64_t done);
    /* Between two steps: the state is whole, a checkpoint may be written. False: e says why the
     * run ends. */
    bool (*pause)(void *owner, struct run *r, const struct step *now, struct err *e);
    /* After an epoch, before its weights are kept as the best. False: e says why the run ends. */
    bool (*epoch)(void *owner, struct run *r, const struct run_epoch *p, struct err *e);
};

/* The weights and buffers of the best epoch on the host. params NULL: none. From a GPU, which may
 * fail, with moments: a checkpoint of them resumes to the same bytes. */
struct run_best {
    struct network_state state;
    int64_t epochs;
    uint64_t mark; /* run.mark at its end */
};
/* The pace of the epochs in this process. */
struct run_pace {
    uint32_t stretch;    /* steps between two looks at signals and clock */
    int64_t epochs;
    double seconds; /* of these epochs */
    double validation; /* seconds of the last one; 0: none yet */
    int64_t steps;  /* of this epoch */
    double began, step_seconds; /* of this epoch; the part of it spent in steps */
    double scale;   /* of gradients in fp16, as logged last */
};

/* The rows that judge the run, if answers to a whole part would not fit the time limit. */
struct judged {
    uint64_t *at; /* [list.count] their places in the whole list, ascending; NULL: all judge */
    uint64_t of;  /* answers of the whole list */
    struct row_list list, whole; /* owned; borrowed */
};

struct run {
    /* Set by the owner before run_open; borrowed until run_close. */
    const struct config *config; /* train, model, task */
    uint64_t seed;
    struct encoder *encoder; /* only read */
    struct rows rows;            /* encoded */
    const double *target;        /* regression: raw, of each row; else NULL */
    const struct dataset *groups; /* as of a score_job */
    struct row_list list[PARTS]; /* rows to train on, to validate on, to test on */
    bool whole_test;             /* each test row is answered, whatever the time */
    double passes[PARTS]; /* of the owner over the answers of a part, once the run has ended */
    struct machine *machine;     /* before run_plan; nothing of another run on it */
    bool quiet; /* no notes and warnings about the recipe: another run gave them */
    struct warm_from from; /* the first weights; of NULL: new ones */
    int64_t micro_most; /* most rows of a micro-batch on a GPU (GPU_BATCH_SIZE); 0: no limit */
    struct run_watch watch;
    double began; /* clock_now() of the start */
    double used;  /* seconds of earlier runs of the same training: for the time limit */
    uint64_t mark; /* the owner's: kept with the best epoch */

    struct features *features;
    uint32_t classes; /* 0: regression */
    struct loss_options loss; /* resolved */
    float *class_weight;
    float *prior_weight; /* the same by train.sampling too; NULL: none */
    double *class_counts; /* of score; without train.sampling */
    uint32_t *sampled;   /* list[PART_TRAIN].index by train.sampling */
    /* the index of source in the order of lengths; NULL: source keeps its own order */
    uint32_t *sorted;

    /* Rows of a micro-batch and micro-batches of a step by the config, but not more than there are
     * training rows. */
    uint32_t batch, micro;
    int64_t steps; /* of an epoch */
    struct plan plan;
    struct network *network;
    struct stepper *stepper;
    struct source source; /* training rows */
    struct judged judged[PARTS]; /* list[PART_VALID] and list[PART_TEST] point into them, if set */
    double row_seconds;   /* of judging a row; 0: no time limit */
    struct lanes lanes;   /* of this epoch, if state passes from window to window */
    struct score_job score;
    struct history history;
    struct run_pace pace;

    struct run_best best;
    /* A GPU keeps the best weights itself (network_save_best). They are brought to `best` now and
     * then, for a card that breaks. */
    struct {
        bool is;
        struct step now;
        uint64_t mark;
        double brought; /* clock_now() of the last time */
    } there;
    const char *stopped; /* why the epochs ended: "epochs", "patience", "time_limit", "diverged" */
    char *broke;         /* "diverged": the reason, owned; else NULL */
};

/* Features, batch, loss, class weights, metric. False: E13 or E14. run_close in either case. */
bool run_open(struct run *r, struct err *e);
void run_close(struct run *r);
/* Factor [classes] by which train.sampling repeats each class, given its row count: 1 without the
 * key. */
void run_sampling(const struct config *c, const double *counts, uint32_t classes, double *factor);
/* Replaces list[PART_TRAIN] by the rows that train.sampling draws with the seed; sets factor
 * [classes]. False: E13, there would be too many rows. Private to run.c. */
bool run_sample(struct run *r, double *factor, struct err *e);
/* The fold below `folds` of each row of list[PART_TRAIN]; all copies of a row, which are
 * neighbours, have the same. mem_free. Private to run*.c. */
uint8_t *run_deal_folds(const struct run *r, uint32_t folds);
/* train.loss.class_weights [classes], times the factors of train.sampling. rows: the training rows
 * of each class, from which sampling draws; sums: their weights. NULL: none. mem_free. False:
 * E13. */
bool run_class_weights(const struct config *c, const struct schema *s, const double *rows,
                       const double *sums, float **weights, struct err *e);
/* Sets the weights of classes and the sampled rows of a run that opens. False: E13. */
bool run_set_weights(struct run *r, struct err *e);
/* The loss that counts for the answers of a config's training, with the same rows and sums (classes
 * alone; else NULL). Caller: mem_free(*weights), which k borrows. False: E13. */
bool run_criterion(const struct config *c, const struct encoder *of, const double *rows,
                   const double *sums, struct criterion *k, float **weights, struct err *e);

/* --- the network --- */

/* Sets batch, micro and steps for batches of batch_size rows (train.batch_size). */
void run_size(struct run *r, int64_t batch_size);
/* Deals the windows of this epoch to the rows of its batches, as r->source, if state passes from
 * window to window; else it does nothing. Returns the lanes of the epoch before. Caller:
 * lanes_free, once the network has the new source. */
struct lanes run_deal(struct run *r);
/* Makes the plan, as `wanted` by a checkpoint as far as this machine and build can; NULL: by the
 * config. Returns the name of the first field that differs from `wanted`; NULL: none. */
const char *run_plan(struct run *r, const struct plan *wanted);
struct network_options run_network_options(const struct run *r);
/* Makes the network of the plan and gives it the training rows. A GPU without room gets
 * micro-batches of half the rows, then streamed rows; the plan changes. False: GPU_MEMORY, and the
 * owner may try again with another machine. */
bool run_network(struct run *r, struct err *e);
/* Drops the network and makes one for batches of batch_size rows, with first weights. */
bool run_rebuild(struct run *r, int64_t batch_size, struct err *e);
/* Sets the plan's precision to fp32 if all products of the network are small and none is
 * rounded. */
void run_keep_fp32(struct run *r);
/* True: run_network would succeed for batches of batch_size rows without smaller micro-batches, on
 * this machine. room: bytes of the machine for it, 0: not known; opened: the machine's plan before
 * the network was made. Changes the machine's plan. */
bool run_fits(const struct run *r, int64_t batch_size, const struct plan *opened, uint64_t room);

/* --- training --- */

/* First weights: from the seed, or from another model: then their metric is to be beaten. */
bool run_begin(struct run *r, struct err *e);
/* Sets the state of a checkpoint; moves its best weights to the run. path: for messages. */
bool run_resume(struct run *r, struct checkpoint *c, const char *path, struct err *e);
/* RUN_ENDED: r->stopped says why; a run that diverged goes back to its best epoch and ends
 * ("diverged"). RUN_STOPPED: a signal asked to end; the state is after the last whole step, unless
 * r->broke. RUN_FAILED: e says why; DIVERGED: it diverged before an epoch ended. */
enum run_end { RUN_ENDED, RUN_STOPPED, RUN_FAILED };
enum run_end run_epochs(struct run *r, struct err *e);

/* True: preset linear solves for the weights along a path of penalties, an epoch a penalty, or
 * rocket in one epoch; there are no steps and no checkpoints. */
bool run_is_path(const struct run *r);
/* True: the weights are solved for by ridge regression: the config asks for it, and there are at
 * most RIDGE_ROWS training rows. */
enum { RIDGE_ROWS = 8000 };
bool run_is_ridge(const struct run *r);
/* Label, target and weight of a training record. False: it does not count: no label, no target, no
 * weight. */
struct run_row {
    int32_t label;         /* classes; else 0 */
    double target, weight; /* target: standardised; else 0. weight: times the class's */
};
bool run_row(const struct run *r, uint32_t record, struct run_row *row);
int64_t run_epochs_most(const struct run *r); /* epochs, or penalties */
double run_seconds(const struct run *r);                 /* used so far, with earlier runs */
double run_rate(const struct run *r, int64_t step);      /* learning rate of a step, from 0 */
double run_rows_per_second(const struct run *r);         /* of this epoch */
double run_seconds_left(const struct run *r, double fraction); /* fraction of this epoch; -1: ? */
double run_epoch_loss(const struct step *now);           /* mean so far; NaN: no weight */

/* --- the state --- */

/* The network's state, all of it or weights and buffers alone, until the next step: in place if the
 * machine's memory is the host's, else a copy. run_unmap_state in either case. False: the machine
 * has failed. */
bool run_map_state(struct run *r, bool all, struct network_state *s, struct err *e);
void run_unmap_state(const struct run *r, struct network_state *s);
void run_state_free(struct network_state *s);
/* All weights and buffers are finite; else DIVERGED. */
bool run_finite(const struct run *r, const struct network_state *s, struct err *e);
/* Waits for the machine. False: it has failed, and values fetched from it mean nothing. */
bool run_answered(const struct run *r, struct err *e);
/* The best weights of the machine if they are newer than r->best, as a copy (run_state_free); else
 * nothing. */
bool run_newer_best(struct run *r, struct network_state *s, struct err *e);
/* Puts the best weights in place of the last ones. *last keeps those for run_use_last;
 * run_unmap_state in either case. Nothing changes if the last weights are used. */
bool run_use_best(struct run *r, struct network_state *last, struct err *e);
void run_use_last(struct run *r, const struct network_state *last);
/* Logits [count][outputs] of listed rows, in their order, by the present weights. False without an
 * error: a signal asked to stop. */
bool run_answer(const struct run *r, const struct row_list *rows, real *logits, struct err *e);
/* As above for the first `count` of the records `first` (struct table). They must last as long as
 * the network. In sequences of records they are one window; if it has one answer, each record gets
 * it. */
bool run_answer_first(const struct run *r, const struct rows *first, uint32_t count, real *logits,
                      struct err *e);

/* --- run_judge.c: the rows that judge it --- */

/* With a time limit: measures the pace of answers; if answers to all validation and test rows would
 * not fit, it replaces the lists by samples. Once; nothing changes if they fit. False without an
 * error: a signal asked to stop. */
bool run_judge_begin(struct run *r, struct err *e);
/* After the epochs: smaller samples, if less time is left than expected. */
void run_judge_end(struct run *r);
double run_judge_seconds(const struct run *r); /* of answers after the epochs, by the pace so far */
/* Seconds of the training at which steps must end; again: one more validation follows them. Steps
 * have half of the limit at least. */
double run_judge_from(const struct run *r, bool again);
double run_pass_seconds(uint32_t outputs); /* of a pass of the owner over one answer, about */
/* Draws at least `rows` answers of a list, whole windows or sequences, in its order; a smaller
 * sample by the same seed is part of a larger one. judged_free. */
void judged_draw(struct judged *j, const struct row_list *l, uint64_t rows, uint64_t seed);
void judged_free(struct judged *j);

/* --- between the files of a run --- */

uint64_t run_pieces(uint64_t all, uint64_t each); /* all / each, rounded up */
/* The run diverged at step number `step`; what: "the loss is not finite". Fills e (DIVERGED).
 * False. */
bool run_diverged(const struct run *r, int64_t step, const char *what, struct err *e);
/* Checks weights and buffers: begins, and after other waits gives the result; else DIVERGED. */
void run_sound_begin(struct run *r);
bool run_sound(struct run *r, const struct step *now, struct err *e);
/* Keeps the state of the best epoch so far. False: the machine has failed, r->best is as it was. */
bool run_remember(struct run *r, const struct step *now, struct err *e);

#endif
