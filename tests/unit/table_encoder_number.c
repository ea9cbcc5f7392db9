/* table_encoder_number.c - what training rows teach of numbers: scales, medians, the rule of
 * "auto", constants and columns that nearly are; and how records are applied. */
#include "csv/form/date.h"
#include "table_help.h"

static void apply_all(struct sheet *t)
{
    for (uint64_t i = 0; i < t->rows.count; i++)
        encoder_apply(t->encoder, rows_at(&t->rows, i), 1);
}

/* Training rows hold 1, 2, 3, 4, 100 and a missing one; a validation row is far away and must
 * not count. */
static void check_scale(const char *options, int scale, double center, double factor, float fill)
{
    struct err e = {0};
    struct text config = {0};
    text_printf(&config, COLUMNS("\"a\": {\"type\": \"numeric\", %s}"), options);
    struct schema *s = schema_need(config.data, TASK_REGRESSION);
    struct sheet *t = table_make(s, 7, 2);
    const float v[] = {4, 1, 100, NAN, 3, 2, 1e9f};
    for (int i = 0; i < 7; i++) {
        put_number(t, (uint64_t)i, 0, v[i]);
        t->target[i] = i;
    }
    t->part[6] = PART_VALID;
    table_index(t);
    ok(table_fit(s, t, &e), "fitted with %s: %s", options, e.what);
    const struct number_slot *n = &t->encoder->numbers[0];
    is_int(n->scale, scale, "scale");
    is_near(n->center, center, 1e-12 * fabs(center), "center");
    is_near(n->factor, factor, 1e-12 * factor, "factor");
    ok(n->impute >= fill && n->impute <= fill, "imputed %g", (double)n->impute);
    ok(n->indicator, "an indicator");
    ok(n->low >= 1 && n->low <= 1 && n->high >= 100 && n->high <= 100,
       "range of the training rows");
    is_int(t->encoder->columns[0].missing, 1, "missing cells are counted");
    apply_all(t);
    is_near(get_number(t, 0, 0), (4 - center) * factor, 1e-6, "a value is scaled");
    is_near(get_number(t, 3, 0), ((double)fill - center) * factor, 1e-6,
            "a missing one is imputed");
    ok(get_int(t, 3, s->raw.at_missing) == 1, "and its bit stays");
    table_drop(t);
    schema_free(s);
    text_free(&config);
}

static void test_scales(void)
{
    double deviation = sqrt((18.0 * 18 + 19 * 19 + 20 * 20 + 21 * 21 + 78 * 78) / 5);
    check_scale("\"scale\": \"standard\"", SCALE_STANDARD, 22, 1 / deviation, 3);
    check_scale("\"scale\": \"auto\", \"impute\": \"mean\"", SCALE_STANDARD, 22, 1 / deviation, 22);
    check_scale("\"scale\": \"robust\"", SCALE_ROBUST, 3, 0.5, 3);
    check_scale("\"scale\": \"minmax\", \"impute\": \"zero\"", SCALE_MINMAX, 1, 1.0 / 99, 0);
    check_scale("\"scale\": \"none\"", SCALE_NONE, 0, 1, 3);
}

static struct sheet *one_column(struct schema *s, const float *v, uint64_t rows)
{
    struct err e = {0};
    struct sheet *t = table_make(s, rows, 3);
    for (uint64_t i = 0; i < rows; i++) {
        put_number(t, i, 0, v[i]);
        t->target[i] = (double)i;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    return t;
}

/* The rule of "auto": by the number of values and the share of the most frequent one. */
static int chosen(uint32_t rows, uint32_t values, uint32_t same)
{
    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, rows, 6);
    for (uint32_t i = 0; i < rows; i++) {
        put_number(t, i, 0, i < same ? 0 : (float)(i % values));
        t->target[i] = i;
    }
    table_index(t);
    if (!table_fit(s, t, &e))
        ok(false, "fitted: %s", e.what);
    int scale = t->encoder->numbers[0].scale;
    table_drop(t);
    schema_free(s);
    return scale;
}

