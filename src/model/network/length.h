/* length.h - lengths of sequences on the host, as the machine finds them, and an order of training
 * rows in which the sequences of a step are of like length. */
#ifndef DNN_MODEL_LENGTH_H
#define DNN_MODEL_LENGTH_H

#include "backend/backend.h"
#include "base/rowfmt.h"

/* Steps of the sequence at this place of the index; 0: it has none. */
uint32_t length_of(const struct source *from, const struct features *f, uint64_t place);

/* Steps that a pass over these places of the index needs: one of few numbers, so that few routines
 * are recorded. 0: all. */
uint32_t length_most(const struct source *from, const struct features *f, uint64_t begin,
                     uint64_t end);

/* Sets from->by_length for steps of `batch` rows. Returns the index in the order of lengths, to be
 * used as from->index (mem_free); NULL: index and order stay as they are, since too few places
 * would be padding, there are too few rows, or the rows are no sequences. */
uint32_t *length_sort(struct source *from, const struct features *f, uint32_t batch);

/* The longest sequence in the training step of `batch` rows that starts at row0 of an epoch; 0: all
 * steps. */
uint32_t length_step(const struct source *from, const struct features *f, const struct step *now,
                     uint32_t batch);

#endif
