/* keep.h - the checkpoints of a run in training: when one is due, and how it is written. Private to
 * src/train. */
#ifndef DNN_TRAIN_KEEP_H
#define DNN_TRAIN_KEEP_H

#include "train/journal.h"
#include "train/resume.h"
#include "train/run/run.h"

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

#endif
