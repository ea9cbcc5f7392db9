/* vec_avx2.c - the lanes in two AVX2 registers. */
#include "backend/cpu/vec.h"

#ifdef VEC_X86
#include <immintrin.h>
#include <math.h>
#include <string.h>

#define VEC_NAME avx2
#define BLOCK_ROWS 6
#define BLOCK_VECS 1
#define BLOCK_ACROSS 4
#define SPARSE_VECS 2
#define DRAWS 2
#define INLINE static inline __attribute__((always_inline))

typedef struct { __m256 a, b; } v16;
typedef struct { __m256 a, b; } m16;

static inline __m256i first_lanes(size_t n) /* of eight; n may be more */
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n > 8 ? 8 : (int)n), _mm256_setr_epi32(0, 1, 2, 3,
            4, 5, 6, 7));
}
static inline v16 v_set(real x) { return (v16){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
static inline v16 v_load(const real *p) { return (v16){_mm256_loadu_ps(p),
                                                       _mm256_loadu_ps(p + 8)}; }
static inline void v_store(real *p, v16 x)
{
    _mm256_storeu_ps(p, x.a);
    _mm256_storeu_ps(p + 8, x.b);
}
/* In registers: otherwise a load shared by two multiplications is repeated. */
static inline v16 v_held(v16 x)
{
    __asm__("" : "+x"(x.a), "+x"(x.b));
    return x;
}
static inline v16 v_load_n(const real *p, size_t n)
{
    if (n <= 8)
        return (v16){_mm256_maskload_ps(p, first_lanes(n)), _mm256_setzero_ps()};
    return (v16){_mm256_loadu_ps(p), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
}
static inline void v_store_n(real *p, v16 x, size_t n)
{
    _mm256_maskstore_ps(p, first_lanes(n), x.a);
    if (n > 8)
        _mm256_maskstore_ps(p + 8, first_lanes(n - 8), x.b);
}
#define TWO(name, call)                                                                            \
    static inline v16 name(v16 x, v16 y) { return (v16){call(x.a, y.a), call(x.b, y.b)}; }
TWO(v_add, _mm256_add_ps)
TWO(v_sub, _mm256_sub_ps)
TWO(v_mul, _mm256_mul_ps)
TWO(v_div, _mm256_div_ps)
TWO(v_max, _mm256_max_ps)
TWO(v_min, _mm256_min_ps)
static inline v16 v_fma(v16 x, v16 y, v16 z)
{
    return (v16){_mm256_fmadd_ps(x.a, y.a, z.a), _mm256_fmadd_ps(x.b, y.b, z.b)};
}
static inline v16 v_sqrt(v16 x) { return (v16){_mm256_sqrt_ps(x.a), _mm256_sqrt_ps(x.b)}; }
static inline v16 v_abs(v16 x)
{
    __m256 sign = _mm256_set1_ps(-0.0f);
    return (v16){_mm256_andnot_ps(sign, x.a), _mm256_andnot_ps(sign, x.b)};
}
static inline m16 v_gt(v16 x, v16 y)
{
    return (m16){_mm256_cmp_ps(x.a, y.a, _CMP_GT_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_GT_OQ)};
}
static inline m16 v_eq(v16 x, v16 y)
{
    return (m16){_mm256_cmp_ps(x.a, y.a, _CMP_EQ_OQ), _mm256_cmp_ps(x.b, y.b, _CMP_EQ_OQ)};
}
static inline v16 v_pick(m16 m, v16 yes, v16 no)
{
    return (v16){_mm256_blendv_ps(no.a, yes.a, m.a), _mm256_blendv_ps(no.b, yes.b, m.b)};
}
static inline __m256 half_at_least(const uint32_t *bits, __m256i threshold)
{
    __m256i b = _mm256_loadu_si256((const __m256i_u *)(const void *)bits);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(b, threshold), b));
}
static inline m16 v_at_least(const uint32_t *bits, uint32_t threshold)
{
    __m256i t = _mm256_set1_epi32((int)threshold);
    return (m16){half_at_least(bits, t), half_at_least(bits + 8, t)};
}
static inline uint16_t m_bits(m16 m)
{
    return (uint16_t)(_mm256_movemask_ps(m.a) | _mm256_movemask_ps(m.b) << 8);
}
static inline __m256 half_of(int bits)
{
    __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(bits), each),
            each));
}
static inline m16 m_of(uint16_t bits) { return (m16){half_of(bits), half_of(bits >> 8)}; }
static inline v16 v_round(v16 x)
{
    return (v16){_mm256_round_ps(x.a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
                 _mm256_round_ps(x.b, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
static inline __m256 half_pow2(__m256 n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n),
            _mm256_set1_epi32(127)), 23));
}
static inline v16 v_pow2(v16 n) { return (v16){half_pow2(n.a), half_pow2(n.b)}; }
static inline __m256 half_split(__m256 a, __m256 *e)
{
    const __m256i root_half = _mm256_set1_epi32(0x3f3504f3);
    __m256i moved = _mm256_sub_epi32(_mm256_castps_si256(a), root_half);
    *e = _mm256_cvtepi32_ps(_mm256_srai_epi32(moved, 23));
    return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_and_si256(moved,
            _mm256_set1_epi32(0x007fffff)), root_half));
}
static inline v16 v_split(v16 x, v16 *e)
{
    return (v16){half_split(x.a, &e->a), half_split(x.b, &e->b)};
}
static inline real v_sum(v16 x)
{
    __m256 h = _mm256_add_ps(x.a, x.b);
    __m128 q = _mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_add_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_add_ss(q, _mm_shuffle_ps(q, q, 1)));
}
static inline real v_most(v16 x)
{
    __m256 h = _mm256_max_ps(x.a, x.b);
    __m128 q = _mm_max_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
    q = _mm_max_ps(q, _mm_movehl_ps(q, q));
    return _mm_cvtss_f32(_mm_max_ss(q, _mm_shuffle_ps(q, q, 1)));
}
/* Eight by eight: exchanges of lanes, of pairs, of halves. */
static inline void transpose_eight(real *to, const real *from, size_t ld_from, size_t ld_to)
{
    __m256 a[8], b[8];
    for (int i = 0; i < 8; i++)
        a[i] = _mm256_loadu_ps(from + (size_t)i * ld_from);
    for (int i = 0; i < 8; i += 2) {
        b[i] = _mm256_unpacklo_ps(a[i], a[i + 1]);
        b[i + 1] = _mm256_unpackhi_ps(a[i], a[i + 1]);
    }
    for (int i = 0; i < 8; i += 4)
        for (int k = 0; k < 2; k++) {
            __m256d x = _mm256_castps_pd(b[i + k]), y = _mm256_castps_pd(b[i + 2 + k]);
            a[i + 2 * k] = _mm256_castpd_ps(_mm256_unpacklo_pd(x, y));
            a[i + 2 * k + 1] = _mm256_castpd_ps(_mm256_unpackhi_pd(x, y));
        }
    for (int q = 0; q < 4; q++) {
        _mm256_storeu_ps(to + (size_t)q * ld_to, _mm256_permute2f128_ps(a[q], a[4 + q], 0x20));
        _mm256_storeu_ps(to + (size_t)(4 + q) * ld_to, _mm256_permute2f128_ps(a[q], a[4 + q],
                0x31));
    }
}
INLINE void transpose_block(real *to, const real *from, size_t ld_from, size_t ld_to)
{
    for (size_t i = 0; i < LANES; i += 8)
        for (size_t j = 0; j < LANES; j += 8)
            transpose_eight(to + j * ld_to + i, from + i * ld_from + j, ld_from, ld_to);
}
/* Eight words of 64 bits. */
typedef struct { __m256i a, b; } w8;
static inline w8 w_set(uint32_t x)
{
    return (w8){_mm256_set1_epi32((int)x), _mm256_set1_epi32((int)x)};
}
/* In each half, counters 0 and 1 are in even places, 2 and 3 in odd ones: w_put stores them in
 * order. */
