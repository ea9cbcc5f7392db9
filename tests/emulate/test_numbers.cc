/* Sixteen-bit and tf32 rounding, random numbers and the fragments of tile_mma, as kernels see
 * them. */
#include <math.h>

#include "base/rng.h"
#include "harness.h"
#include "product/mma.cuh"

/* The nearest number with that many bits of mantissa and least exponent, ties to even, by double
 * arithmetic. */
static double nearest(double x, int bits, int least, double most)
{
    int e;
    frexp(x, &e);
    e = e - 1 < least ? least : e - 1;
    double unit = ldexp(1, e - bits), r = nearbyint(x / unit) * unit;
    return fabs(r) > most ? copysign(INFINITY, x) : r;
}

static void test_rounding(void)
{
    bool half_same = true, b_same = true, back = true, t_same = true;
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t u = i * 21473u + (i % 7 == 0 ? 0x1000u * (i % 97) : 0);
        if (i % 3 == 0) /* ties, and their neighbours */
            u = (u & 0xffffe000u) | 0x1000u | (i / 3 % 3 == 1 ? 1 : 0);
        float x = bits_float(u);
        if (x != x || isinf(x))
            continue;
        half_same &= (double)to_float(to_fp16(x)) == nearest((double)x, 10, -14, 65504);
        b_same &=
            (double)to_float(to_bf16(x)) == nearest((double)x, 7, -126, 3.3895313892515355e38);
        float t = to_tf32(x);
        int e = (float_bits(x) >> 23 & 0xff) ? (int)(float_bits(x) >> 23 & 0xff) - 127 : -126;
        t_same &= (float_bits(t) & 0x1fff) == 0 &&
                  (isinf(t) ? fabsf(x) > 3.4e38f
                            : fabs((double)t - (double)x) <= ldexp(0x1p-11, e));
    }
    for (uint32_t h = 0; h < 0x10000; h++) {
        float x = to_float(fp16{(uint16_t)h});
        back &= x != x || to_fp16(x).bits == h;
        x = to_float(bf16{(uint16_t)h});
        back &= x != x || to_bf16(x).bits == h;
    }
    ok(half_same, "fp16 rounds to nearest, ties to even, with its subnormals");
    ok(b_same, "bf16 rounds to nearest, ties to even");
    ok(t_same, "tf32 rounds to nearest");
    ok(back, "every 16-bit number comes back");
    ok(to_fp16(NAN).bits == 0x7fff && to_bf16(NAN).bits == 0x7fff, "a NaN stays one");
    ok(to_fp16(65520).bits == 0x7c00 && to_fp16(65519).bits == 0x7bff, "65520 is infinite");
}

template <enum product how>
KERNEL(one_tile)(float *c, const float *a, const float *b)
{
    enum { DEPTH = 8 * tile_input<how>::PER_WORD };
    SHARED(uint32_t, at, 16 * 12);
    SHARED(uint32_t, bt, 8 * 12);
    typedef typename tile_input<how>::stored stored;
    for (int e = (int)lane_id(); e < 16 * DEPTH; e += WARP)
        ((stored *)at)[e / DEPTH * 12 * tile_input<how>::PER_WORD + e % DEPTH] =
            tile_round<how>(a[e]);
    for (int e = (int)lane_id(); e < 8 * DEPTH; e += WARP)
        ((stored *)bt)[e / DEPTH * 12 * tile_input<how>::PER_WORD + e % DEPTH] =
            tile_round<how>(b[e]);
    sync_warp(FULL_WARP);
    uint32_t x[4], y[2];
    float sum[4] = {};
    tile_load_a(x, at, 12, 0, 0);
    tile_load_b(y, bt, 12, 0, 0);
    tile_mma<how>(sum, x, y);
    int group = (int)lane_id() / 4, place = (int)lane_id() % 4;
    for (int e = 0; e < 4; e++)
        c[(group + 8 * (e >> 1)) * 8 + 2 * place + (e & 1)] = sum[e];
}

template <enum product how> static void test_tile(const char *name)
{
    float *ah, *bh, *a = device_numbers(5, 256, &ah), *b = device_numbers(6, 128, &bh);
    float *c = device_empty<float>(128);
    LAUNCH(one_tile<how>, dim3(1), dim3(32), 0, NULL, c, a, b);
    int depth = 8 * tile_input<how>::PER_WORD;
    double worst = 0;
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            double sum = 0;
            for (int k = 0; k < depth; k++)
                sum += (double)tile_part<how>(tile_round<how>(ah[i * depth + k]), 0) *
                       (double)tile_part<how>(tile_round<how>(bh[j * depth + k]), 0);
            worst = fmax(worst, fabs(sum - (double)c[i * 8 + j]));
        }
    is_near(worst, 0, 4e-7, name);
}

KERNEL(draw)(uint32_t *bits, uint32_t *order, uint32_t n)
{
    for (uint32_t i = thread_id(); i < n; i += block_size()) {
        bits[i] = rng_bits(7, i, 3, 1, RNG_DROPOUT);
        order[i] = rng_permute(11, 2, 0, n, i);
    }
}

int main(void)
{
    test_rounding();
    enum { N = 300 };
    for (EACH_ORDER(turn)) {
        test_tile<PRODUCT_TF32>("a tile of tf32");
        test_tile<PRODUCT_BF16>("a tile of bf16");
        test_tile<PRODUCT_FP16>("a tile of fp16");
        uint32_t *bits = device_empty<uint32_t>(N), *place = device_empty<uint32_t>(N);
        LAUNCH(draw, dim3(1), dim3(64), 0, NULL, bits, place, N);
        bool same = true, seen[N] = {};
        for (uint32_t i = 0; i < N; i++) {
            same &= bits[i] == rng_bits(7, i, 3, 1, RNG_DROPOUT);
            same &= place[i] == rng_permute(11, 2, 0, N, i) && !seen[place[i]];
            seen[place[i]] = true;
        }
        ok(same, "random numbers and permutations are those of the host");
        device_drop_all();
    }
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
