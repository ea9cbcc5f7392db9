/* vec_avx512.c - the lanes in one AVX-512 register. */
#include "backend/cpu/vec.h"

#ifdef VEC_X86
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define VEC_NAME avx512
#define BLOCK_ROWS 8
#define BLOCK_VECS 2
#define BLOCK_ACROSS 8
#define SPARSE_VECS 8
#define DRAWS 4
#define INLINE static inline __attribute__((always_inline))

typedef __m512 v16;
typedef __mmask16 m16;

static inline __mmask16 first_lanes(size_t n)
{
    return (__mmask16)((1u << n) - 1);
}
static inline v16 v_set(real x) { return _mm512_set1_ps(x); }
static inline v16 v_load(const real *p) { return _mm512_loadu_ps(p); }
static inline void v_store(real *p, v16 a) { _mm512_storeu_ps(p, a); }
/* In a register: otherwise a load shared by two multiplications is repeated. */
static inline v16 v_held(v16 a)
{
    __asm__("" : "+v"(a));
    return a;
}
static inline v16 v_load_n(const real *p, size_t n) { return _mm512_maskz_loadu_ps(first_lanes(n),
        p); }
static inline void v_store_n(real *p, v16 a, size_t n) { _mm512_mask_storeu_ps(p, first_lanes(n),
        a); }
static inline v16 v_add(v16 a, v16 b) { return _mm512_add_ps(a, b); }
static inline v16 v_sub(v16 a, v16 b) { return _mm512_sub_ps(a, b); }
static inline v16 v_mul(v16 a, v16 b) { return _mm512_mul_ps(a, b); }
static inline v16 v_div(v16 a, v16 b) { return _mm512_div_ps(a, b); }
static inline v16 v_max(v16 a, v16 b) { return _mm512_max_ps(a, b); }
static inline v16 v_min(v16 a, v16 b) { return _mm512_min_ps(a, b); }
static inline v16 v_fma(v16 a, v16 b, v16 c) { return _mm512_fmadd_ps(a, b, c); }
static inline v16 v_sqrt(v16 a) { return _mm512_sqrt_ps(a); }
static inline v16 v_abs(v16 a) { return _mm512_abs_ps(a); }
static inline m16 v_gt(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
static inline m16 v_eq(v16 a, v16 b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
static inline v16 v_pick(m16 m, v16 yes, v16 no) { return _mm512_mask_blend_ps(m, no, yes); }
static inline m16 v_at_least(const uint32_t *bits, uint32_t threshold)
{
    return _mm512_cmpge_epu32_mask(_mm512_loadu_si512(bits), _mm512_set1_epi32((int)threshold));
}
static inline uint16_t m_bits(m16 m) { return m; }
static inline m16 m_of(uint16_t bits) { return bits; }
static inline v16 v_round(v16 a)
{
    return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
static inline v16 v_pow2(v16 n)
{
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_add_epi32(_mm512_cvtps_epi32(n),
            _mm512_set1_epi32(127)), 23));
}
static inline v16 v_split(v16 a, v16 *e)
{
    const __m512i root_half = _mm512_set1_epi32(0x3f3504f3);
    __m512i moved = _mm512_sub_epi32(_mm512_castps_si512(a), root_half);
    *e = _mm512_cvtepi32_ps(_mm512_srai_epi32(moved, 23));
    return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_and_si512(moved,
            _mm512_set1_epi32(0x007fffff)), root_half));
}
static inline real v_sum(v16 a)
{
    __m256 h = _mm256_add_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
static inline real v_most(v16 a)
{
    __m256 h = _mm256_max_ps(_mm512_castps512_ps256(a), _mm512_extractf32x8_ps(a, 1));
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}
/* Four rounds of exchanges: single lanes, pairs of lanes, quarters, halves. */
INLINE void transpose_block(real *to, const real *from, size_t ld_from, size_t ld_to)
{
    __m512 a[16], b[16];
    for (int i = 0; i < 16; i++)
        a[i] = v_load(from + (size_t)i * ld_from);
    for (int i = 0; i < 16; i += 2) {
        b[i] = _mm512_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm512_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) /* a[i + q]: column q of each quarter, rows i .. i + 3 */
        for (int k = 0; k < 2; k++) {
            __m512d x = _mm512_castps_pd(b[i + k]), y = _mm512_castps_pd(b[i + 2 + k]);
            a[i + 2 * k] = _mm512_castpd_ps(_mm512_unpacklo_pd(x, y));
            a[i + 2 * k + 1] = _mm512_castpd_ps(_mm512_unpackhi_pd(x, y));
        }
    for (int q = 0; q < 4; q++) {
        __m512 x0 = _mm512_shuffle_f32x4(a[q], a[4 + q], 0x88), x1 = _mm512_shuffle_f32x4(a[q],
                a[4 + q], 0xdd);
        __m512 y0 = _mm512_shuffle_f32x4(a[8 + q], a[12 + q], 0x88),
            y1 = _mm512_shuffle_f32x4(a[8 + q], a[12 + q], 0xdd);
        v_store(to + (size_t)q * ld_to, _mm512_shuffle_f32x4(x0, y0, 0x88));
        v_store(to + (size_t)(4 + q) * ld_to, _mm512_shuffle_f32x4(x1, y1, 0x88));
        v_store(to + (size_t)(8 + q) * ld_to, _mm512_shuffle_f32x4(x0, y0, 0xdd));
        v_store(to + (size_t)(12 + q) * ld_to, _mm512_shuffle_f32x4(x1, y1, 0xdd));
    }
}
/* Eight words of 64 bits. */
typedef __m512i w8;
static inline w8 w_set(uint32_t x) { return _mm512_set1_epi32((int)x); }
/* Counters 0 to 3 are in even places, 4 to 7 in odd ones: w_put stores them in order. */
static inline w8 w_counters(uint64_t first)
{
    return _mm512_add_epi64(_mm512_set1_epi64((long long)first),
                            _mm512_setr_epi64(0, 4, 1, 5, 2, 6, 3, 7));
}
static inline w8 w_mul(w8 a, w8 b) { return _mm512_mul_epu32(a, b); }
static inline w8 w_high(w8 a) { return _mm512_srli_epi64(a, 32); }
static inline w8 w_left24(w8 a) { return _mm512_slli_epi64(a, 24); }
static inline w8 w_xor(w8 a, w8 b, w8 c) { return _mm512_ternarylogic_epi64(a, b, c, 0x96); }
static inline void w_put(uint32_t *bits, w8 c0, w8 c1, w8 c2, w8 c3)
{
    w8 low = _mm512_mask_shuffle_epi32(c0, 0xaaaa, c1, _MM_PERM_CCAA);
    w8 high = _mm512_mask_shuffle_epi32(c2, 0xaaaa, c3, _MM_PERM_CCAA);
    _mm512_storeu_si512(bits, _mm512_unpacklo_epi64(low, high));
    _mm512_storeu_si512(bits + 16, _mm512_unpackhi_epi64(low, high));
}

#include "backend/cpu/vec_table.h"
#endif
