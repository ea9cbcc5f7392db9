/* measure_calibrate.c - calibrations that are known: answers are made wrong by a scale and shifts,
 * and the fit finds them. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/calibrate.h"
#include "tap.h"

enum { ROWS = 20000, CLASSES = 3 };

static double probability[ROWS * CLASSES], value[ROWS], target[ROWS];
static int32_t label[ROWS];
static float weight[ROWS];

/* Rows whose labels follow softmax(2 z + b), and answers softmax(z). */
static void make_rows(uint32_t classes, double scale, const double *shift)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        double truth[CLASSES], *p = probability + (size_t)i * classes, sum = 0, all = 0;
        for (uint32_t k = 0; k < classes; k++) {
            double z = rng_normal(1, i, k, 0, RNG_TEST);
            sum += p[k] = exp(z);
            all += truth[k] = exp(scale * z + shift[k]);
        }
        double draw = (double)(rng_bits(2, i, 0, 0, RNG_TEST) % 1000000) / 1e6 * all;
        label[i] = 0;
        for (uint32_t k = 0; k < classes; k++) {
            p[k] /= sum;
            if (k + 1 < classes && label[i] == (int32_t)k && draw >= truth[k]) {
                draw -= truth[k];
                label[i]++;
            }
        }
        weight[i] = 1;
    }
}

static struct calibrate_rows rows_of(uint32_t classes)
{
    return (struct calibrate_rows){.count = ROWS,
                                   .classes = classes,
                                   .probability = probability,
                                   .label = label,
                                   .weight = weight};
}

static void finds(uint32_t classes)
{
    const double shift[CLASSES] = {0, 0.7, -0.4};
    struct calibration c;
    struct calibrate_gain g;
    make_rows(classes, 1.6, shift);
    struct calibrate_rows r = rows_of(classes);
    ok(calibrate_fit(&r, &c, &g), "a fit");
    is_near(c.scale, 1.6, 0.06, "its scale");
    for (uint32_t k = 0; k < classes; k++)
        is_near(c.shift[k], shift[k], 0.06, "a shift");
    ok(g.after < g.before && g.gain > 10 * g.error && calibrate_pays(&g), "it pays");

    /* its own answers need nothing more */
    calibration_apply(&c, ROWS, probability);
    struct calibration again;
    ok(calibrate_fit(&r, &again, &g), "a fit of what is calibrated");
    is_near(again.scale, 1, 1e-3, "changes nothing"); /* but for the prior */
    ok(!calibrate_pays(&g), "and does not pay");
    for (uint32_t i = 0; i < ROWS; i += 1999) {
        double sum = 0;
        for (uint32_t k = 0; k < classes; k++)
            sum += probability[(size_t)i * classes + k];
        is_near(sum, 1, 1e-12, "the classes of a row sum to 1");
    }
    calibration_free(&c);
    calibration_free(&again);
}

/* Rows that are all right make answers surer, but not sure. */
static void all_right(void)
{
    enum { FEW = 300 };
    struct calibration c;
    struct calibrate_gain g;
    struct calibrate_rows r = rows_of(CLASSES);
    r.count = FEW;
    for (uint32_t i = 0; i < FEW; i++) {
        label[i] = (int32_t)(i % CLASSES);
        weight[i] = 1;
        for (uint32_t k = 0; k < CLASSES; k++)
            probability[(size_t)i * CLASSES + k] = label[i] == (int32_t)k ? 0.9 : 0.05;
    }
    ok(calibrate_fit(&r, &c, &g), "a fit of rows that are all right");
    ok(c.scale > 1.5 && c.scale < 4, "its scale is %.2f", c.scale);
    ok(g.after < g.before && g.after > 1e-4, "log-loss %.2g before, %.2g after", g.before, g.after);
    calibration_free(&c);
}

/* Labels that weigh 0 or are missing count for nothing; without a class there is no fit. */
static void leaves_out(void)
{
    const double none[CLASSES] = {0};
    struct calibration c, all;
    struct calibrate_gain g;
    make_rows(2, 1, none);
    struct calibrate_rows r = rows_of(2);
    for (uint32_t i = 0; i < ROWS; i += 2)
        weight[i] = 0;
    ok(calibrate_fit(&r, &c, &g), "a fit of half of the rows");
    for (uint32_t i = 0; i < ROWS; i += 2) {
        label[i] = i % 4 ? -1 : 1 - label[i];
        weight[i] = i % 4 ? 1 : 0;
    }
    ok(calibrate_fit(&r, &all, &g), "and without their labels");
    ok(c.scale == all.scale && c.shift[1] == all.shift[1], "is the same");
    calibration_free(&c);
    calibration_free(&all);
    for (uint32_t i = 0; i < ROWS; i++)
        label[i] = 1;
    ok(!calibrate_fit(&r, &c, &g) && !c.shift, "one label: no fit");
}

/* Weights of classes are undone where the answers are those of weighted rows. */
static void prior(void)
{
    const float weights[CLASSES] = {2, 1, 8};
    double p[CLASSES] = {0.5, 0.3, 0.2}, seen[CLASSES], sum = 0;
    struct calibration c;
    for (int k = 0; k < CLASSES; k++)
        sum += seen[k] = p[k] * (double)weights[k];
    for (int k = 0; k < CLASSES; k++)
        seen[k] /= sum;
    calibrate_prior(weights, CLASSES, &c);
    calibration_apply(&c, 1, seen);
    for (int k = 0; k < CLASSES; k++)
        is_near(seen[k], p[k], 1e-12, "a share");
    calibration_free(&c);
}

static void range(void)
{
    struct calibration c;
    struct calibrate_gain g;
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = rng_normal(3, i, 0, 0, RNG_TEST);
        target[i] = fmin(z, 1);
        value[i] = z + 0.1 * rng_normal(3, i, 1, 0, RNG_TEST);
        weight[i] = 1;
    }
    const struct criterion square = {.loss = {.kind = LOSS_MSE}};
    struct calibrate_rows r = {.count = ROWS, .value = value, .target = target, .weight = weight,
                               .criterion = &square};
    ok(calibrate_range(&r, -1, 1, false, &c, &g), "both ends, by name");
    ok(calibration_limit(&c, 3) <= 1 && calibration_limit(&c, -3) >= -1 &&
           calibration_limit(&c, 0.5) >= 0.5, "values end at -1 and at 1");
    double both = g.after;
    /* the target ends at 1 above; below it goes on, and a limit of -1 would cost */
    ok(calibrate_range(&r, -1, 1, true, &c, &g), "each end by itself: one pays");
    ok(calibration_limit(&c, 3) <= 1 && calibration_limit(&c, -3) <= -3, "the upper one alone");
    ok(calibrate_pays(&g) && g.after < g.before && g.after < both,
       "which is better than both: %g, %g", g.after, both);
    for (uint32_t i = 0; i < ROWS; i++) {
        target[i] = -target[i];
        value[i] = -value[i];
    }
    ok(calibrate_range(&r, -1, 1, true, &c, &g) && calibration_limit(&c, -3) >= -1 &&
           calibration_limit(&c, 3) >= 3, "mirrored: the lower one alone");
    ok(!calibrate_range(&r, -9, 9, true, &c, &g) && !c.limited,
       "a range that nothing leaves: none");
}

int main(void)
{
    finds(2);
    finds(3);
    all_right();
    leaves_out();
    prior();
    range();
    return done();
}
