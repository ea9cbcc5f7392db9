/* scan_avx2.c - the masks of scan.h with AVX2, 32 bytes at a time. */
#include "csv/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline uint64_t equal64(__m256i low, __m256i high, char c)
{
    __m256i wanted = _mm256_set1_epi8(c);
    uint32_t a = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted));
    uint32_t b = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted));
    return (uint64_t)b << 32 | a;
}

void scan_masks_avx2(const unsigned char *bytes, size_t blocks, char delimiter,
                     struct scan_masks *out)
{
    for (size_t i = 0; i < blocks; i++, bytes += 64) {
        __m256i low = _mm256_loadu_si256((const void *)bytes);
        __m256i high = _mm256_loadu_si256((const void *)(bytes + 32));
        out[i].quote = equal64(low, high, '"');
        out[i].delimiter = equal64(low, high, delimiter);
        out[i].feed = equal64(low, high, '\n');
        out[i].cr = equal64(low, high, '\r');
        out[i].blank = (equal64(low, high, ' ') | equal64(low, high, '\t')) & ~out[i].delimiter;
    }
}
#endif
