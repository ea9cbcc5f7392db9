/* rng.c - random numbers that only the host draws. log and cos are our own: libm's differ in the
 * last bit between machines. */
#include "base/rng.h"

#include <math.h>
#include <string.h>

/* 53 random bits for one element. Two elements share a block of Philox. */
static uint64_t bits53(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step,
                       uint32_t purpose, uint32_t half)
{
    /* The top bit of the purpose keeps these streams apart from rng_bits. */
    struct rng4 r = rng_philox(seed, (uint32_t)element, layer ^ (uint32_t)(element >> 32) << 24,
                               step, purpose | 0x80000000u);
    uint64_t word = (uint64_t)r.v[2 * half + 1] << 32 | r.v[2 * half];
    return word >> 11;
}

double rng_uniform(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step, uint32_t purpose)
{
    return (double)bits53(seed, element, layer, step, purpose, 0) * 0x1p-53;
}

/* Natural logarithm of 0 < x <= 1: x = m * 2^k with m in [sqrt(1/2), sqrt(2)), then 2 atanh((m - 1)
 * / (m + 1)). */
static double log_own(double x)
{
    int k;
    double m = frexp(x, &k);
    if (m < 0.70710678118654752440) {
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), z = s * s, sum = 0;
    for (int odd = 25; odd >= 1; odd -= 2) /* |s| < 0.1716: the next term is below 1e-21 */
        sum = sum * z + 1.0 / odd;
    return 2 * s * sum + k * 0.69314718055994530942;
}

/* cos(2 pi u) for u in [0, 1): folded to an eighth of a turn, then the power series of sine or
 * cosine. */
static double cos_turn(double u)
{
    double v = u > 0.5 ? 1 - u : u; /* cos is even about half a turn; exact, since u is a multiple
                                       of 2^-53 */
    double sign = 1;
    if (v > 0.25) {
        v = 0.5 - v;
        sign = -1;
    }
    if (v <= 0.125) {
        double x = v * 6.28318530717958647693, z = x * x, sum = 0;
        for (int n = 18; n >= 2; n -= 2)
            sum = (1 - sum) * z / ((n - 1) * n);
        return sign * (1 - sum);
    }
    double x = (0.25 - v) * 6.28318530717958647693, z = x * x, sum = 0;
    for (int n = 19; n >= 3; n -= 2)
        sum = (1 - sum) * z / ((n - 1) * n);
    return sign * x * (1 - sum);
}

double rng_normal(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step, uint32_t purpose)
{
    /* 1 - u lies in (0, 1]: its logarithm is finite. */
    double u = (double)bits53(seed, element, layer, step, purpose, 0) * 0x1p-53;
    double turn = (double)bits53(seed, element, layer, step, purpose, 1) * 0x1p-53;
    return sqrt(-2 * log_own(1 - u)) * cos_turn(turn);
}

/* XOR of both halves of a 128-bit product: every input bit affects every output bit. */
static uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 8 bytes, little-endian on any machine. */
static inline uint64_t load8(const unsigned char *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static inline uint64_t load4(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap32(word);
#endif
    return word;
}

/* 1 to 7 bytes in the order of load8. Overlapping bytes are equal. */
static inline uint64_t load_rest(const unsigned char *at, size_t count)
{
    if (count >= 4)
        return load4(at) | load4(at + count - 4) << (8 * (count - 4));
    size_t middle = count / 2;
    return at[0] | (uint64_t)at[middle] << (8 * middle) |
           (uint64_t)at[count - 1] << (8 * (count - 1));
}

uint64_t rng_hash(const void *bytes, size_t length, uint64_t seed)
{
    const uint64_t a = 0x9E3779B97F4A7C15u, b = 0xD6E8FEB86659FD93u, c = 0xA0761D6478BD642Fu;
    const unsigned char *at = bytes;
    uint64_t h = fold(seed ^ a, b + length);
    size_t left = length;
    for (; left >= 8; left -= 8, at += 8)
        h = fold(load8(at) ^ h ^ c, b) + (h << 1 | h >> 63);
    if (left)
        h = fold(load_rest(at, left) ^ h ^ a, c) + (h << 1 | h >> 63);
    return fold(h ^ b, h ^ a ^ (uint64_t)length << 32);
}
