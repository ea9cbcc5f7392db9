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
/* The checkpoints that this training wrote or went on from: the newest `keep`, and the one that is
 * held, stay until the model is written. */
struct keeper {
    const char *output;
    int64_t keep;
    struct kept *own; /* by name, ascending */
    size_t count, room;
    int64_t held; /* the name of one that stays, however many are newer; 0: none */
    /* The newest that a search found behind its own that was written with another learning rate or
     * clip_norm: this training went on from there, as both carry its name. Its own; 0: none. */
    int64_t earlier;
    struct checkpoint_list damaged; /* that a search passed over; they go with ours */
};
void keeper_own(struct keeper *k, int64_t name, int64_t step); /* this one is ours */
struct kept keeper_newest(const struct keeper *k);             /* -1, -1: there is none */
int64_t keeper_step(const struct keeper *k, int64_t name);     /* of ours; 0: it is not */
/* Writes one, durable; then deletes our oldest beyond `keep`, but the one that is held.
 * A failing deletion is a warning.
 * *name: the number in its file name, that of its step, or the next one that is free where another
 * checkpoint has it: what is not ours is left, and a later step of ours has a higher number. */
bool keeper_save(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e);
/* After a failure: the new one is in place and whole, and only its name may be lost with the power.
 */
bool keeper_placed(const struct err *e);
/* The training goes back to c: writes it, durable, and only then deletes ours of later steps. */
bool keeper_rewind(struct keeper *k, const struct checkpoint *c, int64_t *name, struct err *e);
void keeper_back(struct keeper *k, int64_t step); /* deletes ours of later steps */
void keeper_undo(struct keeper *k); /* deletes those that this run wrote */
void keeper_clear(struct keeper *k); /* deletes all of ours: the model is there; damaged ones too */
void keeper_release(struct keeper *k); /* forgets them; the files stay */

/* Whether this config asks for another value of that key ("backend.precision") than the one that c
 * was written by. */
bool resume_asks_other(const struct checkpoint *c, const char *config, const char *path);
/* A name for a training that starts afresh, 64 hexadecimal digits that no other will have. */
void resume_draw(char training[65]);
/* The newest checkpoint beside k->output that is whole and belongs to this config and data; damaged
 * ones are named in a warning and passed over. *c and older ones of the same config and data become
 * ours, and of those that fit but for what may differ (below) the ones that carry the name of *c's
 * training: it went on from there. What another training left stays. *c NULL and true: there is
 * none. One that could not be read (permission, descriptors, the disk) before a fitting one was
 * found, or a folder that cannot be listed, is an error: what is there is not known.
 * CHECKPOINT_OTHER when there are whole ones and none fits: the message names what differs. *path
 * (mem_free) is set with *c. Where no other fits, train.optimizer.learning_rate and train.clip_norm
 * may differ, which a note says: they are what a training that diverged needs changed before it can
 * go on. */
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
