/* stream_work.h - a group of rows on its way through the model: parsed, answered, handed to the
 * sink. Private to stream.c and stream_work.c. */
#ifndef DNN_ANSWER_STREAM_WORK_H
#define DNN_ANSWER_STREAM_WORK_H

#include "answer/stream.h"

/* Records of a block, and what becomes of them. */
struct part {
    size_t first, rows;
    unsigned char *records;
    real *logits;
    bool *bad;
};

struct work {
    struct stream *t;
    const struct csv_block *block;
    const struct csv_cells *cells;
    struct part now, before; /* the one that is read; the one that a device computes meanwhile */
    bool computes;           /* it does */
    struct drift **drift; /* by thread */
    struct drift *undone; /* of a row without an answer */
    struct err *error;    /* by thread */
};

/* stream.c: the first row has `count` cells, which those of the model or --columns are not. False;
 * without an error where a header says how many there are. */
bool stream_width(const struct stream *t, const char *path, int64_t line, size_t count,
                  struct err *e);
/* w->now is parsed and answered, and goes on; where a device computes, it does so beside us, and
 * the part before goes on. */
bool work_group(struct work *w, const struct stream_sink *sink, struct err *e);
/* The part that a device computes has its answers, and goes on. */
bool work_finish(struct work *w, const struct stream_sink *sink, struct err *e);
/* The record at which w->cells end, which is no CSV. */
bool work_broken(struct work *w, const struct stream_sink *sink, struct err *e);

#endif
