/* table_quantile.c - columns by rank: every processor's code gives the bits of a slow search and of
 * the formula. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "table/encoder/quantile.h"
#include "tap.h"

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
    return rng_bits(12, drawn++, 0, 0, RNG_TEST) % below;
}

/* Of one value, one knot after the other. */
static float slow(const struct number_slot *n, float v)
{
    uint32_t count = n->quantile_count, below = 0, equal = 0;
    double last = count > 1 ? (double)(count - 1) : 1, rank;
    for (uint32_t i = 0; i < count; i++) {
        below += n->quantiles[i] < v;
        equal += n->quantiles[i] <= v && n->quantiles[i] >= v;
    }
    if (below == count) {
        rank = 1;
    } else if (equal) {
        rank = count == 1 ? 0.5 : ((double)below + (double)(below + equal - 1)) / 2 / last;
    } else if (below == 0) {
        rank = 0;
    } else {
        double left = (double)n->quantiles[below - 1], right = (double)n->quantiles[below];
        rank = ((double)(below - 1) + ((double)v - left) / (right - left)) / last;
    }
    return (float)fmax(n->least, fmin(quantile_normal(rank), n->most));
}

/* Knots on a grid of `steps`, so that some are equal; values at them, between and beyond. */
static bool same_values(quantile_fn *f, uint32_t count, uint32_t steps)
{
    float *knots = mem_alloc(count, sizeof *knots), v[QUANTILE_BLOCK], want[QUANTILE_BLOCK];
    struct quantile_room room;
    for (uint32_t i = 0; i < count; i++)
        knots[i] = (float)draw(steps) / 8 - 3;
    sort_floats(knots, count);
    double most = draw(2) ? 1e6 : 2 + draw(100) / 50.0;
    const struct number_slot n = {
        .quantile_count = count, .quantiles = knots, .least = -most, .most = most};
    size_t values = 1 + draw(QUANTILE_BLOCK);
    for (size_t i = 0; i < values; i++) {
        static const float far[] = {-INFINITY, INFINITY, -1e30F, 1e30F, 0, -0.0F};
        switch (draw(4)) {
        case 0: v[i] = knots[draw(count)]; break;
        case 1: v[i] = far[draw(6)]; break;
        default: v[i] = (float)draw(4 * steps) / 32 - 3.01F; break;
        }
        want[i] = slow(&n, v[i]);
    }
    f(&n, v, values, &room);
    bool same = memcmp(v, want, values * sizeof *v) == 0;
    mem_free(knots);
    return same;
}

static void test_code(const char *name, quantile_fn *f)
{
    static const uint32_t counts[] = {1,  2,  3,   10,  31,  32,  33,   63,   64,
                                      65, 95, 100, 500, 992, 993, 1000, 1023, 1024,
                                      1025, 3000};
    bool same = true;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int round = 0; round < 30 && same; round++) {
            same = same_values(f, counts[k], round % 3 ? 100000 : 1 + counts[k] / 2);
            if (!same)
                printf("# %u knots\n", counts[k]);
        }
    ok(same, "%s: 1 to 3000 knots, the bits of a slow search", name);
}

int main(void)
{
    test_code("plain C", quantile_plain);
#if defined(__x86_64__)
    if (quantile_has_avx2())
        test_code("avx2", quantile_avx2);
    else
        tap_skip("avx2", "not on this processor");
    if (quantile_has_avx512())
        test_code("avx512", quantile_avx512);
    else
        tap_skip("avx512", "not on this processor");
#endif
    return done();
}
