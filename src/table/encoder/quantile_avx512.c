/* quantile_avx512.c - the quantile scale with vectors of sixteen. */
#include "table/encoder/quantile.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define PART 32u /* knots compared at a time */
#define MOST (PART * PART)

/* Counts the knots below x among 32 ascending ones. */
static inline uint32_t below32(const float *knots, __m512 x)
{
    uint32_t low = _mm512_cmp_ps_mask(_mm512_loadu_ps(knots), x, _CMP_LT_OQ);
    uint32_t high = _mm512_cmp_ps_mask(_mm512_loadu_ps(knots + 16), x, _CMP_LT_OQ);
    return (uint32_t)__builtin_popcount(high << 16 | low);
}

/* More knots than fit_quantiles makes. */
static void search_many(const float *knots, uint32_t count, const float *v, uint32_t *below,
                        size_t values)
{
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
}

/* Sixteen binary searches among 32 ascending knots in registers. */
static inline __m512i below_each(__m512 first, __m512 second, __m512 x)
{
    __m512i at = _mm512_setzero_si512();
    for (int step = 16; step; step /= 2) {
        __m512i probe = _mm512_add_epi32(at, _mm512_set1_epi32(step - 1));
        __m512 knot = _mm512_permutex2var_ps(first, probe, second);
        __mmask16 less = _mm512_cmp_ps_mask(knot, x, _CMP_LT_OQ);
        at = _mm512_mask_add_epi32(at, less, at, _mm512_set1_epi32(step));
    }
    __m512 knot = _mm512_permutex2var_ps(first, at, second); /* `at` is at most 31 */
    __mmask16 less = _mm512_cmp_ps_mask(knot, x, _CMP_LT_OQ);
    return _mm512_mask_add_epi32(at, less, at, _mm512_set1_epi32(1));
}

/* Two steps for up to 1024 knots: find the part of 32 by the last knot of each, then the place in
 * it. Missing knots are infinite. */
static void search_parts(const float *knots, uint32_t count, const float *v, uint32_t *below,
                         size_t values)
{
    float rest[PART], lasts[PART]; /* the incomplete last part; the last knot of each complete
                                    * one */
    uint32_t parts = count / PART;
    for (uint32_t i = 0; i < PART; i++) {
        rest[i] = PART * parts + i < count ? knots[PART * parts + i] : INFINITY;
        lasts[i] = i < parts ? knots[PART * i + PART - 1] : INFINITY;
    }
    const __m512 first = _mm512_loadu_ps(lasts), second = _mm512_loadu_ps(lasts + 16);
    for (size_t i = 0; i < values; i += 16) {
        __mmask16 here = (__mmask16)(values - i < 16 ? (1u << (values - i)) - 1 : 0xFFFFu);
        __m512 x = _mm512_maskz_loadu_ps(here, v + i);
        _mm512_mask_storeu_epi32(below + i, here, below_each(first, second, x));
    }
    for (size_t i = 0; i < values; i++) {
        uint32_t part = below[i];
        const float *in = part < parts ? knots + (size_t)PART * part : rest;
        below[i] = PART * part + below32(in, _mm512_set1_ps(v[i]));
    }
}

static void quantile_search(const float *knots, uint32_t count, const float *v, uint32_t *below,
                            size_t values)
{
    (count > MOST ? search_many : search_parts)(knots, count, v, below, values);
}

/* Both knots around each value; sixteen at a step, a list of those at a knot or outside. */
static size_t quantile_around(const float *knots, uint32_t count, const float *v,
                              const uint32_t *below, float *low, float *high, uint32_t *listed,
                              size_t values)
{
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    size_t found = 0;
    for (size_t i = 0; i < values; i++) { /* gathers take longer */
        uint32_t b = below[i];
        memcpy(low + i, knots + (b ? b - 1 : 0), sizeof *low);
        memcpy(high + i, knots + (b < count ? b : count - 1), sizeof *high);
    }
    for (size_t i = 0; i < values; i += 16, at = _mm512_add_epi32(at, _mm512_set1_epi32(16))) {
        __mmask16 here = (__mmask16)(values - i < 16 ? (1u << (values - i)) - 1 : 0xFFFFu);
        __m512i b = _mm512_maskz_loadu_epi32(here, below + i);
        __m512 h = _mm512_maskz_loadu_ps(here, high + i);
        __mmask16 rare = _mm512_mask_cmpeq_epi32_mask(here, b, _mm512_setzero_si512());
        rare |= _mm512_mask_cmp_ps_mask(here, h, _mm512_maskz_loadu_ps(here, v + i), _CMP_LE_OQ);
        _mm512_storeu_si512(listed + found, _mm512_maskz_compress_epi32(rare, at)); /* found <= i */
        found += (size_t)__builtin_popcount(rare);
    }
    return found;
}

static size_t quantile_tails(const double *rank, uint32_t *listed, double *tail, size_t values)
{
    const __m512d half = _mm512_set1_pd(0.5), middle = _mm512_set1_pd(QUANTILE_MIDDLE);
    __m256i at = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    size_t found = 0;
    for (size_t i = 0; i < values; i += 8, at = _mm256_add_epi32(at, _mm256_set1_epi32(8))) {
        __mmask8 here = (__mmask8)(values - i < 8 ? (1u << (values - i)) - 1 : 0xFFu);
        __m512d r = _mm512_maskz_loadu_pd(here, rank + i);
        __m512d far = _mm512_abs_pd(_mm512_sub_pd(r, half));
        __mmask8 out = _mm512_mask_cmp_pd_mask(here, far, middle, _CMP_NLE_UQ);
        _mm256_storeu_si256((__m256i *)(void *)(listed + found),
                            _mm256_maskz_compress_epi32(out, at));
        _mm512_storeu_pd(tail + found, _mm512_maskz_compress_pd(out, r));
        found += (size_t)__builtin_popcount(out);
    }
    return found;
}

/* place / last with the bits of a division, in less time: the product with the rounded reciprocal,
 * corrected by its remainder (P. Markstein, IBM Journal of Research and Development 34, 1990). The
 * remainder is exact, and a quotient by a whole number below 2^32 is never so near the middle of
 * two doubles that the correction rounds wrongly. */
static inline double quantile_share(double place, double last, double inverse)
{
    double near = place * inverse;
    return __builtin_fma(__builtin_fma(-near, last, place), inverse, near);
}

#define QUANTILE_LISTS
#include "table/encoder/quantile_loop.h"

void quantile_avx512(const struct number_slot *n, float *v, size_t count,
                     struct quantile_room *room)
{
    quantile_loop(n, v, count, room);
}
#endif
