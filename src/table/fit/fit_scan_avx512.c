/* fit_scan_avx512.c - the sixteen slots of a record at once. */
#include "table/fit/fit_scan.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum { AHEAD = 16 };

void scan_rows_avx512(const struct scan_window *w, const unsigned char *const *records,
                      uint32_t rows, struct scan_found *f)
{
    const __mmask16 wanted = (__mmask16)w->wanted;
    const __m512i from = _mm512_loadu_si512(w->from), to = _mm512_loadu_si512(w->to);
    const __m512i size = _mm512_set1_epi32(0x7FFFFFFF), one = _mm512_set1_epi32(1);
    __m512i count = _mm512_loadu_si512(f->count), below = _mm512_loadu_si512(f->below);
    __m512i least = _mm512_loadu_si512(f->least), most = _mm512_loadu_si512(f->most);
    const size_t at = 4 * (size_t)w->first;
    for (uint32_t i = 0; i < rows; i++) {
        _mm_prefetch((const char *)records[i + AHEAD < rows ? i + AHEAD : i] + at, _MM_HINT_T0);
        __m512i bits = _mm512_maskz_loadu_epi32(wanted, records[i] + at);
        __m512 v = _mm512_castsi512_ps(bits);
        __mmask16 here = _mm512_mask_cmp_ps_mask(wanted, v, v, _CMP_ORD_Q);
        __m512i sign = _mm512_and_si512(_mm512_srai_epi32(bits, 31), size);
        __m512i order = _mm512_xor_si512(bits, sign);
        __mmask16 low = _mm512_mask_cmplt_epi32_mask(here, order, from);
        __mmask16 keep = _mm512_mask_cmple_epi32_mask(here & (__mmask16)~low, order, to);
        count = _mm512_mask_add_epi32(count, here, count, one);
        below = _mm512_mask_add_epi32(below, low, below, one);
        least = _mm512_mask_min_epi32(least, here, least, order);
        most = _mm512_mask_max_epi32(most, here, most, order);
        for (unsigned left = keep; left; left &= left - 1) {
            unsigned k = (unsigned)__builtin_ctz(left);
            memcpy(&f->values[k][f->kept[k]++], records[i] + at + 4 * (size_t)k, sizeof(float));
        }
    }
    _mm512_storeu_si512(f->count, count);
    _mm512_storeu_si512(f->below, below);
    _mm512_storeu_si512(f->least, least);
    _mm512_storeu_si512(f->most, most);
}
#endif
