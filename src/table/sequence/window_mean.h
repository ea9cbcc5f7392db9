/* window_mean.h - the answer to a row that several windows read: the mean of their logits, in
 * double. Predict, explain and cv take this one. */
#ifndef DNN_TABLE_SEQUENCE_WINDOW_MEAN_H
#define DNN_TABLE_SEQUENCE_WINDOW_MEAN_H

#include <stdint.h>

#include "base/real.h"

/* Lines are the rows that have an answer. */
struct window_mean {
    uint32_t members, outputs;
    uint64_t lines, room;
    double *sum;     /* [members][lines][outputs] */
    uint32_t *times; /* [lines]: windows in the sum */
};
/* Begins means of `lines` lines, without a window yet. m is zero, or was begun before
 * with as many members and outputs. Caller:
 * window_mean_free. */
void window_mean_begin(struct window_mean *m, uint32_t members, uint64_t lines, uint32_t outputs);
/* Adds answers from .. from + count - 1 of logits [members][answers][outputs]. line [count]: the
 * line of each, or SAMPLE_NONE; NULL: line 0. */
void window_mean_add(struct window_mean *m, const uint32_t *line, const real *logits,
                     uint64_t answers, uint64_t from, uint64_t count);
/* The means at to[members][to_lines][outputs], from line `at` on; a line without windows stays. */
void window_mean_put(const struct window_mean *m, real *to, uint64_t to_lines, uint64_t at);
void window_mean_free(struct window_mean *m);

#endif
