/* lanes.h - windows of sequences dealt to the rows of batches, where state passes from window to
 * window: a lane is a row of every batch, and reads the windows of a sequence one after another,
 * then those of the next sequence dealt to it. */
#ifndef DNN_MODEL_LANES_H
#define DNN_MODEL_LANES_H

#include "backend/backend.h"

struct lanes {
    uint64_t batches;
    uint32_t count;   /* lanes: rows of a batch */
    uint32_t *index;  /* [batches][count][steps]: windows as of a source; without records where a
                       * lane has ended */
    uint32_t *begins; /* [batches][count] */
    uint64_t *from;   /* [batches][count]: position in the source; UINT64_MAX: none */
};
/* To train: the longest sequences first, each to the lane with the fewest windows so far, so that
 * the batches are as many in each epoch; which of equal ones, and the order in a lane, are drawn by
 * seed and epoch. Caller: lanes_free. */
void lanes_train(struct lanes *l, const struct source *from, uint32_t count, uint64_t seed,
                 uint32_t epoch);
/* To answer positions row0 .. row0 + rows - 1: the first and the last sequence are in lane 0, where
 * one that began before goes on, and one may that goes on behind. */
void lanes_answer(struct lanes *l, const struct source *from, uint64_t row0, uint64_t rows,
                  uint32_t count);
void lanes_free(struct lanes *l);
/* Sequences among `count` windows. */
uint64_t lanes_chains(const uint32_t *begins, uint64_t count);
/* The lanes to train with, at most: as many as sequences, and so few that beside the longest one at
 * most half of the places are empty. */
uint32_t lanes_most(const uint32_t *begins, uint64_t count);

#endif
