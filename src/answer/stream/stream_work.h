/* stream_work.h - the work of a stream: records are parsed, answered and delivered group by group.
 * Private to stream*.c.
 *
 *   stream.c         blocks of the inputs to groups of records
 *   stream_input.c   opens an input and matches its columns with the model's
 *   stream_wait.c    records that wait for further ones
 *   stream_series.c  sequences: windows of records, as the rows come
 *   stream_sort.c    sequences whose rows are in any order
 *   stream_work.c    a group: parsed, answered, delivered */
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

/* Blocks, or their ends, whose records are joined: of one input after another, in their order. */
struct piece {
    struct csv_block block;
    size_t input;
    struct csv_cells cells; /* keeps the text of cells with escapes */
    uint32_t first_cell;    /* in the cells of all */
};
struct pieces {
    struct text bytes;
    struct piece *items;
    size_t count;
    struct csv_cells cells; /* of all; a record's offset is that in the block of its piece */
};

/* What a thread has of its own. */
struct hand {
    struct drift *drift;
    struct row_lookups lookups;
    struct terms terms;
    struct err error;
};

struct work {
    struct stream *t;
    struct csv_block block; /* of the records of `cells`; if they are joined the last one */
    const struct csv_cells *cells;
    const struct pieces *joined; /* the pieces of `cells`; NULL: they are of one block */
    struct stream_part now, before; /* being parsed; being answered by a device meanwhile */
    struct pieces waiting; /* records that wait for more of their group, or to be sorted */
    struct stream_series *series; /* of sequences of records; else NULL */
    size_t count_from, count_to;  /* of w->now: records whose unusual cells are counted */
    bool *later; /* by record: bad ones are counted later; NULL: now */
    bool computes;           /* a device answers `before` */
    struct hand *hands;      /* [threads] */
    struct drift *undone; /* of rows without an answer */
};

/* --- inputs, one after another (stream_input.c) --- */

/* Splits the names of --columns into t->given; E10. */
bool input_columns(struct stream *t, const char *columns, struct err *e);
/* Opens input t->in.at, reads its header and binds its columns. */
bool input_open(struct stream *t, struct err *e);
/* Takes note if an input looks like text in another encoding. */
void stream_look(struct stream *t, const struct csv *csv);
void input_close(struct stream *t, struct input *in);
const char *input_name(const struct stream *t, size_t at); /* its path, or "standard input" */
/* True: both are known to have the same columns in the same order. */
bool input_alike(const struct input *a, const struct input *b);
/* The error that the first row has `count` cells, other than the model or --columns. False; without
 * an error if the width is known from a header. */
bool stream_width(const struct stream *t, const char *path, int64_t line, size_t count,
                  struct err *e);

/* --- a group (stream_work.c) --- */

/* Parses w->now, answers and delivers it. A device answers w->now while w->before is delivered. */
bool work_group(struct work *w, struct err *e);
/* Waits for the device and delivers w->before. */
bool work_finish(struct work *w, struct err *e);
/* Delivers the record at which w->cells end, which is not CSV, as a bad row. */
bool work_broken(struct work *w, struct err *e);
/* Parses w->now, and counts the unusual cells of records begin .. end - 1. */
void work_parse(struct work *w, size_t begin, size_t end);
/* Counts bad records of begin .. end - 1 of a part, and delivers these records. Of sequences line
 * says which records have an answer, and broken which are in a bad window. */
bool work_deliver(struct work *w, struct stream_part *p, size_t begin, size_t end,
                  const bool *line, const bool *broken, struct err *e);
/* Counts a record without an answer. False: it ends the stream. */
bool work_count_bad(struct work *w, size_t record, struct err *e);

/* --- records that wait (stream_wait.c) --- */

/* Keeps the records of w->cells from `first` on for the next block. */
void wait_for_more(struct work *w, size_t first);
/* Adds a block of an input; its bytes are copied. */
void pieces_add(struct pieces *p, const struct stream *t, const struct csv_block *block,
                size_t input);
/* Finds p->cells. False: the last piece is not CSV to its end. */
bool pieces_parse(struct pieces *p, const struct stream *t, struct err *e);
void pieces_free(struct pieces *p);
/* The block of a record of w->cells. */
const struct csv_block *joined_block(const struct work *w, size_t record);
static inline const struct csv_block *work_block(const struct work *w, size_t record)
{
    return w->joined ? joined_block(w, record) : &w->block;
}
/* The input of a record of w->cells; *line: its line there. */
size_t work_place(const struct work *w, size_t record, int64_t *line);

/* --- sequences (stream_series.c, stream_sort.c) --- */

/* room: records that are looked at together, several windows at least. */
struct stream_series *stream_series_new(const struct stream *t, size_t room);
void stream_series_free(struct stream_series *s);
/* The least room for windows of this schema. */
size_t stream_series_room(const struct schema *s);
/* Answers and delivers the records of w->cells that no further record changes. Of a long group only
 * the rows are held that a further window reads. final: nothing of their groups follows. *kept: the
 * first record that the next call begins with. */
bool stream_series_answer(struct work *w, bool final, size_t *kept, struct err *e);
/* The next record begins a group. */
void stream_series_cut(struct stream_series *s);
/* The next record is from an input with other columns: the last group cannot continue there. */
void stream_series_part(struct stream_series *s);
/* Rows in any order ("unordered": "sort"): puts the waiting records in order, answers them, and
 * delivers them in the order of the inputs. The columns are bound. */
bool stream_sort_answer(struct work *w, struct err *e);

#endif