/* The same for a long tail: the values e^0 to e^10. */
static int chosen_far(int rows)
{
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    float *v = mem_alloc((uint64_t)rows, sizeof *v);
    for (int i = 0; i < rows; i++)
        v[i] = expf(10 * (float)i / (float)rows);
    struct sheet *t = one_column(s, v, (uint64_t)rows);
    int scale = t->encoder->numbers[0].scale;
    table_drop(t);
    schema_free(s);
    mem_free(v);
    return scale;
}

/* 20 to 79, and -999 in a tenth of the rows. */
static void test_auto_far(void)
{
    enum { ROWS = 200, FAR_ROWS = 20 };
    float v[ROWS];
    double sum = 0, second = 0;
    for (int i = 0; i < ROWS; i++) {
        v[i] = i < FAR_ROWS ? -999 : (float)(20 + i % 60);
        sum += i < FAR_ROWS ? 0 : (double)v[i];
    }
    const double mean = sum / (ROWS - FAR_ROWS);
    for (int i = FAR_ROWS; i < ROWS; i++)
        second += ((double)v[i] - mean) * ((double)v[i] - mean);
    const double factor = 1 / sqrt(second / (ROWS - FAR_ROWS));
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = one_column(s, v, ROWS);
    is_int(t->encoder->numbers[0].scale, SCALE_STANDARD, "auto with a value far out in many rows");
    is_near(t->encoder->numbers[0].center, mean, 1e-9, "  the mean is that of the others");
    is_near(t->encoder->numbers[0].factor, factor, 1e-9, "  so is the deviation");
    apply_all(t);
    is_near(get_number(t, 0, 0), (20 - 59 - mean) * factor, 1e-5, "  and it is one range away");
    table_drop(t);
    schema_free(s);
    for (int i = 9; i < FAR_ROWS; i++)
        v[i] = 40;
    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    t = one_column(s, v, ROWS);
    ok(t->encoder->numbers[0].center < mean - 20, "in nine rows it is a value as any other");
    table_drop(t);
    schema_free(s);
}

static void test_auto(void)
{
    is_int(chosen(4000, 2, 0), SCALE_MINMAX, "two values: 0 and 1");
    is_int(chosen(4000, 2, 3995), SCALE_MINMAX, "also when one is rare");
    is_int(chosen(4000, 3, 0), SCALE_STANDARD, "three values");
    is_int(chosen(4000, 50, 0), SCALE_STANDARD, "50 values");
    is_int(chosen(4000, 51, 0), SCALE_QUANTILE, "51 values");
    is_int(chosen(4000, 4000, 1000), SCALE_QUANTILE, "a quarter of the rows alike");
    is_int(chosen(4000, 4000, 1001), SCALE_STANDARD, "more than a quarter");
    is_int(chosen(400, 5, 385), SCALE_STANDARD, "twelve rows that differ");
    is_int(chosen(400, 5, 390), SCALE_MINMAX, "eight rows that differ");
    is_int(chosen(2999, 51, 0), SCALE_STANDARD, "51 values in a small table, none of them far");
    is_int(chosen(3000, 51, 0), SCALE_QUANTILE, "and in one that is not small");
    is_int(chosen(300, 300, 0), SCALE_STANDARD, "all values differ");
    is_int(chosen_far(300), SCALE_QUANTILE, "and some are far");
}

