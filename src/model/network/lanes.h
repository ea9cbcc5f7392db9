/* lanes.h - windows of sequences dealt to the rows of batches, if state passes from window to
 * window: a lane is a row of every batch; it reads the windows of a sequence one after another,
 * then the windows of the next sequence dealt to it. */
#ifndef DNN_MODEL_LANES_H
#define DNN_MODEL_LANES_H

#include "backend/backend.h"

struct lanes {
    uint64_t batches;
    uint32_t count;   /* lanes: rows of a batch */
    /* [batches][count][steps]: windows as of a source; without records after a lane's end */
    uint32_t *index;
    uint32_t *begins; /* [batches][count] */
    uint64_t *from;   /* [batches][count]: position in the source; UINT64_MAX: none */
};
/* To train: the longest sequences first, each to the lane with the fewest windows so far, so that
 * each epoch has the same number of batches; ties between lanes, and the order in a lane, are drawn
 * by seed and epoch. Caller: lanes_free. */
void lanes_train(struct lanes *l, const struct source *from, uint32_t count, uint64_t seed,
                 uint32_t epoch);
/* To answer positions row0 .. row0 + rows - 1: sequences cut at either end of the range go to lane
 * 0, so that their state can continue. */
void lanes_answer(struct lanes *l, const struct source *from, uint64_t row0, uint64_t rows,
                  uint32_t count);
void lanes_free(struct lanes *l);
/* Sequences among `count` windows. */
uint64_t lanes_chains(const uint32_t *begins, uint64_t count);
/* The most lanes to train with: at most one for each sequence, and few enough that next to the
 * longest one at most half of the places are empty. */
uint32_t lanes_most(const uint32_t *begins, uint64_t count);

#endif
