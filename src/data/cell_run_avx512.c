/* cell_run_avx512.c - runs of numbers with a cell in one register. A load under a mask reads no
 * byte beyond the cell, and lays its last byte into the register's last, so that places count from
 * the right. */
#include "data/cell_run.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <string.h>

#include "data/number_short.h"

/* number_short of number_short.h, bit for bit. */
static inline bool number_read(const char *text, size_t length, char decimal, double *value)
{
    bool negative = length && *text == '-';
    size_t n = length - negative;
    if (n - 1 > 15)
        return false;
    __mmask16 all = (__mmask16)(0xFFFF0000u >> n);
    const char *from = text + length - 16; /* lanes in front of the cell are not read */
    __m128i bytes = _mm_maskz_loadu_epi8(all, from);
    __m128i digits = _mm_maskz_sub_epi8(all, bytes, _mm_set1_epi8('0'));
    unsigned points = _mm_mask_cmpeq_epi8_mask(all, bytes, _mm_set1_epi8(decimal));
    unsigned good = _mm_mask_cmplt_epu8_mask(all, digits, _mm_set1_epi8(10));
    if ((good | points) != all || (points & (points - 1)))
        return false;
    unsigned point = points ? (unsigned)__builtin_ctz(points) : 16; /* its lane */
    size_t places = 15 - (points ? point : 15);
    if (points && (places == 0 || places + 1 == n))
        return false;
    /* what stands left of the point moves over it; without one all stays */
    __mmask16 right = (__mmask16)(points ? 0u - (points << 1) : 0xFFFFu);
    digits = _mm_mask_mov_epi8(_mm_bslli_si128(digits, 1), right, digits);
    const __m128i tens = _mm_set1_epi16(0x010A), hundreds = _mm_set1_epi32(0x00010064);
    __m128i pairs = _mm_maddubs_epi16(digits, tens);
    __m128i fours = _mm_madd_epi16(pairs, hundreds);
    __m128i eights = _mm_madd_epi16(_mm_packus_epi32(fours, fours), _mm_set1_epi32(0x00012710));
    uint64_t both = (uint64_t)_mm_cvtsi128_si64(eights);
    uint64_t w = (both & UINT32_MAX) * 100000000 + (both >> 32);
    if (w > NUMBER_EXACT)
        return false;
    *value = number_signed((double)(int64_t)w / number_tens[places], negative);
    return true;
}

#include "data/cell_run_loop.h"

size_t cell_run_avx512(const struct cell_run *r, size_t column)
{
    return cell_run_loop(r, column);
}
#endif
