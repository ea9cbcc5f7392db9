/* windows.h - the windows of a group: consecutive rows that the network reads at once. They begin
 * at rows 0, stride, 2 stride, .. of the group, until one reaches its end. Training, predict,
 * explain and cv walk them by
 *
 *     for (uint64_t k = 0; k < windows_count(w, rows); k++)
 *         struct window x = window_at(w, rows, k);
 *
 * A line is a row that has an answer, by data.sequence.label: each row of a window, its last one,
 * or the last row of the group. */
#ifndef DNN_TABLE_SEQUENCE_WINDOWS_H
#define DNN_TABLE_SEQUENCE_WINDOWS_H

#include "base/real.h"
#include "table/sequence/samples.h"
#include "table/schema/schema.h"
#include "table/sequence/order.h"

struct window {
    uint64_t first;  /* row of the group */
    uint32_t length; /* rows */
    uint32_t answer; /* the first step that has an answer: 0, or the last one */
    uint64_t line;   /* row of the group that has the answer of that step; those of later steps
                      * follow */
};
/* Windows of a group of `rows` rows. */
static inline uint64_t windows_count(const struct windows *w, uint64_t rows)
{
    return rows <= w->window ? rows > 0 : 1 + (rows - w->window + w->stride - 1) / w->stride;
}
struct window window_at(const struct windows *w, uint64_t rows, uint64_t k);
/* Answers of a window in logits: one, or one for each step. */
static inline uint32_t window_answers(const struct windows *w)
{
    return w->label == LABEL_ROW ? w->window : 1;
}
/* to [window]: rows first .. first + length - 1, SAMPLE_NONE after the last. */
static inline void window_rows(uint32_t *to, uint32_t window, uint64_t first, uint32_t length)
{
    for (uint32_t t = 0; t < window; t++)
        to[t] = t < length ? (uint32_t)(first + t) : SAMPLE_NONE;
}

/* Windows for the network. */
struct window_list {
    uint32_t *rows;   /* [count][window]; SAMPLE_NONE after the last */
    uint32_t *begins; /* [count], 1: the first of its group */
    uint32_t *line;   /* [count][window_answers]: the row; SAMPLE_NONE: no answer */
    uint64_t count, room;
};
/* Adds a window of a group, whose rows are those of `at`; NULL: row i of the group is base + i. */
void window_list_add(struct window_list *l, const struct windows *w, const struct window *x,
                     const struct row_place *at, uint64_t base);
/* The rows of window k. */
static inline const uint32_t *window_list_rows(const struct window_list *l,
                                               const struct windows *w, uint64_t k,
                                               uint32_t *length)
{
    const uint32_t *rows = l->rows + k * w->window;
    for (*length = 0; *length < w->window && rows[*length] != SAMPLE_NONE;)
        ++*length;
    return rows;
}
void window_list_free(struct window_list *l);

/* Numbers lines. line [count]: a row each, or SAMPLE_NONE; becomes the number of that row among
 * the rows in it, ascending. wanted [rows] false: a row without a line; NULL: all have one.
 * Returns how many; row: of each line. */
uint64_t lines_number(uint32_t *line, uint64_t count, uint64_t rows, const bool *wanted,
                      uint32_t *row);
/* The rows of samples that have a line: [rows], mem_free. */
bool *lines_of(const struct windows *w, const struct samples *s, uint64_t rows);
/* The row that has the answer of a window whose last row, or with label "row" any row, is
 * `record`. */
static inline uint32_t line_of(const struct windows *w, const struct samples *s, uint32_t record)
{
    return w->label == LABEL_GROUP ? (uint32_t)sample_last(s, sample_of(s, record)) : record;
}

/* The answer to a row that several windows read is the mean of their logits, in double. Predict,
 * explain and cv take this one. */
struct window_mean {
    uint32_t members, outputs;
    uint64_t lines, room;
    double *sum;     /* [members][lines][outputs] */
    uint32_t *times; /* [lines]: windows in the sum */
};
/* Begins means of `lines` lines, without a window yet. m is zero, or was begun before with as many
 * members and outputs. Caller: window_mean_free. */
void window_mean_begin(struct window_mean *m, uint32_t members, uint64_t lines, uint32_t outputs);
/* Adds answers from .. from + count - 1 of logits [members][answers][outputs]. line [count]: the
 * line of each, or SAMPLE_NONE; NULL: line 0. */
void window_mean_add(struct window_mean *m, const uint32_t *line, const real *logits,
                     uint64_t answers, uint64_t from, uint64_t count);
/* The means at to[members][to_lines][outputs], from line `at` on; a line without windows stays. */
void window_mean_put(const struct window_mean *m, real *to, uint64_t to_lines, uint64_t at);
void window_mean_free(struct window_mean *m);

#endif
