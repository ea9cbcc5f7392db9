/* Of the catalogue: J05 J06 J07 J08.
 * Option tables: defaults, every type, every refusal with its place, writing, the schema. */
#include "tap.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/json/opt.h"

struct things {
    bool flag;
    int64_t count, limit;
    uint64_t seed;
    double rate, share;
    char *path;
    int shape;
    struct opt_strings files, missing;
    struct opt_ints sizes;
    struct opt_numbers betas;
    const struct json *custom;
    int64_t deep;
};
static const char *const shapes[] = {"round", "square", "oval", NULL};
#define AT(field) offsetof(struct things, field)
static const struct option table[] = {
    {.key = "flag", .type = OPT_BOOL, .offset = AT(flag), .standard = "true", .help = "A flag."},
    {.key = "count",
     .type = OPT_INT,
     .offset = AT(count),
     .standard = "256",
     .low = 1,
     .high = 65536},
    {.key = "limit",
     .type = OPT_INT,
     .flags = OPT_NULLABLE,
     .offset = AT(limit),
     .standard = "null"},
    {.key = "seed", .type = OPT_SEED, .offset = AT(seed), .standard = "0"},
    {.key = "rate",
     .type = OPT_NUMBER,
     .flags = OPT_OPEN_LOW,
     .offset = AT(rate),
     .standard = "0.001",
     .low = 0,
     .high = INFINITY},
    {.key = "share",
     .type = OPT_NUMBER,
     .flags = OPT_NULLABLE | OPT_OPEN_HIGH,
     .offset = AT(share),
     .standard = "null",
     .low = 0,
     .high = 1},
    {.key = "path",
     .type = OPT_STRING,
     .flags = OPT_NULLABLE,
     .offset = AT(path),
     .standard = "null"},
    {.key = "shape",
     .type = OPT_WORD,
     .offset = AT(shape),
     .standard = "\"square\"",
     .words = shapes},
    {.key = "files",
     .type = OPT_STRINGS,
     .flags = OPT_NULLABLE,
     .offset = AT(files),
     .standard = "null"},
    {.key = "missing", .type = OPT_STRINGS, .offset = AT(missing), .standard = "[\"\", \"NA\"]"},
    {.key = "net.sizes",
     .type = OPT_INTS,
     .offset = AT(sizes),
     .standard = "[128, 128]",
     .low = 1,
     .high = 1000},
    {.key = "net.optimizer.betas",
     .type = OPT_NUMBERS,
     .offset = AT(betas),
     .standard = "[0.9, 0.999]"},
    {.key = "net.deep", .type = OPT_INT, .offset = AT(deep), .standard = "3"},
    {.key = "custom",
     .type = OPT_CUSTOM,
     .flags = OPT_NULLABLE,
     .offset = AT(custom),
     .standard = "{}",
     .schema = "{\"type\":\"object\"}"},
    {.key = NULL},
};
static const struct option strict[] = {
    {.key = "count",
     .type = OPT_INT,
     .flags = OPT_REQUIRED,
     .offset = AT(count),
     .help = "How many."},
    {.key = NULL},
};

struct outer {
    int64_t before;
    struct things inner;
    char *word;
};
static const struct option outer_table[] = {
    {.key = "before", .type = OPT_INT, .offset = offsetof(struct outer, before), .standard = "1"},
    {.key = "inner", .type = OPT_TABLE, .offset = offsetof(struct outer, inner), .table = table},
    {.key = "word",
     .type = OPT_STRING,
     .offset = offsetof(struct outer, word),
     .standard = "\"oval\"",
     .words = shapes},
    {.key = NULL},
};

static void count_row(const char *key, const struct option *row, const void *base, void *context)
{
    int *rows = context;
    ++*rows;
    if (strcmp(key, "inner.net.deep") == 0 && base)
        ok(strcmp(row->key, "net.deep") == 0 && ((const struct things *)base)->deep == 5,
           "a nested row and its struct");
}

