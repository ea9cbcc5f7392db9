/* dataset.h - the data as they were read: raw records and their text ids. Made once, changed by no
 * run. Several encoders can be fitted on it and several views made of it.
 *
 *     struct dataset *d = dataset_load(declared, &options, stop, &e);
 *     split_make(&split, d, &options.split, &e);
 *     struct encoder *c = encoder_fit(d, split.index[PART_TRAIN], split.count[PART_TRAIN], &e);
 *     struct view *v = view_make(d, c, true);
 *
 * A raw record holds numbers as float32 of (value - number_slot.offset), NaN and a bit for a
 * missing one; a category as 0 (missing) or 2 + its index in the column's vocabulary; a class as
 * its index in schema.labels. These vocabularies hold every value of every row, in the order of the
 * files, whatever the threads. */
#ifndef DNN_TABLE_DATASET_H
#define DNN_TABLE_DATASET_H

#include "table/part.h"
#include "table/remark.h"
#include "table/samples.h"
#include "table/schema.h"

/* The first rows as text, kept for the model's golden rows: one cell for every schema column but
 * the target, in schema order, quotes resolved, back to back. Cells that the network does not read
 * are empty. */
#define TABLE_SAMPLE_ROWS 16
struct table_sample {
    uint32_t rows, cells;         /* rows of the file's beginning, at most TABLE_SAMPLE_ROWS */
    char *text;
    uint64_t *offsets;            /* [rows * cells + 1] */
};

struct dataset {
    struct schema *schema;        /* as declared, with offsets and all values; not fitted */
    struct rows rows;             /* raw records (base/rowfmt.h); no chunks once they were given */
    struct samples samples;       /* the records of each answer; a table: one a sample */
    double *target;               /* regression: [rows]; else NULL */
    /* [rows], what the split reads; NULL where its method does not need it */
    uint64_t *key;                /* group, hash: rng_hash of the text */
    double *time;
    uint8_t *said;                /* column: enum part */
    uint64_t rows_of[PARTS];      /* read from the files of each part, one part behind the other */
    uint64_t left_out;            /* rows of data.train that say a part with files of its own */
    uint64_t blank_lines, extra_columns;
    uint64_t vanished;            /* numbers too small for float32, read as 0 */
    struct table_sample sample;
    struct remarks remarks;
};

/* Reads data.train, data.valid and data.test once. `declared` is copied. `stop` is polled every
 * block, and while a pipe is waited for: true ends it with NULL and e->id == ERR_NONE. The first
 * bad record in the order of the files is the error (E12). Threads: base/thread's pool. */
struct dataset *dataset_load(const struct schema *declared, const struct data_options *o,
                             bool (*stop)(void), struct err *e);
void dataset_free(struct dataset *d);
/* Frees the chunks of rows that came from mem_alloc. */
void rows_release(struct rows *rows);
/* Sets the file and the line of e to those of a row, from 1. Row 0 and files that cannot be read
 * again change nothing. */
void dataset_place(const struct dataset *d, const struct data_options *o, uint64_t row,
                   struct err *e);

#endif
