/* pooled.h - the categories of training rows that an encoder pools, as they are too rare for a
 * place of their own (min_count). A filter of them tells a rare category from a new one. Its keys
 * are category_key (drift.h). Of more values than it has room for it holds the most frequent
 * ones. */
#ifndef DNN_TABLE_POOLED_H
#define DNN_TABLE_POOLED_H

#include "base/bloom.h"
#include "table/fit/encoder_fit.h"

/* The categories of `count` rows of d, weight above 0, that at least one of the encoders pools. It
 * depends neither on the order of rows nor on threads. Uses the pool. No filter if d has no
 * categories. Caller: bloom_free. */
struct bloom pooled_make(const struct dataset *d, const uint32_t *rows, uint64_t count,
                         struct encoder *const *encoders, uint32_t encoder_count);

#endif
