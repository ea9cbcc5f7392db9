/* table_schema.c - columns declared by a config, bound to a file, saved in a model. */
#include <stdlib.h>
#include <unistd.h>

#include "table_help.h"

/* --- declaring --- */

static const char full[] =
    "{\"data\": {\"train\": \"a.csv\", \"target\": \"y\", \"columns\": {\n"
    "  \"key\": \"id\",\n"
    "  \"age\": {\"type\": \"numeric\", \"scale\": \"robust\", \"impute\": \"mean\"},\n"
    "  \"city\": {\"type\": \"categorical\", \"unknown\": \"missing\", \"min_count\": 5},\n"
    "  \"when\": \"datetime\", \"w\": \"weight\", \"g\": \"group\", \"z\": \"ignore\",\n"
    "  \"income\": \"numeric\",\n"
    "  \"kind\": {\"type\": \"categorical\", \"dim\": 7}}}}";

static void test_declare(void)
{
    struct err e = {0};
    struct schema *s = schema_of(full, TASK_BINARY, &e);
    if (!ok(s, "a schema of every type: %s", e.what))
        return;
    is_int(s->column_count, 10, "the columns and the target");
    is_string(s->columns[9].name, "y", "a target that is not listed comes last");
    is_int(s->columns[9].type, COLUMN_TARGET, "and is the target");
    is_int(s->target, 9, "its index");
    is_int(s->columns[1].scale, SCALE_ROBUST, "scale");
    is_int(s->columns[1].impute, IMPUTE_MEAN, "impute");
    is_int(s->columns[7].scale, SCALE_AUTO, "default scale");
    is_int(s->columns[2].unknown, UNKNOWN_MISSING, "unknown");
    is_int(s->columns[2].min_count, 5, "min_count");
    is_int(s->columns[8].min_count, 0, "min_count is \"auto\"");
    is_int(s->columns[8].dim, 7, "dim");
    is_int(s->columns[1].number, 0, "the first number");
    is_int(s->columns[3].number, 1, "a datetime takes seven");
    is_int(s->columns[7].number, 8, "the next number stands behind them");
    is_int(s->number_count, 9, "numbers");
    is_int(s->columns[2].category, 0, "the first category");
    is_int(s->columns[8].category, 1, "the second");
    is_int(s->columns[0].number, UINT32_MAX, "an id has no number");
    is_int(s->raw.stride, 4 * (9 + 1 + 2 + 2), "bytes of a record");
    ok(s->labels && !vocab_count(s->labels), "labels, of which none is known");
    is_int(s->missing.count, 2, "the default texts for missing");
    schema_free(s);

    s = schema_of(
        "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"columns\": {\"y\": \"numeric\","
        "\"a\": \"numeric\"}}}",
        TASK_REGRESSION, &e);
    ok(s && s->target == 0 && !s->labels && s->number_count == 1,
       "a target that is listed is no feature");
    schema_free(s);
}

static void refuse(const char *name, const char *columns, const char *more, int task, int id,
                   int line, const char *word)
{
    struct text t = {0};
    struct err e = {0};
    text_printf(&t, "{\"data\": {\"train\": \"a.csv\", \"target\": \"y\"%s, \"columns\":\n%s}}",
                more, columns);
    struct schema *s = schema_of(t.data, task, &e);
    ok(!s && (int)e.id == id, "%s: refused (%d %s)", name, (int)e.id, e.what);
    is_int(e.line, line, "its line");
    ok(strstr(e.what, word) || strstr(e.help, word) || strstr(e.expected, word),
       "the message names %s: %s / %s / %s", word, e.what, e.expected, e.help);
    ok(err_exit(&e) == EXIT_CONFIG, "exit 78");
    schema_free(s);
    text_free(&t);
}

