/* quantile.c - the quantile scale in plain C, and the choice for the processor. */
#include "table/encoder/quantile.h"

#include <math.h>
#include <string.h>

#include "csv/processor.h"

/* Counts the knots below each value: one binary search for all values, without branches on data. */
static void quantile_search(const float *knots, uint32_t count, const float *v, uint32_t *below,
                            size_t values)
{
    memset(below, 0, values * sizeof *below);
    uint32_t left = count;
    for (; left > 1; left -= left / 2)
        for (size_t i = 0; i < values; i++)
            below[i] += (0u - (uint32_t)(knots[below[i] + left / 2 - 1] < v[i])) & left / 2;
    for (size_t i = 0; i < values; i++)
        below[i] += knots[below[i]] < v[i];
}

#include "table/encoder/quantile_loop.h"

double quantile_normal(double p)
{
    return in_middle(p) ? quantile_middle(p) : quantile_tail(p);
}

void quantile_plain(const struct number_slot *n, float *v, size_t count, struct quantile_room *room)
{
    quantile_loop(n, v, count, room);
}

quantile_fn *quantile_choose(void)
{
#if defined(__x86_64__)
    if (processor_may("avx512") && quantile_has_avx512())
        return quantile_avx512;
    if (processor_may("avx2") && quantile_has_avx2())
        return quantile_avx2;
#endif
    return quantile_plain;
}
