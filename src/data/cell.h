/* cell.h - the two functions that training and prediction share: they cannot disagree.
 *
 *   cell_parse    text of one record -> raw record (float32 of value - offset, date parts, category slot)
 *   column_apply  raw record -> what the network sees (imputed, scaled), in place */
#ifndef DNN_DATA_CELL_H
#define DNN_DATA_CELL_H

#include "data/schema.h"

/* Counters of what prediction met; added up over blocks. By schema column. */
struct drift {
    uint64_t *unknown;      /* unseen categories */
    uint64_t *outside;      /* numbers beyond the training range */
    uint64_t *missing;
};
struct drift *drift_new(const struct schema *s);
void drift_add(struct drift *into, const struct drift *from, size_t columns);
void drift_free(struct drift *d);

/* One record into `record` (schema.format.stride bytes). labelled: the target must be there (training, evaluate), else it is
 * not read. Errors carry file, line, column, name, the quoted text. With a fitted schema categories become slots; unseen values follow
 * `unknown`. d may be NULL. */
bool cell_parse(const struct schema *s, const struct binding *b, const struct csv_block *block,
                const struct csv_cells *cells, size_t record, bool labelled, unsigned char *out,
                struct drift *d, struct err *e);
/* count records in place. A function of each record alone. */
void column_apply(const struct schema *s, unsigned char *records, size_t count);
bool cell_is_missing(const struct schema *s, const char *text, size_t length);

#endif
