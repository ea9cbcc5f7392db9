/* stream.h - answers the rows of CSV files, group by group, in order and in bounded memory. The
 * sink uses the answers: it writes lines or adds up metrics. The stream counts bad rows, and lists
 * them or ends.
 *
 *   record   one row of a CSV file                                    struct csv_record
 *   sample   of sequences of records (schema.windows) with an answer a window or a group: the
 *            records up to one that has a line; else each record
 *   line     one row of output, of a record or of a sample            struct answer_line
 *
 * Of sequences of records a group of the stream holds records whose answers are final. */
#ifndef DNN_ANSWER_STREAM_H
#define DNN_ANSWER_STREAM_H

#include "answer/stream/serve.h"
#include "base/process/progress.h"
#include "csv/reject.h"
#include "table/encoder/cell.h"
#include "table/dataset/row_key.h"
#include "table/sequence/order.h"

struct pieces; /* stream_work.h */

/* Consecutive records of one block: whole samples. */
struct stream_group {
    const struct csv_cells *cells; /* NULL: one record that is not CSV; it has no cells */
    size_t first;                  /* its records are first .. first + rows - 1 of cells->records */
    uint64_t rows;
    const bool *bad; /* [rows]: true: no answer */
    const unsigned char *records; /* applied; undefined for bad rows */
    const real *logits;           /* [members][rows][outputs]: serve_mean */
    const uint32_t *sample;       /* [samples + 1] first record of each, 0 .. rows; NULL: each
                                   * record is a sample */
    uint64_t samples;
    const struct pieces *pieces; /* of the records, for stream_place */
};
static inline uint64_t group_samples(const struct stream_group *g)
{
    return g->sample ? g->samples : g->rows;
}
/* The last record of sample i. */
static inline uint64_t group_last(const struct stream_group *g, uint64_t i)
{
    return g->sample ? g->sample[i + 1] - 1 : i;
}
/* A function that returns false ends the stream with its error. */
struct stream_sink {
    bool (*group)(void *context, const struct stream_group *g, struct err *e);
    /* Called before the first group of a further input, with its binding in the stream; NULL. */
    bool (*input)(void *context, struct err *e);
    /* Not NULL: the rows of a pipe are answered as they come; called before each wait for more. */
    bool (*idle)(void *context, struct err *e);
    void *context;
    bool asks; /* group asks the network too: nothing is computed meanwhile */
};

/* An open input. */
struct input {
    struct csv *csv;
    const char *const *names;
    size_t name_count;
    size_t least; /* not 0: rows have `least` or name_count cells; the first good row decides */
    size_t at;    /* its index */
    struct binding binding;
    bool bound;
};

struct stream {
    struct serve *serve;
    const struct encoder *encoder; /* the first one, which counts drift */
    const struct schema *schema;   /* its own */
    struct rows_request request;
    struct stream_sink sink;
    struct csv_dialect dialect;
    struct csv_choice choice; /* the records of all inputs that are answered */
    char **given; /* --columns, owned */
    struct input in;
    uint32_t extra; /* unknown columns of the last input */
    bool in_utf8;   /* an input csv_looks_utf8 */
    struct text foreign; /* csv_looks_foreign of the first input that does */
    bool empty; /* an empty file without header */
    struct reject *reject;
    struct drift *drift;
    uint64_t rows, bad_rows, blank_lines; /* rows: records read, bad ones included */
    struct progress_amount progress;
    uint64_t unlabelled;                  /* rows without a target, if it is read */
    uint64_t weightless;                  /* rows of weight 0, if weights count */
    uint64_t answers;
    struct odd_steps odd;                 /* of sequences of records */
    /* keys of labelled rows, if the model knows its own and nobody asked before; else NULL */
    struct row_keys *keys;
    struct row_lookups lookups;           /* of them */
    uint64_t stepless;                    /* rows that are sequences without a step */
    struct err first_bad;                 /* of the first bad row; ERR_NONE: none */
    struct err other_form;                /* the file has another form than the model's */
    bool alike;                           /* all bad rows have the same error id */
    uint32_t group;                       /* most rows of a group, a multiple of its tiles */
    size_t room;   /* rows of a group that memory is allocated for */
    uint32_t tile; /* rows that one thread parses or writes at a time */
};

/* Opens the first input, reads its header and matches its columns; notes the ignored ones. Borrows
 * serve and the strings of the request, whose model and part are the serve's. */
bool stream_open(struct stream *t, struct serve *s, const struct rows_request *q,
                 const struct stream_sink *sink, struct err *e);
/* True: a signal asks to end; e is set. */
bool stream_stopped(struct err *e);
/* All rows, once. Polls stop_wanted. */
bool stream_run(struct stream *t, struct err *e);
/* After success: writes the rejects file to the disk (prepare), then renames it (commit). */
bool stream_prepare(struct stream *t, struct err *e);
bool stream_commit(struct stream *t, struct err *e);
/* The target of a good row of the group as training read it: in double, not as the record's
 * standardised float. */
double stream_target(const struct stream *t, const struct stream_group *g, uint64_t row);
/* The input of record i of the group (index in the request), and its line there. */
size_t stream_place(const struct stream *t, const struct stream_group *g, uint64_t i,
                    int64_t *line);
void stream_close(struct stream *t);
/* The notes about all rows, at the end: drift, blank lines, bad rows, encoding. */
void stream_notes(const struct stream *t);

#endif
