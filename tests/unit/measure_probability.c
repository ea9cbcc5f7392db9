/* From logits to probabilities and text. */
#include "measure/probability.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tap.h"

static void answers(void)
{
    const real logits[] = {0, 0, (real)1000, (real)-1000, 1, 3};
    double p[6];
    answer_probabilities(logits, 3, 2, p);
    ok(p[0] == 0.5 && p[1] == 0.5, "equal logits share evenly");
    ok(p[2] == 1.0 && p[3] == 0.0, "large logits do not overflow");
    is_near(p[5], 1 / (1 + exp(-2)), 1e-15, "softmax of two");
    const real bad[] = {(real)INFINITY, 0};
    answer_probabilities(bad, 1, 2, p);
    ok(isnan(p[0]), "an infinite logit gives no probability");
}

/* Rows of 2 to 1,000 classes, read back from their text. */
static void sums(void)
{
    enum { MOST = 1000 };
    static const double spreads[] = {0.01, 1, 5, 30};
    static real logits[MOST];
    static double p[MOST];
    double worst = 0;
    for (uint32_t i = 0; i < 400; i++) {
        uint32_t classes = 2 + (i * 37) % (MOST - 1);
        for (uint32_t c = 0; c < classes; c++)
            logits[c] = (real)(spreads[i % 4] * (2 * rng_uniform(3, c, i, 0, RNG_TEST) - 1));
        answer_probabilities(logits, 1, classes, p);
        double sum = 0;
        for (uint32_t c = 0; c < classes; c++) {
            char text[64];
            text[answer_number(text, p[c])] = '\0';
            sum += strtod(text, NULL);
        }
        worst = fmax(worst, fabs(sum - 1));
    }
    ok(worst <= 5e-9, "printed probabilities sum to 1: at most %.2g off", worst);
}

static void coarse(double center, double scale, bool want)
{
    ok(answer_coarse(center, scale) == want, "%.15g, deviation %g: %s digits", center, scale,
       want ? "17" : "9");
}

static void digits(void)
{
    coarse(0, 1, false);
    coarse(2020, 0.5, false);
    coarse(1e6, 200, false);
    coarse(1e6, 2, true);
    coarse(-1e9, 1000, true);
    coarse(1700000012345, 1443, true);
    coarse(1e-3, 1e-12, true);
    char text[32];
    text[answer_value(text, 1700000012345.125, true)] = '\0';
    is_string(text, "1700000012345.125", "17 digits");
    text[answer_value(text, 1700000012345.125, false)] = '\0';
    is_string(text, "1.70000001e+12", "and 9");
}

static unsigned number_differs(double value)
{
    char got[64], want[64];
    size_t length = answer_number(got, value);
    got[length] = '\0';
    snprintf(want, sizeof want, "%.9g", value);
    if (strcmp(got, want) == 0 || (value == 0 && strcmp(got, "0") == 0))
        return 0;
    printf("#   %a: got %s, expected %s\n", value, got, want);
    return 1;
}

static void numbers(void)
{
    const double fixed[] = {0,
                            -0.0,
                            1,
                            -1,
                            0.1,
                            0.5,
                            9.5,
                            9.99999999,
                            9.999999995,
                            9.9999999949,
                            99999999.95,
                            999999999,
                            999999999.5,
                            999999999.49,
                            1e9,
                            123456789.5,
                            1234567890,
                            1e-4,
                            9.99999999e-5,
                            9.9999999996e-5,
                            1e-5,
                            1e-13,
                            9.9e-14,
                            1e15,
                            1e22,
                            1e-300,
                            5e-324,
                            1.7976931348623157e308,
                            0.000123456789,
                            100,
                            1e8,
                            2.5,
                            0.125,
                            1.00000000049,
                            1.0000000005,
                            1.5e14};
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        wrong += number_differs(fixed[i]) + number_differs(-fixed[i]);
    is_int(wrong, 0, "chosen numbers are written as by printf");
    for (uint32_t i = 0; i < 400000; i++) {
        struct rng4 r = rng_philox(11, i, 0, 0, RNG_TEST);
        float f = (float)r.v[0] / 4294967296.0f; /* a probability */
        float g;
        memcpy(&g, &r.v[1], sizeof g); /* any float */
        double d = ldexp((double)r.v[2] - 2147483648.0 + (double)r.v[3] / 4294967296.0,
                         (int)(r.v[1] % 70) - 60);
        wrong += number_differs((double)f) + (isfinite(g) ? number_differs((double)g) : 0u) +
                 number_differs(d) + number_differs(ldexp(d, -9));
        double half =
            (double)(100000000 + r.v[2] % 900000000) + 0.5; /* exact halves of the ninth digit */
        wrong += number_differs(half) + number_differs(half / 1024);
        if (wrong > 5)
            break;
    }
    is_int(wrong, 0, "two million numbers are written as by printf");
}

