/* dataset_read.h - the pipeline from files to raw records. The pool parses a few blocks in parallel
 * and appends them in the order of the files: the result does not depend on threads. Private to
 * dataset*.c. */
#ifndef DNN_TABLE_DATASET_READ_H
#define DNN_TABLE_DATASET_READ_H

#include "table/encoder/cell.h"
#include "table/dataset/dataset.h"
#include "table/sequence/order.h"

/* Values of a row beside its record. Which of them a dataset stores depends on the split, the task
 * and sequences of records. */
enum row_value {
    VALUE_KEY,    /* uint64_t, as of a dataset */
    VALUE_GROUP,  /* uint64_t, likewise */
    VALUE_TIME,   /* double */
    VALUE_SAID,   /* uint8_t */
    VALUE_TARGET, /* double */
    VALUE_LABEL,  /* int32_t, of a table */
    VALUE_STEP,   /* struct series_step, of sequences of records */
    ROW_VALUES
};
/* One value for each row while the number of rows is unknown. Its chunks never move. */
struct spill {
    size_t size; /* bytes of a value; 0: not stored */
    unsigned char **chunks;
    uint64_t count;
};
/* Returns the values as one array (mem_free), NULL if they are not stored. Empties s. */
void *spill_flat(struct spill *s);
void spill_free(struct spill *s);

struct reading {
    struct dataset *data;      /* filled: rows, counters, sample, remarks */
    unsigned char **chunks;    /* = data->rows.chunks; grown here */
    size_t chunk_count;
    struct spill values[ROW_VALUES];
};

/* Reads data.train, data.valid and data.test. Decides the offsets of the dataset's schema and
 * fills its vocabularies. False: e is the first bad record in the order of the files, or e->id
 * == ERR_NONE if `stop` returned true. */
bool dataset_read(struct reading *r, const struct data_options *o, const struct stopper *stop,
                  struct err *e);

/* Returns a bit for each part with files of its own, if a column gives the part. A row of
 * data.train with such a part is left out. */
unsigned dataset_own_parts(const struct data_options *o);

/* dataset_label.c: joins labels that are equal as numbers, and notes it. Before the rows are put in
 * another order. */
bool dataset_join_labels(struct dataset *d); /* true: some are another one now */
/* Notes values that differ in the way they are written alone (twins.h); a warning for labels,
 * which are not joined. */
void dataset_tell_twins(const struct dataset *d, bool joined);
/* --- dataset_series.c --- */
/* Finds the groups of a dataset: d->samples. steps: of each row; freed here. Rows that are not in
 * order are sorted if the schema says so (d->moved), else an error. Notes gaps and duplicates of
 * the order. */
bool dataset_find_series(struct dataset *d, const struct data_options *o, struct series_step *steps,
                         struct err *e);

/* dataset_block.c: one block, parsed by one thread. */
#define UNLABELLED_SHOWN 5
enum block_state { BLOCK_FREE, BLOCK_BEGUN, BLOCK_PARSED };
/* The destination of rows of a block, all in one chunk. */
struct block_piece {
    unsigned char *records;
    uint64_t *hash, rows;
};
struct block_rows {
    enum block_state state;
    struct block_piece *pieces; /* of an appended block */
    size_t piece_count;
    uint64_t rows, blank_lines, left_out;
    unsigned char *records;
    size_t records_room;       /* in bytes */
    struct schema schema;      /* a copy with vocabularies of its own */
    void *values[ROW_VALUES];  /* [rows] of each enum row_value; NULL: it is not stored. Labels have
                                * the ids of the table after block_merge */
    size_t rows_room;
    struct text sample;        /* the first rows, if requested */
    uint64_t *sample_ends;
    uint32_t sample_rows;
    uint64_t vanished;         /* numbers too small for float32, read as 0 */
    uint64_t weightless;       /* rows of weight 0, which are left out */
    uint64_t unlabelled;
    int64_t unlabelled_lines[UNLABELLED_SHOWN];
    const char *path;
    bool failed;
    struct err error;
    uint32_t **map; /* by category slot, then labels: id in this block -> id in the table */
};
/* The place of a row, from 1, as odd_step_place writes it; empty if the files cannot be read
 * again. */
void dataset_step_place(const struct dataset *d, const struct data_options *o, uint64_t row,
                        struct text *to);

struct block_request {
    const struct schema *schema;
    const struct csv_dialect *dialect;
    const struct binding *binding;
    const struct spill *stored; /* by enum row_value: the size of a value */
    int method;                /* enum split_method, -1: the part of the rows is known */
    uint32_t group_column;     /* of schema_group_column */
    bool groups;               /* rows of a known part have a group, which other parts may share */
    unsigned own_parts;
    bool sample;
};
/* True if the record belongs to a part with files of its own: it is left out, and its other cells
 * are not read. */
bool dataset_excludes(unsigned own_parts, const struct cell_where *w);
/* Parses one block; sets b->failed and b->error at the first bad record. */
void block_parse(struct block_rows *b, const struct block_request *q,
                 const struct csv_block *block, struct csv_cells *cells);
/* Adds the block's new values to the vocabularies of s. */
void block_merge(struct block_rows *b, struct schema *s);
/* Copies the records to b->pieces, with the ids of the table, and hashes them. */
void block_copy(struct block_rows *b);
void block_clear(struct block_rows *b); /* keeps its buffers */
void block_free(struct block_rows *b);
/* The first rows of a training: names the columns of type ignore that a form would read. */
void dataset_note_aside(const struct schema *s, const struct binding *b,
                        const struct csv_cells *cells);

#endif