static void nesting(void)
{
    struct err e = {0};
    struct outer o;
    static const char source[] = "{\"inner\": {\"net\": {\"deep\": 5}}, \"word\": \"round\"}";
    struct json_doc *doc = json_parse(source, strlen(source), "c.json", &e);
    if (!ok(doc && opt_read(outer_table, doc, json_root(doc), "", &o, &e), "a table in a table"))
        return;
    ok(o.before == 1 && o.inner.deep == 5 && o.inner.count == 256 && strcmp(o.word, "round") == 0,
       "its values");
    int rows = 0;
    opt_each(outer_table, "", &o, count_row, &rows);
    is_int(rows, 16, "every row but the table's own");
    ok(opt_find(outer_table, "inner.net.deep") == opt_find(table, "net.deep") &&
           opt_find(table, "net.deep"),
       "found");
    ok(opt_find(outer_table, "inner")->type == OPT_TABLE && !opt_find(outer_table, "inner.x"),
       "and not found");
    opt_release(outer_table, &o);
    json_free(doc);
    static const char *const wrong[] = {"{\"inner\": {\"net\": {\"deep\": true}}}",
                                        "{\"inner\": 1}", "{\"word\": \"ovel\"}",
                                        "{\"inner\": {\"conut\": 1}}"};
    static const char *const what[] = {"`inner.net.deep`: expected an integer, got true",
                                       "`inner`: expected an object, got number",
                                       "`word`: unknown word \"ovel\"",
                                       "unknown key \"inner.conut\""};
    for (int i = 0; i < 4; i++) {
        err_clear(&e);
        doc = json_parse(wrong[i], strlen(wrong[i]), "c.json", &e);
        ok(doc && !opt_read(outer_table, doc, json_root(doc), "", &o, &e), "refused");
        is_string(e.what, what[i], "and named in full");
        json_free(doc);
    }
    err_clear(&e);
    struct json_out out = {0};
    ok(opt_read(outer_table, NULL, NULL, "", &o, &e), "all defaults");
    json_open(&out, NULL, '{');
    opt_write(outer_table, &o, &out);
    json_close(&out, '}');
    ok(strstr(out.text.data, "{\"before\":1,\"inner\":{\"flag\":true,") &&
           strstr(out.text.data, "\"custom\":{}},\"word\":\"oval\"}"),
       "written nested");
    text_clear(&out.text);
    out.comma[0] = false;
    json_open(&out, NULL, '{');
    opt_schema(outer_table, &out);
    json_close(&out, '}');
    doc = json_parse(out.text.data, out.text.length, "schema", &e);
    ok(doc &&
           json_path(json_root(doc), "properties.inner.properties.net.properties.deep.default") &&
           json_path(json_root(doc), "properties.word.enum.1"),
       "and its schema");
    json_free(doc);
    text_free(&out.text);
    opt_release(outer_table, &o);
}

static void defaults(void)
{
    struct things t;
    struct err e = {0};
    memset(&t, 0x5a, sizeof t);
    ok(opt_read(table, NULL, NULL, "", &t, &e), "all defaults");
    ok(t.flag && t.count == 256 && t.limit == OPT_INT_NULL && t.seed == 0, "numbers");
    ok(t.rate == 0.001 && isnan(t.share) && !t.path && t.shape == 1, "more of them");
    ok(!t.files.items && t.missing.count == 2 && strcmp(t.missing.items[1], "NA") == 0, "strings");
    ok(t.sizes.count == 2 && t.sizes.items[1] == 128 && t.betas.items[1] == 0.999 && !t.custom,
       "lists");
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    opt_write(table, &t, &o);
    json_close(&o, '}');
    is_string(
        o.text.data,
        "{\"flag\":true,\"count\":256,\"limit\":null,\"seed\":0,\"rate\":0.001,\"share\":null,"
        "\"path\":null,\"shape\":\"square\",\"files\":null,\"missing\":[\"\",\"NA\"],"
        "\"net\":{\"sizes\":[128,128],\"optimizer\":{\"betas\":[0.9,0.999]},\"deep\":3},\"custom\":"
        "{}}",
        "written, nested");
    text_free(&o.text);
    opt_release(table, &t);
    ok(!t.missing.items && !t.sizes.items, "released");
    ok(!opt_read(strict, NULL, NULL, "train", &t, &e) && e.id == ERR_CONFIG_MISSING_KEY &&
           strstr(e.what, "`train.count` is missing"),
       "a key without a default");
}

