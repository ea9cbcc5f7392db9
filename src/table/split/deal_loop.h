/* deal_loop.h - the loop of deal.h, compiled for each kind of processor. Private to deal*.c. */
#include "base/rng.h"
#include "table/split/deal.h"

/* A place past the end of the class is permuted again. */
static inline void deal_loop(struct deal *d, uint64_t seed, uint32_t epoch, uint32_t count,
                             uint32_t *place)
{
    for (uint32_t i = 0; i < count; i++)
        d->at[i] = i;
    while (count) {
        uint32_t left = 0;
        for (uint32_t i = 0; i < count; i++)
            d->x[i] = rng_feistel(seed, epoch, d->class[i], d->half[i], d->x[i]);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t x = d->x[i], rows = d->rows[i];
            place[d->at[i]] = x;
            d->x[left] = x;
            d->class[left] = d->class[i];
            d->rows[left] = rows;
            d->half[left] = d->half[i];
            d->at[left] = d->at[i];
            left += x >= rows;
        }
        count = left;
    }
}
