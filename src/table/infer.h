/* infer.h - `dnn init`: the only place where anything is guessed. Looks at a whole file once and
 * proposes a type for every column, the dialect, the task, the positive label; with a reason for
 * each column that is set aside. */
#ifndef DNN_TABLE_INFER_H
#define DNN_TABLE_INFER_H

#include "csv/csv.h"
#include "table/options.h"
#include "table/schema.h"

struct infer_column {
    char *name;
    int type;               /* enum column_type */
    char reason[320];       /* why it is ignored, an id, no number; "" otherwise */
    const char *kind;       /* equal for reasons that differ only by their figures; or NULL */
    uint64_t missing, distinct; /* distinct is exact up to 1,048,576 */
    bool distinct_capped;
    bool answers;           /* predictions have a column of that name: no id can have it */
    double low, high;       /* of numbers; NaN when there are none */
    char *examples[5];      /* first distinct cells, raw text; NULL beyond */
    char note[400];         /* e.g. nearly gives the target away; "" otherwise */
};
struct infer {
    struct csv_dialect dialect;
    char decimal;
    struct infer_column *columns;
    size_t count;
    uint64_t rows;
    int task;               /* of the target; only when one was named */
    char *positive;         /* binary */
    struct opt_strings missing; /* texts found that mean missing: "", NA, ?, .. those seen */
    double target_balance;  /* share of the smallest class */
    char note[200];         /* about the header line; "" otherwise */
    char encoding_note[200]; /* the first byte that is not UTF-8, where it was guessed; or "" */
};
/* target NULL: `inspect` of data (types only). ids, ignored: names given on the command line.
 * delimiter 0, decimal 0, encoding -1, header -1: not given, to be found out. */
struct infer_request {
    const char *path, *target;
    const char *const *ids, *const *ignored;
    size_t id_count, ignored_count;
    char delimiter, decimal;
    int encoding, header;
    const struct opt_strings *missing; /* NULL: to be found out */
    bool (*stop)(void);                /* asked at each block; NULL: read to the end */
};
/* The words of a note about columns that may give the target away. */
extern const char infer_leak_words[];
/* NULL with e->id ERR_NONE when `stop` said so. */
struct infer *infer_file(const struct infer_request *r, struct err *e);
void infer_free(struct infer *i);

#endif
