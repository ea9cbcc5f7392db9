/* model_decision.c - the answered label: thresholds, offsets, and the decision that keeps the
 * labels of the answers before a calibration, against those labels themselves. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/decision.h"
#include "tap.h"

enum { ROWS = 4000, CLASSES = 9 };

static void labels(void)
{
    const double two[] = {0.5, 0.5}, rare[] = {0.9, 0.1}, three[] = {0.4, 0.4, 0.2};
    const double none[] = {0, 1, 0};
    double offset[] = {0, 0, log(2.5)};
    const struct decision half = {.threshold = DECISION_HALF}, low = {.threshold = 0.1};
    const struct decision moved = {.threshold = DECISION_HALF, .offset = offset, .classes = 3};
    ok(decision_label(&half, two, 2) == 1, "a half is answered positive");
    ok(decision_label(&half, rare, 2) == 0 && decision_label(&low, rare, 2) == 1, "a threshold");
    ok(decision_label(&half, three, 3) == 0, "of equals the first label");
    ok(decision_label(&moved, three, 3) == 2, "an offset lifts a label");
    ok(decision_label(&moved, none, 3) == 1, "probabilities of 0");
}

/* Of random logits: the label of the calibrated answers by the decision is the greatest logit. */
static uint32_t differ(uint32_t classes, double scale, uint32_t seed)
{
    double shift[CLASSES], p[CLASSES];
    const struct calibration c = {.scale = scale, .shift = shift, .classes = classes};
    struct decision d = {.threshold = DECISION_HALF};
    uint32_t different = 0, others = 0;
    for (uint32_t k = 0; k < classes; k++)
        shift[k] = 3 * (rng_normal(seed, k, 0, 0, RNG_TEST) - rng_normal(seed, 0, 0, 0, RNG_TEST));
    if (!decision_before(&c, &d))
        return ROWS;
    for (uint32_t i = 0; i < ROWS; i++) {
        double most = -INFINITY, sum = 0;
        uint32_t best = 0, moved = 0;
        for (uint32_t k = 0; k < classes; k++) {
            double z = 4 * rng_normal(seed, i, k, 1, RNG_TEST);
            best = z > most ? k : best;
            most = fmax(most, z);
            sum += p[k] = exp(z);
        }
        for (uint32_t k = 0; k < classes; k++)
            p[k] /= sum;
        calibration_apply(&c, 1, p);
        for (uint32_t k = 1; k < classes; k++)
            moved = p[k] > p[moved] ? k : moved;
        different += decision_label(&d, p, classes) != best;
        others += moved != best;
    }
    decision_free(&d);
    return others > ROWS / 50 ? different : ROWS; /* the likeliest label is often another one */
}

static void before(void)
{
    static const uint32_t counts[] = {2, 3, 5, CLASSES};
    static const double scales[] = {0.3, 1, 2.5};
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t s = 0; s < 3; s++)
            is_int((int)differ(counts[k], scales[s], 10 * k + s + 1), 0,
                   "the label before the calibration");
    double shift[] = {0, -2}, p[] = {0.4, 0.6};
    const struct calibration c = {.scale = 1, .shift = shift, .classes = 2};
    struct decision d = {.threshold = DECISION_HALF};
    ok(decision_before(&c, &d), "two classes have a threshold");
    is_near(d.threshold, 1 / (1 + exp(2)), 1e-15, "that the shifts give");
    calibration_apply(&c, 1, p);
    ok(p[1] < 0.5 && decision_label(&d, p, 2) == 1, "below a half the second label is answered");
    const struct calibration scaled = {.scale = 2, .shift = (double[]){0, 0}, .classes = 2};
    d.threshold = DECISION_HALF;
    ok(!decision_before(&scaled, &d) && !(d.threshold < 0.5), "no shifts: nothing changes");
    ok(!decision_before(&(struct calibration){0}, &d), "no calibration: nothing changes");
    double far[] = {0, 2000};
    const struct calibration much = {.scale = 1, .shift = far, .classes = 2};
    ok(decision_before(&much, &d) && d.threshold > 0 && d.threshold <= 1, "it is a probability");
    far[1] = -2000;
    ok(decision_before(&much, &d) && d.threshold > 0, "and above 0");
}

int main(void)
{
    labels();
    before();
    return done();
}
