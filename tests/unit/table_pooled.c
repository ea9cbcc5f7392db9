/* table_pooled.c - the filter of pooled categories: those of training rows that an encoder lacks,
 * by column; of several encoders; more than it has room for. */
#include "base/process/thread.h"
#include "table/encoder/drift.h"
#include "table/fit/pooled.h"
#include "table_help.h"

/* Rows of the columns a and b, both of the same values. */
static struct sheet *rows_of(struct schema *s, const char *const *values, uint64_t rows)
{
    struct sheet *t = table_make(s, rows, 18);
    for (uint64_t i = 0; i < rows; i++) {
        put_category(t, i, s, 0, values[i]);
        put_category(t, i, s, 1, values[i]);
        t->target[i] = (double)i;
    }
    return t;
}

static struct dataset data_of(struct schema *s, const struct sheet *t)
{
    struct dataset d = {.schema = s, .rows = t->rows, .target = t->target};
    d.samples.count = t->rows.count;
    return d;
}

static struct encoder *encoder_of(const struct dataset *d, const uint32_t *rows, uint64_t count)
{
    struct err e = {0};
    struct encoder *c = encoder_fit(d, rows, count, &e);
    if (!c)
        ok(false, "fitted: %s", e.what);
    return c;
}

static bool knows(const struct bloom *b, const struct schema *s, uint32_t column, const char *text)
{
    return bloom_has(b, category_key(s->columns[column].name, text, strlen(text)));
}

static void pooled_by_column(void)
{
    static const char *const values[] = {"x", "x", "once", NULL, "x", "y", "y", "late"};
    static const uint32_t train[] = {0, 1, 2, 3, 4, 5, 6}, back[] = {6, 5, 4, 3, 2, 1, 0},
                          half[] = {0, 1, 2, 3, 4, 5};
    struct schema *s = schema_need(
        COLUMNS("\"a\": {\"type\": \"categorical\", \"min_count\": 2}, \"b\": \"categorical\""),
        TASK_REGRESSION);
    struct sheet *t = rows_of(s, values, 8);
    struct dataset d = data_of(s, t);
    struct encoder *both[] = {encoder_of(&d, train, 7), encoder_of(&d, half, 6)};
    struct bloom one = pooled_make(&d, train, 7, both, 1), two = pooled_make(&d, train, 7, both, 2),
                 again = pooled_make(&d, back, 7, both, 1);
    ok(knows(&one, s, 0, "once"), "a value below min_count is pooled");
    ok(!knows(&one, s, 1, "once"), "in the column that pools it");
    ok(!knows(&one, s, 0, "x") && !knows(&one, s, 0, "y"), "those with a place are not");
    ok(!knows(&one, s, 0, "late") && !knows(&one, s, 1, "late"),
       "nor is a value of no training row");
    ok(!knows(&one, s, 0, "never"), "nor one of no row");
    ok(knows(&two, s, 0, "y") && knows(&two, s, 0, "once") && !knows(&two, s, 0, "x") &&
           !knows(&two, s, 1, "y"),
       "of two encoders: what one of them pools");
    is_int((int64_t)one.bytes, 2, "one value, two bytes");
    ok(again.bytes == one.bytes && memcmp(again.bits, one.bits, one.bytes) == 0,
       "whatever the order of rows");
    bloom_free(&one);
    bloom_free(&two);
    bloom_free(&again);
    encoder_free(both[0]);
    encoder_free(both[1]);
    table_drop(t);
    schema_free(s);
}

/* 240,000 values, the last 1,000 of them in three rows: a filter has room for 218,453. */
static void more_than_room(void)
{
    enum { VALUES = 240000, OFTEN = 1000, ROWS = VALUES + 2 * OFTEN };
    struct schema *s =
        schema_need(COLUMNS("\"a\": {\"type\": \"categorical\", \"min_count\": 9}, \"b\": "
                            "{\"type\": \"ignore\"}, \"n\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, ROWS, 18);
    uint32_t *rows = mem_alloc(ROWS, sizeof *rows);
    char text[16];
    for (uint32_t i = 0; i < ROWS; i++) {
        snprintf(text, sizeof text, "v%u", i < VALUES ? i : VALUES - 1 - (i - VALUES) % OFTEN);
        put_category(t, i, s, 0, text);
        put_number(t, i, 0, (float)i);
        t->target[i] = (double)i;
        rows[i] = i;
    }
    struct dataset d = data_of(s, t);
    struct encoder *c = encoder_of(&d, rows, ROWS);
    struct bloom b = pooled_make(&d, rows, ROWS, &c, 1);
    uint64_t often = 0, once = 0, none = 0;
    for (uint32_t i = 0; i < VALUES; i++) {
        snprintf(text, sizeof text, "v%u", i);
        *(i < VALUES - OFTEN ? &once : &often) += knows(&b, s, 0, text);
        snprintf(text, sizeof text, "w%u", i);
        none += knows(&b, s, 0, text);
    }
    is_int((int64_t)b.bytes, (int64_t)BLOOM_BYTES, "256 KiB at most");
    is_int((int64_t)often, OFTEN, "the most frequent ones are all in it");
    const double kept = 218453. - OFTEN, rest = VALUES - OFTEN - kept;
    is_near((double)once, kept + .01 * rest, 100, "of the others as many as have room");
    is_near((double)none / VALUES, .01, .002, "one new value in a hundred is taken for rare");
    bloom_free(&b);
    encoder_free(c);
    mem_free(rows);
    table_drop(t);
    schema_free(s);
}

static void no_categories(void)
{
    static const uint32_t rows[] = {0, 1};
    struct schema *s = schema_need(COLUMNS("\"n\": \"numeric\""), TASK_REGRESSION);
    struct sheet *t = table_make(s, 2, 2);
    put_number(t, 1, 0, 1);
    t->target[1] = 1;
    struct dataset d = data_of(s, t);
    struct encoder *c = encoder_of(&d, rows, 2);
    struct bloom b = pooled_make(&d, rows, 2, &c, 1);
    ok(!b.bits && !b.bytes, "without categories there is no filter");
    bloom_free(&b);
    encoder_free(c);
    table_drop(t);
    schema_free(s);
}

int main(void)
{
    threads_start(2);
    pooled_by_column();
    more_than_room();
    no_categories();
    threads_stop();
    return done();
}
