/* model_ridge.c - ridge regression: the conditions of an optimum, and answers by leave-one-out,
 * both computed here from their definitions on rows of different weights; a column of one value;
 * the same bits with more threads. */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/process/thread.h"
#include "model/solve/ridge.h"

enum { ROWS = 150, COLUMNS = 7, OUTPUTS = 2, SIZE = COLUMNS + 1 };
#define PENALTY 3.0

struct toy {
    real x[ROWS * COLUMNS];
    double weight[ROWS], target[ROWS * OUTPUTS];
    struct ridge *ridge;
};

static void toy_open(struct toy *t)
{
    double sum = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        for (uint32_t f = 0; f < COLUMNS; f++)
            t->x[i * COLUMNS + f] = f == 3 ? 5 : (real)rng_uniform(3, i, f, 0, RNG_TEST);
        for (uint32_t k = 0; k < OUTPUTS; k++)
            t->target[i * OUTPUTS + k] = (double)t->x[i * COLUMNS + k] +
                                         rng_uniform(3, i, 50 + k, 0, RNG_TEST) + 10 * k;
        sum += t->weight[i] = 0.5 + rng_uniform(3, i, 90, 0, RNG_TEST);
    }
    for (uint32_t i = 0; i < ROWS; i++)
        t->weight[i] *= ROWS / sum;
    t->ridge = ridge_new(t->x, ROWS, COLUMNS, t->weight, t->target, OUTPUTS, 1e-5, NULL);
}

/* Standardised, without the weight; 1 behind the last column. */
static double input(const struct toy *t, uint32_t i, uint32_t f)
{
    return f == COLUMNS ? 1 : (double)t->x[i * COLUMNS + f] / sqrt(t->weight[i]);
}

/* Weights and constant for output k from the normal equations, without row `left`. */
static void solve(const struct toy *t, uint32_t k, uint32_t left, double b[SIZE])
{
    double a[SIZE][SIZE + 1] = {{0}};
    for (uint32_t f = 0; f < SIZE; f++) {
        for (uint32_t i = 0; i < ROWS; i++)
            for (uint32_t g = 0; i != left && g <= SIZE; g++)
                a[f][g] += t->weight[i] * input(t, i, f) *
                           (g == SIZE ? t->target[i * OUTPUTS + k] : input(t, i, g));
        a[f][f] += f < COLUMNS ? PENALTY : 0;
    }
    for (uint32_t p = 0; p < SIZE; p++)
        for (uint32_t f = 0; f < SIZE; f++) {
            double by = a[f][p] / a[p][p];
            for (uint32_t g = p; f != p && g <= SIZE; g++)
                a[f][g] -= by * a[p][g];
        }
    for (uint32_t f = 0; f < SIZE; f++)
        b[f] = a[f][SIZE] / a[f][f];
}

static void test_solution(const struct toy *t)
{
    double b[COLUMNS * OUTPUTS], wanted[SIZE], worst = 0, worst_without = 0;
    ridge_weights(t->ridge, b);
    for (uint32_t k = 0; k < OUTPUTS; k++) {
        solve(t, k, ROWS, wanted);
        worst = fmax(worst, fabs(t->ridge->center[k] - wanted[COLUMNS]));
        for (uint32_t f = 0; f < COLUMNS; f++)
            worst = fmax(worst, fabs(b[f * OUTPUTS + k] - wanted[f]));
        for (uint32_t i = 0; i < ROWS; i++) {
            double answer = 0;
            solve(t, k, i, wanted);
            for (uint32_t f = 0; f < SIZE; f++)
                answer += wanted[f] * input(t, i, f);
            worst_without =
                fmax(worst_without, fabs(answer - t->ridge->without[i * OUTPUTS + k]));
        }
    }
    ok(worst < 1e-6, "the weights solve the normal equations");
    ok(worst_without < 1e-5, "answers by leave-one-out are those of the other rows");
    ok(fabs(b[3 * OUTPUTS]) < 1e-12, "a column of one value has the weight 0");
}

static bool always(const void *nothing)
{
    (void)nothing;
    return true;
}

int main(void)
{
    struct toy *one = mem_zero(1, sizeof *one), *more = mem_zero(1, sizeof *more);
    toy_open(one);
    ok(ridge_solve(one->ridge, PENALTY), "it solves");
    test_solution(one);
    threads_start(3);
    toy_open(more);
    ok(ridge_solve(more->ridge, PENALTY), "with three threads");
    size_t bytes = ROWS * OUTPUTS * sizeof *one->ridge->without;
    ok(memcmp(one->ridge->without, more->ridge->without, bytes) == 0 &&
           memcmp(one->ridge->dual, more->ridge->dual, bytes) == 0,
       "the same bits");
    more->ridge->stop = &(struct stopper){.wanted = always};
    ok(!ridge_solve(more->ridge, PENALTY), "a signal ends it");
    ridge_free(one->ridge);
    ridge_free(more->ridge);
    threads_stop();
    mem_free(one);
    mem_free(more);
    return done();
}
