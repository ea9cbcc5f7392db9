/* digest.h - fingerprints of rows, to find copies of a row and to know the data of a checkpoint
 * again. */
#ifndef DNN_TABLE_DIGEST_H
#define DNN_TABLE_DIGEST_H

#include "table/encoder.h"
#include "table/split.h"

/* [rows] a 64-bit hash of each raw record, but for its weight; mem_free. */
uint64_t *rows_hash(const struct dataset *d);
/* SHA-256, in hex, of the fitted schema, the parts, and all rows by their `hash`. The rows must be
 * there still (view.h). */
void data_digest(const struct dataset *d, const struct schema *fitted, const struct split *split,
                 const uint64_t *hash, char hex[65]);

#endif
