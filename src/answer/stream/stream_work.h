/* stream_work.h - parses a group of rows, answers it and delivers it to the sink. Private to
 * stream.c, stream_*.c and stream_wait.h. */
#ifndef DNN_ANSWER_STREAM_WORK_H
#define DNN_ANSWER_STREAM_WORK_H

#include "answer/stream/stream.h"
#include "base/text.h"

/* Records of a block, parsed [rows], and their logits. */
struct stream_part {
    size_t first, rows;
    uint32_t *sample; /* [samples + 1] first record of each, from 0; NULL: each record is one */
    size_t samples;
    unsigned char *records;
    real *logits;
    bool *bad;
};

/* Records that begin below byte `end` of a block are of another input than the block. */
struct origin {
    uint64_t end;
    size_t at;     /* index of the input */
    int64_t shift; /* line of each in its input */
};
struct origins {
    struct origin *items; /* ascending */
    size_t count;
};

struct work {
    struct stream *t;
    const struct csv_block *block;
    const struct csv_cells *cells;
    struct stream_part now, before; /* being parsed; being answered by a device meanwhile */
    struct waiting {
        struct text bytes;     /* records that wait for more of their group, then the next block */
        size_t used;           /* part of `rows` that waits */
        struct csv_block from; /* their file and line */
        struct csv_cells cells;
        bool turned; /* the next block is of a further input */
    } waiting;
    struct origins origins; /* of w->cells */
    struct stream_sort *sort; /* the inputs so far, whose rows are sorted; else NULL */
    struct stream_series *series; /* of sequences of records; else NULL */
    size_t count_from, count_to;  /* of w->now then: records whose unusual cells are counted */
    bool computes;           /* a device answers `before` */
    struct drift **drift; /* by thread */
    struct row_lookups *lookups; /* by thread */
    struct terms *terms;  /* by thread */
    struct drift *undone; /* of rows without an answer */
    struct err *error;    /* by thread */
};

/* Parses w->now, answers and delivers it. A device answers w->now while w->before is delivered. */
bool work_group(struct work *w, const struct stream_sink *sink, struct err *e);
/* Waits for the device and delivers w->before. */
bool work_finish(struct work *w, const struct stream_sink *sink, struct err *e);
/* Delivers the record at which w->cells end, which is not CSV, as a bad row. */
bool work_broken(struct work *w, const struct stream_sink *sink, struct err *e);

/* Sequences of records. Parses w->now, and counts the unusual cells of records begin .. end - 1. */
void work_parse(struct work *w, size_t begin, size_t end);
/* Counts bad records of begin .. end - 1 of w->now, and delivers these records. line: the record
 * has an answer; broken: the record is in a bad window. */
bool work_deliver(struct work *w, size_t begin, size_t end, const bool *line, const bool *broken,
                  const struct stream_sink *sink, struct err *e);

#endif
