/* peak.c - see peak.h. The loops keep enough independent sums that no multiply-add waits for
 * another; copies move a part of memory a thread. Kernels: kernels/product/peak.cu. */
#include "backend/peak.h"

#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/machine.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/process/thread.h"
#ifdef VEC_X86
#include <immintrin.h>
#endif

const char *const peak_names[PEAK_KINDS] = {"fma", "fma_one", "tf32", "bf16", "fp16", "copy"};

/* Issues `times` rounds and returns their operations or bytes; 0: no such loop. to and from:
 * `bytes` of machine memory each. */
extern double cuda_peak(struct machine *m, int kind, void *to, const void *from, size_t bytes,
                        uint32_t times) __attribute__((weak)); /* kernels/product/peak.cu */

enum { CHAINS = 12, TURNS = 1000, TILES = 1024 };

struct peak_loop {
    double (*fma)(uint32_t times, float *sink); /* operations done */
    char *to;
    const char *from;
    size_t bytes;
    uint32_t times;
    unsigned tiles;
    float sink[TILES];
    double done[TILES];
};

/* Plain C: four numbers at once, a multiplication and an addition. */
typedef float quad __attribute__((vector_size(16)));
static double fma_c(uint32_t times, float *sink)
{
    quad v[CHAINS], a = {0.999f, 0.998f, 0.997f, 0.996f}, b = {1e-3f, 2e-3f, 3e-3f, 4e-3f};
    for (int i = 0; i < CHAINS; i++)
        v[i] = a + (float)i;
    for (uint64_t n = (uint64_t)times * TURNS; n > 0; n--)
        for (int i = 0; i < CHAINS; i++)
            v[i] = v[i] * a + b;
    for (int i = 0; i < CHAINS; i++)
        *sink += v[i][0] + v[i][1] + v[i][2] + v[i][3];
    return 2.0 * 4 * CHAINS * TURNS * times;
}

#ifdef VEC_X86
#define PEAK_FMA_LOOP(name, target_, vector, lanes, set, fmadd, store)                             \
    __attribute__((target(target_))) static double name(uint32_t times, float *sink)               \
    {                                                                                              \
        vector v[CHAINS], a = set(0.999f), b = set(1e-3f);                                         \
        float out[lanes];                                                                          \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                  \
            v[i] = set((float)i);                                                                  \
        for (uint64_t n = (uint64_t)times * TURNS; n > 0; n--) {                                   \
            _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                              \
                v[i] = fmadd(v[i], a, b);                                                          \
        }                                                                                          \
        _Pragma("GCC unroll 12") for (int i = 0; i < CHAINS; i++)                                  \
        {                                                                                          \
            store(out, v[i]);                                                                      \
            *sink += out[0] + out[(lanes) - 1];                                                    \
        }                                                                                          \
        return 2.0 * (lanes) * CHAINS * TURNS * times;                                             \
    }
PEAK_FMA_LOOP(fma_avx2, "avx2,fma", __m256, 8, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_storeu_ps)
PEAK_FMA_LOOP(fma_avx512, "avx512f", __m512, 16, _mm512_set1_ps, _mm512_fmadd_ps,
              _mm512_storeu_ps)
#endif

static void run_fma(void *loop, unsigned tile, unsigned thread)
{
    struct peak_loop *l = loop;
    (void)thread;
    float sum = 0;
    l->done[tile] = l->fma(l->times, &sum);
    l->sink[tile] = sum;
}

/* Each tile copies a part that starts at a cache line. */
static void run_copy(void *loop, unsigned tile, unsigned thread)
{
    struct peak_loop *l = loop;
    size_t parts = l->tiles, lines = l->bytes / 64;
    size_t begin = lines * tile / parts * 64, end = lines * (tile + 1) / parts * 64;
    (void)thread;
    for (uint32_t i = 0; i < l->times; i++) {
        memcpy(l->to + begin, l->from + begin, end - begin);
        __asm__ volatile("" ::: "memory"); /* each of them is made */
    }
    l->done[tile] = 2.0 * (double)(end - begin) * l->times;
}

static double cpu_peak(struct machine *m, enum peak_kind kind, void *to, const void *from,
                       size_t bytes, uint32_t times)
{
    struct plan plan;
    /* several a thread: a late one costs less */
    unsigned threads = threads_count() * 4 < TILES ? threads_count() * 4 : TILES;
    unsigned tiles = kind == PEAK_FMA_ONE ? 1 : threads;
    machine_plan(m, 1, 1, &plan);
    struct peak_loop *l = mem_zero(1, sizeof *l);
    *l = (struct peak_loop){.fma = fma_c, .to = to, .from = from, .bytes = bytes, .times = times,
                            .tiles = tiles};
#ifdef VEC_X86
    if (strcmp(plan.core, "avx512") == 0)
        l->fma = fma_avx512;
    else if (strcmp(plan.core, "avx2") == 0)
        l->fma = fma_avx2;
#endif
    if (kind == PEAK_COPY)
        threads_run(tiles, run_copy, l);
    else if (kind == PEAK_FMA || kind == PEAK_FMA_ONE)
        threads_run(tiles, run_fma, l);
    double sum = 0;
    for (unsigned i = 0; i < tiles; i++)
        sum += l->done[i];
    mem_free(l);
    return sum;
}

/* sm_75 has tensor cores only for fp16. */
static bool lacks(const struct machine *m, enum peak_kind kind)
{
    struct plan plan;
    machine_plan(m, 1, 1, &plan);
    return (kind == PEAK_TF32 || kind == PEAK_BF16) && strcmp(plan.core, "sm_75") == 0;
}

static double issue(struct machine *m, enum peak_kind kind, void *to, const void *from,
                    size_t bytes, uint32_t times)
{
    if (m->type == &machine_cpu)
        return cpu_peak(m, kind, to, from, bytes, times);
    return &machine_cuda && m->type == &machine_cuda && cuda_peak && kind != PEAK_FMA_ONE &&
                   !lacks(m, kind)
               ? cuda_peak(m, (int)kind, to, from, bytes, times)
               : 0;
}

double peak_measure(struct machine *m, enum peak_kind kind, size_t bytes, double seconds)
{
    struct err e = {0};
    size_t half = kind == PEAK_COPY ? bytes / 128 * 64 : (size_t)1 << 20;
    void *to = machine_alloc(m, half, &e), *from = to ? machine_alloc(m, half, &e) : NULL;
    double best = 0, until = clock_now() + seconds;
    bool good = from != NULL;
    machine_expect(m, MACHINE_PATIENCE);
    if (good && kind == PEAK_COPY) { /* both places are mapped and written */
        issue(m, kind, from, to, half, 1);
        issue(m, kind, to, from, half, 1);
        good = machine_wait(m, MACHINE_PATIENCE, &e);
        until = clock_now() + seconds;
    }
    for (uint32_t times = 1; good;) {
        double began = clock_now();
        double work = issue(m, kind, to, from, half, times);
        good = machine_wait(m, MACHINE_PATIENCE, &e);
        double now = clock_now(), took = fmax(now - began, 1e-9);
        if (good && work > 0)
            best = fmax(best, work / took);
        if (work <= 0 || now >= until)
            break;
        if (took < seconds / 64 && times < (1u << 28))
            times *= 2;
    }
    machine_release(m, from);
    machine_release(m, to);
    return good ? best : 0;
}
