/* resume.h - finds the checkpoint to resume from, and keeps the list of a training's own
 * checkpoints. */
#ifndef DNN_TRAIN_RESUME_H
#define DNN_TRAIN_RESUME_H

#include "model/file/checkpoint_list.h"
#include "train/run/checkpoint.h"

struct journal;

/* A checkpoint: the number in its file's name, and its step. They differ if a file of another
 * training had the name of that step. */
struct checkpoint_id {
    int64_t name, step;
    bool written; /* by this run; else it was found */
};
/* The checkpoints that this training wrote or resumed from. The newest `keep` stay until the model
 * is written. */
struct keeper {
    const char *output;
    int64_t keep;
    struct checkpoint_id *own; /* by name, ascending */
    size_t count, room;
    struct checkpoint_list damaged; /* found by a search; removed with ours */
    struct journal *journal;   /* its length is in each; NULL: none. Borrowed, as the next two */
    const char *config, *data; /* that the training is of, before a checkpoint is written */
    char *last; /* path of the last one, written or resumed from; NULL: none */
    double at;  /* clock_now() of it, or of the start */
};
void keeper_own(struct keeper *k, int64_t name, int64_t step); /* this one is ours */
struct checkpoint_id keeper_newest(const struct keeper *k);             /* -1, -1: none */
int64_t keeper_step(const struct keeper *k, int64_t name);     /* of ours; 0: it is not */
/* Writes one, durable; then deletes our oldest beyond `keep`. A deletion that fails is a warning.
 * *name: the number in its file name: its step, or the next free number if another checkpoint has
 * that name. Files that are not ours stay; links at our names are replaced. A later step of ours
 * has a higher number. */
bool keeper_save(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e);
/* After a failure: true: the new one is in place and whole; only a power cut can lose its name. */
bool keeper_placed(const struct err *e);
void keeper_undo(struct keeper *k); /* deletes the checkpoints that this process wrote */
void keeper_clear(struct keeper *k); /* deletes all of ours and the damaged ones: at the end */
void keeper_release(struct keeper *k); /* forgets them; the files stay */

/* True: this config has another value of the key ("backend.precision") than the config of c. */
bool resume_asks_other(const struct checkpoint *c, const char *config, const char *path);
/* Finds the newest whole checkpoint beside k->output of this config and data: *c, with its *path
 * (mem_free). It and older ones of the same config and data become ours. *c NULL and true: there is
 * none. Damaged ones are skipped with a warning. Errors: a newer one or the folder cannot be read
 * (permission, descriptors, disk); CHECKPOINT_OTHER: there are whole ones and none fits, the
 * message names the difference. If no other fits, train.optimizer.learning_rate and train.clip_norm
 * may differ, with a note. */
bool resume_find(struct keeper *k, const char *config, const char *data, struct checkpoint **c,
                 char **path, struct err *e);
/* The path (mem_free) of a checkpoint newer than k's newest that --resume would choose: whole, of
 * this config and data. NULL: there is none. Logs nothing. */
char *resume_newer(const struct keeper *k, const char *config, const char *data);
/* The dotted keys in which two configs differ, "train.epochs, train.seed"; "": none. Keys that do
 * not change the model's bytes do not count: outputs, backend, checkpoints, time limit. */
void resume_differences(const char *one, const char *other, struct text *out);

#endif
