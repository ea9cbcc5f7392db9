/* tune_parts.h - shared by the files of tune. Private to tune*.c. */
#ifndef DNN_TRAIN_TUNE_PARTS_H
#define DNN_TRAIN_TUNE_PARTS_H

#include "train/ensemble_mix.h"
#include "train/search/tune.h"

/* Losses of the validation rows, by one training. */
struct tune_losses {
    uint64_t rows;
    double *loss, *weight; /* [rows] */
};

struct tune {
    const struct tune_request *q;
    struct tune_answer *a;
    struct train_request request; /* of the job */
    struct train_job job;         /* table, machine; the ensemble is the round at work */
    struct lock lock;
    struct journal journal; /* of finished trainings, beside the output */
    char *output;           /* with links resolved; NULL: none */
    double used;            /* seconds of earlier runs */
    /* the stage at work */
    uint32_t first;         /* trial of the round that slot 0 is */
    uint32_t stage;
    uint32_t *slots;        /* [slot_count] of the round, ascending: trials in this stage */
    uint32_t slot_count;
    double epoch_seconds;
    int64_t epochs_done;
    struct err broke;       /* of the first trial that broke */
    struct tune_losses plain, top; /* of trial 0's last training; of the best one so far */
    uint32_t top_trial, top_stage; /* which that was */
};

/* --- tune_result.c --- */

double tune_used(const struct tune *t); /* seconds, with earlier runs */
/* True: score a is the better one. */
bool tune_better(const struct metric_type *m, double a, double b);
/* a is the better training: by its score, of equal ones the later stage, then the first trial. */
bool tune_precedes(const struct metric_type *m, const struct tune_result *a,
                   const struct tune_result *b);
/* Adds a finished training to the list. Under the lock while trainings run. */
void tune_add(struct tune *t, const struct tune_result *r);

/* --- tune_gain.c --- */

/* The criterion of a search: its config's, not a trial's. mem_free(*weights). */
void tune_criterion(const struct config *config, const struct run_part *p, struct criterion *c,
                    float **weights);
/* Keeps the losses of a training's rows if it is of trial 0, or the best so far. Under the lock,
 * before tune_add. */
void tune_note_losses(struct tune *t, const struct run_part *p, const struct tune_result *r);
void tune_find_gain(struct tune *t); /* sets a->gain and a->gain_error, once the best is known */
void tune_losses_free(struct tune_losses *l);

/* --- tune_keep.c: the journal, and the files at the end --- */

/* Locks the output; with --resume reads the journal, else begins it anew. False: E15, 76: it is of
 * another search. */
bool tune_open(struct tune *t, struct err *e);
bool tune_keep(struct tune *t, const struct tune_result *r, struct err *e); /* a line; durable */
/* The best config, the trials as CSV; the journal goes. */
bool tune_save(struct tune *t, struct err *e);
void tune_close(struct tune *t);

#endif
