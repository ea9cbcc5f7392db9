/* quantile.h - quantile scale: the rank of a number among the training knots, as a normal
 * quantile. */
#ifndef DNN_TABLE_QUANTILE_H
#define DNN_TABLE_QUANTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/encoder/number.h"

/* Returns the normal quantile of p in [0, 1], clipped to +-QUANTILE_MOST; seven digits, the same
 * bits on every machine. */
#define QUANTILE_MOST 5.2
double quantile_normal(double p);

#define QUANTILE_BLOCK 256u
#define QUANTILE_MIDDLE 0.425 /* ranks so near to 1/2 need no logarithm */

/* Buffers of a block. The caller owns them, so that they are not cleared for each column. */
struct quantile_room {
    uint32_t below[QUANTILE_BLOCK], listed[QUANTILE_BLOCK];
    float low[QUANTILE_BLOCK], high[QUANTILE_BLOCK];
    double rank[QUANTILE_BLOCK], tail[QUANTILE_BLOCK];
};

/* Scales v[count] in place: at most QUANTILE_BLOCK values, no NaN. The normal quantile of the
 * interpolated rank among n->quantiles (ascending, at least one), clipped to n->least, n->most and
 * +-QUANTILE_MOST. The same bits on every processor. */
typedef void quantile_fn(const struct number_slot *n, float *v, size_t count,
                         struct quantile_room *room);
quantile_fn quantile_plain, quantile_avx2, quantile_avx512;
/* Chooses the fastest one for this processor. */
quantile_fn *quantile_choose(void);
#if defined(__x86_64__)
/* True if this processor can run quantile_avx2; quantile_avx512. */
static inline bool quantile_has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt");
}
static inline bool quantile_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

#endif
