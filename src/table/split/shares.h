/* shares.h - the state of one split: the rows to assign and the number for each part. Private to
 * split*.c. */
#ifndef DNN_TABLE_SHARES_H
#define DNN_TABLE_SHARES_H

#include "base/rng.h"
#include "table/split/split.h"

/* Splits and epochs use different random streams. */
#define SPLIT_STREAM (0x5EED0000u + RNG_SPLIT)

/* The rows to split, in file order, and the rows that each part gets. */
struct shares {
    const struct split_input *in;
    uint64_t seed;
    uint8_t *part;
    uint32_t *rows;
    uint32_t count;
    double valid, test;      /* fractions; 0 for a part with its own file */
    uint32_t *want;          /* [PARTS] rows; 0: the part is absent */
    uint32_t moments;        /* time: number of distinct times */
};

static inline uint32_t parts_wanted(const struct shares *s)
{
    uint32_t parts = 0;
    for (int p = PART_TRAIN; p < PARTS; p++)
        parts += s->want[p] > 0;
    return parts;
}

/* split_group.c: splits by group; rows of one key stay in one part. */
void split_group(const struct shares *s);

#endif
