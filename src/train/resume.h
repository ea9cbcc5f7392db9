/* resume.h - which checkpoint a training goes on from, and which ones are its own to delete. */
#ifndef DNN_TRAIN_RESUME_H
#define DNN_TRAIN_RESUME_H

#include "model/checkpoint_list.h"
#include "train/checkpoint.h"

/* A checkpoint: the number in its file's name, and the step that it is of. They differ where a file
 * of another training had that name. */
struct kept {
    int64_t name, step;
    bool written; /* by this run; else it was found */
};
/* The checkpoints that this training wrote or resumed from. The newest `keep` stay until the model
 * is written. */
struct keeper {
    const char *output;
    int64_t keep;
    struct kept *own; /* by name, ascending */
    size_t count, room;
    struct checkpoint_list damaged; /* that a search passed over; they go with ours */
};
void keeper_own(struct keeper *k, int64_t name, int64_t step); /* this one is ours */
struct kept keeper_newest(const struct keeper *k);             /* -1, -1: there is none */
int64_t keeper_step(const struct keeper *k, int64_t name);     /* of ours; 0: it is not */
/* Writes one, durable; then deletes our oldest beyond `keep`. A failing deletion is a warning.
 * *name: the number in its file name, that of its step, or the next one that is free where another
 * checkpoint has it: what is not ours is left, and a later step of ours has a higher number. */
bool keeper_save(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e);
/* After a failure: the new one is in place and whole, and only its name may be lost with the power.
 */
bool keeper_placed(const struct err *e);
void keeper_undo(struct keeper *k); /* deletes those that this run wrote */
void keeper_clear(struct keeper *k); /* deletes all of ours: the model is there; damaged ones too */
void keeper_release(struct keeper *k); /* forgets them; the files stay */

/* Whether this config asks for another value of that key ("backend.precision") than the one that c
 * was written by. */
bool resume_asks_other(const struct checkpoint *c, const char *config, const char *path);
/* The newest checkpoint beside k->output that is whole and belongs to this config and data; damaged
 * ones are named in a warning and passed over. *c and older ones of the same config and data become
 * ours; another training's stay. *c NULL and true: there is none. One that could not be read
 * (permission, descriptors, the disk) before a fitting one was found, or a folder that cannot be
 * listed, is an error: what is there is not known.
 * CHECKPOINT_OTHER when there are whole ones and none fits: the message names what differs. *path
 * (mem_free) is set with *c. Where no other fits, train.optimizer.learning_rate and train.clip_norm
 * may differ, with a note. */
bool resume_find(struct keeper *k, const char *config, const char *data, struct checkpoint **c,
                 char **path, struct err *e);
/* What --resume would take rather than k's newest: a newer one that is whole and belongs to this
 * config and data. Its path, mem_free; NULL: there is none. Looks at nothing else, and is quiet. */
char *resume_newer(const struct keeper *k, const char *config, const char *data);
/* The dotted keys in which two configs differ, "train.epochs, train.seed"; "" when they agree on
 * all that decides the bytes: where files lie, how often a checkpoint is written and how long a
 * training may take do not count. */
void resume_differences(const char *one, const char *other, struct text *out);

#endif