static inline w8 w_counters(uint64_t first)
{
    __m256i from = _mm256_set1_epi64x((long long)first);
    return (w8){_mm256_add_epi64(from, _mm256_setr_epi64x(0, 2, 1, 3)),
                _mm256_add_epi64(from, _mm256_setr_epi64x(4, 6, 5, 7))};
}
static inline w8 w_mul(w8 x, w8 y)
{
    return (w8){_mm256_mul_epu32(x.a, y.a), _mm256_mul_epu32(x.b, y.b)};
}
static inline w8 w_high(w8 x) { return (w8){_mm256_srli_epi64(x.a, 32),
                                            _mm256_srli_epi64(x.b, 32)}; }
static inline w8 w_left24(w8 x) { return (w8){_mm256_slli_epi64(x.a, 24),
                                              _mm256_slli_epi64(x.b, 24)}; }
static inline w8 w_xor(w8 x, w8 y, w8 z)
{
    return (w8){_mm256_xor_si256(_mm256_xor_si256(x.a, y.a), z.a),
                _mm256_xor_si256(_mm256_xor_si256(x.b, y.b), z.b)};
}
static inline void half_put(uint32_t *bits, __m256i c0, __m256i c1, __m256i c2, __m256i c3)
{
    __m256i low = _mm256_blend_epi32(c0, _mm256_slli_epi64(c1, 32), 0xaa);
    __m256i high = _mm256_blend_epi32(c2, _mm256_slli_epi64(c3, 32), 0xaa);
    _mm256_storeu_si256((__m256i_u *)(void *)bits, _mm256_unpacklo_epi64(low, high));
    _mm256_storeu_si256((__m256i_u *)(void *)(bits + 8), _mm256_unpackhi_epi64(low, high));
}
static inline void w_put(uint32_t *bits, w8 c0, w8 c1, w8 c2, w8 c3)
{
    half_put(bits, c0.a, c1.a, c2.a, c3.a);
    half_put(bits + 16, c0.b, c1.b, c2.b, c3.b);
}

#include "backend/cpu/vec_table.h"
#endif
