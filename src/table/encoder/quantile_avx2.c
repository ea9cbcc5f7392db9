/* quantile_avx2.c - the quantile scale with vectors of eight. */
#include "table/encoder/quantile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define PART 32u /* knots compared at a time */

/* Counts the knots below x among 32 ascending ones. */
static inline uint32_t below32(const float *knots, __m256 x)
{
    uint32_t below = 0;
    for (int i = 0; i < 4; i++) {
        const __m256 less = _mm256_cmp_ps(_mm256_loadu_ps(knots + 8 * i), x, _CMP_LT_OQ);
        below |= (uint32_t)_mm256_movemask_ps(less) << 8 * i;
    }
    return (uint32_t)__builtin_popcount(below);
}

/* The last knot below each value is looked for among the last ones of parts of 32, then in its
 * part. Missing knots are infinite. Of more knots than fit_quantiles makes, binary searches find
 * the parts. */
static void quantile_search(const float *knots, uint32_t count, const float *v, uint32_t *below,
                            size_t values)
{
    float rest[PART], lasts[PART]; /* the last part, which may be incomplete; the last knot of each
                                    * complete one */
    const uint32_t parts = count / PART;
    for (uint32_t i = 0; i < PART; i++) {
        rest[i] = PART * parts + i < count ? knots[PART * parts + i] : INFINITY;
        lasts[i] = i < parts ? knots[PART * i + PART - 1] : INFINITY;
    }
    for (size_t i = 0; i < values; i++) {
        const __m256 x = _mm256_set1_ps(v[i]);
        uint32_t low = parts > PART ? 0 : below32(lasts, x), high = parts > PART ? parts : low;
        while (low < high) {
            const uint32_t middle = low + (high - low) / 2;
            if (knots[PART * middle + PART - 1] < v[i])
                low = middle + 1;
            else
                high = middle;
        }
        below[i] = PART * low + below32(low < parts ? knots + (size_t)PART * low : rest, x);
    }
}

#include "table/encoder/quantile_loop.h"

void quantile_avx2(const struct number_slot *n, float *v, size_t count, struct quantile_room *room)
{
    quantile_loop(n, v, count, room);
}
#endif
