/* explain_series.h - permutation importance of sequences of records: a column's cells are dealt
 * between windows, all steps of a window together. Step t takes the cell of step t of the other
 * window, which begins anew where it is shorter. Answers are put together as predict does it.
 * Private to explain.c and explain_series.c. */
#ifndef DNN_ANSWER_EXPLAIN_SERIES_H
#define DNN_ANSWER_EXPLAIN_SERIES_H

#include "answer/explain.h"

#define EXPLAIN_CHUNK 8192u /* records that are answered at once */

/* The rows, their windows and their answers. */
struct explain {
    struct explain_result *r;
    struct stream *stream;
    struct serve *serve;
    uint32_t classes, width; /* width: numbers of an answer */
    uint64_t rows, room, most; /* most: 0: no limit */
    unsigned char **raw; /* [encoders]: records [rows] as they were parsed */
    int32_t *label;
    double *target;
    float *weight;
    struct terms terms;
    /* of a chunk */
    unsigned char *records;
    real *logits;
    double *answer;
    uint64_t first, count;
    const struct importance *dealt; /* NULL: none */
    const uint32_t *from;           /* [rows or windows]: the one that the cells come from */
    /* Sequences of records */
    uint32_t window; /* 0: a table */
    uint64_t input;  /* the present one of the files, from 0 */
    uint64_t *group; /* [rows] */
    double *order;
    uint32_t *windows; /* [window_count][window]: rows, SAMPLE_NONE behind the last */
    uint64_t window_count;
    uint32_t *line;    /* [rows] of label row, else [window_count]: the answer, SAMPLE_NONE: none */
    uint64_t line_count;
    uint32_t *row_of;  /* [line_count]: the row whose target counts */
    uint32_t *chunk;   /* windows of a chunk's records */
    double *sum;       /* [members][line_count][outputs] */
    uint32_t *times;   /* [line_count]: windows in the sum */
};

/* No effect for a table. */
void explain_series_room(struct explain *x);
void explain_series_place(struct explain *x, const struct stream_group *g, uint64_t row);
void explain_series_end(struct explain *x);
/* The windows and answers of all rows, which are kept. */
void explain_series_list(struct explain *x);
void explain_series_begin(struct explain *x);
/* Adds all answers, with x->dealt, to t. */
bool explain_series_measure(struct explain *x, struct tally *t, struct err *e);

#endif
