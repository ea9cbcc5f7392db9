/* digest.h - a hash that tells whether a checkpoint belongs to the data. */
#ifndef DNN_TABLE_DIGEST_H
#define DNN_TABLE_DIGEST_H

#include "table/dataset/dataset.h"
#include "table/encoder/encoder.h"
#include "table/split/split.h"

/* Writes the SHA-256, in hex, of the encoder, the parts, and all rows by their `hash`
 * (rows_hash). Call it before view_make gives the rows away. */
void data_digest(const struct dataset *d, const struct encoder *c, const struct split *split,
                 const uint64_t *hash, char hex[65]);

#endif
