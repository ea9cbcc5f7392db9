/* hard_rows.h - the rows of an evaluation that the model answers worst: rows whose label has the
 * lowest probability, or whose value is farthest from the truth. */
#ifndef DNN_ANSWER_HARD_ROWS_H
#define DNN_ANSWER_HARD_ROWS_H

#include "answer/stream/stream.h"
#include "measure/tally.h"

enum { HARD_ROWS = 20 };
struct hard_row {
    size_t file;    /* index of the input */
    int64_t line;   /* in it, of its first byte, from 1 */
    double badness; /* 1 - probability of the label, or |answer - truth| */
    /* Labels: the number of the true one, of the answered one, and the probability of the true one;
     * values: truth and answer. */
    uint32_t label, answer;
    double probability, truth, value;
    /* [schema columns]: the cell's text in the file; NULL: the file has no such cell */
    char **cells;
};
struct hard_rows {
    struct hard_row rows[HARD_ROWS]; /* the worst first; of equal ones the first of the file */
    uint32_t count;
    size_t columns;
};
/* The rows of a group, s: their scores; y: how they are measured. Cells of the worst are copied. */
void hard_rows_add(struct hard_rows *h, const struct stream *t, const struct stream_group *g,
                   const struct scores *s, const struct tally *y);
void hard_rows_free(struct hard_rows *h);

#endif
