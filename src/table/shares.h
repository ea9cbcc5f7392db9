/* shares.h - one split at work: the rows to deal and how many each part wants. Private to split*.c.
 */
#ifndef DNN_TABLE_SHARES_H
#define DNN_TABLE_SHARES_H

#include "base/rng.h"
#include "table/split.h"

/* The permutations of a split share no stream with those of the epochs. */
#define SPLIT_STREAM (0x5EED0000u + RNG_SPLIT)

/* The rows that are to be split, in file order, and how many of them each part wants. */
struct shares {
    const struct split_input *in;
    uint64_t seed;
    uint8_t *part;
    uint32_t *rows;
    uint32_t count;
    double valid, test;      /* fractions; 0 for a part with its own file */
    uint32_t *want;          /* [PARTS] rows; 0: no such part */
    uint32_t moments;        /* time: how many there are */
};

static inline uint32_t parts_wanted(const struct shares *s)
{
    uint32_t parts = 0;
    for (int p = PART_TRAIN; p < PARTS; p++)
        parts += s->want[p] > 0;
    return parts;
}

/* split_group.c: rows of one key stay together. */
void split_group(const struct shares *s);

#endif
