/* dataset.h - the data in memory: raw records and text ids. Loaded once; runs do not change it.
 * Several encoders and views can share it.
 *
 *     struct dataset *d = dataset_load(declared, &options, stop, &e);
 *     split_make(&split, d, &options.split, false, &rare, &remarks, &e);
 *     struct encoder *c = encoder_fit(d, split.records[PART_TRAIN], split.record_count[PART_TRAIN],
 *                                    &e);
 *     struct view *v = view_make(d, c, true);
 *
 * A raw record holds a number as float32 of (value - schema.offsets), or NaN and a bit if it is
 * missing; a category as 0 (missing) or 2 + its index in column.values; a class as its
 * index in schema.labels. The vocabularies hold every value of every row in the order of the files,
 * with any number of threads. */
#ifndef DNN_TABLE_DATASET_H
#define DNN_TABLE_DATASET_H

#include "base/rng.h"
#include "table/schema/part.h"
#include "table/schema/record.h"
#include "table/schema/remark.h"
#include "table/sequence/samples.h"
#include "table/schema/schema.h"

/* The first rows as text, for the model's golden rows: one cell for each schema column but the
 * target, in schema order, unquoted, concatenated. Cells that the network does not use are
 * empty. */
#define TABLE_SAMPLE_ROWS 16
struct table_sample {
    uint32_t rows, cells;         /* the first rows of the file, at most TABLE_SAMPLE_ROWS */
    char *text;
    uint64_t *offsets;            /* [rows * cells + 1] */
};

struct dataset {
    struct schema *schema;        /* as declared, with offsets and all values; not fitted */
    struct rows rows;             /* raw records (base/rowfmt.h); no chunks after view_make with
                                   * `give` */
    uint64_t **hash;              /* by chunk of rows: record_hash; NULL after rows_hash */
    /* the records of each sample: in a table one; in sequences of records the records of a group */
    struct samples samples;
    uint32_t *moved;              /* the new places of rows that were sorted; else NULL */
    double *target;               /* regression: [rows]; else NULL */
    int32_t *label;               /* classes of a table: [rows], as in its record; NULL after the
                                   * first encoder is fitted */
    /* [rows], inputs of the split; NULL if its method does not use them */
    uint64_t *key;                /* group, hash: rng_hash of the text */
    bool grouped;                 /* key is of groups; 0: not known */
    uint64_t *group; /* [rows] rng_hash of the text in the column of type group; NULL: there is no
                      * such column, or the split is by group and key holds it */
    double *time;
    uint8_t *said;                /* column: enum part */
    uint64_t rows_of[PARTS];      /* rows of each part's files; the parts follow one another */
    uint64_t unlabelled;          /* rows without a target, which are left out; all parts */
    uint64_t left_out;            /* rows of data.train for a part with files of its own */
    uint64_t blank_lines, extra_columns;
    uint64_t vanished;            /* numbers too small for float32, read as 0 */
    struct table_sample sample;
    int progress;                 /* enum progress_style: from the options, for an encoder */
    struct remarks remarks;
};

/* True if rows have groups. The split keeps them together, a column of type group names them, or
 * a sample of several records is one. */
static inline bool dataset_has_groups(const struct dataset *d)
{
    return d->grouped || d->group || d->samples.first;
}
/* A hash of the group of a row. */
static inline uint64_t dataset_group(const struct dataset *d, uint64_t row)
{
    const uint64_t first = sample_first(&d->samples, sample_of(&d->samples, row));
    const uint64_t *group = d->grouped ? d->key : d->group;
    return group && group[first] ? group[first] : rng_hash(&first, sizeof first, 1);
}

/* The class of a row, by its index in schema.labels; -1: none. */
static inline int32_t dataset_label(const struct dataset *d, uint64_t row)
{
    return d->label ? d->label[row] : record_int(rows_at(&d->rows, row), d->rows.format.at_target);
}

/* True: the weight of a row is above 0. Others stay only in a sequence of records, as context, and
 * in test files. */
static inline bool dataset_counts(const struct dataset *d, uint64_t row)
{
    return (!d->schema->windows.window && row < d->rows.count - d->rows_of[PART_TEST]) ||
           record_float(rows_at(&d->rows, row), d->rows.format.at_weight) > 0;
}

/* Reads data.train, data.valid and data.test once. Copies `declared`. Polls `stop` at every block
 * and while it waits for a pipe; true: NULL with e->id == ERR_NONE. NULL and E12 for the first bad
 * record in the order of the files. Uses the pool of base/thread. */
struct dataset *dataset_load(const struct schema *declared, const struct data_options *o,
                             const struct stopper *stop, struct err *e);
void dataset_free(struct dataset *d);
/* Returns the hash of each raw record (record_hash): [rows], mem_free. Frees d->hash. */
uint64_t *rows_hash(struct dataset *d);
/* Frees chunks allocated by mem_alloc. */
void rows_release(struct rows *rows);
/* Sets the file and line of a row, from 1, in e. No effect for row 0 or if the files cannot be read
 * again. */
void dataset_place(const struct dataset *d, const struct data_options *o, uint64_t row,
                   struct err *e);
/* Calls for dataset_walk. False: the error says why it ends. */
struct cell_where; /* cell.h */
struct dataset_visit {
    void *owner;
    /* a list of files begins; may be NULL */
    bool (*begin)(void *owner, const struct binding *b, struct err *e);
    /* row: its number in the dataset; UINT64_MAX: a record of data.train that is left out. */
    bool (*record)(void *owner, const struct cell_where *w, uint64_t row);
};
/* Reads data.train and data.valid again, record by record in their order. False: e; files that
 * have changed since are an error. */
bool dataset_walk(const struct dataset *d, const struct data_options *o,
                  const struct dataset_visit *v, struct err *e);

#endif
