/* statistics_saved.h - the target statistics in a model file. Private to encoder_*.c and
 * statistics_saved.c.
 *
 * Tensors "encoders.0.statistics.*"; absent: none. Ids of a column: 0 missing, 1 unknown, then its
 * values from 2: the categories of encoders.0.values, or the stored numbers here.
 *
 *   .keys       I32 [keys]: the column
 *   .values     F32: ascending float32(v - offset) of numeric keys, before transform, imputation
 *               and scale; .values.offsets I64 [keys + 1]
 *   .tables     I32 [tables][2]: one or two places in .keys; -1: no second one
 *   .means      I32 [tables]: numbers of an entry; .counted U8 [tables]: 1 for one more
 *   .codes      I32 [entries][2]: the ids of an entry; the second is 0 if a table has one key;
 *               ascending in a table; .codes.offsets I64 [tables + 1]
 *   .entries    F32: the numbers of each entry, one table after the other
 *   .center, .factor   F64 [numbers]: of the numbers of one record
 *
 * A record takes the numbers of its entry in each table, 0 without an entry; each becomes
 * (number - center) * factor, and follows the numbers of the columns. */
#ifndef DNN_TABLE_STATISTICS_SAVED_H
#define DNN_TABLE_STATISTICS_SAVED_H

#include "base/arena.h"
#include "table/encoder/encoder_saved.h"

/* Adds the tensors of the encoder with that number, whose memory is the arena's. */
void statistics_save(const struct encoder *e, uint32_t number, struct tensor_writer *w,
                     struct arena *arena);
/* Reads them into l->encoder, which has its columns. False, E15: they cannot be read. */
bool statistics_load(const struct loading *l);

#endif
