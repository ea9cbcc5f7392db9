/* The loops that measure a card's limits: what they leave behind is what they were to compute, and
 * they say how much that was. */
#include <math.h>

extern "C" {
#include "backend/peak.h"
}
#include "harness.h"

extern "C" double cuda_peak(struct machine *m, int kind, void *to, const void *from, size_t bytes,
                            uint32_t times);

enum { WIDTH = 256, GRID = 2, TIMES = 3, BYTES = GRID * WIDTH * sizeof(float) };

static void test_fma(void)
{
    float *to = device_empty<float>(GRID * WIDTH);
    double work = cuda_peak(NULL, PEAK_FMA, to, to, BYTES, TIMES);
    is_near(work, 2.0 * 8 * 32 * TIMES * WIDTH * GRID, 0, "operations of fma");
    double worst = 0;
    for (int lane = 0; lane < GRID * WIDTH; lane++) {
        double sum = 0;
        for (int i = 0; i < 8; i++) { /* to a fixed point at 50 */
            double v = lane % 32 + i;
            for (int n = 0; n < 32 * TIMES; n++)
                v = v * (double)0.99f + 0.5;
            sum += v;
        }
        worst = fmax(worst, fabs((double)to[lane] - sum) / sum);
    }
    ok(worst < 1e-5 && device_written(to, BYTES), "the values of fma: %g", worst);
    device_drop_all();
}

static double peak_number(int row, int k)
{
    return ((row * 7 + k * 5) % 16 - 7) * 0.125;
}

static void test_mma(int kind, int depth)
{
    float *to = device_empty<float>(GRID * WIDTH);
    double work = cuda_peak(NULL, kind, to, to, BYTES, TIMES);
    is_near(work, 2.0 * 16 * 8 * depth * 8 * TIMES * 8 * GRID, 0, "operations of mma");
    bool same = device_written(to, BYTES);
    for (int lane = 0; lane < GRID * WIDTH; lane++) {
        int group = lane % 32 / 4, place = lane % 4;
        double sum = 0;
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < depth; k++)
                sum += peak_number(group + 8 * (i >> 1), k) *
                       peak_number(2 * place + (i & 1) + 1, k);
        same &= to[lane] == (float)(8 * TIMES * sum);
    }
    ok(same, "the values of mma, depth %d", depth);
    device_drop_all();
}

static void test_copy(size_t n)
{
    float *host, *from = device_numbers(5, n, &host), *to = device_empty<float>(n);
    double work = cuda_peak(NULL, PEAK_COPY, to, from, n * sizeof(float), 2);
    is_near(work, 4.0 * (double)n * sizeof(float), 0, "bytes of a copy");
    ok(memcmp(to, host, n * sizeof(float)) == 0 && device_written(to, n * sizeof(float)),
       "a copy of %zu", n);
    device_drop_all();
}

int main(int, char **)
{
    test_fma();
    test_mma(PEAK_TF32, 8);
    test_mma(PEAK_BF16, 16);
    test_mma(PEAK_FP16, 16);
    test_copy(4);
    test_copy(4 * (24 * WIDTH * 4 + 77)); /* whole turns of the loop, and a rest */
    is_near(cuda_peak(NULL, PEAK_FMA, NULL, NULL, 8, 1), 0, 0, "no room: nothing is done");
    is_near(cuda_peak(NULL, PEAK_FMA_ONE, NULL, NULL, BYTES, 1), 0, 0, "a device has no one core");
    return done();
}
