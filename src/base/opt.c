/* opt.c - reading: finds each row's value, checks it and puts it into the field. */
#include "base/opt.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

enum { MOST_NAME = 256, MOST_LEVEL = 96 };

/* What is being read: for messages, and to reach the field. */
struct target {
    const struct option *row;
    const struct json_doc *doc;
    char name[MOST_NAME]; /* "train.optimizer.learning_rate" */
    void *field;
    struct err *e;
};

static void *field_of(const struct option *row, void *into)
{
    return (char *)into + row->offset;
}

const struct option *opt_find(const struct option *table, const char *key)
{
    for (const struct option *row = table; row->key; row++) {
        size_t n = strlen(row->key);
        if (strcmp(row->key, key) == 0)
            return row;
        if (row->type == OPT_TABLE && strncmp(row->key, key, n) == 0 && key[n] == '.')
            return opt_find(row->table, key + n + 1);
    }
    return NULL;
}

void opt_each(const struct option *table, const char *path, const void *from,
              void (*each)(const char *key, const struct option *row, const void *base,
                           void *context),
              void *context)
{
    for (const struct option *row = table; row->key; row++) {
        char full[MOST_NAME];
        snprintf(full, sizeof full, "%s%s%s", path, *path ? "." : "", row->key);
        if (row->type == OPT_TABLE)
            opt_each(row->table, full, from ? (const char *)from + row->offset : NULL, each,
                     context);
        else
            each(full, row, from, context);
    }
}

const char *opt_type_name(enum opt_type type)
{
    switch (type) {
    case OPT_BOOL: return "true or false";
    case OPT_INT: return "integer";
    case OPT_SEED: return "integer or string of digits";
    case OPT_NUMBER: return "number";
    case OPT_STRING: return "string";
    case OPT_WORD: return "word";
    case OPT_STRINGS: return "string or list of strings";
    case OPT_INTS: return "list of integers";
    case OPT_NUMBERS: return "list of numbers";
    case OPT_TABLE: return "object";
    case OPT_CUSTOM: return "value";
    }
    return "value";
}

static const char *with_article(enum opt_type type)
{
    switch (type) {
    case OPT_BOOL: return "true or false";
    case OPT_INT: return "an integer";
    case OPT_SEED: return "an integer or a string of digits";
    case OPT_NUMBER: return "a number";
    case OPT_STRING:
    case OPT_WORD: return "a string";
    case OPT_STRINGS: return "a string or a list of strings";
    case OPT_INTS: return "a list of integers";
    case OPT_NUMBERS: return "a list of numbers";
    case OPT_TABLE: return "an object";
    case OPT_CUSTOM: return "a value";
    }
    return "a value";
}

static const char *kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null",   "false", "true",  "number",
                                        "string", "list",  "object"};
    return names[kind];
}

static bool limited(const struct option *row)
{
    return row->low < 0 || row->low > 0 || row->high < 0 || row->high > 0;
}

const char *opt_range(const struct option *row)
{
    static _Thread_local char buffers[4][80];
    static _Thread_local unsigned turn;
    char *out = buffers[turn++ % 4];
    bool low = limited(row) && isfinite(row->low), high = limited(row) && isfinite(row->high);
    bool open_low = row->flags & OPT_OPEN_LOW, open_high = row->flags & OPT_OPEN_HIGH;
    size_t room = sizeof buffers[0];
    if (low && high && !open_low && !open_high)
        snprintf(out, room, "%.15g to %.15g", row->low, row->high);
    else if (low && high)
        snprintf(out, room, "%s %.15g and %s %.15g", open_low ? "more than" : "at least", row->low,
                 open_high ? "less than" : "at most", row->high);
    else if (low)
        snprintf(out, room, "%s %.15g", open_low ? "more than" : "at least", row->low);
    else if (high)
        snprintf(out, room, "%s %.15g", open_high ? "less than" : "at most", row->high);
    else
        out[0] = '\0';
    return out;
}

