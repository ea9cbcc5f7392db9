/* table_coding.c - a regression target there and back. */
#include "table/encoder/coding.h"

#include <math.h>

#include "base/mem.h"
#include "tap.h"

static const double values[] = {-2e6, -3, -3, -3, 0, 0.1, 0.2, 5, 5, 7e12};
enum { VALUES = sizeof values / sizeof *values };

static void there_and_back(struct target_coding c, const char *name, double least)
{
    double worst = 0, last = -INFINITY;
    bool ordered = true;
    for (uint32_t i = 0; i < VALUES; i++) {
        if (values[i] < least)
            continue;
        double z = coding_encode(&c, values[i]), y = coding_decode(&c, z);
        worst = fmax(worst, fabs(y - values[i]) / fmax(0.1, fabs(values[i])));
        ordered = ordered && z >= last && isfinite(z);
        last = z;
    }
    ok(ordered, "%s keeps the order", name);
    ok(worst < 2e-6, "%s: the value comes back, %.2g off", name, worst);
    ok(isnan(coding_encode(&c, NAN)) && isnan(coding_decode(&c, NAN)), "%s: none stays none", name);
    ok(isfinite(coding_decode(&c, 1e30)) && isfinite(coding_decode(&c, -1e30)),
       "%s: a far answer is finite", name);
}

static void quantiles(void)
{
    struct target_coding c = {.transform = TARGET_QUANTILE, .scale = 1};
    coding_fit_knots(&c, values, VALUES);
    there_and_back(c, "quantile", -INFINITY);
    is_near(coding_encode(&c, -3), -0.6744898, 1e-6, "equal values: the middle of their ranks");
    is_near(coding_encode(&c, -1e9), coding_encode(&c, -2e6), 0, "below all: as the least");
    is_near(coding_decode(&c, 9), 7e12, 0, "answers end at the largest");
    mem_free(c.knots);

    enum { MANY = 100000 };
    double *v = mem_alloc(MANY, sizeof *v);
    for (uint32_t i = 0; i < MANY; i++)
        v[i] = i * 0.5;
    coding_fit_knots(&c, v, MANY);
    is_int(c.knot_count, CODING_KNOTS_MOST, "as many knots as there may be");
    ok(c.knots[0] <= 0 && c.knots[c.knot_count - 1] >= v[MANY - 1], "they reach from end to end");
    is_near(coding_decode(&c, 0), v[MANY - 1] / 2, 1e-6, "0 is the median");
    mem_free(v);
    mem_free(c.knots);
    coding_fit_knots(&c, values, 1);
    is_near(coding_decode(&c, coding_encode(&c, 4)), -2e6, 0, "one value is every answer");
    mem_free(c.knots);
}

int main(void)
{
    there_and_back((struct target_coding){.center = 3, .scale = 7}, "none", -INFINITY);
    struct target_coding log_of = {.transform = TARGET_LOG, .center = 1, .scale = 0.5};
    there_and_back(log_of, "log", 0.1);
    ok(!coding_takes(TARGET_LOG, 0) && !coding_takes(TARGET_LOG, -1) &&
           coding_takes(TARGET_LOG, 1e-300),
       "the logarithm is of numbers above 0");
    ok(isfinite(coding_encode(&log_of, -5)), "others count as the least");
    there_and_back((struct target_coding){.transform = TARGET_CBRT, .center = -1, .scale = 2},
                   "cbrt", -INFINITY);
    quantiles();
    return done();
}
