/* deal.h - rng_permute of many rows at once, each in the permutation of its class. */
#ifndef DNN_TABLE_DEAL_H
#define DNN_TABLE_DEAL_H

#include <stdint.h>

#define DEAL_ROWS 512u

struct deal {
    uint32_t x[DEAL_ROWS];     /* position within the class */
    uint32_t class[DEAL_ROWS];
    uint32_t rows[DEAL_ROWS];  /* of the class */
    uint32_t half[DEAL_ROWS];  /* rng_half(rows) */
    uint32_t at[DEAL_ROWS];    /* scratch */
};

/* place[i] = rng_permute(seed, epoch, class[i], rows[i], x[i]) for `count` rows, at most DEAL_ROWS.
 * The members of d are overwritten. */
typedef void deal_fn(struct deal *d, uint64_t seed, uint32_t epoch, uint32_t count,
                     uint32_t *place);
deal_fn deal_plain, deal_avx2;
/* The best code that this processor runs. */
deal_fn *deal_choose(void);

#endif
