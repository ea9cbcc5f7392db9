/* drift.h - the difference of a prediction's cells from the training's. */
#ifndef DNN_TABLE_DRIFT_H
#define DNN_TABLE_DRIFT_H

#include "base/bloom.h"
#include "table/encoder/encoder.h"

/* The first values of a column that training did not see; NULL: fewer. */
enum { DRIFT_NEW = 3 };
struct drift_new_values {
    char *text[DRIFT_NEW];
};
/* Counts by schema column. Added up over blocks. */
struct drift {
    const struct bloom *pooled; /* what training pooled (pooled.h), borrowed; NULL: not known */
    size_t columns;
    uint64_t *unknown;      /* unseen categories; without `pooled` also the pooled ones */
    struct drift_new_values *first; /* texts of `unknown`; texts of a dropped record stay */
    uint64_t *rare;         /* categories that training pooled */
    uint64_t *outside;      /* numbers beyond the training range */
    uint64_t *missing;
    uint64_t respelt;       /* labels that are other texts than the model's, equal as numbers */
    uint64_t vanished;      /* numbers too small for float32, read as 0; all columns */
    uint64_t unusual, last; /* unknown and outside cells of all columns, now and up to the last
                             * row. Without `pooled`, not the unknown ones of columns whose rare
                             * categories share a place */
    uint64_t unseen;        /* rows with one of them */
    /* Counts over rows that can be read. */
    uint64_t **places;      /* [columns][places of column_fit.spread]; NULL: it has none */
    uint64_t *counts;       /* all of them */
    float *least, *most;    /* of the outside values, minus the offset; NaN: none */
};
struct drift *drift_new(const struct encoder *c, const struct bloom *pooled);
void drift_add(struct drift *into, const struct drift *from, const struct encoder *c);
/* Subtracts `one`, the counts of a dropped record that cell_parse made, from `from`, and clears
 * them. */
void drift_undo(struct drift *from, struct drift *one, size_t columns);
void drift_free(struct drift *d);
/* The key of a column's value in the filter of pooled ones. */
uint64_t category_key(const char *column, const char *text, size_t length);
/* Keeps a value of a column that training did not see. */
void drift_keep(struct drift *d, size_t column, const char *text, size_t length);
/* Ends a row: counts it if one of its cells was unusual. */
static inline void drift_row(struct drift *d)
{
    d->unseen += d->unusual != d->last;
    d->last = d->unusual;
}
/* Counts the places of raw records (cell_parse); bad ones are left out. */
void drift_places(struct drift *d, const struct encoder *c, const unsigned char *records,
                  const bool *bad, size_t count);
/* Stability indices from which on a column has moved: some, and much. */
#define DRIFT_SOME 0.1
#define DRIFT_MUCH 0.25
#define DRIFT_CHANCE 3
/* True: the index is at least `least`, and above DRIFT_CHANCE times its value by chance, which is
 * large where rows are few. */
static inline bool drift_moved(double index, double chance, double least)
{
    return index >= least && index > DRIFT_CHANCE * chance;
}
/* The stability index of a column, and its value by chance; NaN: there is none. */
double drift_index(const struct drift *d, const struct encoder *c, size_t column, double *chance);
/* "stability_index": {column: index}, of the columns that have one. */
void drift_write(const struct drift *d, const struct encoder *c, struct json_out *out);

#endif
