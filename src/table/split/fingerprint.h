/* fingerprint.h - what a model remembers of its rows: whether a row was among those that it was
 * trained on, and how many rows each part had. It holds no row: a Bloom filter of the keys of the
 * training rows (row_key.h), of 9.6 bits a row, which takes about one row in a hundred for known
 * that is not. With more rows than 256 KiB have room for, rows with a key below a limit alone are
 * kept and looked up, so that a share is still a fair estimate. It depends on the rows of the
 * parts, not on their order. A second filter knows the categories of training rows that are pooled
 * (pooled.h).
 *
 * A training may start from a model (train --init-from), whose training rows have then formed the
 * weights too. The held-out rows among them are added to the filter. Those that are in no file of
 * the training cannot be listed: the filter of the start is kept beside, and so are the filters
 * that it has kept, newest first, as long as all that are kept beside have room in 256 KiB. A start
 * whose rows are all in the files is known already, and is not kept. */
#ifndef DNN_TABLE_FINGERPRINT_H
#define DNN_TABLE_FINGERPRINT_H

#include "base/bloom.h"
#include "base/file/tensorfile.h"
#include "table/schema/part.h"
#include "table/split/split.h"

/* rows: number of rows with a target; sums: of their keys, to tell whether a file has the same
 * rows; own: bits of the parts with files of their own, and FINGERPRINT_HELD if the start was
 * trained on held-out rows */
enum { FINGERPRINT_LIMIT, FINGERPRINT_ROWS, FINGERPRINT_SUMS = FINGERPRINT_ROWS + PARTS,
       FINGERPRINT_OWN = FINGERPRINT_SUMS + PARTS, FINGERPRINT_NUMBERS };
enum { FINGERPRINT_HELD = 1 << PART_TRAIN };

enum { FINGERPRINT_STARTS = 7 };
/* Filters of starts, as a file has them. */
struct fingerprint_starts {
    uint64_t count, bytes;
    uint8_t *bits;                             /* one filter after another */
    struct bloom filters[FINGERPRINT_STARTS];  /* places in bits */
    int64_t numbers[2 * FINGERPRINT_STARTS];   /* bytes and limit of each */
};

struct fingerprint {
    struct bloom filter;
    struct fingerprint_starts starts;
    struct bloom pooled; /* categories; empty: no column has pooled ones, or an older file */
    int64_t numbers[FINGERPRINT_NUMBERS];
    /* share of new rows that equal a training row by chance: among held-out rows, or, if they are
     * few, training rows that equal another one */
    double twins;
    double errors;  /* share of unknown rows that are taken for known */
    int64_t limit;  /* of keys that are looked up: the least of all filters */
    /* made with a start: the share of the part's rows that the start was trained on; 0 if not sure.
     * Not in a file */
    double held[PARTS];
};

/* Rows that were looked up, and how many of them the filter knows. */
struct row_lookups {
    uint64_t looked, known;
};

/* Makes the fingerprint of the present parts, from the raw rows of d, without the pooled
 * categories. start: the fingerprint of the model that the training starts from; NULL: none. Uses
 * the pool. Caller: fingerprint_free. */
struct fingerprint *fingerprint_make(const struct dataset *d, const struct split *s,
                                     const struct fingerprint *start);
void fingerprint_free(struct fingerprint *f);
/* Counts a row by its key; most rows of a very large training are passed over. */
void fingerprint_look(const struct fingerprint *f, uint64_t key, struct row_lookups *l);
/* The share of rows, of those counted, that were training rows: without those that are known by
 * error or by chance. *sure: it is no chance, and large enough to matter. */
double fingerprint_share(const struct fingerprint *f, const struct row_lookups *l, bool *sure);

/* Tensors fingerprint.filter (U8), fingerprint.numbers (I64: limit, rows and sums of the parts,
 * own), fingerprint.twins (F64 [1]), fingerprint.pooled (U8); with starts fingerprint.starts (U8:
 * their filters one after another) and fingerprint.starts.numbers (I64 [starts][2]: bytes and
 * limit). The writer borrows f until it has written. */
void fingerprint_save(const struct fingerprint *f, struct tensor_writer *w);
/* *f: NULL if the file has none. False, E15: the tensors are not valid. */
bool fingerprint_load(const struct tensor_file *file, struct fingerprint **f, struct err *e);

#endif
