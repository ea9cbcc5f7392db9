/* kept.h - rows that are kept as cell_parse leaves them, for every encoder, and answered again and
 * again with other cells: they change before the encoding, so that indicators, dates and target
 * statistics follow.
 *
 * A read is the unit that the network reads at once: a row; in sequences of records a window of
 * rows. A line is an answer, one a row; in sequences of records as predict gives them: one for each
 * row, or one for the last row of a window or of a group. Windows of one line are averaged as
 * predict does it. */
#ifndef DNN_ANSWER_KEPT_H
#define DNN_ANSWER_KEPT_H

#include "answer/stream.h"
#include "table/window_mean.h"

/* Changes the records of a read, in the format of that encoder, in place. Called by several
 * threads. */
typedef void kept_change(const void *context, uint32_t encoder, uint64_t read, uint32_t length,
                         unsigned char *records);

struct kept {
    struct serve *serve;
    uint32_t classes, width; /* classes 0: regression; width: numbers of an answer */
    bool middle; /* of several quantiles the answer is the middle one alone (kept_middle) */
    uint64_t rows, room;
    unsigned char **raw; /* [encoders]: records [rows] */
    bool *wanted;        /* [rows]: its line counts, if it has one */
    uint64_t line_count;
    uint32_t *row_of; /* [line_count]: the row of each line, ascending */
    double *answer;   /* [line_count][width] */
    /* Private to kept.c and kept_series.c */
    struct terms terms;
    kept_change *change;
    const void *context;
    unsigned char *records; /* of a chunk */
    real *logits;
    uint64_t first, count;
    /* Sequences of records */
    uint32_t window;   /* 0: a table */
    uint64_t *group;   /* [rows] */
    double *order;
    uint32_t *windows; /* [window_count][window]: rows, SAMPLE_NONE after the last */
    uint64_t window_count;
    uint32_t *ends;    /* [window_count]: the row that has the window's line; not of label row */
    uint32_t *line_of; /* [rows]: SAMPLE_NONE: none */
    uint32_t *chunk;   /* windows of a chunk's records */
    struct window_mean mean; /* of the windows of each line */
};

void kept_open(struct kept *x, struct serve *s);
/* Makes answers one value: of several quantiles the one nearest to 0.5. Call it before the first
 * row. */
void kept_middle(struct kept *x);
/* Values of a line, by its logits. */
void kept_values(const struct kept *x, const struct answer_mean *mean, uint64_t line,
                 double *value);
/* Adds row i of a group. It is wanted if it has an answer there. */
bool kept_add(struct kept *x, const struct stream *t, const struct stream_group *g, uint64_t i,
              struct err *e);
/* Adds a copy of a row of `from`, which may be x; of a table. */
void kept_copy(struct kept *x, const struct kept *from, uint64_t row);
/* The last row takes the place of another, of a table. */
void kept_replace(struct kept *x, uint64_t row);
/* After the last row: lists the lines. */
void kept_lines(struct kept *x);
/* Number of reads that the rows make. */
uint64_t kept_reads(const struct kept *x);
/* Rows of a window; SAMPLE_NONE after the last. */
const uint32_t *kept_window(const struct kept *x, uint64_t window, uint32_t *length);
/* Answers all lines; change NULL: unchanged. The same numbers with any number of threads. False, e:
 * a signal asks to end, or the machine fails. */
bool kept_answer(struct kept *x, kept_change *change, const void *context, struct err *e);
/* Forgets the rows of a table. */
void kept_clear(struct kept *x);
void kept_close(struct kept *x);

#endif