/* Two networks with the weights 0.75 and 0.25: rows 1 and 2 of three. One network alone gives the
 * same bits as without a mean. */
static void means(void)
{
    const real logits[] = {9, 9, 0, 0, 1, 3, /* the second network */ 9, 9, 2, 0, 1, 1};
    const double weights[] = {0.75, 0.25};
    const struct answer_mean m = {logits, weights, 3, 2, 1, 0, NULL, NULL, NULL},
                             one = {logits, NULL, 3, 1, 1, 0, NULL, NULL, NULL};
    double p[4], alone[4];
    answer_mean_probabilities(&m, 1, 3, 2, p);
    is_near(p[0], 0.75 * 0.5 + 0.25 / (1 + exp(-2)), 1e-15, "the mean of two probabilities");
    is_near(p[0] + p[1], 1, 1e-15, "the classes of a row sum to 1");
    is_near(p[3], 0.75 / (1 + exp(-2)) + 0.25 * 0.5, 1e-15, "and of the next row");
    answer_mean_probabilities(&one, 1, 3, 2, p);
    answer_probabilities(logits + 2, 2, 2, alone);
    ok(memcmp(p, alone, sizeof p) == 0, "one network alone: its own probabilities");
    const struct target_coding codings[] = {{.center = 10, .scale = 2},
                                            {.center = 20, .scale = 1},
                                            {.transform = TARGET_CBRT, .center = 1, .scale = 0.5}};
    const struct target_coding *same[] = {&codings[0], &codings[0]},
                               *each[] = {&codings[0], &codings[1]}, *cube = &codings[2];
    const struct answer_mean values = {logits + 4, weights, 2, 2, 1, 0, same, NULL, NULL},
                             own = {logits + 4, weights, 2, 2, 1, 0, each, NULL, NULL},
                             bare = {logits + 4, weights, 2, 2, 1, 0, NULL, NULL, NULL};
    ok(answer_mean_value(&values, 1) == 0.75 * 16 + 0.25 * 28, "the mean of two values");
    ok(answer_mean_value(&own, 1) == 0.75 * 16 + 0.25 * 29, "each by its own scale");
    ok(answer_mean_value(&bare, 1) == 0.75 * 3 + 0.25 * 9, "as the networks give them");
    const struct answer_mean value = {logits + 4, NULL, 2, 1, 1, 0, same, NULL, NULL},
                             cubed = {logits + 4, NULL, 2, 1, 1, 0, &cube, NULL, NULL};
    ok(answer_mean_value(&value, 1) == 16, "one value alone");
    ok(answer_mean_value(&cubed, 1) == 15.625, "behind its transform");
    /* two networks of three quantiles, each put into order before the mean */
    const real crossed[] = {3, 1, 2, 7, 8, 9, /* the second network */ 0, 2, 1, 5, 5, 4};
    const struct answer_mean list = {crossed, weights, 2, 2, 3, 1, NULL, NULL, NULL};
    const double want[] = {0.75 * 1 + 0.25 * 0, 0.75 * 2 + 0.25 * 1, 0.75 * 3 + 0.25 * 2};
    double got[3];
    answer_mean_values(&list, 0, got);
    ok(memcmp(got, want, sizeof want) == 0, "quantiles of two networks: the mean of their orders");
    ok(answer_mean_value(&list, 1) == 0.75 * 8 + 0.25 * 5, "the middle one of the next row");
}

int main(void)
{
    answers();
    means();
    sums();
    digits();
    numbers();
    return done();
}
