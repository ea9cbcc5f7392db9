/* vec_c.c - the lanes in plain C: for every processor, and for the gradient build. fmaf is exact,
 * so the bits equal those of vector units. */
#include <math.h>
#include <string.h>

#include "backend/cpu/vec.h"

#define VEC_NAME c
#define BLOCK_ROWS 4
#define BLOCK_VECS 1
#define BLOCK_ACROSS 4
#define SPARSE_VECS 4
#define DRAWS 2
#define INLINE static inline

typedef struct { real v[LANES]; } v16;
typedef struct { bool v[LANES]; } m16;
#define EACH for (int i = 0; i < LANES; i++)

static inline v16 v_set(real x)
{
    v16 r;
    EACH r.v[i] = x;
    return r;
}
static inline v16 v_load(const real *p)
{
    v16 r;
    memcpy(&r, p, sizeof r);
    return r;
}
static inline void v_store(real *p, v16 a)
{
    memcpy(p, &a, sizeof a);
}
static inline v16 v_held(v16 a) { return a; }
static inline v16 v_load_n(const real *p, size_t n)
{
    v16 r = v_set(0);
    memcpy(&r, p, n * sizeof *p);
    return r;
}
static inline void v_store_n(real *p, v16 a, size_t n)
{
    memcpy(p, &a, n * sizeof *p);
}
#define TWO(name, expression)                                                                      \
    static inline v16 name(v16 a, v16 b)                                                           \
    {                                                                                              \
        v16 r;                                                                                     \
        EACH r.v[i] = expression;                                                                  \
        return r;                                                                                  \
    }
TWO(v_add, a.v[i] + b.v[i])
TWO(v_sub, a.v[i] - b.v[i])
TWO(v_mul, a.v[i] * b.v[i])
TWO(v_div, a.v[i] / b.v[i])
TWO(v_max, a.v[i] > b.v[i] ? a.v[i] : b.v[i])
TWO(v_min, a.v[i] < b.v[i] ? a.v[i] : b.v[i])
/* a * b + c, rounded once (in double rounding twice is good enough) */
static inline v16 v_fma(v16 a, v16 b, v16 c)
{
    v16 r;
#ifdef DNN_DOUBLE
    EACH r.v[i] = a.v[i] * b.v[i] + c.v[i];
#else
    EACH r.v[i] = fmaf(a.v[i], b.v[i], c.v[i]);
#endif
    return r;
}
static inline v16 v_sqrt(v16 a)
{
    v16 r;
#ifdef DNN_DOUBLE
    EACH r.v[i] = sqrt(a.v[i]);
#else
    EACH r.v[i] = sqrtf(a.v[i]);
#endif
    return r;
}
static inline v16 v_abs(v16 a)
{
    v16 r;
#ifdef DNN_DOUBLE
    EACH r.v[i] = fabs(a.v[i]);
#else
    EACH r.v[i] = fabsf(a.v[i]);
#endif
    return r;
}
static inline m16 v_gt(v16 a, v16 b)
{
    m16 r;
    EACH r.v[i] = a.v[i] > b.v[i];
    return r;
}
static inline m16 v_eq(v16 a, v16 b)
{
    m16 r;
    EACH r.v[i] = a.v[i] == b.v[i];
    return r;
}
static inline v16 v_pick(m16 m, v16 yes, v16 no)
{
    v16 r;
    EACH r.v[i] = m.v[i] ? yes.v[i] : no.v[i];
    return r;
}
/* lane i: bits[i] >= threshold */
static inline uint16_t m_bits(m16 m)
{
    uint32_t bits = 0;
    EACH bits |= (uint32_t)m.v[i] << i;
    return (uint16_t)bits;
}
static inline m16 m_of(uint16_t bits)
{
    m16 r;
    EACH r.v[i] = bits >> i & 1;
    return r;
}
static inline m16 v_at_least(const uint32_t *bits, uint32_t threshold)
{
    m16 r;
    EACH r.v[i] = bits[i] >= threshold;
    return r;
}
#ifndef DNN_DOUBLE
static inline v16 v_round(v16 a) /* to the nearest, ties to even */
{
    v16 r;
    EACH r.v[i] = rintf(a.v[i]);
    return r;
}
static inline v16 v_pow2(v16 n) /* n whole, -126 to 127 */
{
    v16 r;
    EACH {
        uint32_t bits = (uint32_t)((int32_t)n.v[i] + 127) << 23;
        memcpy(&r.v[i], &bits, sizeof bits);
    }
    return r;
}
/* a = m * 2^e with m in [sqrt(1/2), sqrt(2)), for normal a > 0 */
static inline v16 v_split(v16 a, v16 *e)
{
    v16 m;
    EACH {
        uint32_t bits;
        memcpy(&bits, &a.v[i], sizeof bits);
        uint32_t moved = bits - 0x3f3504f3u; /* the bits of sqrt(1/2) */
        e->v[i] = (real)((int32_t)moved >> 23);
        bits = (moved & 0x007fffffu) + 0x3f3504f3u;
        memcpy(&m.v[i], &bits, sizeof bits);
    }
    return m;
}
#endif
static inline real v_sum(v16 a) /* halves added: the order of the vector units */
{
    for (int n = LANES / 2; n; n /= 2)
        for (int i = 0; i < n; i++)
            a.v[i] += a.v[i + n];
    return a.v[0];
}
static inline real v_most(v16 a)
{
    for (int n = LANES / 2; n; n /= 2)
        for (int i = 0; i < n; i++)
            a.v[i] = a.v[i] > a.v[i + n] ? a.v[i] : a.v[i + n];
    return a.v[0];
}
INLINE void transpose_block(real *to, const real *from, size_t ld_from, size_t ld_to)
{
    for (size_t j = 0; j < LANES; j++)
        for (size_t i = 0; i < LANES; i++)
            to[j * ld_to + i] = from[i * ld_from + j];
}

/* Eight words of 64 bits. */
typedef struct { uint64_t v[8]; } w8;
#define WORDS(name, parameters, expression)                                                        \
    static inline w8 name parameters                                                               \
    {                                                                                              \
        w8 r;                                                                                      \
        for (uint32_t i = 0; i < 8; i++)                                                           \
            r.v[i] = expression;                                                                   \
        return r;                                                                                  \
    }
WORDS(w_set, (uint32_t x), x)
WORDS(w_counters, (uint64_t first), first + i)
WORDS(w_mul, (w8 a, w8 b), (a.v[i] & 0xffffffffu) * (b.v[i] & 0xffffffffu))
WORDS(w_high, (w8 a), a.v[i] >> 32)
WORDS(w_left24, (w8 a), a.v[i] << 24)
WORDS(w_xor, (w8 a, w8 b, w8 c), a.v[i] ^ b.v[i] ^ c.v[i])
/* Words in the order of counters: four of each. */
static inline void w_put(uint32_t *bits, w8 c0, w8 c1, w8 c2, w8 c3)
{
    for (size_t i = 0; i < 8; i++) {
        bits[4 * i] = (uint32_t)c0.v[i];
        bits[4 * i + 1] = (uint32_t)c1.v[i];
        bits[4 * i + 2] = (uint32_t)c2.v[i];
        bits[4 * i + 3] = (uint32_t)c3.v[i];
    }
}

#include "backend/cpu/vec_table.h"
