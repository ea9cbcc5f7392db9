/* scan_places_avx512.c - positions of the bits of a mask without a loop: the mask compresses the
 * numbers 0 to 63. */
#include "csv/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline void store(uint32_t *out, __m128i places, __m512i base)
{
    _mm512_storeu_si512(out, _mm512_add_epi32(_mm512_cvtepu8_epi32(places), base));
}

size_t scan_places_avx512(const uint64_t *masks, size_t blocks, uint32_t base, uint32_t *out)
{
    unsigned char all[64];
    for (unsigned i = 0; i < 64; i++)
        all[i] = (unsigned char)i;
    const __m512i numbers = _mm512_loadu_si512(all);
    size_t n = 0;
    for (size_t i = 0; i < blocks; i++, base += 64) {
        __m512i places = _mm512_maskz_compress_epi8(masks[i], numbers);
        __m512i first = _mm512_set1_epi32((int)base);
        size_t count = (size_t)__builtin_popcountll(masks[i]);
        __m256i eight = _mm256_cvtepu8_epi32(_mm512_castsi512_si128(places));
        eight = _mm256_add_epi32(eight, _mm512_castsi512_si256(first));
        _mm256_storeu_si256((void *)(out + n), eight); /* usually this is all */
        if (count > 8)
            store(out + n, _mm512_castsi512_si128(places), first);
        if (count > 16) {
            store(out + n + 16, _mm512_extracti32x4_epi32(places, 1), first);
            store(out + n + 32, _mm512_extracti32x4_epi32(places, 2), first);
            store(out + n + 48, _mm512_extracti32x4_epi32(places, 3), first);
        }
        n += count;
    }
    return n;
}
#endif
