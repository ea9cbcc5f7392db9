/* tune_parts.h - shared by the files of tune. Private to tune*.c. */
#ifndef DNN_TRAIN_TUNE_PARTS_H
#define DNN_TRAIN_TUNE_PARTS_H

#include "train/ensemble_mix.h"
#include "train/tune.h"

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
    uint32_t *slots;        /* [slot_count] of the round, ascending: those in this stage */
    uint32_t slot_count;
    double per_epoch;       /* seconds of an epoch, the mean so far; 0: not known */
    double epoch_seconds;
    int64_t epochs_done;
    struct err broke;       /* of the first trial that broke */
};

double tune_used(const struct tune *t); /* seconds, with earlier runs */
/* Adds a finished training to the list. Under the lock while trainings run. */
void tune_add(struct tune *t, const struct tune_result *r);

/* --- tune_keep.c: the journal, and the files at the end --- */

/* Locks the output; with --resume reads the journal, else begins it anew. False: E15, 76: it is of
 * another search. */
bool tune_open(struct tune *t, struct err *e);
bool tune_keep(struct tune *t, const struct tune_result *r, struct err *e); /* a line; durable */
/* The best config, the trials as CSV; the journal goes. */
bool tune_save(struct tune *t, struct err *e);
void tune_close(struct tune *t);

#endif
