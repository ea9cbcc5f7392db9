/* row_store.h - rows that are kept as cell_parse leaves them, for every encoder, and answered again
 * and again with other cells: they change before the encoding, so that indicators, dates and target
 * statistics follow.
 *
 * A read is the unit that the network reads at once: a row; in sequences of records a window of
 * rows. A line is an answer, one a row; in sequences of records as predict gives them: one for each
 * row, or one for the last row of a window or of a group. Windows of one line are averaged as
 * predict does it. */
#ifndef DNN_ANSWER_ROW_STORE_H
#define DNN_ANSWER_ROW_STORE_H

#include "answer/stream/stream.h"
#include "table/sequence/order.h"
#include "table/sequence/windows.h"

/* Changes the records of a read, in the format of that encoder, in place. Called by several
 * threads. */
typedef void store_change(const void *context, uint32_t encoder, uint64_t read, uint32_t length,
                          unsigned char *records);

struct row_store {
    struct serve *serve;
    uint32_t classes, width; /* classes 0: regression; width: numbers of an answer */
    bool middle; /* of several quantiles the answer is the middle one alone (store_middle) */
    bool before; /* probabilities are those before calibration, by which a criterion judges */
    uint64_t rows, room;
    unsigned char **raw; /* [encoders]: records [rows] */
    bool *wanted;        /* [rows]: its line counts, if it has one */
    uint64_t line_count;
    uint32_t *row_of; /* [line_count]: the row of each line, ascending */
    double *answer;   /* [line_count][width] */
    /* Private to row_store.c */
    struct terms terms;
    store_change *change;
    const void *context;
    unsigned char *records; /* of a chunk */
    real *logits;
    uint64_t first, count;
    /* Sequences of records */
    uint32_t window; /* 0: a table */
    struct series_step *steps; /* [rows] */
    struct window_list windows;
    uint32_t *chunk; /* windows of a chunk's records; NULL: a table */
    struct window_mean mean; /* of the windows of each line */
};

void store_open(struct row_store *x, struct serve *s);
/* Makes answers one value: of several quantiles the one nearest to 0.5. Call it before the first
 * row. */
void store_middle(struct row_store *x);
/* Values of a line, by its logits. */
void store_values(const struct row_store *x, const struct answer_mean *mean, uint64_t line,
                  double *value);
/* Adds row i of a group. It is wanted if it has an answer there. */
bool store_add(struct row_store *x, const struct stream *t, const struct stream_group *g,
               uint64_t i, struct err *e);
/* Adds a copy of a row of `from`, which may be x; of a table. */
void store_copy(struct row_store *x, const struct row_store *from, uint64_t row);
/* The last row takes the place of another, of a table. */
void store_replace(struct row_store *x, uint64_t row);
/* After the last row: lists the lines. */
void store_lines(struct row_store *x);
/* Number of reads that the rows make. */
uint64_t store_reads(const struct row_store *x);
/* Rows of a window; SAMPLE_NONE after the last. */
const uint32_t *store_window(const struct row_store *x, uint64_t window, uint32_t *length);
/* Answers all lines; change NULL: unchanged. The same numbers with any number of threads. False, e:
 * a signal asks to end, or the machine fails. */
bool store_answer(struct row_store *x, store_change *change, const void *context, struct err *e);
/* Forgets the rows of a table. */
void store_clear(struct row_store *x);
void store_close(struct row_store *x);

#endif
