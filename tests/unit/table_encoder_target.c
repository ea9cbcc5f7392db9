/* table_encoder_target.c - target_transform "auto" finds the function a target was made with, by
 * training and validation rows alone. */
#include "base/rng.h"
#include "base/process/thread.h"
#include "table_help.h"

enum { ROWS = 1200, TRAIN = 900, JUDGES = 200 }; /* the rest: test rows */

static double noise(uint64_t i, uint32_t of)
{
    double sum = -2;
    for (uint32_t k = 0; k < 4; k++)
        sum += rng_bits(3, i, of, k, RNG_TEST) / 4294967296.0;
    return sum;
}

enum kind { LINEAR, EXPONENTIAL, CUBIC, SHORT };

/* Encodes `kind` with "auto". far: test rows are made 1e9. */
static struct target_choice choose(enum kind kind, bool far, bool judges, double least)
{
    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\", \"b\": \"numeric\", "
                                           "\"c\": \"categorical\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, kind == SHORT ? 40 : ROWS, 10);
    uint32_t row[ROWS];
    s->target_transform = TARGET_AUTO;
    for (uint32_t i = 0; i < t->rows.count; i++) {
        double a = noise(i, 0), b = noise(i, 1), c = i % 3, z = 2 * a - b + 0.3 * c;
        z += 0.1 * noise(i, 2);
        put_number(t, i, 0, i % 50 ? (float)a : NAN);
        put_number(t, i, 1, (float)b);
        put_category(t, i, s, 2, i % 3 == 0 ? "x" : i % 3 == 1 ? "y" : "z");
        t->target[i] = kind == EXPONENTIAL ? exp(2 * z) : kind == CUBIC ? z * z * z : 9 + z;
        t->target[i] = far && i >= TRAIN + JUDGES ? -1e9 : t->target[i];
        row[i] = i;
    }
    if (least < 0)
        t->target[TRAIN] = least;
    struct dataset d = {.schema = s, .rows = t->rows, .target = t->target};
    d.samples.count = t->rows.count;
    struct encoder *c = encoder_fit_as(&d, s, row, kind == SHORT ? 30 : TRAIN, row + TRAIN,
                                       judges && kind != SHORT ? JUDGES : 0, &e);
    ok(c != NULL, "fitted: %s", e.what);
    struct target_choice made = c->choice;
    ok(c->coding.transform == made.transform, "and the encoder has what was chosen");
    encoder_free(c);
    table_drop(t);
    schema_free(s);
    return made;
}

static bool same(const struct target_choice *a, const struct target_choice *b)
{
    return a->transform == b->transform && a->judged == b->judged &&
           memcmp(a->error, b->error, sizeof a->error) == 0;
}

int main(void)
{
    struct target_choice sum = choose(LINEAR, false, true, 0),
                         product = choose(EXPONENTIAL, false, true, 0),
                         cube = choose(CUBIC, false, true, 0),
                         other = choose(EXPONENTIAL, true, true, 0);
    ok(sum.made && sum.transform == TARGET_NONE, "a sum of columns: none");
    ok(sum.judged == JUDGES, "the validation rows judge");
    ok(product.transform == TARGET_LOG, "a product of columns: log");
    ok(product.error[TARGET_LOG] < 0.7 * product.error[TARGET_NONE],
       "whose error is far below that of none: %g, %g", product.error[TARGET_LOG],
       product.error[TARGET_NONE]);
    ok(cube.transform == TARGET_CBRT, "a cube of both signs: cbrt");
    ok(isnan(cube.error[TARGET_LOG]), "which has no logarithm");
    ok(same(&product, &other), "test rows change nothing");

    threads_start(3);
    other = choose(EXPONENTIAL, false, true, 0);
    ok(same(&product, &other), "nor do threads");
    threads_stop();

    other = choose(EXPONENTIAL, false, true, -3);
    ok(other.transform != TARGET_LOG, "a validation row below 0 rules log out");
    other = choose(EXPONENTIAL, false, false, 0);
    ok(other.transform == TARGET_LOG && other.judged == TRAIN / 4,
       "without validation rows every fourth row judges");
    other = choose(SHORT, false, false, 0);
    ok(other.made && other.transform == TARGET_NONE && !other.judged, "too few rows: none");
    return done();
}