static void reading(void)
{
    static const char source[] =
        "{\"flag\":false,\"count\":7,\"limit\":5,\"seed\":\"18446744073709551615\",\"rate\":1,"
        "\"share\":0,"
        "\"path\":\"x/y\",\"shape\":\"oval\",\"files\":\"one.csv\",\"missing\":[],"
        "\"net\":{\"sizes\":[1,2,3],\"optimizer\":{\"betas\":[]}},\"custom\":[1,\"a\"]}";
    struct err e = {0};
    struct things t;
    struct json_doc *doc = json_parse(source, strlen(source), "c.json", &e);
    if (!ok(doc && opt_read(table, doc, json_root(doc), NULL, &t, &e), "read"))
        printf("#   %s\n", e.what);
    ok(!t.flag && t.count == 7 && t.limit == 5 && t.seed == UINT64_MAX && t.rate == 1 &&
           t.share == 0,
       "numbers");
    ok(strcmp(t.path, "x/y") == 0 && t.shape == 2 && t.files.count == 1 && t.missing.items &&
           t.missing.count == 0 && t.sizes.count == 3 && t.deep == 3,
       "the others");
    is_int(json_count(t.custom), 2, "a custom value is handed over");
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    opt_write(table, &t, &o);
    json_close(&o, '}');
    is_string(
        o.text.data,
        "{\"flag\":false,\"count\":7,\"limit\":5,\"seed\":\"18446744073709551615\",\"rate\":1,"
        "\"share\":0,\"path\":\"x/y\",\"shape\":\"oval\",\"files\":\"one.csv\",\"missing\":[],"
        "\"net\":{\"sizes\":[1,2,3],\"optimizer\":{\"betas\":[]},\"deep\":3},\"custom\":[1,\"a\"]}",
        "written as it was read");
    struct json_doc *again = json_parse(o.text.data, o.text.length, "again", &e);
    struct things u;
    ok(again && opt_read(table, again, json_root(again), "", &u, &e), "and read once more");
    opt_release(table, &u);
    json_free(again);
    text_free(&o.text);
    opt_release(table, &t);
    json_free(doc);
}

