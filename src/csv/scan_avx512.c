/* scan_avx512.c - the masks of scan.h with AVX-512, 64 bytes at a time: a comparison returns a
 * mask. */
#include "csv/scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

static inline uint64_t equal64(__m512i v, char c)
{
    return _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8(c));
}

void scan_masks_avx512(const unsigned char *bytes, size_t blocks, char delimiter,
                       struct scan_masks *out)
{
    for (size_t i = 0; i < blocks; i++, bytes += 64) {
        __m512i v = _mm512_loadu_si512((const void *)bytes);
        out[i].quote = equal64(v, '"');
        out[i].delimiter = equal64(v, delimiter);
        out[i].feed = equal64(v, '\n');
        out[i].cr = equal64(v, '\r');
        out[i].blank = (equal64(v, ' ') | equal64(v, '\t')) & ~out[i].delimiter;
    }
}
#endif