/* --- values --- */

static bool help(const struct target *t)
{
    return t->row->help ? err_help(t->e, "%s", t->row->help) : false;
}

/* A number that is no integer is shown by its value; of anything else its kind says enough. */
static bool wrong_type(const struct target *t, const struct json *v, const char *wanted)
{
    struct text got = {0};
    if (json_kind(v) == JSON_NUMBER)
        json_write(&got, v, 0);
    else
        text_put(&got, kind_name(json_kind(v)));
    json_fail(t->doc, v, t->e, ERR_CONFIG_TYPE, "`%s`: expected %s, got %s", t->name, wanted,
              got.data);
    text_free(&got);
    return help(t);
}

static bool in_range(const struct target *t, const struct json *v, double number)
{
    const struct option *row = t->row;
    bool low = row->flags & OPT_OPEN_LOW ? number > row->low : number >= row->low;
    bool high = row->flags & OPT_OPEN_HIGH ? number < row->high : number <= row->high;
    if (!limited(row) || (low && high))
        return true;
    struct text got = {0};
    json_write(&got, v, 0);
    json_fail(t->doc, v, t->e, ERR_CONFIG_RANGE, "`%s`: %s is out of range, allowed: %s", t->name,
              got.data, opt_range(row));
    text_free(&got);
    return help(t);
}

static bool read_int(const struct target *t, const struct json *v, int64_t *out)
{
    if (json_kind(v) != JSON_NUMBER)
        return wrong_type(t, v, with_article(OPT_INT));
    if (json_integer(v, out))
        return in_range(t, v, (double)*out);
    double d = json_number(v);
    if (d != floor(d))
        return wrong_type(t, v, with_article(OPT_INT));
    if (!in_range(t, v, d))
        return false;
    return wrong_type(t, v, "an integer below 2^53");
}

static bool read_seed(const struct target *t, const struct json *v, uint64_t *out)
{
    int64_t whole;
    if (json_kind(v) == JSON_NUMBER && json_integer(v, &whole) && whole >= 0) {
        *out = (uint64_t)whole;
        return true;
    }
    if (json_kind(v) == JSON_NUMBER) {
        json_fail(t->doc, v, t->e, ERR_CONFIG_RANGE,
                  "`%s`: not a whole number from 0 to 9007199254740991", t->name);
        return err_help(
            t->e, "a larger one, up to 18446744073709551615, is written as a string of digits");
    }
    if (json_kind(v) != JSON_STRING)
        return wrong_type(t, v, with_article(OPT_SEED));
    const char *digits = json_string(v);
    uint64_t seed = 0;
    bool good = *digits != '\0';
    for (const char *c = digits; *c && good; c++)
        good = *c >= '0' && *c <= '9' && !__builtin_mul_overflow(seed, 10u, &seed) &&
               !__builtin_add_overflow(seed, (uint64_t)(*c - '0'), &seed);
    *out = seed;
    if (good)
        return true;
    json_fail(t->doc, v, t->e, ERR_CONFIG_RANGE,
              "`%s`: \"%s\" is not a whole number up to 18446744073709551615", t->name,
              text_quote_z(digits));
    return help(t);
}

static bool read_number(const struct target *t, const struct json *v, double *out)
{
    if (json_kind(v) != JSON_NUMBER)
        return wrong_type(t, v, with_article(OPT_NUMBER));
    *out = json_number(v);
    return in_range(t, v, *out);
}

