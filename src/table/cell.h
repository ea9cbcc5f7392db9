/* cell.h - the two functions that training and prediction share: they cannot disagree.
 *
 *   cell_parse    text of one record -> raw record (float32 of value - offset, date parts,
 *                 category slot)
 *   column_apply  raw record -> what the network sees (imputed, scaled), in place */
#ifndef DNN_TABLE_CELL_H
#define DNN_TABLE_CELL_H

#include "table/schema.h"

/* The largest weight of a row. Weights are floats and multiply gradients, which are, and those of
 * classes (CLASS_WEIGHT_MOST): what is left below the largest float is their room. */
#define WEIGHT_MOST 1e20

/* Counters of what prediction met; added up over blocks. By schema column. */
struct drift {
    uint64_t *unknown;      /* unseen categories */
    uint64_t *outside;      /* numbers beyond the training range */
    uint64_t *missing;
    uint64_t vanished;      /* numbers of any column too small for float32: they are read as 0 */
};
struct drift *drift_new(const struct schema *s);
void drift_add(struct drift *into, const struct drift *from, size_t columns);
/* The counts of a record that is none after all leave `from`, and `one` is empty again. */
void drift_undo(struct drift *from, struct drift *one, size_t columns);
void drift_free(struct drift *d);

/* One record into `out` (schema.format.stride bytes). labelled: the target must be there (training,
 * evaluate), else it is not read. Errors carry file, line, column, name, the quoted text; a record
 * with too few or too many cells is one. With a fitted schema categories become slots; unseen
 * values follow `unknown`. With one that is not fitted they become provisional ids (table/stats.h),
 * and new values go into the columns' vocabularies. d may be NULL; without a fit only `vanished` is
 * counted. */
bool cell_parse(const struct schema *s, const struct binding *b, const struct csv_block *block,
                const struct csv_cells *cells, size_t record, bool labelled, unsigned char *out,
                struct drift *d, struct err *e);
/* count records in place. A function of each record alone. */
void column_apply(const struct schema *s, unsigned char *records, size_t count);
bool cell_is_missing(const struct schema *s, const char *text, size_t length);
/* The cell of a schema column; NULL when the file has none. */
static inline const struct csv_cell *cell_at(const struct binding *b, const struct csv_cells *cells,
                                             size_t record, size_t column)
{
    int32_t at = b->cell_of[column];
    return at < 0 ? NULL : cells->cells + cells->records[record].first_cell + (uint32_t)at;
}

#endif
