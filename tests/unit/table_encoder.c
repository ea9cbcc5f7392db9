/* table_encoder.c - the target, offsets, and the same statistics whatever the order of rows and the
 * number of threads. */
#include "base/rng.h"
#include "base/process/thread.h"
#include "table_help.h"

/* --- target and weights --- */

static void test_target(void)
{
    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, 4, 3);
    const double y[] = {1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 12};
    for (uint64_t i = 0; i < 4; i++) {
        put_number(t, i, 0, (float)i);
        t->target[i] = y[i];
        t->part[i] = i == 3 ? PART_TEST : PART_TRAIN;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_near(t->encoder->coding.center, 1e9 + 2, 1e-6, "center");
    is_near(t->encoder->coding.scale, sqrt(2.0 / 3), 1e-9, "scale");
    float first, last;
    memcpy(&first, rows_at(&t->rows, 0) + s->raw.at_target, sizeof first);
    memcpy(&last, rows_at(&t->rows, 3) + s->raw.at_target, sizeof last);
    is_near((double)first, -sqrt(1.5), 1e-6, "a training row");
    is_near((double)last, 10 * sqrt(1.5), 1e-5, "a test row on the same scale");
    table_drop(t);
    schema_free(s);

    static const double marks[] = {999999, 250, 12};
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
        s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
        t = table_make(s, 300, 6);
        for (uint64_t i = 0; i < 300; i++) {
            put_number(t, i, 0, (float)i);
            t->target[i] = i == 7 || i == 70 ? marks[k] : (double)(i % 10);
        }
        table_index(t);
        bool good = table_fit(s, t, &e);
        bool said = warnings_with(t, "far from all others", "training values");
        bool named =
            warnings_with(t, "2 of 300 training values", k ? "as 250 does" : "as 999999 does");
        bool far = marks[k] > 9 + 20 * 9;
        ok(good && said == far && named == far,
           "far values of a target are warned of, others are not: %g", marks[k]);
        table_drop(t);
        schema_free(s);
    }

    /* more rows than are looked at, whose second half is elsewhere: nothing lies far */
    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    t = table_make(s, 100000, 12);
    for (uint64_t i = 0; i < 100000; i++) {
        put_number(t, i, 0, (float)(i % 1000));
        t->target[i] = i < 98000 ? (double)(i % 10) : 5000;
    }
    table_index(t);
    ok(table_fit(s, t, &e) && !warnings_with(t, "far from all others", "target"),
       "rows are chosen from all of the file");
    table_drop(t);
    schema_free(s);

    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    t = table_make(s, 3, 3);
    for (uint64_t i = 0; i < 3; i++) {
        put_number(t, i, 0, (float)i);
        t->target[i] = 0.1;
    }
    table_index(t);
    ok(table_fit(s, t, &e) && warnings_with(t, "target", "same value"),
       "a constant target is warned of");
    ok(t->encoder->coding.scale >= 1 && t->encoder->coding.scale <= 1, "and not divided by 0");
    table_drop(t);
    schema_free(s);

    s = schema_need(COLUMNS("\"a\": \"numeric\", \"w\": \"weight\""), TASK_REGRESSION);
    t = table_make(s, 2, 3);
    put_int(t, 0, s->raw.at_weight, 0);
    t->part[1] = PART_VALID;
    put_number(t, 0, 0, 1);
    table_index(t);
    ok(!table_fit(s, t, &e) && e.id == ERR_WEIGHT_SUM, "no weight at all: %s", e.what);
    table_drop(t);
    schema_free(s);
}

/* --- offsets --- */

static double offset(const char *type, const char *const *texts, size_t count, const char *missing)
{
    struct err e = {0};
    struct text config = {0};
    text_printf(&config,
                "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"missing\": [\"%s\"],"
                "\"columns\": {\"a\": \"%s\"}}}",
                missing, type);
    struct schema *s = schema_need(config.data, TASK_REGRESSION);
    struct csv_cell cells[16];
    struct csv_record records[16];
    struct csv_cells parsed = {.cells = cells, .records = records, .record_count = count};
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = (struct csv_cell){.text = texts[i], .length = (uint32_t)strlen(texts[i])};
        records[i] = (struct csv_record){.first_cell = i, .cells = 1};
    }
    const char *name = "a";
    struct binding b;
    if (!schema_bind(s, &name, 1, BIND_FEATURES, &b, &e))
        ok(false, "bound: %s", e.what);
    schema_offsets_decide(s, &b, &parsed);
    double result = s->offsets[0];
    binding_free(&b);
    schema_free(s);
    text_free(&config);
    return result;
}

