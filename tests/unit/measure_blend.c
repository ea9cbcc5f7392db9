/* measure_blend.c - greedy selection against a reference that writes every step out. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/blend.h"
#include "tap.h"

enum { MEMBERS = 5, ROWS = 200, ROUNDS = 12 };

static double answers[MEMBERS][ROWS], target[ROWS];
static float weight[ROWS];
static const double *of[MEMBERS];
static const int32_t label[ROWS]; /* all of class 0: the answer is its probability */
static const struct criterion logloss = {.loss = {.kind = LOSS_CROSS_ENTROPY}, .classes = 2},
                              square = {.loss = {.kind = LOSS_MSE}};

static void make_answers(bool values)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        target[i] = rng_normal(1, i, 0, 0, RNG_TEST);
        weight[i] = (float)(rng_bits(1, i, 1, 0, RNG_TEST) % 4);
        for (uint32_t m = 0; m < MEMBERS; m++) {
            double noise = rng_normal(2, i, m, 0, RNG_TEST) * (0.3 + 0.2 * m);
            answers[m][i] = values ? target[i] + noise + (m == 4 ? 3 : 0)
                                   : 1 / (1 + exp(-1 - noise));
        }
    }
    for (uint32_t m = 0; m < MEMBERS; m++)
        of[m] = answers[m];
}

/* Loss of the mean of the members in `bag`. */
static double bag_loss(const struct blend *b, const uint32_t *bag, uint32_t count)
{
    double loss = 0, all = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        double sum = 0, w = b->weight ? (double)b->weight[i] : 1;
        for (uint32_t k = 0; k < count; k++)
            sum += answers[bag[k]][i];
        sum /= count;
        if (w > 0)
            loss += w * (b->target ? (sum - target[i]) * (sum - target[i]) : -log(sum));
        all += w;
    }
    return loss / all;
}

static void reference(const struct blend *b, uint32_t rounds, double *weights)
{
    uint32_t bag[ROUNDS], length = 0;
    double best = INFINITY;
    for (uint32_t k = 0; k < rounds; k++) {
        uint32_t choice = 0;
        double least = INFINITY;
        for (uint32_t m = 0; m < MEMBERS; m++) {
            bag[k] = m;
            double loss = bag_loss(b, bag, k + 1);
            if (loss < least - 1e-12) {
                least = loss;
                choice = m;
            }
        }
        bag[k] = choice;
        if (least < best - 1e-12) {
            best = least;
            length = k + 1;
        }
    }
    memset(weights, 0, MEMBERS * sizeof *weights);
    for (uint32_t k = 0; k < length; k++)
        weights[bag[k]] += 1.0 / length;
}

static void compare(bool values, bool weighs, const char *name)
{
    double got[MEMBERS], want[MEMBERS], sum = 0, apart = 0;
    make_answers(values);
    struct blend b = {.members = MEMBERS, .rows = ROWS, .answer = of, .width = 1,
                      .criterion = values ? &square : &logloss, .label = values ? NULL : label,
                      .target = values ? target : NULL, .weight = weighs ? weight : NULL};
    blend_greedy(&b, ROUNDS, got);
    reference(&b, ROUNDS, want);
    for (uint32_t m = 0; m < MEMBERS; m++) {
        sum += got[m];
        apart = fmax(apart, fabs(got[m] - want[m]));
    }
    ok(apart < 1e-12 && fabs(sum - 1) < 1e-12, "%s: %.3f %.3f %.3f %.3f %.3f, as the reference",
       name, got[0], got[1], got[2], got[3], got[4]);
    double equal[MEMBERS] = {1, 1, 1, 1, 1};
    ok(blend_loss(&b, got) < blend_loss(&b, equal), "%s: better than the mean", name);
    ok(fabs(blend_loss(&b, got) - blend_loss(&b, (double[]){5 * got[0], 5 * got[1], 5 * got[2],
                                                           5 * got[3], 5 * got[4]})) < 1e-12,
       "%s: weights need not sum to 1", name);
}

static void test_small(void)
{
    double got[MEMBERS], want = 0;
    make_answers(true);
    for (uint32_t i = 0; i < ROWS; i++) /* one member in fifty would help a little */
        answers[1][i] = target[i] + 0.001 + 50 * (answers[0][i] - target[i]) / -1;
    struct blend b = {.members = 2, .rows = ROWS, .answer = of, .width = 1,
                      .criterion = &square, .target = target};
    blend_greedy(&b, 1, got);
    ok(got[0] == 1 && got[1] == 0, "one round: one member");
    blend_greedy(&b, 200, got);
    ok(got[0] == 1 && got[1] == 0, "a weight below %.2f is dropped: %.3f", BLEND_LEAST, got[1]);
    memset(weight, 0, sizeof weight);
    b.weight = weight;
    blend_greedy(&b, 5, got);
    for (uint32_t m = 0; m < 2; m++)
        want += got[m];
    ok(want == 1 && isnan(blend_loss(&b, got)), "without weight: some mean, and no loss");
}

/* The gain is the difference of the losses; its error that of a mean of differences. */
static void test_gain(void)
{
    const double first[MEMBERS] = {1}, mean[MEMBERS] = {0.5, 0.5};
    double error, none;
    make_answers(true);
    struct blend b = {.members = MEMBERS, .rows = ROWS, .answer = of, .width = 1,
                      .criterion = &square, .target = target};
    double gain = blend_gain(&b, first, mean, &error), squares = 0;
    is_near(gain, blend_loss(&b, first) - blend_loss(&b, mean), 1e-12, "a gain");
    for (uint32_t i = 0; i < ROWS; i++) {
        double a = answers[0][i] - target[i], c = (answers[0][i] + answers[1][i]) / 2 - target[i];
        squares += (a * a - c * c - gain) * (a * a - c * c - gain);
    }
    is_near(error, sqrt(squares / (ROWS - 1) / ROWS), 1e-12, "and its error");
    is_near(blend_gain(&b, mean, mean, &none), 0, 1e-15, "against itself: nothing");
    is_near(none, 0, 1e-15, "without an error");
    is_near(blend_gain(&b, mean, NULL, &error), blend_loss(&b, mean), 1e-12, "by nothing: a loss");
    b.weight = weight;
    is_near(blend_gain(&b, first, mean, &error), blend_loss(&b, first) - blend_loss(&b, mean),
            1e-12, "a weighted one");
}

int main(void)
{
    compare(true, false, "values");
    compare(true, true, "weighted values");
    compare(false, false, "probabilities");
    compare(false, true, "weighted probabilities");
    test_small();
    test_gain();
    return done();
}
