/* measure_weighted.c - quantiles of values with weights, against the same rows written out as often
 * as they weigh. */
#include "measure/weighted.h"

#include <math.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/sort.h"
#include "tap.h"

enum { ROWS = 40, MOST = 8 };

static void test_by_hand(void)
{
    struct weighted v[] = {{3, 1}, {1, 1}, {2, 1}, {4, 1}, {5, 1},
                           {6, 1}, {7, 1}, {8, 1}, {9, 1}, {10, 1}};
    ok(weighted_quantile(v, 10, 0.1) == 1 && weighted_quantile(v, 10, 0.9) == 9 &&
           weighted_quantile(v, 10, 0.11) == 2 && weighted_quantile(v, 10, 1) == 10,
       "of ten values");
    ok(v[0].value == 1 && v[9].value == 10, "which it sorts");
    struct weighted w[] = {{1, 0.5}, {2, 8.5}, {3, 1}};
    ok(weighted_quantile(w, 3, 0.05) == 1 && weighted_quantile(w, 3, 0.1) == 2 &&
           weighted_quantile(w, 3, 0.9) == 2 && weighted_quantile(w, 3, 0.91) == 3,
       "of weights");
    ok(weighted_quantile(w, 1, 0.9) == 1 && weighted_quantile(w, 0, 0.5) == 0, "of one, and none");
    ok(weighted_reach(w, 3, 9) == 1 && weighted_reach(w, 3, 9.5) == 2 &&
           weighted_reach(w, 3, 10.5) == 3,
       "more than all is not reached");
}

/* Of m rows the quantile is row ceil(share m), counted from 1. Shares are eighths: no rounding. */
static void test_written_out(void)
{
    for (uint64_t round = 0; round < 20; round++) {
        struct weighted w[ROWS];
        double out[ROWS * MOST];
        size_t count = 0;
        bool right = true;
        for (uint32_t i = 0; i < ROWS; i++) {
            const double value = floor(20 * rng_uniform(1, round, i, 0, RNG_TEST)),
                         times = floor(MOST * rng_uniform(2, round, i, 0, RNG_TEST));
            w[i] = (struct weighted){value, times};
            for (int k = 0; k < (int)times; k++)
                out[count++] = value;
        }
        sort_doubles(out, count);
        for (int k = 1; k <= 8; k++)
            right &= !(fabs(weighted_quantile(w, ROWS, k / 8.0) -
                            out[((size_t)k * count + 7) / 8 - 1]) > 0);
        ok(right && !(fabs(weighted_sort(w, ROWS) - (double)count) > 0), "%zu rows", count);
    }
}

int main(void)
{
    test_by_hand();
    test_written_out();
    return done();
}
