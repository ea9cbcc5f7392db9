/* keeper.h - the checkpoints of a run: when one is due, how it is written, which one a resumed run
 * goes on from. */
#ifndef DNN_TRAIN_KEEPER_H
#define DNN_TRAIN_KEEPER_H

#include "model/file/checkpoint_list.h"
#include "train/journal.h"
#include "train/run/run.h"

/* A checkpoint: the number in its file's name, and its step. They differ if a file of another
 * training had the name of that step. */
struct checkpoint_id {
    int64_t name, step;
    bool written; /* by this process; else it was found */
};
/* The checkpoints that a run wrote or resumed from. The newest `keep` stay until the model is
 * written. Made by output, keep, journal, config and data. */
struct keeper {
    char *output; /* they lie beside this name; owned */
    int64_t keep;
    struct checkpoint_id *own; /* by name, ascending */
    size_t count;
    struct checkpoint_list damaged; /* found by a search; removed with ours */
    bool part; /* the run has ended, and `output` is the file of its part, ours to delete */
    struct checkpoint *found;  /* to resume from; NULL: none, or it is at work */
    struct journal *journal;   /* its length is in each; NULL: none. Borrowed, as the next two */
    const char *config, *data; /* that the training is of */
    char *last; /* path of the last one, written or resumed from; NULL: none */
    double at;  /* clock_now() of it, or of the start */
};
void keeper_own(struct keeper *k, struct checkpoint_id id); /* this one is ours */
struct checkpoint_id keeper_newest(const struct keeper *k); /* -1, -1: none */
/* Writes one, durable: k->last; then deletes our oldest beyond `keep`. A deletion that fails is a
 * warning. The number in its file name is its step, or the next free one if another checkpoint has
 * that name. Files that are not ours stay; links at our names are replaced. A later step of ours
 * has a higher number. */
bool keeper_save(struct keeper *k, const struct checkpoint *c, struct err *e);
void keeper_undo(struct keeper *k); /* deletes the checkpoints that this process wrote */
void keeper_clear(struct keeper *k); /* deletes all of ours and the damaged ones: at the end */
void keeper_release(struct keeper *k); /* forgets them; the files stay */

/* asked: by a signal. */
bool keep_due(const struct keeper *k, const struct run *r, const struct step *now, bool asked);
/* Writes the state of the run; durable when true. The file becomes the keeper's last. */
bool keep_write(struct keeper *k, struct run *r, struct err *e);
/* Writes the run's best epoch, moments included. */
bool keep_best(struct keeper *k, struct run *r, struct err *e);
/* After a signal: writes the state if a step was made and all is finite. */
bool keep_stopped(struct keeper *k, struct run *r, struct err *e);
/* --resume=or-restart: removes the checkpoints beside an output. A file with such a name that is
 * not a checkpoint stays. */
bool keep_drop(const char *output, struct err *e);

/* --- to resume from --- */

/* True: this config has another value of the key ("backend.precision") than the config of c. */
bool resume_asks_other(const struct checkpoint *c, const char *config, const char *path);
/* Finds the newest whole checkpoint beside k->output of k's config and data: k->found and k->last.
 * It and older ones of the same config and data become ours. None found and true: there is none.
 * Damaged ones are skipped with a warning. Errors: a newer one or the folder cannot be read
 * (permission, descriptors, disk); CHECKPOINT_OTHER: there are whole ones and none fits, the
 * message names the difference. If no other fits, train.optimizer.learning_rate and train.clip_norm
 * may differ, with a note. */
bool resume_find(struct keeper *k, struct err *e);
/* The dotted keys in which two configs differ, "train.epochs, train.seed"; "": none. Keys that do
 * not change the model's bytes do not count: outputs, backend, checkpoints, time limit; nor, unless
 * strict, those that a resumed run may change. */
void resume_differences(const char *one, const char *other, bool strict, struct text *out);

#endif
