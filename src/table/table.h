/* table.h - the training data in memory: raw records in chunks of 4 to 8 MiB (never doubled), then
 * fitted and applied in place. */
#ifndef DNN_TABLE_TABLE_H
#define DNN_TABLE_TABLE_H

#include "table/cell.h"
#include "table/schema.h"

enum part { PART_TRAIN, PART_VALID, PART_TEST, PARTS };
extern const char *const part_names[PARTS]; /* as messages say them: "training", ... */
extern const char *const part_words[PARTS]; /* as files and keys do: "train", ... */

/* The first rows as text, kept for the model's golden rows: one cell for every schema column but
 * the target, in schema order, quotes resolved, back to back. Only what the network reads is kept:
 * the cells of other types are empty. */
#define TABLE_SAMPLE_ROWS 16
struct table_sample {
    uint32_t rows, cells;         /* rows of the table's beginning: rows.count when that is less */
    char *text;
    uint64_t *offsets;            /* [rows * cells + 1] */
};

struct table {
    struct rows rows;             /* base/rowfmt.h; chunks owned here */
    uint8_t *part;                /* enum part of each row */
    uint32_t *index[PARTS];       /* rows of a part in file order */
    uint64_t count[PARTS];
    uint64_t file_rows, blank_lines, extra_columns;
    uint64_t blamed;              /* the row, from 1, that an error of all rows names; 0 none */
    uint64_t vanished;            /* numbers too small for float32, read as 0 */
    double *target;               /* regression: raw target per row, not standardised; else NULL */
    char sha256[65];              /* of schema, statistics and encoded rows: a checkpoint's data */
    uint64_t bytes;               /* host memory held */
    struct table_sample sample;
    struct warning {
        char text[256];
    } *warnings; /* constant columns, leaks, duplicates across parts, ... */
    size_t warning_count;
};

/* Reads data.train (and valid, test) once, splits, fits s on the training rows, applies. `stop` is
 * polled every block, and while a pipe is waited for: true ends it with false and e->id == ERR_NONE
 * (a signal).
 * Threads: base/thread's pool. */
struct table *table_load(struct schema *s, const struct data_options *o, uint64_t seed,
                         bool (*stop)(void), struct err *e);
void table_free(struct table *t);

#endif
