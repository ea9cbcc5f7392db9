/* samples.h - a record is one row of a CSV. A sample is the input of one answer: one record, or
 * consecutive records. Splits assign samples, not records. In a table record i is sample i, and
 * nothing is stored. */
#ifndef DNN_TABLE_SAMPLES_H
#define DNN_TABLE_SAMPLES_H

#include <stdint.h>

struct samples {
    uint64_t count;
    const uint64_t *first; /* [count + 1] first record of each, and the end; NULL: a table */
};

static inline uint64_t sample_first(const struct samples *s, uint64_t i)
{
    return s->first ? s->first[i] : i;
}

static inline uint64_t sample_records(const struct samples *s, uint64_t i)
{
    return s->first ? s->first[i + 1] - s->first[i] : 1;
}

#endif
