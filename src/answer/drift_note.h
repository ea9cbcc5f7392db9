/* drift_note.h - what was unlike the rows of training, told once at the end of a stream. */
#ifndef DNN_ANSWER_DRIFT_NOTE_H
#define DNN_ANSWER_DRIFT_NOTE_H

#include "table/cell.h"

/* rows: how many were read, in which the drift was counted. */
void drift_note(const struct drift *d, const struct schema *s, uint64_t rows);

#endif