static bool read_word(const struct target *t, const struct json *v, int *out)
{
    if (json_kind(v) != JSON_STRING)
        return wrong_type(t, v, with_article(OPT_WORD));
    const char *const *words = t->row->words;
    size_t count = 0;
    for (; words[count]; count++)
        if (strcmp(words[count], json_string(v)) == 0) {
            *out = (int)count;
            return true;
        }
    json_fail(t->doc, v, t->e, ERR_CONFIG_WORD, "`%s`: unknown word \"%s\"", t->name,
              text_quote_z(json_string(v)));
    struct text known = {0};
    for (size_t i = 0; i < count; i++)
        text_printf(&known, "%s%s", i ? ", " : "", words[i]);
    err_expected(t->e, "one of %s", known.data);
    text_free(&known);
    const char *near = text_nearest(json_string(v), words, count);
    return near ? err_help(t->e, "did you mean `%s`?", near) : help(t);
}

static bool read_strings(const struct target *t, const struct json *v, struct opt_strings *out)
{
    bool list = json_kind(v) == JSON_LIST;
    if (!list && json_kind(v) != JSON_STRING)
        return wrong_type(t, v, with_article(OPT_STRINGS));
    size_t count = list ? json_count(v) : 1;
    out->items = mem_zero(count ? count : 1, sizeof *out->items);
    for (const struct json *child = list ? json_at(v, 0) : v; out->count < count;
         child = json_next(child)) {
        if (json_kind(child) != JSON_STRING)
            return wrong_type(t, child, with_article(OPT_STRINGS));
        out->items[out->count++] = mem_string(json_string(child));
    }
    return true;
}

static bool read_ints(const struct target *t, const struct json *v, struct opt_ints *out)
{
    if (json_kind(v) != JSON_LIST)
        return wrong_type(t, v, with_article(OPT_INTS));
    out->items = mem_zero(json_count(v) + 1, sizeof *out->items);
    for (const struct json *child = json_at(v, 0); child; child = json_next(child))
        if (!read_int(t, child, &out->items[out->count++]))
            return false;
    return true;
}

static bool read_numbers(const struct target *t, const struct json *v, struct opt_numbers *out)
{
    if (json_kind(v) != JSON_LIST)
        return wrong_type(t, v, with_article(OPT_NUMBERS));
    out->items = mem_zero(json_count(v) + 1, sizeof *out->items);
    for (const struct json *child = json_at(v, 0); child; child = json_next(child))
        if (!read_number(t, child, &out->items[out->count++]))
            return false;
    return true;
}

static void clear(const struct option *row, void *field)
{
    switch (row->type) {
    case OPT_BOOL: *(bool *)field = false; return;
    case OPT_INT: *(int64_t *)field = row->flags & OPT_NULLABLE ? OPT_INT_NULL : 0; return;
    case OPT_SEED: *(uint64_t *)field = 0; return;
    case OPT_NUMBER: *(double *)field = row->flags & OPT_NULLABLE ? NAN : 0; return;
    case OPT_STRING: *(char **)field = NULL; return;
    case OPT_WORD: *(int *)field = -1; return;
    case OPT_STRINGS: *(struct opt_strings *)field = (struct opt_strings){0}; return;
    case OPT_INTS: *(struct opt_ints *)field = (struct opt_ints){0}; return;
    case OPT_NUMBERS: *(struct opt_numbers *)field = (struct opt_numbers){0}; return;
    case OPT_TABLE:
        for (const struct option *inner = row->table; inner->key; inner++)
            clear(inner, field_of(inner, field));
        return;
    case OPT_CUSTOM: *(const struct json **)field = NULL; return;
    }
}