static void test_constant(void)
{
    static const char *const scales[] = {"auto",   "standard", "robust",
                                         "minmax", "quantile", "none"};
    const float v[] = {0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
    for (int i = 0; i < 6; i++) {
        struct text config = {0};
        text_printf(&config, COLUMNS("\"a\": {\"type\": \"numeric\", \"scale\": \"%s\"}"),
                    scales[i]);
        struct schema *s = schema_need(config.data, TASK_REGRESSION);
        struct sheet *t = one_column(s, v, 7);
        apply_all(t);
        is_near(get_number(t, 3, 0), i == 5 ? (double)0.1f : 0, 1e-7, "a constant is no NaN");
        ok(warnings_with(t, "\"a\"", "same value"), "and is warned of");
        table_drop(t);
        schema_free(s);
        text_free(&config);
    }
    struct schema *s = schema_need(COLUMNS("\"a\": {\"type\": \"numeric\", \"scale\": \"robust\"}"),
                                   TASK_REGRESSION);
    const float spike[] = {5, 5, 5, 5, 5, 5, 9};
    struct sheet *t = one_column(s, spike, 7);
    is_near(t->encoder->numbers[0].factor, 0.5, 1e-12, "without quartiles the half range serves");
    table_drop(t);
    schema_free(s);
}

/* Column "a" with these options, trained on `rows` values of which the last `rare` are one more
 * than the others; what the network sees of 0, the usual value, and of `later`. */
static void see_later(const char *options, int rows, int rare, float later, double seen[2])
{
    struct text config = {0};
    text_printf(&config, COLUMNS("\"a\": {\"type\": \"numeric\"%s}"), options);
    struct schema *s = schema_need(config.data, TASK_REGRESSION);
    float *v = mem_alloc((uint64_t)rows, sizeof *v);
    for (int i = 0; i < rows; i++)
        v[i] = i >= rows - rare ? (float)(1 + i % 3) : 0;
    struct sheet *t = one_column(s, v, (uint64_t)rows);
    put_number(t, 1, 0, later);
    apply_all(t);
    seen[0] = (double)get_number(t, 0, 0);
    seen[1] = (double)get_number(t, 1, 0);
    table_drop(t);
    schema_free(s);
    mem_free(v);
    text_free(&config);
}

static void test_nearly_constant(void)
{
    double seen[2];
    see_later("", 400, 1, 86400, seen);
    is_near(seen[0], 0, 0, "one row of 400 differs: the others are 0");
    is_near(seen[1], 2, 0, "and a far value as far again as the one");
    see_later("", 400, 1, -86400, seen);
    is_near(seen[1], -1, 0, "on both sides");
    see_later("", 400, 30, 86400, seen);
    double far = seen[1];
    see_later("", 400, 30, 6, seen);
    ok(far > 9 && far < 18 && seen[1] > far - 0.2 && seen[1] <= far,
       "standard: a far value ends as far beyond 3 as 3 is above 0, %g deviations away", far);
    see_later("", 400, 30, -86400, seen);
    ok(seen[1] < seen[0] - far / 3 && seen[1] > -far, "and on the other side, %g", seen[1]);
    see_later("", 40000, 30, 3, seen);
    ok(seen[1] > 40, "what training has seen is never cut, %g deviations away", seen[1]);
    see_later(", \"scale\": \"standard\"", 400, 30, 1e9f, seen);
    is_near(seen[1], 1e6, 0, "a scale that is named goes on");
    see_later(", \"scale\": \"quantile\"", 400, 0, 7, seen);
    is_near(seen[1], 0, 0, "a constant by rank stays 0");
}

/* Large values go by rank, which has its own ends: the limits of others are not touched. */
static void test_large(void)
{
    enum { ROWS = 3000 };
    static float v[ROWS];
    for (int i = 0; i < ROWS; i++)
        v[i] = 5310000.f + (float)(i * 13);
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = one_column(s, v, ROWS);
    const struct number_slot *n = &t->encoder->numbers[0];
    is_int(n->scale, SCALE_QUANTILE, "northings of a map go by rank");
    is_near(n->most, quantile_normal(1 - 0.5 / ROWS), 1e-12, "and end where ranks do");
    is_near(n->least, -n->most, 1e-6, "on both sides");
    table_drop(t);
    schema_free(s);
}

/* A missing one is filled in with what the config says, however far it is. */
static void test_filled(void)
{
    struct schema *s = schema_need(COLUMNS("\"a\": {\"type\": \"numeric\", \"impute\": \"zero\"}"),
                                   TASK_REGRESSION);
    const float v[] = {1000, 1001, 1002, 1003, NAN};
    struct sheet *t = one_column(s, v, 5);
    apply_all(t);
    is_near(get_number(t, 4, 0), -1001.5 / sqrt(1.25), 1e-3, "0 in place of a missing one");
    table_drop(t);
    schema_free(s);
}

/* Values that differ by what rounding them to double explains are one. */
static void test_rounding(void)
{
    struct err e = {0};
    struct schema *s = schema_need(
        COLUMNS("\"a\": {\"type\": \"numeric\", \"scale\": \"standard\"}"), TASK_REGRESSION);
    struct sheet *t = table_make(s, 40, 2);
    s->offsets[0] = 1.7e9;
    for (uint64_t i = 0; i < 40; i++) {
        put_number(t, i, 0, i % 2 ? 1e-6f : 0);
        t->target[i] = (double)i;
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_near(t->encoder->numbers[0].factor, 0, 0,
            "1,700,000,000 and a millionth more are a constant");
    table_drop(t);
    schema_free(s);
}

static void test_extremes(void)
{
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    const float v[] = {1e30f, -1e30f, 1e-30f, 3e38f, -3e38f, 0, 1};
    struct sheet *t = one_column(s, v, 7);
    ok(isfinite(t->encoder->numbers[0].center) && t->encoder->numbers[0].factor > 0,
       "huge values have a scale");
    apply_all(t);
    bool finite = true;
    for (uint64_t i = 0; i < 7; i++)
        finite &= isfinite(get_number(t, i, 0));
    ok(finite, "and stay finite");
    table_drop(t);
    schema_free(s);

    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    const float tiny[] = {1e-38f, 2e-38f, 3e-38f, 1e-38f, 2e-38f, 3e-38f, 2e-38f};
    t = one_column(s, tiny, 7);
    const float wild = 3e38f;
    put_number(t, 0, 0, wild);
    apply_all(t);
    ok(get_number(t, 0, 0) <= 1e6f, "a wild cell is clipped");
    is_near(get_number(t, 2, 0), sqrt(1.5 * 7 / 6), 0.2, "tiny values are scaled");
    table_drop(t);
    schema_free(s);
}

static void test_quantile(void)
{
    enum { ROWS = 3000 };
    static float v[ROWS];
    for (int i = 0; i < ROWS; i++) /* half zeros, half a long tail */
        v[i] = i % 2 ? 0 : expf((float)(i * 7 % ROWS) / 300);
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = one_column(s, v, ROWS);
    is_int(t->encoder->numbers[0].scale, SCALE_STANDARD,
           "no ranks where one value holds half of the rows");
    table_drop(t);
    schema_free(s);
    s = schema_need(COLUMNS("\"a\": {\"type\": \"numeric\", \"scale\": \"quantile\"}"),
                    TASK_REGRESSION);
    t = one_column(s, v, ROWS);
    const struct number_slot *n = &t->encoder->numbers[0];
    is_int(n->scale, SCALE_QUANTILE, "unless they are asked for");
    is_int(n->quantile_count, 100, "one knot for 30 rows");
    apply_all(t);
    is_near(get_number(t, 1, 0), -0.6745, 0.02, "half of the rows stand at a quarter");
    bool rising = true;
    double low = 9, high = -9;
    for (uint64_t i = 0; i < ROWS; i += 2) {
        double x = (double)get_number(t, i, 0);
        low = x < low ? x : low;
        high = x > high ? x : high;
        for (uint64_t k = 0; k < ROWS; k += 598)
            rising &= v[i] <= v[k] || x >= (double)get_number(t, k, 0);
    }
    ok(rising, "order is kept");
    const double most = quantile_normal(1 - 0.5 / ROWS);
    ok(low > -0.1 && low < 0.1 && high > most - 1e-6 && high < most + 1e-6,
       "from the middle to the end: %g %g", low, high);
    put_number(t, 0, 0, -1e30f);
    put_number(t, 2, 0, 1e30f);
    encoder_apply(t->encoder, rows_at(&t->rows, 0), 3);
    is_near(get_number(t, 0, 0), get_number(t, 1, 0), 0, "below all, with the half that is zero");
    is_near(get_number(t, 2, 0), most, 1e-6, "above all");
    table_drop(t);
    schema_free(s);

    for (int i = 1; i < ROWS; i += 2)
        v[i] = expf((float)(i * 11 % ROWS) / 300);
    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    t = one_column(s, v, ROWS);
    is_int(t->encoder->numbers[0].scale, SCALE_QUANTILE, "a skewed column goes by rank");
    table_drop(t);
    schema_free(s);

    /* a fifth at a cap: more than the cap is no further away than it */
    for (int i = 0; i < ROWS; i++)
        v[i] = fminf((float)i, 0.8F * ROWS);
    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_REGRESSION);
    t = one_column(s, v, ROWS);
    put_number(t, 0, 0, 1e30f);
    put_number(t, 1, 0, -1);
    apply_all(t);
    is_int(t->encoder->numbers[0].scale, SCALE_QUANTILE, "a cap");
    is_near(get_number(t, ROWS - 1, 0), quantile_normal(0.9), 0.03,
            "in the middle of its ranks");
    ok(get_number(t, 0, 0) >= get_number(t, ROWS - 1, 0) &&
           get_number(t, 0, 0) <= get_number(t, ROWS - 1, 0),
       "and so what is beyond it: %g", (double)get_number(t, 0, 0));
    is_near(get_number(t, 1, 0), quantile_normal(0.5 / ROWS), 1e-6, "the other end has none");
    table_drop(t);
    schema_free(s);
}

/* The normal distribution function, from the complementary error function. */
static double normal(double z)
{
    return 0.5 * erfc(-z / sqrt(2));
}

static void test_normal_quantile(void)
{
    double worst = 0;
    for (double p = 1e-7; p < 1; p += 1e-4)
        worst = fmax(worst, fabs(normal(quantile_normal(p)) - p) / fmin(p, 1 - p));
    ok(worst < 2e-6, "seven digits: %g", worst);
    is_near(quantile_normal(0.5), 0, 0, "the middle");
    is_near(quantile_normal(0.975), 1.959964, 1e-6, "a known value");
    is_near(quantile_normal(1e-7), -5.199338, 1e-5, "the tail");
    ok(quantile_normal(0) <= -5.2 && quantile_normal(1) >= 5.2, "the ends are clipped");
    ok(quantile_normal(0.3) <= -quantile_normal(0.7) + 1e-15 &&
           quantile_normal(0.3) >= -quantile_normal(0.7) - 1e-15,
       "symmetric");
}

/* A datetime's parts pass as they are; its seconds are standardised. */
static void test_datetime(void)
{
    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"d\": \"datetime\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, 4, 3);
    for (uint64_t i = 0; i < 4; i++)
        for (uint32_t k = 0; k < DATE_PARTS; k++)
            put_number(t, i, k, i == 3 ? NAN : k ? 0.5f : (float)i * 86400);
    t->target[1] = 1;
    table_index(t);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    ok(t->encoder->numbers[0].indicator && !t->encoder->numbers[1].indicator,
       "one indicator, not seven");
    ok(t->remarks.count == 0, "constant parts are no news");
    apply_all(t);
    is_near(get_number(t, 0, 0), -sqrt(1.5), 1e-6, "seconds");
    is_near(get_number(t, 0, 1), 0.5, 0, "a sine");
    is_near(get_number(t, 3, 4), 0, 0, "a missing one points nowhere");
    table_drop(t);
    schema_free(s);
}

static void test_empty_column(void)
{
    struct err e = {0};
    struct schema *s =
        schema_need(COLUMNS("\"a\": \"numeric\", \"b\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, 3, 3);
    for (uint64_t i = 0; i < 3; i++)
        put_number(t, i, 1, i == 2 ? 1.f : NAN);
    t->part[2] = PART_TEST;
    table_index(t);
    ok(!table_fit(s, t, &e) && e.id == ERR_COLUMN_EMPTY && strstr(e.what, "\"b\""),
       "no value in any training row: %s", e.what);
    is_int(err_exit(&e), EXIT_DATA, "exit 65");
    table_drop(t);
    schema_free(s);
}

int main(void)
{
    test_scales();
    test_auto();
    test_auto_far();
    test_constant();
    test_nearly_constant();
    test_large();
    test_filled();
    test_rounding();
    test_extremes();
    test_quantile();
    test_normal_quantile();
    test_datetime();
    test_empty_column();
    return done();
}