static void test_offsets(void)
{
    const char *const stamps[] = {"NA", "1700000001", "1700000002.5", "1700003600"};
    is_near(offset("numeric", stamps, 4, "NA"), 1700000001, 0, "the first value of timestamps");
    const char *const small[] = {"1.1", "2.2", "3.3"};
    is_near(offset("numeric", small, 3, ""), 0, 0, "none of values that spread widely");
    const char *const exact[] = {"1000000", "1000001", "1000002"};
    is_near(offset("numeric", exact, 3, ""), 0, 0, "none of values that a float32 holds");
    const char *const same[] = {"0.1", "0.1"};
    is_near(offset("numeric", same, 2, ""), 0.1, 0, "of a constant itself");
    const char *const dates[] = {"", "2024-03-01", "2024-03-02"};
    is_near(offset("datetime", dates, 3, ""), 1709251200, 0, "the first date always");
    const char *const wrong[] = {"x", "", "y"};
    is_near(offset("numeric", wrong, 3, ""), 0, 0, "none without a number");
    is_near(offset("numeric", NULL, 0, ""), 0, 0, "none without a row");
}

/* --- the same, however it is done --- */

static struct encoder *large(bool backwards, struct sheet **table)
{
    enum { ROWS = 40000, COLUMNS = 5 };
    struct err e = {0};
    struct schema *s =
        schema_need(COLUMNS("\"a\": \"numeric\", \"b\": \"numeric\", \"c\": {\"type\":"
                            "\"numeric\", \"scale\": \"robust\"}, \"d\": \"numeric\","
                            "\"e\": \"numeric\""),
                    TASK_REGRESSION);
    struct sheet *t = table_make(s, ROWS, 10);
    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t row = backwards ? ROWS - 1 - i : i;
        for (uint32_t k = 0; k < COLUMNS; k++) {
            double z = rng_normal(4, (uint64_t)i * COLUMNS + k, 0, 0, RNG_TEST);
            put_number(t, row, k, k == 3 && z > 2 ? NAN : (float)(k == 1 ? exp(2 * z) : z * k + k));
        }
        t->target[row] = i;
        t->part[row] = i % 5 == 0 ? PART_VALID : PART_TRAIN;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    schema_free(s);
    *table = t;
    return t->encoder;
}

static bool same_numbers(const struct encoder *a, const struct encoder *b)
{
    bool same = true;
    for (uint32_t k = 0; k < a->number_count; k++) {
        const struct number_slot *x = &a->numbers[k], *y = &b->numbers[k];
        same &= memcmp(&x->center, &y->center, sizeof x->center) == 0 &&
                memcmp(&x->factor, &y->factor, sizeof x->factor) == 0 &&
                memcmp(&x->impute, &y->impute, sizeof x->impute) == 0 && x->scale == y->scale &&
                x->quantile_count == y->quantile_count &&
                (!x->quantile_count ||
                 memcmp(x->quantiles, y->quantiles, x->quantile_count * sizeof(float)) == 0);
    }
    return same;
}

static void test_same(void)
{
    struct sheet *t, *u, *v;
    struct encoder *one = large(false, &t);
    threads_start(3);
    struct encoder *three = large(false, &u);
    ok(same_numbers(one, three), "three threads fit the same numbers");
    struct encoder *other = large(true, &v);
    ok(same_numbers(one, other), "and so does another order of the rows");
    threads_stop();

    /* One call for a whole chunk, or one for each record. */
    for (uint64_t i = 0; i < t->rows.count; i++)
        encoder_apply(one, rows_at(&t->rows, i), 1);
    for (uint64_t c = 0; c << 10 < u->rows.count; c++) {
        uint64_t left = u->rows.count - (c << 10);
        encoder_apply(three, u->rows.chunks[c], left < 1024 ? left : 1024);
    }
    bool same = true;
    for (uint64_t i = 0; i < t->rows.count; i++)
        same &= memcmp(rows_at(&t->rows, i), rows_at(&u->rows, i), one->format.at_target) == 0;
    ok(same, "a record's bytes do not depend on its neighbours");
    table_drop(t);
    table_drop(u);
    table_drop(v);
}

int main(void)
{
    test_target();
    test_offsets();
    test_same();
    return done();
}
