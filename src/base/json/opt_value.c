/* opt_value.c - one value of a config: checked against its row and put into the field. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/json/opt_parts.h"

const char *opt_kind_name(enum json_kind kind)
{
    static const char *const names[] = {"null",   "false", "true",  "number",
                                        "string", "list",  "object"};
    return names[kind];
}

bool opt_value_help(const struct opt_target *t)
{
    return t->row->help ? err_help(t->e, "%s", t->row->help) : false;
}

/* A number that is no integer is shown by its value; of anything else its kind says enough. */
static bool wrong_type(const struct opt_target *t, const struct json *v, const char *wanted)
{
    struct text got = {0};
    if (json_kind(v) == JSON_NUMBER)
        json_write(&got, v, 0);
    else
        text_put(&got, opt_kind_name(json_kind(v)));
    json_fail(t->doc, v, t->e, ERR_CONFIG_TYPE, "`%s`: expected %s, got %s", t->name, wanted,
              got.data);
    text_free(&got);
    return opt_value_help(t);
}

static bool in_range(const struct opt_target *t, const struct json *v, double number)
{
    const struct option *row = t->row;
    bool low = row->flags & OPT_OPEN_LOW ? number > row->low : number >= row->low;
    bool high = row->flags & OPT_OPEN_HIGH ? number < row->high : number <= row->high;
    if (!opt_limited(row) || (low && high))
        return true;
    struct text got = {0};
    json_write(&got, v, 0);
    json_fail(t->doc, v, t->e, ERR_CONFIG_RANGE, "`%s`: %s is out of range, allowed: %s", t->name,
              got.data, opt_range(row));
    text_free(&got);
    return opt_value_help(t);
}

static bool read_int(const struct opt_target *t, const struct json *v, int64_t *out)
{
    if (json_kind(v) != JSON_NUMBER)
        return wrong_type(t, v, opt_type_one(OPT_INT));
    if (json_integer(v, out))
        return in_range(t, v, (double)*out);
    double d = json_number(v);
    if (d != floor(d))
        return wrong_type(t, v, opt_type_one(OPT_INT));
    if (!in_range(t, v, d))
        return false;
    return wrong_type(t, v, "an integer below 2^53");
}

static bool read_seed(const struct opt_target *t, const struct json *v, uint64_t *out)
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
        return wrong_type(t, v, opt_type_one(OPT_SEED));
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
    return opt_value_help(t);
}

static bool read_number(const struct opt_target *t, const struct json *v, double *out)
{
    if (json_kind(v) != JSON_NUMBER)
        return wrong_type(t, v, opt_type_one(OPT_NUMBER));
    *out = json_number(v);
    return in_range(t, v, *out);
}

static bool read_word(const struct opt_target *t, const struct json *v, int *out)
{
    if (json_kind(v) != JSON_STRING)
        return wrong_type(t, v, opt_type_one(t->row->type));
    const char *const *words = t->row->words;
    size_t count = 0;
    for (; words[count]; count++)
        if (strcmp(words[count], json_string(v)) == 0) {
            *out = (int)count;
            return true;
        }
    json_fail(t->doc, v, t->e, ERR_CONFIG_WORD, "`%s`: unknown word \"%s\"", t->name,
              text_quote_z(json_string(v)));
    err_words(t->e, words, count);
    const char *near = text_nearest(json_string(v), words, count);
    return near ? err_help(t->e, "did you mean `%s`?", near) : opt_value_help(t);
}

static bool read_strings(const struct opt_target *t, const struct json *v, struct opt_strings *out)
{
    bool list = json_kind(v) == JSON_LIST;
    if (!list && json_kind(v) != JSON_STRING)
        return wrong_type(t, v, opt_type_one(OPT_STRINGS));
    size_t count = list ? json_count(v) : 1;
    out->items = mem_zero(count ? count : 1, sizeof *out->items);
    for (const struct json *child = list ? json_at(v, 0) : v; out->count < count;
         child = json_next(child)) {
        int word;
        if (json_kind(child) != JSON_STRING)
            return wrong_type(t, child, opt_type_one(OPT_STRINGS));
        if (t->row->words && !read_word(t, child, &word))
            return false;
        out->items[out->count++] = mem_string(json_string(child));
    }
    return true;
}

static bool read_ints(const struct opt_target *t, const struct json *v, struct opt_ints *out)
{
    if (json_kind(v) != JSON_LIST)
        return wrong_type(t, v, opt_type_one(OPT_INTS));
    out->items = mem_zero(json_count(v) + 1, sizeof *out->items);
    for (const struct json *child = json_at(v, 0); child; child = json_next(child))
        if (!read_int(t, child, &out->items[out->count++]))
            return false;
    return true;
}

static bool read_numbers(const struct opt_target *t, const struct json *v, struct opt_numbers *out)
{
    if (json_kind(v) != JSON_LIST)
        return wrong_type(t, v, opt_type_one(OPT_NUMBERS));
    out->items = mem_zero(json_count(v) + 1, sizeof *out->items);
    for (const struct json *child = json_at(v, 0); child; child = json_next(child))
        if (!read_number(t, child, &out->items[out->count++]))
            return false;
    return true;
}

void opt_value_clear(const struct option *row, void *field)
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
        if (opt_null_table(row))
            *(bool *)field = false;
        for (const struct option *inner = row->table; inner->key; inner++)
            opt_value_clear(inner, opt_field(inner, field));
        return;
    case OPT_CUSTOM: *(const struct json **)field = NULL; return;
    }
}

/* The field is clear. */
bool opt_value_read(const struct opt_target *t, const struct json *v)
{
    if (json_kind(v) == JSON_NULL && t->row->flags & OPT_NULLABLE && t->row->type != OPT_CUSTOM)
        return true;
    switch (t->row->type) {
    case OPT_BOOL:
        if (json_kind(v) != JSON_TRUE && json_kind(v) != JSON_FALSE)
            return wrong_type(t, v, opt_type_one(OPT_BOOL));
        *(bool *)t->field = json_true(v);
        return true;
    case OPT_INT: return read_int(t, v, t->field);
    case OPT_SEED: return read_seed(t, v, t->field);
    case OPT_NUMBER: return read_number(t, v, t->field);
    case OPT_STRING: {
        int word;
        if (json_kind(v) != JSON_STRING)
            return wrong_type(t, v, opt_type_one(OPT_STRING));
        if (t->row->words && !read_word(t, v, &word))
            return false;
        *(char **)t->field = mem_string(json_string(v));
        return true;
    }
    case OPT_WORD: return read_word(t, v, t->field);
    case OPT_STRINGS: return read_strings(t, v, t->field);
    case OPT_INTS: return read_ints(t, v, t->field);
    case OPT_NUMBERS: return read_numbers(t, v, t->field);
    case OPT_TABLE:
        if (!opt_read(t->row->table, t->doc, v, t->name, t->field, t->e))
            return false;
        if (opt_null_table(t->row))
            *(bool *)t->field = true;
        return true;
    case OPT_CUSTOM:
        if (json_kind(v) == JSON_NULL && !(t->row->flags & OPT_NULLABLE)) {
            json_fail(t->doc, v, t->e, ERR_CONFIG_TYPE, "`%s`: null cannot stand here", t->name);
            return opt_value_help(t);
        }
        *(const struct json **)t->field = v;
        return true;
    }
    return false;
}