struct refusal {
    const char *text;
    enum err_id id;
    int line, column;
    const char *what, *expected, *help;
};
static const struct refusal refused[] = {
    {"[]", ERR_CONFIG_TYPE, 1, 1, "`train`: expected an object, got list", "", ""},
    /* J05 unknown keys */
    {"{\n \"cuont\": 1}", ERR_CONFIG_KEY, 2, 2, "unknown key \"train.cuont\"", "flag, count, limit",
     "did you mean `count`?"},
    {"{\"Count\": 1}", ERR_CONFIG_KEY, 1, 2, "unknown key \"train.Count\"", "",
     "did you mean `count`?"},
    {"{\"zzzzzzzz\": 1}", ERR_CONFIG_KEY, 1, 2, "\"train.zzzzzzzz\"", "", ""},
    {"{\"a\\nb\": 1}", ERR_CONFIG_KEY, 1, 2, "\"train.a\\x0ab\"", "", ""},
    {"{\"count\": 1,\n\"COUNT\": 2}", ERR_JSON_DUPLICATE, 2, 1,
     "line 2 differs only by case from \"count\" at line 1", "", ""},
    {"{\"net.deep\": 1}", ERR_CONFIG_KEY, 1, 2, "unknown key \"train.net.deep\"", "", ""},
    {"{\"net\": {\"optimiser\": {}}}", ERR_CONFIG_KEY, 1, 10, "\"train.net.optimiser\"",
     "one of sizes, optimizer, deep", "did you mean `optimizer`?"},
    {"{\"net\": {\"optimizer\": {\"beta\": 1}}}", ERR_CONFIG_KEY, 1, 24,
     "\"train.net.optimizer.beta\"", "betas", "did you mean `betas`?"},
    /* J06 another type */
    {"{\"net\": 3}", ERR_CONFIG_TYPE, 1, 9, "`train.net`: expected an object, got number", "", ""},
    {"{\"net\": null}", ERR_CONFIG_TYPE, 1, 9, "`train.net`: expected an object, got null", "", ""},
    {"{\"flag\": 1}", ERR_CONFIG_TYPE, 1, 10, "`train.flag`: expected true or false, got 1", "",
     "A flag."},
    {"{\"flag\": null}", ERR_CONFIG_TYPE, 1, 10, "expected true or false, got null", "", ""},
    {"{\"count\": \"7\"}", ERR_CONFIG_TYPE, 1, 11, "`train.count`: expected an integer, got string",
     "", ""},
    /* J08 a fraction, J07 out of range */
    {"{\"count\": 3.5}", ERR_CONFIG_TYPE, 1, 11, "expected an integer, got 3.5", "", ""},
    {"{\"count\": 0}", ERR_CONFIG_RANGE, 1, 11,
     "`train.count`: 0 is out of range, allowed: 1 to 65536", "", ""},
    {"{\"count\": -5}", ERR_CONFIG_RANGE, 1, 11, "-5 is out of range", "", ""},
    {"{\"count\": 1e30}", ERR_CONFIG_RANGE, 1, 11, "1e+30 is out of range", "", ""},
    {"{\"limit\": 9007199254740993}", ERR_CONFIG_TYPE, 1, 11, "expected an integer below 2^53", "",
     ""},
    {"{\"seed\": -1}", ERR_CONFIG_RANGE, 1, 10, "`train.seed`: not a whole number", "",
     "string of digits"},
    {"{\"seed\": 9007199254740993}", ERR_CONFIG_RANGE, 1, 10, "not a whole number", "",
     "string of digits"},
    {"{\"seed\": \"18446744073709551616\"}", ERR_CONFIG_RANGE, 1, 10, "18446744073709551615", "",
     ""},
    {"{\"seed\": \"\"}", ERR_CONFIG_RANGE, 1, 10, "`train.seed`", "", ""},
    {"{\"seed\": \"1x\"}", ERR_CONFIG_RANGE, 1, 10, "\"1x\"", "", ""},
    {"{\"seed\": true}", ERR_CONFIG_TYPE, 1, 10, "got true", "", ""},
    {"{\"rate\": 0}", ERR_CONFIG_RANGE, 1, 10, "0 is out of range, allowed: more than 0", "", ""},
    {"{\"rate\": \"fast\"}", ERR_CONFIG_TYPE, 1, 10, "expected a number, got string", "", ""},
    {"{\"share\": 1}", ERR_CONFIG_RANGE, 1, 11, "allowed: at least 0 and less than 1", "", ""},
    {"{\"path\": 1}", ERR_CONFIG_TYPE, 1, 10, "expected a string, got 1", "", ""},
    {"{\"shape\": \"squar\"}", ERR_CONFIG_WORD, 1, 11, "`train.shape`: unknown word \"squar\"",
     "one of round, square, oval", "did you mean `square`?"},
    {"{\"shape\": \"Oval\"}", ERR_CONFIG_WORD, 1, 11, "unknown word \"Oval\"", "",
     "did you mean `oval`?"},
    {"{\"shape\": 2}", ERR_CONFIG_TYPE, 1, 11, "expected a string, got 2", "", ""},
    {"{\"files\": {}}", ERR_CONFIG_TYPE, 1, 11,
     "expected a string or a list of strings, got object", "", ""},
    {"{\"files\": [\"a\", 1]}", ERR_CONFIG_TYPE, 1, 17, "`train.files`", "", ""},
    {"{\"missing\": null}", ERR_CONFIG_TYPE, 1, 13, "got null", "", ""},
    {"{\"net\": {\"sizes\": 5}}", ERR_CONFIG_TYPE, 1, 19, "expected a list of integers, got 5", "",
     ""},
    {"{\"net\": {\"sizes\": [5, 1001]}}", ERR_CONFIG_RANGE, 1, 23,
     "1001 is out of range, allowed: 1 to 1000", "", ""},
    {"{\"net\": {\"sizes\": [5, 1.5]}}", ERR_CONFIG_TYPE, 1, 23, "got 1.5", "", ""},
    {"{\"net\": {\"optimizer\": {\"betas\": [\"x\"]}}}", ERR_CONFIG_TYPE, 1, 34, "got string", "",
     ""},
};

