/* digest.h - a hash that tells whether a checkpoint belongs to the data. */
#ifndef DNN_TABLE_DIGEST_H
#define DNN_TABLE_DIGEST_H

#include "table/encoder.h"
#include "table/split.h"

/* Writes the SHA-256, in hex, of the fitted schema, the parts, and all rows by their `hash`
 * (rows_hash). Call it before view_make gives the rows away. */
void data_digest(const struct dataset *d, const struct schema *fitted, const struct split *split,
                 const uint64_t *hash, char hex[65]);

#endif
