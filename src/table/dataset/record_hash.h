/* record_hash.h - a hash of records: to find equal rows, and for the digest of the data. */
#ifndef DNN_TABLE_RECORD_HASH_H
#define DNN_TABLE_RECORD_HASH_H

#include <stdint.h>

#include "base/rowfmt.h"

/* Returns a 64-bit hash of a raw record without its weight. */
uint64_t record_hash(const unsigned char *record, const struct rowfmt *format);

#endif