static void refusing(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refusal *r = &refused[i];
        struct err e = {0};
        struct things t;
        struct json_doc *doc = json_parse(r->text, strlen(r->text), "c.json", &e);
        bool read = doc && opt_read(table, doc, json_root(doc), "train", &t, &e);
        bool right = !read && e.id == r->id && e.line == r->line && e.column == r->column &&
                     strstr(e.what, r->what) && strstr(e.expected, r->expected) &&
                     strstr(e.help, r->help) && err_exit(&e) == EXIT_CONFIG &&
                     strcmp(e.file, "c.json") == 0;
        if (!ok(right, "refused: %zu", i))
            printf("#   %s\n#   got %d at %lld:%lld: %s; expected: %s; help: %s\n", r->text,
                   (int)e.id, (long long)e.line, (long long)e.column, e.what, e.expected, e.help);
        json_free(doc);
    }
}

static void describing(void)
{
    ok(opt_find(table, "net.deep") && !opt_find(table, "net"), "opt_find");
    is_string(opt_range(opt_find(table, "count")), "1 to 65536", "a range");
    is_string(opt_range(opt_find(table, "limit")), "", "no range");
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    opt_schema(table, &o);
    json_close(&o, '}');
    struct err e = {0};
    struct json_doc *doc = json_parse(o.text.data, o.text.length, "schema", &e);
    if (ok(doc, "the schema is JSON")) {
        struct json *root = json_root(doc);
        is_int(json_number(json_path(root, "properties.count.minimum")), 1, "minimum");
        is_string(json_string(json_path(root, "properties.net.properties.sizes.items.type")),
                  "integer", "items");
        is_string(json_string(json_path(root, "properties.share.type.1")), "null", "nullable");
        ok(json_path(root, "properties.rate.exclusiveMinimum"), "an open end");
        is_string(json_string(json_path(root, "properties.shape.enum.2")), "oval", "words");
        is_string(json_string(json_path(root, "properties.custom.type")), "object", "a fragment");
        is_string(json_string(json_path(root, "properties.flag.description")), "A flag.", "help");
        is_int(json_kind(json_path(root, "properties.net.additionalProperties")), JSON_FALSE,
               "nothing else");
        ok(!json_path(root, "required"), "nothing is required");
    }
    json_free(doc);
    text_clear(&o.text);
    o.depth = 0;
    o.comma[0] = false;
    json_open(&o, NULL, '{');
    opt_schema(strict, &o);
    json_close(&o, '}');
    is_string(
        o.text.data,
        "{\"type\":\"object\",\"properties\":{\"count\":"
        "{\"description\":\"How many.\",\"type\":\"integer\"}},\"required\":[\"count\"],"
        "\"additionalProperties\":false}",
        "a required key");
    text_free(&o.text);
}

int main(void)
{
    defaults();
    reading();
    refusing();
    describing();
    nesting();
    is_int(mem_in_use(), 0, "nothing is left behind");
    return done();
}
