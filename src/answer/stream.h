/* stream.h - rows of CSV files through a model, group after group, in order: flat memory whatever
 * comes. What a group's rows mean (answer lines, metrics) is the sink's business; what happens to a
 * row that cannot be read is decided here. */
#ifndef DNN_ANSWER_STREAM_H
#define DNN_ANSWER_STREAM_H

#include "answer/serve.h"
#include "csv/reject.h"
#include "table/cell.h"

enum bad_row { BAD_ROW_STOP, BAD_ROW_NULL, BAD_ROW_SKIP };

struct stream_request {
    char *const *inputs; /* "-" is standard input; none: standard input */
    size_t input_count;
    const char *columns; /* names "a,b,c"; NULL: the header, or c1, c2, .. of a model without */
    bool no_header, tsv, csv;
    bool labelled; /* every row must have its target */
    bool again;    /* these rows were read before: what there is to note about them was said */
    bool passthrough; /* the input's columns are named before the first answer */
    enum bad_row on_bad_row;
    const char *rejects;
    int64_t max_bad_rows; /* -1: no limit */
    /* Not NULL: rows that come through a pipe are answered as they come, and this is called before
     * more are waited for. */
    bool (*idle)(void *context, struct err *e);
    void *idle_context;
};

/* Consecutive records of one block. */
struct stream_group {
    const struct csv_cells *cells; /* NULL: one record that is not CSV; it has no cells */
    size_t first;                  /* its records are first .. first + rows - 1 of cells->records */
    uint64_t rows;
    const bool *bad; /* [rows]: there is no answer */
    const unsigned char *records; /* applied; those of bad rows mean nothing */
    const real *logits;           /* [rows][outputs] */
};
/* take returning false ends the stream with its error, and so does turn. */
struct stream_sink {
    bool (*take)(void *context, const struct stream_group *g, struct err *e);
    /* NULL, or told that another input begins, whose cells stand as binding says */
    bool (*turn)(void *context, struct err *e);
    void *context;
};

struct stream {
    struct serve *serve;
    const struct schema *schema;
    struct stream_request request;
    struct csv_dialect dialect;
    struct csv *csv;
    char **given; /* --columns, owned */
    const char *const *names;
    size_t name_count;
    size_t least; /* not 0: rows may have so many cells or name_count, as the first one says */
    size_t at; /* of the input that is read; each has columns of its own, matched by name */
    struct binding binding;
    bool bound;
    uint32_t extra; /* columns that the model does not know, of the last input */
    bool in_utf8;   /* csv_looks_utf8 of an input */
    bool empty; /* no header was expected and there is no row */
    struct reject *reject;
    struct drift *drift;
    uint64_t rows, bad_rows, blank_lines; /* rows: records read, bad ones included */
    struct err first_bad;                 /* why the first bad row has no answer; ERR_NONE: none */
    struct err other_form;                /* .. and that rows are not of the model's form */
    bool alike;                           /* every bad row: with the same id */
    uint32_t group;                       /* most rows of a group, a multiple of its tiles */
    size_t room;   /* rows of a group that there is memory for: fewer when the input is small */
    uint32_t tile; /* rows of a tile: who parses or writes them is invisible in the result */
};

/* Opens the inputs, reads the header, matches the columns; notes what is ignored. Borrows serve and
 * the request's strings. */
bool stream_open(struct stream *t, struct serve *s, const struct stream_request *q, struct err *e);
/* A signal asks to end before the input does: e says so. */
bool stream_stopped(struct err *e);
/* All rows, once. Polls stop_wanted. */
bool stream_run(struct stream *t, const struct stream_sink *sink, struct err *e);
/* After success: all of the rejects file is on the disk, and then it is given its name. */
bool stream_prepare(struct stream *t, struct err *e);
bool stream_commit(struct stream *t, struct err *e);
void stream_close(struct stream *t);

#endif
