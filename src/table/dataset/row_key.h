/* row_key.h - a 64-bit key of a labelled row, from the values of the cells that a network reads and
 * of the target. Training computes it from raw records, an evaluation from the cells of another
 * file: equal rows have equal keys in any order of columns and rows. A number counts as its stored
 * float32, a date as its parts, a category and a text as its characters, a label by its name. Ids,
 * groups and weights do not count. */
#ifndef DNN_TABLE_ROW_KEY_H
#define DNN_TABLE_ROW_KEY_H

#include "table/encoder/cell.h"
#include "table/dataset/dataset.h"

struct row_keys;
/* For row_key_of: keys from the dataset's raw records and vocabularies. Caller: row_keys_free. */
struct row_keys *row_keys_of(const struct dataset *d);
/* For row_key_read: keys from raw records that cell_parse makes. */
struct row_keys *row_keys_reading(const struct encoder *c);
void row_keys_free(struct row_keys *k);
/* The key of a row of the dataset. False: it has no target. */
bool row_key_of(const struct row_keys *k, const struct dataset *d, uint64_t row, uint64_t *key);
/* The key of a record that cell_parse read with its target; `raw`: before encoder_apply. False: it
 * has no target. */
bool row_key_read(const struct row_keys *k, const struct binding *b, const struct csv_cells *cells,
                  size_t record, const unsigned char *raw, uint64_t *key);

#endif
