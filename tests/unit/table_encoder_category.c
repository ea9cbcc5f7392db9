/* table_encoder_category.c - vocabularies and labels of training rows, and what becomes of the
 * rest. */
#include "table_help.h"

/* --- categories --- */

static struct sheet *category_table(struct schema *s)
{
    const char *const v[] = {"b", "10", "b", NULL, "rare", "b", "10", "new", "rare", NULL};
    struct sheet *t = table_make(s, 10, 2);
    for (uint64_t i = 0; i < 10; i++) {
        put_category(t, i, s, 0, v[i]);
        t->target[i] = (double)i;
        t->part[i] = i < 7 ? PART_TRAIN : PART_VALID;
    }
    table_index(t);
    return t;
}

static void test_categories(void)
{
    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"c\": \"categorical\""), TASK_REGRESSION);
    struct sheet *t = category_table(s);
    uint32_t at = s->raw.at_category;
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(vocab_count(t->encoder->columns[0].vocab), 3, "the values of training rows");
    is_int(get_int(t, 1, at), 2, "\"10\" is the first by bytes");
    is_int(get_int(t, 0, at), 3, "then \"b\"");
    is_int(get_int(t, 4, at), 4, "then \"rare\"");
    is_int(get_int(t, 3, at), 0, "missing");
    is_int(get_int(t, 7, at), 1, "a value of validation alone is unknown");
    is_int(get_int(t, 8, at), 4, "a known one is not");
    is_int(t->encoder->columns[0].missing, 1, "missing cells of training rows");
    table_drop(t);
    schema_free(s);

    s = schema_need(
        COLUMNS("\"c\": {\"type\": \"categorical\", \"min_count\": 2, \"unknown\": \"missing\"}"),
        TASK_REGRESSION);
    t = category_table(s);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(vocab_count(t->encoder->columns[0].vocab), 2, "a rare value is left out");
    is_int(get_int(t, 4, at), 0, "and is as good as missing");
    table_drop(t);
    schema_free(s);

    s = schema_need(COLUMNS("\"c\": {\"type\": \"categorical\", \"min_count\": 2}"),
                    TASK_REGRESSION);
    t = category_table(s);
    ok(table_fit(s, t, &e), "fitted: %s", e.what);
    is_int(get_int(t, 4, at), 1, "or unknown");
    table_drop(t);
    schema_free(s);

    s = schema_need(COLUMNS("\"c\": {\"type\": \"categorical\", \"unknown\": \"error\"}"),
                    TASK_REGRESSION);
    t = category_table(s);
    ok(!table_fit(s, t, &e) && e.id == ERR_CSV_UNKNOWN_CATEGORY && strstr(e.what, "\"c\""),
       "or an error: %s", e.what);
    table_drop(t);
    schema_free(s);
}

/* --- labels --- */

static struct sheet *label_table(struct schema *s, const char *const *labels, uint64_t rows,
                                 uint64_t train)
{
    struct sheet *t = table_make(s, rows, 2);
    for (uint64_t i = 0; i < rows; i++) {
        put_number(t, i, 0, (float)i);
        put_label(t, i, s, labels[i]);
        t->part[i] = i < train ? PART_TRAIN : PART_VALID;
    }
    table_index(t);
    return t;
}

static void check_labels(const char *name, int task, const char *positive,
                         const char *const *labels, uint64_t rows, uint64_t train, const char *want,
                         int id)
{
    struct err e = {0};
    struct text config = {0};
    text_put(&config, "{\"data\": {\"train\": \"a\", \"target\": \"y\", ");
    if (positive)
        text_printf(&config, "\"positive\": \"%s\", ", positive);
    text_put(&config, "\"columns\": {\"a\": \"numeric\"}}}");
    struct schema *s = schema_need(config.data, task);
    struct sheet *t = label_table(s, labels, rows, train);
    bool good = table_fit(s, t, &e);
    if (want && ok(good, "%s: %s", name, e.what)) {
        const struct schema *made = t->encoder->schema;
        char list[100] = "";
        size_t at = 0;
        for (uint32_t i = 0; i < vocab_count(made->labels); i++)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? "|" : "",
                                   vocab_text(made->labels, i, NULL));
        is_string(list, want, name);
        bool right = true;
        for (uint64_t i = 0; i < rows; i++)
            right &=
                strcmp(vocab_text(made->labels, (uint32_t)get_int(t, i, s->raw.at_target), NULL),
                       labels[i]) == 0;
        ok(right, "%s: rows keep their label", name);
        if (task == TASK_BINARY)
            is_string(made->positive, vocab_text(made->labels, 1, NULL),
                      "the positive label is the last");
    } else if (!want) {
        ok(!good && (int)e.id == id && err_exit(&e) == EXIT_DATA, "%s: %s", name, e.what);
    }
    table_drop(t);
    schema_free(s);
    text_free(&config);
}

static void test_labels(void)
{
    const char *const words[] = {"yes", "no", "no", "yes"};
    check_labels("by bytes", TASK_BINARY, NULL, words, 4, 4, "no|yes", 0);
    check_labels("a positive label", TASK_BINARY, "no", words, 4, 4, "yes|no", 0);
    check_labels("the last one, named", TASK_BINARY, "yes", words, 4, 4, "no|yes", 0);
    check_labels("an unknown one", TASK_BINARY, "maybe", words, 4, 4, NULL, ERR_POSITIVE_UNSEEN);
    const char *const numbers[] = {"10", "9", "10", "-1"};
    check_labels("numbers as numbers", TASK_MULTICLASS, NULL, numbers, 4, 4, "-1|9|10", 0);
    check_labels("three of a binary task", TASK_BINARY, NULL, numbers, 4, 4, NULL, ERR_LABEL_COUNT);
    const char *const one[] = {"a", "a", "a", "b"};
    check_labels("one class only", TASK_BINARY, NULL, one, 3, 3, NULL, ERR_LABEL_COUNT);
    check_labels("one class only", TASK_MULTICLASS, NULL, one, 3, 3, NULL, ERR_LABEL_COUNT);
    const char *const late[] = {"a", "b", "a", "c"};
    check_labels("a class of validation alone", TASK_MULTICLASS, NULL, late, 4, 3, NULL,
                 ERR_LABEL_UNSEEN);

    struct err e = {0};
    struct schema *s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_BINARY);
    const char *const lacking[] = {"a", "b", "a", "a"};
    struct sheet *t = label_table(s, lacking, 4, 2);
    ok(table_fit(s, t, &e) && warnings_with(t, "validation", "\"b\""),
       "a class that validation lacks");
    table_drop(t);
    schema_free(s);
    s = schema_need(COLUMNS("\"a\": \"numeric\""), TASK_BINARY);
    const char *const alike[] = {"1", "1.0", "1", "1.0"};
    t = label_table(s, alike, 4, 4);
    ok(table_fit(s, t, &e) && warnings_with(t, "\"1\" and \"1.0\"", "two classes") == 1,
       "labels that are one number are warned of");
    table_drop(t);
    schema_free(s);
}

int main(void)
{
    test_categories();
    test_labels();
    return done();
}