/* The field is clear. */
static bool read_value(const struct target *t, const struct json *v)
{
    if (json_kind(v) == JSON_NULL && t->row->flags & OPT_NULLABLE && t->row->type != OPT_CUSTOM)
        return true;
    switch (t->row->type) {
    case OPT_BOOL:
        if (json_kind(v) != JSON_TRUE && json_kind(v) != JSON_FALSE)
            return wrong_type(t, v, with_article(OPT_BOOL));
        *(bool *)t->field = json_true(v);
        return true;
    case OPT_INT: return read_int(t, v, t->field);
    case OPT_SEED: return read_seed(t, v, t->field);
    case OPT_NUMBER: return read_number(t, v, t->field);
    case OPT_STRING: {
        int word;
        if (json_kind(v) != JSON_STRING)
            return wrong_type(t, v, with_article(OPT_STRING));
        if (t->row->words && !read_word(t, v, &word))
            return false;
        *(char **)t->field = mem_string(json_string(v));
        return true;
    }
    case OPT_WORD: return read_word(t, v, t->field);
    case OPT_STRINGS: return read_strings(t, v, t->field);
    case OPT_INTS: return read_ints(t, v, t->field);
    case OPT_NUMBERS: return read_numbers(t, v, t->field);
    case OPT_TABLE: return opt_read(t->row->table, t->doc, v, t->name, t->field, t->e);
    case OPT_CUSTOM:
        if (json_kind(v) == JSON_NULL && !(t->row->flags & OPT_NULLABLE))
            return wrong_type(t, v, with_article(OPT_CUSTOM));
        *(const struct json **)t->field = v;
        return true;
    }
    return false;
}

/* --- keys --- */

/* The names that may stand in the object whose dotted prefix is given ("" or "optimizer."): each
 * once, mem_free. */
static size_t level(const struct option *table, const char *prefix, char **names)
{
    size_t count = 0, n = strlen(prefix);
    for (const struct option *row = table; row->key && count < MOST_LEVEL; row++) {
        if (strncmp(row->key, prefix, n) != 0)
            continue;
        const char *name = row->key + n;
        size_t length = strcspn(name, "."), same = 0;
        while (same < count && !(strncmp(names[same], name, length) == 0 && !names[same][length]))
            same++;
        if (same == count)
            names[count++] = mem_string_n(name, length);
    }
    return count;
}

static bool unknown_key(const struct option *table, const struct json_doc *doc,
                        const struct json *object, const struct json *child, const char *path,
                        const char *prefix, struct err *e)
{
    const char *key = json_key(child), *dot = *path ? "." : "";
    int64_t line, column, other, unused;
    json_place_key(doc, child, &line, &column);
    for (const struct json *twin = json_at(object, 0); twin; twin = json_next(twin))
        if (twin != child && strcasecmp(json_key(twin), key) == 0) {
            json_place_key(doc, twin, &other, &unused);
            err_at(e, ERR_JSON_DUPLICATE, json_name(doc), line, column,
                   "key \"%s\" at line %lld differs only by case from \"%s\" at line %lld",
                   text_quote_z(key), (long long)line, text_quote_z(json_key(twin)),
                   (long long)other);
            return json_blame(doc, child, e);
        }
    err_at(e, ERR_CONFIG_KEY, json_name(doc), line, column, "unknown key \"%s%s%s%s\"", path, dot,
           prefix, text_quote_z(key));
    json_blame(doc, child, e);
    char *names[MOST_LEVEL];
    size_t count = level(table, prefix, names);
    struct text known = {0};
    for (size_t i = 0; i < count; i++)
        text_printf(&known, "%s%s", i ? ", " : "", names[i]);
    if (known.length && known.length < sizeof e->expected - 8)
        err_expected(e, "one of %s", known.data);
    const char *near = text_nearest(key, (const char *const *)names, count);
    if (near)
        err_help(e, "did you mean `%s`?", near);
    text_free(&known);
    for (size_t i = 0; i < count; i++)
        mem_free(names[i]);
    return false;
}

