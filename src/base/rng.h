/* rng.h - counter-based random numbers: Philox4x32-10 (Salmon et al., SC'11). No state; the same on
 * every machine. key = seed; counter = (element / 4, layer | model << 16, step, purpose). Inline:
 * host and kernels share the code. */
#ifndef DNN_BASE_RNG_H
#define DNN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define RNG_FN static __host__ __device__ inline
#else
#define RNG_FN static inline
#endif

enum rng_purpose { RNG_INIT = 1, RNG_DROPOUT, RNG_SHUFFLE, RNG_SPLIT, RNG_SAMPLE, RNG_TEST };

struct rng4 { uint32_t v[4]; };

RNG_FN struct rng4 rng_philox(uint64_t key, uint32_t c0, uint32_t c1, uint32_t c2, uint32_t c3)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    struct rng4 r = {{c0, c1, c2, c3}};
    return r;
}

/* 32 random bits for one element of a stream. */
RNG_FN uint32_t rng_bits(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step,
                         uint32_t purpose)
{
    struct rng4 r = rng_philox(seed, (uint32_t)(element >> 2),
                               layer ^ (uint32_t)(element >> 34) << 24, step, purpose);
    return r.v[element & 3];
}

/* Half the bits of the least even power of two >= n; n < 2^32. */
RNG_FN uint32_t rng_half(uint32_t n)
{
    uint32_t half = 1;
    while (half < 16 && ((uint64_t)1 << (2 * half)) < n)
        half++;
    return half;
}

/* A permutation of [0, 2^(2 half)): a balanced Feistel network of 6 rounds. */
RNG_FN uint32_t rng_feistel(uint64_t seed, uint32_t epoch, uint32_t model, uint32_t half,
                            uint32_t x)
{
    uint32_t mask = (1u << half) - 1u, left = x >> half, right = x & mask;
    for (uint32_t round = 0; round < 6; round++) {
        uint32_t f = right * 0x9E3779B1u + (uint32_t)seed + round * 0x7F4A7C15u;
        f ^= f >> 15;
        f = (f + epoch) * 0x85EBCA77u ^ (uint32_t)(seed >> 32);
        f ^= f >> 13;
        f = (f + model) * 0xC2B2AE3Du;
        f ^= f >> 16;
        uint32_t next = left ^ (f & mask);
        left = right;
        right = next;
    }
    return left << half | right;
}

/* For rng_permute: the model's number for the order of view j. View 0 has the model's own. */
RNG_FN uint32_t rng_order(uint32_t model, uint32_t j)
{
    return model + (j << 16);
}

/* Position i of a permutation of [0, n): a pure function of its arguments. rng_feistel, walked
 * until it falls below n (Black and Rogaway, CT-RSA 2002). n < 2^32. */
RNG_FN uint32_t rng_permute(uint64_t seed, uint32_t epoch, uint32_t model, uint32_t n, uint32_t i)
{
    uint32_t half = rng_half(n), x = i;
    do {
        x = rng_feistel(seed, epoch, model, half, x);
    } while (x >= n);
    return x;
}

/* Host only: doubles in [0, 1) and standard normals (Box-Muller) drawn by element. */
double rng_uniform(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step,
                   uint32_t purpose);
double rng_normal(uint64_t seed, uint64_t element, uint32_t layer, uint32_t step, uint32_t purpose);
/* For hash tables and split.method hash: frozen. */
uint64_t rng_hash(const void *bytes, size_t length, uint64_t seed);

#endif
