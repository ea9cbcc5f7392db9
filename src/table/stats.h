/* stats.h - what training rows teach a schema: statistics of numbers, vocabularies, the scale of
 * a regression target.
 *
 * table.c calls, in this order:
 *
 *     s->file_columns = binding.cells   (when not set: the columns of s and the extra ones)
 *     schema_offsets_decide(s, ..)      once, with the first parsed block, before any cell_parse
 *     cell_parse ...                    raw records; categories and classes hold provisional ids
 *     split_rows                        t->part, t->index, t->count
 *     stats_fit(s, t, e)                s is fitted, ids are final, targets are standardised
 *     leak_check(s, t)                  warnings; the records are not applied yet
 *     column_apply                      chunk by chunk
 *
 * Provisional ids: a category cell is 0 when missing, else 2 + the vocab_add index in
 * s->columns[i].vocab; a class target is the vocab_add index in s->labels (the target column's
 * vocab is the same object), -1 when unlabelled. A regression target stands in t->target[row] as
 * a double (NaN when unlabelled); stats_fit writes the record's float. Blocks that were parsed
 * side by side must be merged in block order, so that ids do not depend on threads (they do not
 * reach the model in any case). A missing number is NaN with its bit set in `missing`;
 * cell_parse refuses it when the column says impute "error".
 *
 * Statistics of a column are computed in double from its sorted training values: they depend
 * neither on the number of threads nor on the order of the rows. */
#ifndef DNN_TABLE_STATS_H
#define DNN_TABLE_STATS_H

#include "table/schema.h"
#include "table/table.h"

/* Chooses number_slot.offset for every number from the first rows: 0, or the first value when
 * the values are large against their spread and do not fit a float32 (timestamps, codes);
 * datetimes always take their first value. */
void schema_offsets_decide(struct schema *s, const struct binding *b,
                           const struct csv_cells *cells);

/* Fits s on the rows of PART_TRAIN and rewrites ids and targets of every row of t. E12 and E14
 * errors: a column without any training value, one class only, a label that no training row has,
 * too many categories. Warnings go to t. */
bool stats_fit(struct schema *s, struct table *t, struct err *e);

/* Appends to t->warnings (cut to its size); the caller of table_load logs them. */
void stats_warn(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The normal quantile of p in [0, 1], clipped to +-STATS_QUANTILE_MOST; seven digits, the same
 * bits on every machine. */
#define STATS_QUANTILE_MOST 5.2
double stats_normal_quantile(double p);

#endif
