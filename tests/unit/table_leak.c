/* table_leak.c - warnings about a table: columns that give the target away, rows on both sides,
 * identifiers. */
#include "base/rng.h"
#include "table/fit/leak.h"
#include "table_help.h"

enum { ROWS = 600 };

/* Columns: "same" is the label, "noise" a number, "most" agrees but for 3 rows of 100, "key" is
 * unique, "kind" a category that is the label. */
static void test_classes(uint32_t classes)
{
    static const char *const labels[] = {"a", "b", "c"};
    struct err e = {0};
    struct schema *s =
        schema_of(COLUMNS("\"same\": \"numeric\", \"noise\": \"numeric\", \"most\": \"numeric\","
                    "\"key\": \"categorical\", \"kind\": \"categorical\""),
                  classes == 2 ? TASK_BINARY : TASK_MULTICLASS, &e);
    struct sheet *t = table_make(s, ROWS, 6);
    struct text key = {0};
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t label = rng_bits(1, i, 0, 0, RNG_TEST) % classes;
        text_clear(&key);
        text_printf(&key, "k%u", i);
        put_number(t, i, 0, 0.1f + 0.1f * (float)label);
        put_number(t, i, 1, (float)rng_normal(2, i, 0, 0, RNG_TEST));
        put_number(t, i, 2, (float)(i % 100 < 3 ? 2 - label : label));
        put_category(t, i, s, 3, key.data);
        put_category(t, i, s, 4, label ? "x" + (label == 2) : "yy");
        put_label(t, i, s, labels[label]);
    }
    table_index(t);
    ok(table_fit(s, t, &e), "%u classes: fitted: %s", classes, e.what);
    is_int(warnings_with(t, "\"same\"", "the target away"), 1, "the label as a number");
    is_int(warnings_with(t, "\"kind\"", "the target away"), 1, "the label as a category");
    ok(warnings_with(t, "beforehand: \"same\", \"kind\"", "") == 1, "nothing else is suspected");
    text_free(&key);
    table_drop(t);
    schema_free(s);
}

/* A column of few values: zeros and ones of one group count half, by ranks and by estimate. */
static void test_few_values(void)
{
    enum { ALL = 1200 };
    static const struct { int32_t rows, ones; } groups[] = {{700, 240}, {300, 160}, {200, 80}};
    int32_t label[ALL], group[ALL];
    double right = 0, zeros = 0, ones = 0, pairs = 0;
    for (int32_t g = 0, at = 0; g < 3; g++)
        for (int32_t i = 0; i < groups[g].rows; i++, at++) {
            label[at] = i < groups[g].ones;
            group[at] = g;
        }
    static const int order[] = {0, 2, 1}; /* by the share of ones */
    for (int k = 0; k < 3; k++) {
        double one = groups[order[k]].ones, zero = groups[order[k]].rows - one;
        right += one * (zeros + zero / 2);
        zeros += zero;
        ones += one;
    }
    pairs = zeros * ones;
    const struct leak_target t = {.count = ALL, .classes = 2, .label = label};
    double got = 0.5 + leak_of_group(&t, group, 3) / 2;
    ok(fabs(got - right / pairs) < 0.002, "the AUC of groups: %g, expected %g", got, right / pairs);
}

static void test_regression(void)
{
    struct err e = {0};
    struct schema *s =
        schema_of(COLUMNS("\"half\": \"numeric\", \"near\": \"numeric\", \"code\": \"categorical\","
                    "\"other\": \"categorical\""),
                  TASK_REGRESSION, &e);
    struct sheet *t = table_make(s, ROWS, 6);
    struct text code = {0};
    for (uint32_t i = 0; i < ROWS; i++) {
        double y = i % 20 + 0.5;
        text_clear(&code);
        text_printf(&code, "c%u", i % 20);
        put_number(t, i, 0, i % 7 ? (float)(-y / 2) : NAN);
        put_number(t, i, 1, (float)(y + rng_normal(2, i, 0, 0, RNG_TEST)));
        put_category(t, i, s, 2, code.data);
        put_category(t, i, s, 3, i % 3 ? "u" : "v");
        t->target[i] = y;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(warnings_with(t, "\"half\"", "the target away"), 1, "a multiple of the target");
    is_int(warnings_with(t, "\"code\"", "the target away"), 1, "the target as a code");
    ok(warnings_with(t, "beforehand: \"half\", \"code\"", "") == 1, "a good column is no leak");
    text_free(&code);
    table_drop(t);
    schema_free(s);
}

static void test_duplicates(void)
{
    struct err e = {0};
    struct schema *s = schema_of(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION, &e);
    struct sheet *t = table_make(s, 100, 4);
    for (uint32_t i = 0; i < 100; i++) {
        put_number(t, i, 0, (float)(i % 80)); /* rows 80 to 99 are rows 0 to 19 again */
        t->target[i] = i % 80;
        t->part[i] = i >= 90 ? PART_TEST : i >= 70 ? PART_VALID : PART_TRAIN;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(warnings_with(t, "10 of 20 validation rows", "training"), 1, "rows of validation");
    is_int(warnings_with(t, "10 of 10 test rows", "training"), 1, "rows of test");
    table_drop(t);
    schema_free(s);
}

/* Values as they are read: rounded to float32 behind the offset. */
static void test_identifiers(void)
{
    struct err e = {0};
    struct schema *s = schema_of(
        COLUMNS("\"small\": \"numeric\", \"merged\": \"numeric\", \"part\": \"numeric\", "
                "\"near\": \"numeric\", \"far\": \"numeric\", \"coarse\": \"numeric\", "
                "\"apart\": \"numeric\", \"vast\": \"numeric\""),
        TASK_REGRESSION, &e);
    struct sheet *t = table_make(s, 60, 8);
    s->offsets[3] = s->offsets[4] = 1e12;
    for (uint32_t i = 0; i < 60; i++) {
        put_number(t, i, 0, (float)(16777216 - i / 2));
        put_number(t, i, 1, (float)(16777217 + i));
        put_number(t, i, 2, i ? (float)i / 7 : 3e7f);
        put_number(t, i, 3, (float)i);
        put_number(t, i, 4, (float)(40000001 + i));
        put_number(t, i, 5, (float)(20000000 + i % 5 * 1000));
        put_number(t, i, 6, (float)(1e8 + 1e6 * i + 10.37));
        put_number(t, i, 7, (float)(1e30 * (i + 1.37)));
        t->target[i] = rng_normal(3, i, 0, 0, RNG_TEST);
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(warnings_with(t, "\"merged\" goes to 16777276, where", "nearer than 2 to each other"), 1,
           "whole numbers above 2^24");
    is_int(warnings_with(t, "\"merged\"", "and equal ones are met"), 1, "that became equal");
    is_int(warnings_with(t, "\"far\" goes to 1000040000060, where", "nearer than 4 to"), 1,
           "as far behind an offset");
    is_int(warnings_with(t, "\"apart\" goes to", "nearer than 16 to each other: what"), 1,
           "and that did not");
    is_int(warnings_with(t, "looks like an identifier", ""), 3,
           "none where the offset keeps them apart, where all are multiples of more, where some "
           "are not whole, and where they are too large for a name");
    table_drop(t);
    schema_free(s);
}

int main(void)
{
    test_classes(2);
    test_classes(3);
    test_few_values();
    test_regression();
    test_duplicates();
    test_identifiers();
    return done();
}
