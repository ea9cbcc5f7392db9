/* measure_association.c - how much two columns say the same: rank correlation, Cramer's V and the
 * correlation ratio against scipy's figures; ties, missing cells, columns that tell nothing. */
#include "measure/association.h"

#include <math.h>

#include "tap.h"

enum { ROWS = 12, MANY = 400 };

static const float a[ROWS] = {1, 2, 2, 3, 5, 8, 8, 8, 9, 10, 11, 12};
static const float b[ROWS] = {2, 1, 3, 3, 4, 9, 7, 8, 8, 12, 10, 11};
static const int32_t c[ROWS] = {0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 0};
static const int32_t d[ROWS] = {5, 5, 5, 7, 7, 7, 7, 9, 9, 9, 7, 5};
static uint32_t scratch[MANY];

static double of(struct trait x, struct trait y)
{
    double v = association(&x, &y, scratch), w = association(&y, &x, scratch);
    trait_free(&x);
    trait_free(&y);
    for (uint32_t i = 0; i < MANY; i++)
        if (scratch[i])
            return (double)NAN;
    return fabs(v - w) < 1e-12 ? v : (double)NAN;
}

static void near(double got, double want, const char *name)
{
    ok(fabs(got - want) < 1e-6, "%s: %.9g, expected %.9g", name, got, want);
}

int main(void)
{
    float with_gaps[ROWS], fewer[ROWS], other[ROWS], few[ROWS], same[ROWS], numbers[MANY];
    int32_t own[MANY], halves[MANY];
    near(of(trait_numbers(a, ROWS), trait_numbers(b, ROWS)), 0.9362963845670855, "Spearman");
    near(of(trait_categories(c, ROWS), trait_categories(d, ROWS)), 0.8692269873603533, "Cramer");
    near(of(trait_numbers(a, ROWS), trait_categories(c, ROWS)), 0.4468597872202859, "ratio");
    for (int i = 0; i < ROWS; i++) {
        fewer[i] = a[i] * a[i] * a[i];
        other[i] = -a[i];
        with_gaps[i] = i % 4 ? fewer[i] : NAN;
        few[i] = i % 4 ? NAN : a[i];
        same[i] = i % 2 ? 0.0f : -0.0f;
    }
    near(of(trait_numbers(a, ROWS), trait_numbers(fewer, ROWS)), 1, "a function that rises");
    near(of(trait_numbers(a, ROWS), trait_numbers(other, ROWS)), 1, "one that falls");
    ok(of(trait_numbers(a, ROWS), trait_numbers(with_gaps, ROWS)) > 0.99, "missing cells");
    near(of(trait_numbers(a, ROWS), trait_numbers(few, ROWS)), 0, "too few rows in common");
    near(of(trait_numbers(a, ROWS), trait_numbers(same, ROWS)), 0, "one value tells nothing");
    for (int i = 0; i < MANY; i++) {
        own[i] = 7 * i % MANY;
        halves[i] = i % 40;
        numbers[i] = (float)(i % 40);
    }
    near(of(trait_categories(own, MANY), trait_categories(halves, MANY)), 0,
         "a category in each row is no likeness");
    near(of(trait_numbers(numbers, MANY), trait_categories(halves, MANY)), 1,
         "a number that is written as a category");
    near(of(trait_categories(halves, MANY), trait_categories(halves, MANY)), 1, "itself");
    return done();
}
