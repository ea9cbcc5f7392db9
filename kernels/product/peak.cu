/* peak.cu - kernels that measure rates: multiply-adds on CUDA cores and tensor cores, and copies.
 * src/backend/peak.c times them; tests/emulate/test_peak.cc checks their results. */
#include "product/mma.cuh"

extern "C" {
#include "backend/peak.h"
}

enum { PEAK_LANES = 256, PEAK_CHAINS = 8, PEAK_TURNS = 32 };

/* v = a v + b, over and over, from a different v on each lane. */
KERNEL_BOUNDED(256, peak_fma)(float *to, float a, float b, uint32_t times)
{
    float v[PEAK_CHAINS];
    UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        v[i] = (float)(thread_id() % WARP + (unsigned)i);
    for (uint32_t n = 0; n < times; n++)
        UNROLL
        for (int turn = 0; turn < PEAK_TURNS; turn++)
            UNROLL
            for (int i = 0; i < PEAK_CHAINS; i++)
                v[i] = fmaf(v[i], a, b);
    float sum = 0;
    UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        sum += v[i];
    to[global_id()] = sum;
}

/* A small number with few bits, from its place: exact in every precision. */
DEVICE float peak_number(int row, int k)
{
    return (float)((row * 7 + k * 5) % 16 - 7) * 0.125f;
}
template <enum product how> DEVICE uint32_t peak_word(int row, int word)
{
    if (how == PRODUCT_TF32)
        return (uint32_t)tile_round<how>(peak_number(row, word));
    return (uint32_t)tile_round<how>(peak_number(row, 2 * word)) |
           (uint32_t)tile_round<how>(peak_number(row, 2 * word + 1)) << 16;
}

/* Each warp repeats C += A B of one tile, in independent sums. */
template <enum product how> KERNEL_BOUNDED(256, peak_mma)(float *to, uint32_t times)
{
    int group = (int)lane_id() / 4, place = (int)lane_id() % 4;
    if (!tile_is_native<how>())
        return; /* nor is it asked (peak.c) */
    uint32_t a[4] = {peak_word<how>(group, place), peak_word<how>(group + 8, place),
                     peak_word<how>(group, place + 4), peak_word<how>(group + 8, place + 4)};
    uint32_t b[2] = {peak_word<how>(group + 1, place), peak_word<how>(group + 1, place + 4)};
    float c[PEAK_CHAINS][4] = {};
    for (uint32_t n = 0; n < times; n++)
        UNROLL
        for (int i = 0; i < PEAK_CHAINS; i++)
            tile_mma<how>(c[i], a, b);
    float sum = 0;
    UNROLL
    for (int i = 0; i < PEAK_CHAINS; i++)
        sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
    to[global_id()] = sum;
}

KERNEL_BOUNDED(256, peak_copy)(float *to, const float *from, uint64_t quads)
{
    uint64_t at = global_id(), step = global_count();
    for (; at + 3 * step < quads; at += 4 * step) {
        four v[4];
        UNROLL
        for (int i = 0; i < 4; i++)
            v[i] = load4(from + 4 * (at + (uint64_t)i * step));
        UNROLL
        for (int i = 0; i < 4; i++)
            store4(to + 4 * (at + (uint64_t)i * step), v[i]);
    }
    for (; at < quads; at += step)
        store4(to + 4 * at, load4(from + 4 * at));
}

/* Enough blocks to fill the card; each lane has its own place in `bytes`. */
static unsigned blocks_of(const struct machine *m, size_t bytes)
{
    size_t room = bytes / (PEAK_LANES * sizeof(float)), most = 8 * (size_t)device_sms(m);
    return (unsigned)(room < most ? room : most);
}

template <enum product how>
static double mma(struct machine *m, float *to, unsigned blocks, uint32_t times)
{
    LAUNCH(peak_mma<how>, dim3(blocks), dim3(PEAK_LANES), 0, m, to, times);
    /* 16 x 8 sums of 8 words */
    return 2.0 * 16 * 8 * 8 * tile_input<how>::PER_WORD * PEAK_CHAINS * times *
           (PEAK_LANES / WARP) * blocks;
}

extern "C" double cuda_peak(struct machine *m, int kind, void *to, const void *from, size_t bytes,
                            uint32_t times)
{
    unsigned blocks = blocks_of(m, bytes);
    float *room = (float *)to;
    if (kind == PEAK_COPY) {
        uint64_t quads = bytes / sizeof(four);
        for (uint32_t i = 0; i < times && quads; i++)
            LAUNCH(peak_copy, spread(m, quads, PEAK_LANES), dim3(PEAK_LANES), 0, m, room,
                   (const float *)from, quads);
        return 2.0 * (double)(quads * sizeof(four)) * times;
    }
    if (blocks == 0)
        return 0;
    switch (kind) {
    case PEAK_FMA:
        LAUNCH(peak_fma, dim3(blocks), dim3(PEAK_LANES), 0, m, room, 0.99f, 0.5f, times);
        return 2.0 * PEAK_CHAINS * PEAK_TURNS * times * PEAK_LANES * blocks;
    case PEAK_TF32: return mma<PRODUCT_TF32>(m, room, blocks, times);
    case PEAK_BF16: return mma<PRODUCT_BF16>(m, room, blocks, times);
    case PEAK_FP16: return mma<PRODUCT_FP16>(m, room, blocks, times);
    default: return 0;
    }
}
