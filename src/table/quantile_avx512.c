/* quantile_avx512.c - the quantile scale with vectors of sixteen. */
#include "table/quantile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>

#define PART 32u /* knots compared at a time */
#define MOST (PART * PART)

/* Counts the knots below x among 32 ascending ones. */
static inline uint32_t below32(const float *knots, __m512 x)
{
    uint32_t low = _mm512_cmp_ps_mask(_mm512_loadu_ps(knots), x, _CMP_LT_OQ);
    uint32_t high = _mm512_cmp_ps_mask(_mm512_loadu_ps(knots + 16), x, _CMP_LT_OQ);
    return (uint32_t)__builtin_popcount(high << 16 | low);
}

/* Two steps for up to 1024 knots: find the part of 32 by the last knot of each, then the place in
 * it. Missing knots are infinite. */
static void quantile_search(const float *knots, uint32_t count, const float *v, uint32_t *below,
                            size_t values)
{
    float rest[PART], lasts[PART]; /* the incomplete last part; the last knot of each complete
                                    * one */
    uint32_t parts = count / PART;
    if (count > MOST) { /* more than fit_quantiles makes */
        for (size_t i = 0; i < values; i++) {
            uint32_t low = 0, high = count;
            while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                if (knots[middle] < v[i])
                    low = middle + 1;
                else
                    high = middle;
            }
            below[i] = low;
        }
        return;
    }
    for (uint32_t i = 0; i < PART; i++) {
        rest[i] = PART * parts + i < count ? knots[PART * parts + i] : INFINITY;
        lasts[i] = i < parts ? knots[PART * i + PART - 1] : INFINITY;
    }
    for (size_t i = 0; i < values; i++) {
        __m512 x = _mm512_set1_ps(v[i]);
        uint32_t part = below32(lasts, x);
        const float *in = part < parts ? knots + (size_t)PART * part : rest;
        below[i] = PART * part + below32(in, x);
    }
}

#include "table/quantile_loop.h"

void quantile_avx512(const struct number_slot *n, float *v, size_t count,
                     struct quantile_room *room)
{
    quantile_loop(n, v, count, room);
}
#endif