static bool check_keys(const struct option *table, const struct json_doc *doc,
                       const struct json *object, const char *path, const char *prefix,
                       struct err *e)
{
    for (const struct json *child = json_at(object, 0); child; child = json_next(child)) {
        char full[MOST_NAME];
        int n = snprintf(full, sizeof full, "%s%s", prefix, json_key(child));
        bool leaf = false, group = false;
        if (n > 0 && (size_t)n + 1 < sizeof full && !strchr(json_key(child), '.'))
            for (const struct option *row = table; row->key; row++)
                if (strncmp(row->key, full, (size_t)n) == 0) {
                    leaf |= row->key[n] == '\0';
                    group |= row->key[n] == '.';
                }
        if (leaf)
            continue;
        if (!group)
            return unknown_key(table, doc, object, child, path, prefix, e);
        if (json_kind(child) != JSON_OBJECT)
            return json_fail(doc, child, e, ERR_CONFIG_TYPE, "`%s%s%s`: expected an object, got %s",
                             path, *path ? "." : "", full, kind_name(json_kind(child)));
        full[n] = '.';
        full[n + 1] = '\0';
        if (!check_keys(table, doc, child, path, full, e))
            return false;
    }
    return true;
}

static const struct json *find(const struct json *at, const char *key)
{
    while (at && key) {
        char name[MOST_NAME];
        size_t n = strcspn(key, ".");
        assert(n < sizeof name);
        memcpy(name, key, n);
        name[n] = '\0';
        at = json_get(at, name);
        key = key[n] ? key + n + 1 : NULL;
    }
    return at;
}

static bool read_default(struct target *t)
{
    if (t->row->type == OPT_CUSTOM)
        return true;
    if (t->row->type == OPT_TABLE)
        return opt_read(t->row->table, t->doc, NULL, t->name, t->field, t->e);
    struct json_doc *doc = json_parse(t->row->standard, strlen(t->row->standard), "default", t->e);
    if (!doc)
        return false;
    t->doc = doc;
    bool good = read_value(t, json_root(doc));
    json_free(doc);
    return good;
}

bool opt_read(const struct option *table, const struct json_doc *doc, const struct json *at,
              const char *path, void *into, struct err *e)
{
    path = path ? path : "";
    for (const struct option *row = table; row->key; row++)
        clear(row, field_of(row, into));
    if (at && json_kind(at) != JSON_OBJECT)
        return json_fail(doc, at, e, ERR_CONFIG_TYPE, "%s%s%s: expected an object, got %s",
                         *path ? "`" : "the config", path, *path ? "`" : "",
                         kind_name(json_kind(at)));
    if (at && !check_keys(table, doc, at, path, "", e))
        return false;
    bool good = true;
    for (const struct option *row = table; row->key && good; row++) {
        struct target t = {.row = row, .doc = doc, .field = field_of(row, into), .e = e};
        snprintf(t.name, sizeof t.name, "%s%s%s", path, *path ? "." : "", row->key);
        const struct json *v = find(at, row->key);
        if (v) {
            good = read_value(&t, v);
        } else if (row->type == OPT_TABLE || (row->standard && !(row->flags & OPT_REQUIRED))) {
            good = read_default(&t);
        } else {
            int64_t line = 0, column = 0;
            if (at)
                json_place(doc, at, &line, &column);
            err_at(e, ERR_CONFIG_MISSING_KEY, doc ? json_name(doc) : "", line, column,
                   "`%s` is missing", t.name);
            err_key(e, "%s", t.name);
            good = help(&t);
        }
    }
    if (!good)
        opt_release(table, into);
    return good;
}

void opt_release(const struct option *table, void *into)
{
    for (const struct option *row = table; into && row->key; row++) {
        void *field = field_of(row, into);
        if (row->type == OPT_STRING) {
            mem_free(*(char **)field);
        } else if (row->type == OPT_STRINGS) {
            struct opt_strings *list = field;
            for (size_t i = 0; i < list->count; i++)
                mem_free(list->items[i]);
            mem_free(list->items);
        } else if (row->type == OPT_INTS) {
            mem_free(((struct opt_ints *)field)->items);
        } else if (row->type == OPT_NUMBERS) {
            mem_free(((struct opt_numbers *)field)->items);
        } else if (row->type == OPT_TABLE) {
            opt_release(row->table, field);
        }
        clear(row, field);
    }
}
