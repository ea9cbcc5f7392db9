/* sha256.c - FIPS 180-4 in plain C and with the x86 SHA instructions. The first use chooses. */
#include "base/file/sha256.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

/* The first 32 bits of the fractions of the cube roots of the first 64 primes (section 4.2.2). */
static const uint32_t constants[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void blocks_plain(uint32_t state[8], const uint8_t *bytes, size_t count)
{
    for (; count; count--, bytes += 64) {
        uint32_t w[64], s[8];
        for (int t = 0; t < 16; t++)
            w[t] = (uint32_t)bytes[4 * t] << 24 | (uint32_t)bytes[4 * t + 1] << 16 |
                   (uint32_t)bytes[4 * t + 2] << 8 | bytes[4 * t + 3];
        for (int t = 16; t < 64; t++) {
            uint32_t s0 = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ w[t - 15] >> 3;
            uint32_t s1 = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ w[t - 2] >> 10;
            w[t] = s1 + w[t - 7] + s0 + w[t - 16];
        }
        memcpy(s, state, sizeof s);
        for (int t = 0; t < 64; t++) { /* s[0..7] are a..h of section 6.2.2 */
            uint32_t choose = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            uint32_t t1 = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choose +
                          constants[t] + w[t];
            uint32_t t2 = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + most;
            memmove(s + 1, s, 7 * sizeof s[0]);
            s[4] += t1;
            s[0] = t1 + t2;
        }
        for (int i = 0; i < 8; i++)
            state[i] += s[i];
    }
}

#if defined(__x86_64__)
/* The instructions hold the state as (A B E F) and (C D G H), highest lane first. Each does two
 * rounds. */
__attribute__((target("sha,sse4.1,ssse3"))) static void blocks_x86(uint32_t state[8],
                                                                   const uint8_t *bytes,
                                                                   size_t count)
{
    const __m128i swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    __m128i abef = _mm_set_epi32((int)state[0], (int)state[1], (int)state[4], (int)state[5]);
    __m128i cdgh = _mm_set_epi32((int)state[2], (int)state[3], (int)state[6], (int)state[7]);
    for (; count; count--, bytes += 64) {
        __m128i w[4], abef_before = abef, cdgh_before = cdgh;
        for (int i = 0; i < 4; i++) {
            memcpy(&w[i], bytes + 16 * i, 16);
            w[i] = _mm_shuffle_epi8(w[i], swap);
        }
#pragma GCC unroll 16
        for (int i = 0; i < 16; i++) { /* four rounds each */
            __m128i k;
            memcpy(&k, constants + 4 * i, 16);
            __m128i sum = _mm_add_epi32(w[i & 3], k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sum, 0x0E));
            if (i < 12) { /* the four words that stand in for w[i & 3] sixteen rounds on */
                __m128i a = w[i & 3], b = w[(i + 1) & 3], c = w[(i + 2) & 3], d = w[(i + 3) & 3];
                a = _mm_add_epi32(_mm_sha256msg1_epu32(a, b), _mm_alignr_epi8(d, c, 4));
                w[i & 3] = _mm_sha256msg2_epu32(a, d);
            }
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    state[0] = (uint32_t)_mm_extract_epi32(abef, 3);
    state[1] = (uint32_t)_mm_extract_epi32(abef, 2);
    state[4] = (uint32_t)_mm_extract_epi32(abef, 1);
    state[5] = (uint32_t)_mm_extract_epi32(abef, 0);
    state[2] = (uint32_t)_mm_extract_epi32(cdgh, 3);
    state[3] = (uint32_t)_mm_extract_epi32(cdgh, 2);
    state[6] = (uint32_t)_mm_extract_epi32(cdgh, 1);
    state[7] = (uint32_t)_mm_extract_epi32(cdgh, 0);
}

static bool has_sha(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}
#endif

typedef void blocks_function(uint32_t state[8], const uint8_t *bytes, size_t count);
static blocks_function *_Atomic chosen;

static void blocks(uint32_t state[8], const uint8_t *bytes, size_t count)
{
    blocks_function *f = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!f) { /* a race is harmless: both choose the same */
        f = blocks_plain;
#if defined(__x86_64__)
        if (has_sha())
            f = blocks_x86;
#endif
        atomic_store_explicit(&chosen, f, memory_order_relaxed);
    }
    f(state, bytes, count);
}

void sha256_use_plain(void)
{
    atomic_store(&chosen, blocks_plain);
}

void sha256_init(struct sha256 *s)
{
    *s = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                   0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *s, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    size_t used = s->length % 64;
    s->length += length;
    if (used) {
        size_t take = length < 64 - used ? length : 64 - used;
        if (take)
            memcpy(s->block + used, at, take);
        if (used + take < 64)
            return;
        blocks(s->state, s->block, 1);
        at += take;
        length -= take;
    }
    if (length >= 64)
        blocks(s->state, at, length / 64);
    if (length % 64)
        memcpy(s->block, at + (length & ~(size_t)63), length % 64);
}

void sha256_hex(struct sha256 *s, char hex[65])
{
    static const char digits[] = "0123456789abcdef";
    uint64_t bits = s->length * 8;
    uint8_t tail[72] = {0x80};
    size_t zeros = (119 - s->length % 64) % 64; /* up to 8 bytes before the end of a block */
    for (int i = 0; i < 8; i++)
        tail[1 + zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(s, tail, 1 + zeros + 8);
    for (int i = 0; i < 32; i++) {
        uint32_t byte = s->state[i / 4] >> (24 - 8 * (i % 4)) & 255;
        hex[2 * i] = digits[byte >> 4];
        hex[2 * i + 1] = digits[byte & 15];
    }
    hex[64] = '\0';
}
