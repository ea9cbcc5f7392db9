/* drift_note.h - the note about values unlike the training rows'. */
#ifndef DNN_ANSWER_DRIFT_NOTE_H
#define DNN_ANSWER_DRIFT_NOTE_H

#include "table/encoder/cell.h"

/* rows: how many were read, in which the drift was counted. */
void drift_note(const struct drift *d, const struct encoder *e, uint64_t rows);

#endif
