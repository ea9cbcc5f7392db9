#include "base/clock.h"
#include "base/rng.h"
#include "tap.h"

int main(void)
{
    /* Known answers of Philox4x32-10 (Random123's kat_vectors). */
    struct rng4 r = rng_philox(0, 0, 0, 0, 0);
    ok(r.v[0] == 0x6627e8d5u && r.v[1] == 0xe169c58du && r.v[2] == 0xbc57ac4cu &&
           r.v[3] == 0x9b00dbd8u,
       "Philox of zeros");
    r = rng_philox(UINT64_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    ok(r.v[0] == 0x408f276du && r.v[1] == 0x41c83b0eu && r.v[2] == 0xa20bc7c6u &&
           r.v[3] == 0x6d5451fdu,
       "Philox of ones");
    r = rng_philox((uint64_t)0x299f31d0u << 32 | 0xa4093822u, 0x243f6a88u, 0x85a308d3u, 0x13198a2eu,
                   0x03707344u);
    ok(r.v[0] == 0xd16cfe09u && r.v[1] == 0x94fdccebu && r.v[2] == 0x5001e420u &&
           r.v[3] == 0x24126ea1u,
       "Philox of the digits of pi");

    double sum = 0, squares = 0, fourth = 0, u_sum = 0, worst = 0, low = 1, high = 0;
    const int n = 200000;
    for (int i = 0; i < n; i++) {
        double x = rng_normal(7, (uint64_t)i, 1, 2, RNG_TEST),
               u = rng_uniform(8, (uint64_t)i, 1, 2, RNG_TEST);
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        u_sum += u;
        low = fmin(low, u);
        high = fmax(high, u);
        worst = fmax(worst, fabs(x));
    }
    is_near(sum / n, 0, 0.01, "the mean of normals");
    is_near(squares / n, 1, 0.015, "their variance");
    is_near(fourth / n, 3, 0.1, "their fourth moment");
    ok(worst > 3.9 && worst < 8.6, "their tails");
    is_near(u_sum / n, 0.5, 0.003, "the mean of uniforms");
    ok(low >= 0 && low < 1e-4 && high < 1 && high > 1 - 1e-4, "their range");
    /* The same draw through the library's functions: ours differ by rounding only. */
    double most = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        struct rng4 q = rng_philox(5, (uint32_t)i, 3, 4, RNG_TEST | 0x80000000u);
        double u = (double)(((uint64_t)q.v[1] << 32 | q.v[0]) >> 11) * 0x1p-53;
        double turn = (double)(((uint64_t)q.v[3] << 32 | q.v[2]) >> 11) * 0x1p-53;
        double want = sqrt(-2 * log(1 - u)) * cos(turn * 6.28318530717958647693);
        most = fmax(most, fabs(want - rng_normal(5, i, 3, 4, RNG_TEST)));
    }
    ok(most < 1e-14, "Box and Muller's formula, to %g", most);
    ok(rng_uniform(1, 2, 3, 4, 5) == rng_uniform(1, 2, 3, 4, 5) &&
           rng_uniform(1, 2, 3, 4, 5) != rng_uniform(1, 3, 3, 4, 5),
       "a pure function of its arguments");
    ok(rng_uniform(1, (uint64_t)1 << 32, 0, 0, 1) != rng_uniform(1, 0, 0, 0, 1),
       "elements beyond 2^32 differ");

    static const uint32_t sizes[] = {1, 2, 3, 5, 64, 65, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        static unsigned char seen[1000];
        memset(seen, 0, sizeof seen);
        bool each = true;
        for (uint32_t i = 0; i < sizes[s]; i++) {
            uint32_t x = rng_permute(11, 2, 0, sizes[s], i);
            each = each && x < sizes[s] && !seen[x];
            if (x < sizes[s])
                seen[x] = 1;
        }
        ok(each, "a permutation of %u", sizes[s]);
    }

    /* Frozen: splits by hash depend on it. */
    const char text[] = "the quick brown fox";
    uint64_t h = rng_hash(text, 19, 0);
    ok(h == UINT64_C(0x70d6fd7a20c2e1db), "rng_hash is frozen: %016llx", (unsigned long long)h);
    h = rng_hash("", 0, 1);
    ok(h == UINT64_C(0x6cbdfa9b82ecaaf8), "of nothing: %016llx", (unsigned long long)h);
    h = 0;
    for (size_t k = 0; k <= 30; k++)
        h = 3 * h + rng_hash("the quick brown fox jumps over", k, k);
    ok(h == UINT64_C(0x00337c9a5a83454e), "of 0 to 30 bytes: %016llx", (unsigned long long)h);
    int flips = 0, tests = 0;
    for (size_t bit = 0; bit < 19 * 8; bit++) {
        char other[20];
        memcpy(other, text, 20);
        other[bit / 8] = (char)(other[bit / 8] ^ 1 << bit % 8);
        uint64_t d = rng_hash(other, 19, 0) ^ rng_hash(text, 19, 0);
        flips += __builtin_popcountll(d);
        tests += 64;
    }
    is_near((double)flips / tests, 0.5, 0.02, "one bit of the input changes half of the hash");
    ok(rng_hash("a", 1, 0) != rng_hash("a\0", 2, 0) && rng_hash("a", 1, 0) != rng_hash("a", 1, 1),
       "length and seed count");
    double now = clock_now();
    ok(now > 0 && clock_now() >= now, "the clock goes forward");
    return done();
}