static void test_declare_errors(void)
{
    const char *a = "{\"a\": \"numeric\"}";
    refuse("an unknown type", "{\"a\":\n\"numerical\"}", "", 0, ERR_CONFIG_WORD, 3, "numeric");
    refuse("a type that is not built", "{\"a\": \"image\"}", "", 0, ERR_CONFIG_WORD, 2, "image");
    refuse("a type that is no string", "{\"a\": {\"type\": 3}}", "", 0, ERR_CONFIG_TYPE, 2, "type");
    refuse("no type", "{\"a\": {\"scale\": \"none\"}}", "", 0, ERR_CONFIG_MISSING_KEY, 2, "type");
    refuse("an empty object", "{\"a\": {}}", "", 0, ERR_CONFIG_MISSING_KEY, 2, "type");
    refuse("a number for a column", "{\"a\": 3}", "", 0, ERR_CONFIG_TYPE, 2, "\"a\"");
    refuse("an option of another type", "{\"a\": {\"type\": \"numeric\", \"unknown\": \"error\"}}",
           "", 0, ERR_CONFIG_KEY, 2, "unknown");
    refuse("an unknown option", "{\"a\": {\"type\": \"numeric\", \"scael\": \"none\"}}", "", 0,
           ERR_CONFIG_KEY, 2, "did you mean `scale`");
    refuse("an unknown scale", "{\"a\": {\"type\": \"numeric\", \"scale\": \"minmx\"}}", "", 0,
           ERR_CONFIG_WORD, 2, "minmax");
    refuse("an encoding that is not built",
           "{\"a\": {\"type\": \"categorical\", \"encode\": \"hash\"}}", "", 0, ERR_CONFIG_WORD,
           2, "onehot");
    refuse("min_count 0", "{\"a\": {\"type\": \"categorical\", \"min_count\": 0}}", "", 0,
           ERR_CONFIG_RANGE, 2, "min_count");
    refuse("dim 0", "{\"a\": {\"type\": \"categorical\", \"dim\": 0}}", "", 0, ERR_CONFIG_RANGE, 2,
           "dim");
    refuse("dim as a word", "{\"a\": {\"type\": \"categorical\", \"dim\": \"big\"}}", "", 0,
           ERR_CONFIG_TYPE, 2, "dim");
    refuse("dim of a one-hot column",
           "{\"a\": {\"type\": \"categorical\", \"dim\": 3, \"encode\": \"onehot\"}}", "", 0,
           ERR_CONFIG_CONFLICT, 2, "encode");
    refuse("min_count with unknown error",
           "{\"a\": {\"type\": \"categorical\", \"min_count\": 3, \"unknown\": \"error\"}}", "", 0,
           ERR_CONFIG_CONFLICT, 2, "min_count");
    refuse("no feature", "{\"a\": \"id\"}", "", 0, ERR_CONFIG_COLUMNS, 2, "categorical");
    refuse("only the target", "{\"y\": \"numeric\"}", "", 0, ERR_CONFIG_COLUMNS, 2, "learn");
    refuse("two weights", "{\"a\": \"numeric\", \"b\": \"weight\",\n\"c\": \"weight\"}", "", 0,
           ERR_CONFIG_COLUMNS, 3, "\"b\"");
    refuse("columns as a list", "[\"a\"]", "", 0, ERR_CONFIG_TYPE, 2, "columns");
    refuse("positive of a regression", a, ", \"positive\": \"1\"", TASK_REGRESSION,
           ERR_CONFIG_CONFLICT, 1, "positive");
    refuse("a stratified regression", a, ", \"split\": {\"method\": \"stratified\"}",
           TASK_REGRESSION, ERR_CONFIG_CONFLICT, 1, "random");
    refuse("fractions of more than all", a, ", \"split\": {\"valid\": 0.6, \"test\": 0.4}", 0,
           ERR_CONFIG_CONFLICT, 1, "below 1");
    refuse("a fraction of 1", a, ", \"split\": {\"valid\": 1}", 0, ERR_CONFIG_RANGE, 1, "valid");
    refuse("an unknown method", a, ", \"split\": {\"method\": \"randm\"}", 0, ERR_CONFIG_WORD, 1,
           "random");
    refuse("an unknown delimiter", a, ", \"delimiter\": \"::\"", 0, ERR_CONFIG_WORD, 1,
           "delimiter");
    refuse("a key that stands twice", a, ", \"valid\": [], \"train\": []", 0, ERR_JSON_DUPLICATE, 1,
           "train");
    refuse("an unknown key", a, ", \"targets\": \"y\"", 0, ERR_CONFIG_KEY, 1, "target");
}

/* --- the columns that the split reads --- */

static void reads(const char *name, const char *columns, const char *split, int id,
                  const char *column)
{
    struct text t = {0};
    struct err e = {0};
    text_printf(
        &t, "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"split\": {%s}, \"columns\":{%s}}}",
        split, columns);
    struct schema *s = schema_of(t.data, TASK_BINARY, &e);
    if (!column || !s) {
        ok(!s && (int)e.id == id, "%s: %s", name, e.what);
    } else {
        size_t length = 0;
        char found[64] = "";
        for (size_t i = 0; i < s->split_column_count && length < sizeof found; i++)
            length += (size_t)snprintf(found + length, sizeof found - length, "%s%s", i ? "," : "",
                                       s->columns[s->split_columns[i]].name);
        is_string(found, column, name);
    }
    schema_free(s);
    text_free(&t);
}

