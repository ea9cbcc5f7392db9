/* quantile.h - a column by rank: where a number stands among the knots of training, and which
 * number stands there in a normal distribution. */
#ifndef DNN_TABLE_QUANTILE_H
#define DNN_TABLE_QUANTILE_H

#include "table/schema.h"

/* The normal quantile of p in [0, 1], clipped to +-QUANTILE_MOST; seven digits, the same bits on
 * every machine. */
#define QUANTILE_MOST 5.2
double quantile_normal(double p);

#define QUANTILE_BLOCK 256u

/* What is known of a block on the way; the caller's, so that it is not cleared for every column. */
struct quantile_room {
    uint32_t below[QUANTILE_BLOCK], listed[QUANTILE_BLOCK];
    float low[QUANTILE_BLOCK], high[QUANTILE_BLOCK];
    double rank[QUANTILE_BLOCK], tail[QUANTILE_BLOCK];
};

/* v[count] in place, at most QUANTILE_BLOCK of them, no NaN: the normal quantile of the
 * interpolated rank among n->quantiles (ascending, at least one), clipped to n->least and n->most
 * and to +-QUANTILE_MOST. The same bits on every processor. */
typedef void quantile_fn(const struct number_slot *n, float *v, size_t count,
                         struct quantile_room *room);
quantile_fn quantile_plain, quantile_avx512;
/* The best one that this processor runs. */
quantile_fn *quantile_choose(void);
#if defined(__x86_64__)
/* Can this processor do what quantile_avx512 does? */
static inline bool quantile_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq");
}
#endif

#endif
