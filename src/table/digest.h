/* digest.h - hashes of rows: to find duplicate rows, and to check that a checkpoint belongs to the
 * data. */
#ifndef DNN_TABLE_DIGEST_H
#define DNN_TABLE_DIGEST_H

#include "table/encoder.h"
#include "table/split.h"

/* Returns a 64-bit hash of each raw record without its weight: [rows], mem_free. */
uint64_t *rows_hash(const struct dataset *d);
/* Writes the SHA-256, in hex, of the fitted schema, the parts, and all rows by their `hash`. Call
 * it before view_make gives the rows away. */
void data_digest(const struct dataset *d, const struct schema *fitted, const struct split *split,
                 const uint64_t *hash, char hex[65]);

#endif