static void test_split_columns(void)
{
    const char *g = "\"method\": \"group\"", *time = "\"method\": \"time\"";
    const char *hash = "\"method\": \"hash\"";
    reads("random reads none", "\"a\": \"numeric\"", "\"method\": \"random\"", 0, "");
    reads("group by type", "\"a\": \"numeric\", \"b\": \"group\"", g, 0, "b");
    reads("group by name", "\"a\": \"numeric\"", "\"method\": \"group\", \"column\": \"shop\"", 0,
          "shop");
    reads("group by a feature", "\"a\": \"categorical\"",
          "\"method\": \"group\", \"column\": \"a\"", 0, "a");
    reads("group without a column", "\"a\": \"numeric\"", g, ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("group with two columns", "\"a\": \"numeric\", \"b\": \"group\", \"c\": \"group\"", g,
          ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("time by type", "\"a\": \"datetime\"", time, 0, "a");
    reads("time by a number", "\"a\": \"numeric\"", "\"method\": \"time\", \"column\": \"a\"", 0,
          "a");
    reads("time by a column not listed", "\"a\": \"numeric\"",
          "\"method\": \"time\", \"column\": \"t\"", 0, "t");
    reads("time by a category", "\"a\": \"categorical\"", "\"method\": \"time\", \"column\": \"a\"",
          ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("time without a datetime", "\"a\": \"numeric\"", time, ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("hash by ids", "\"a\": \"numeric\", \"i\": \"id\", \"j\": \"id\"", hash, 0, "i,j");
    reads("hash of the whole row", "\"a\": \"numeric\"", hash, 0, "");
    reads("column by name", "\"a\": \"numeric\"", "\"method\": \"column\", \"column\": \"part\"", 0,
          "part");
    reads("column without a name", "\"a\": \"numeric\"", "\"method\": \"column\"",
          ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("column that is a feature", "\"a\": \"numeric\", \"part\": \"categorical\"",
          "\"method\": \"column\", \"column\": \"part\"", ERR_CONFIG_SPLIT_COLUMN, NULL);
    reads("the target", "\"a\": \"numeric\"", "\"method\": \"group\", \"column\": \"y\"",
          ERR_CONFIG_SPLIT_COLUMN, NULL);
}

/* --- binding --- */

static void test_bind(void)
{
    struct err e = {0};
    struct binding b;
    struct schema *s = schema_of(full, TASK_BINARY, &e);
    const char *all[] = {"y",    "kind", "x1",  "income", "g", "w",
                         "when", "city", "age", "key",    "z", "x2"};
    if (!ok(s && schema_bind(s, all, 12, BIND_PART, &b, &e), "binds in any order: %s", e.what))
        return;
    is_int(b.cell_of[0], 9, "the id's cell");
    is_int(b.cell_of[9], 0, "the target's cell");
    is_int(b.cell_of[6], -1, "an ignored column has none");
    is_int(b.column_of[8], 1, "a cell's column");
    is_int(b.column_of[10], UINT32_MAX, "an ignored cell");
    is_int(b.extra, 2, "two columns that no one asked for");
    is_int(b.cells, 12, "cells");
    binding_free(&b);

    const char *few[] = {"Age", "key", "city ", "when"};
    ok(!schema_bind(s, few, 4, BIND_SPLIT, &b, &e) && e.id == ERR_MODEL_COLUMN, "missing columns");
    ok(strstr(e.what, "\"age\"") && strstr(e.what, "\"city\"") && strstr(e.what, "\"income\"") &&
           strstr(e.what, "\"kind\"") && strstr(e.what, "\"w\"") && strstr(e.what, "\"y\""),
       "all are named: %s", e.what);
    ok(!strstr(e.what, "\"g\"") && !strstr(e.what, "\"z\""), "but those that nobody reads");
    ok(strstr(e.help, "\"Age\" for \"age\"") && strstr(e.help, "\"city \" for \"city\""),
       "near names: %s", e.help);
    is_int(err_exit(&e), EXIT_DATA, "exit 65");

    err_clear(&e);
    const char *predict[] = {"age", "key", "city", "when", "income", "kind"};
    ok(schema_bind(s, predict, 6, BIND_FEATURES, &b, &e),
       "predict needs no target and no weight: %s", e.what);
    is_int(b.cell_of[4], -1, "no weight is bound");
    binding_free(&b);
    const char *evaluate[] = {"age", "y", "city", "when", "income", "kind", "w"};
    ok(schema_bind(s, evaluate, 7, BIND_TARGET, &b, &e), "evaluate needs no id: %s", e.what);
    is_int(b.cell_of[4], 6, "a weight that is there is bound");
    binding_free(&b);
    ok(schema_bind(s, evaluate, 7, BIND_FEATURES, &b, &e), "an id may be absent: %s", e.what);
    binding_free(&b);
    schema_free(s);
}

static void test_bind_headerless(void)
{
    struct err e = {0};
    struct binding b;
    struct schema *s =
        schema_of("{\"data\": {\"train\": \"a\", \"header\": false, \"target\": \"c4\","
                  "\"columns\": {\"c1\": \"numeric\", \"c3\": \"numeric\"}}}",
                  TASK_BINARY, &e);
    const char *names[] = {"c1", "c2", "c3", "c4", "c5"}, *given[] = {"c3", "c1"};
    s->file_columns = 4;
    ok(schema_bind(s, names, 4, BIND_TARGET, &b, &e), "the same width");
    binding_free(&b);
    ok(schema_bind(s, names, 3, BIND_FEATURES, &b, &e), "one less when the target was last: %s",
       e.what);
    binding_free(&b);
    ok(!schema_bind(s, names, 5, BIND_FEATURES, &b, &e) && e.id == ERR_FILE_WIDTH, "wider: %s",
       e.what);
    err_clear(&e);
    ok(schema_bind(s, given, 2, BIND_FEATURES, &b, &e), "names that the user gave: %s", e.what);
    binding_free(&b);
    schema_free(s);
}

/* --- features --- */

static void test_features(void)
{
    struct err e = {0};
    struct schema *s =
        schema_of("{\"data\": {\"train\": \"a\", \"target\": \"y\", \"columns\": {"
                  "\"n\": \"numeric\", \"m\": \"numeric\", \"small\": \"categorical\","
                  "\"large\": \"categorical\","
                  "\"told\": {\"type\": \"categorical\", \"encode\": \"embedding\"},"
                  "\"hot\": {\"type\": \"categorical\", \"encode\": \"onehot\"},"
                  "\"dim\": {\"type\": \"categorical\", \"dim\": 5}}}}",
                  TASK_MULTICLASS, &e);
    struct text t = {0};
    struct encoder *made = encoder_new(s);
    for (int i = 0; i < 100; i++) {
        text_clear(&t);
        text_printf(&t, "v%d", i);
        vocab_add(made->columns[3].vocab, t.data, t.length);
        vocab_add(made->columns[5].vocab, t.data, t.length);
        for (int c = 2; c < 7 && i < 30; c++)
            vocab_add(made->columns[c].vocab, t.data, t.length);
    }
    for (int i = 0; i < 3; i++)
        vocab_add(s->labels, "abc" + i, 1);
    made->numbers[1].indicator = true;
    struct features *f = encoder_features(made);
    is_int(f->outputs, 3, "a class an output");
    is_int(f->indicator_count, 1, "one indicator");
    is_int(f->indicators[0], 1, "of the second number");
    const struct feature_category *c = f->categories;
    ok(c[0].count == 32 && c[0].encode == CATEGORY_ONEHOT, "32 slots are one-hot");
    ok(c[1].count == 102 && c[1].encode == CATEGORY_EMBEDDING, "more are an embedding");
    is_int(c[1].dim, 21, "of round(1.6 * 102^0.56)");
    ok(c[2].encode == CATEGORY_EMBEDDING && c[2].dim == 11, "an embedding that was asked for");
    ok(c[3].count == 102 && c[3].encode == CATEGORY_ONEHOT, "one-hot that was asked for");
    ok(c[4].encode == CATEGORY_EMBEDDING && c[4].dim == 5, "a width makes an embedding");
    features_free(f);
    text_free(&t);
    encoder_free(made);
}

/* --- for inspect --- */

static void test_json(void)
{
    struct err e = {0};
    struct schema *s = schema_of("{\"data\": {\"train\": \"a\", \"target\": \"y\", \"columns\": {"
                                 "\"n\": \"numeric\", \"c\": \"categorical\"}}}",
                                 TASK_BINARY, &e);
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    struct encoder *c = encoder_new(s);
    encoder_write_json(c, &out);
    json_close(&out, '}');
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "out", &e);
    ok(doc, "the description is JSON: %s", e.what);
    is_string(json_string(json_path(json_root(doc), "columns.1.type")), "categorical", "a type");
    is_string(json_string(json_path(json_root(doc), "target")), "y", "the target");
    json_free(doc);
    text_free(&out.text);
    encoder_free(c);
}

int main(void)
{
    test_declare();
    test_declare_errors();
    test_split_columns();
    test_bind();
    test_bind_headerless();
    test_features();
    test_json();
    return done();
}
