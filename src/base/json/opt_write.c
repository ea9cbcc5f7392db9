/* opt_write.c - the resolved values as JSON, and the table as JSON Schema. Both walk the groups
 * that dotted keys make. */
#include <math.h>
#include <string.h>

#include "base/json/opt_parts.h"

static const void *field_of(const struct option *row, const void *from)
{
    return (const char *)from + row->offset;
}

static void write_seed(uint64_t seed, const char *key, struct json_out *out)
{
    if (seed <= 9007199254740991u) { /* every reader of JSON keeps it */
        json_put_int(out, key, (int64_t)seed);
        return;
    }
    char digits[24];
    size_t at = sizeof digits;
    for (uint64_t rest = seed; rest; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    json_put_string_n(out, key, digits + at, sizeof digits - at);
}

static void write_strings(const struct option *row, const struct opt_strings *list, const char *key,
                          struct json_out *out)
{
    bool always_list = row->standard && row->standard[0] == '[';
    if (!list->items) {
        json_put_null(out, key);
    } else if (list->count == 1 && !always_list) {
        json_put_string(out, key, list->items[0]);
    } else {
        json_put_strings(out, key, list->items, list->count);
    }
}

static void write_numbers(const struct option *row, const void *field, const char *key,
                          struct json_out *out)
{
    const struct opt_ints *ints = row->type == OPT_INTS ? field : NULL;
    const struct opt_numbers *numbers = ints ? NULL : field;
    if (ints ? !ints->items : !numbers->items) {
        json_put_null(out, key);
        return;
    }
    json_open(out, key, '[');
    for (size_t i = 0; i < (ints ? ints->count : numbers->count); i++)
        if (ints)
            json_put_int(out, NULL, ints->items[i]);
        else
            json_put_number(out, NULL, numbers->items[i]);
    json_close(out, ']');
}

static void write_custom(const struct option *row, const struct json *v, const char *key,
                         struct json_out *out)
{
    if (!v) {
        json_put_raw(out, key, row->standard ? row->standard : "null");
        return;
    }
    struct text text = {0};
    json_write(&text, v, 0);
    json_put_raw(out, key, text.data);
    text_free(&text);
}

void opt_write_value(const struct option *row, const void *from, const char *key,
                     struct json_out *out)
{
    const void *field = field_of(row, from);
    switch (row->type) {
    case OPT_BOOL: json_put_bool(out, key, *(const bool *)field); return;
    case OPT_INT:
        if (row->flags & OPT_NULLABLE && *(const int64_t *)field == OPT_INT_NULL)
            json_put_null(out, key);
        else
            json_put_int(out, key, *(const int64_t *)field);
        return;
    case OPT_SEED: write_seed(*(const uint64_t *)field, key, out); return;
    case OPT_NUMBER: json_put_number(out, key, *(const double *)field); return;
    case OPT_STRING: json_put_string(out, key, *(char *const *)field); return;
    case OPT_WORD: {
        int word = *(const int *)field;
        json_put_string(out, key, word < 0 ? NULL : row->words[word]);
        return;
    }
    case OPT_STRINGS: write_strings(row, field, key, out); return;
    case OPT_INTS:
    case OPT_NUMBERS: write_numbers(row, field, key, out); return;
    case OPT_TABLE:
        if (opt_null_table(row) && !*(const bool *)field) {
            json_put_null(out, key);
            return;
        }
        json_open(out, key, '{');
        opt_write(row->table, field, out);
        json_close(out, '}');
        return;
    case OPT_CUSTOM: write_custom(row, *(const struct json *const *)field, key, out); return;
    }
}

/* --- groups --- */

static void write_level(const struct option *table, const void *from, const char *prefix,
                        struct json_out *out)
{
    for (const struct option *row = table; row->key; row++) {
        struct opt_entry entry;
        if (!opt_entry_of(table, row, prefix, &entry))
            continue;
        if (!entry.group) {
            opt_write_value(row, from, entry.name, out);
            continue;
        }
        json_open(out, entry.name, '{');
        write_level(table, from, entry.prefix, out);
        json_close(out, '}');
    }
}

void opt_write(const struct option *table, const void *from, struct json_out *out)
{
    write_level(table, from, "", out);
}

/* --- schema --- */

static void put_type(const struct option *row, const char *one, const char *two,
                     struct json_out *out)
{
    if (!two && !(row->flags & OPT_NULLABLE)) {
        json_put_string(out, "type", one);
        return;
    }
    json_open(out, "type", '[');
    json_put_string(out, NULL, one);
    if (two)
        json_put_string(out, NULL, two);
    if (row->flags & OPT_NULLABLE)
        json_put_string(out, NULL, "null");
    json_close(out, ']');
}

static void put_limits(const struct option *row, struct json_out *out)
{
    if (!opt_limited(row))
        return;
    if (isfinite(row->low))
        json_put_number(out, row->flags & OPT_OPEN_LOW ? "exclusiveMinimum" : "minimum", row->low);
    if (isfinite(row->high))
        json_put_number(out, row->flags & OPT_OPEN_HIGH ? "exclusiveMaximum" : "maximum",
                        row->high);
}

static void put_words(const struct option *row, struct json_out *out)
{
    json_open(out, "enum", '[');
    for (size_t i = 0; row->words[i]; i++)
        json_put_string(out, NULL, row->words[i]);
    if (row->flags & OPT_NULLABLE)
        json_put_null(out, NULL);
    json_close(out, ']');
}

static void put_list(const struct option *row, struct json_out *out)
{
    const bool strings = row->type == OPT_STRINGS;
    put_type(row, strings ? "string" : "array", strings ? "array" : NULL, out);
    json_open(out, "items", '{');
    if (strings && row->words)
        put_words(row, out);
    else
        json_put_string(out, "type", strings ? "string"
                                     : row->type == OPT_INTS ? "integer" : "number");
    put_limits(row, out);
    json_close(out, '}');
}

/* The members of a room's own fragment, spliced in: "{...}" without its braces. */
static void put_fragment(const struct option *row, struct json_out *out)
{
    const char *fragment = row->schema ? row->schema : "{}";
    size_t length = strlen(fragment);
    if (length <= 2)
        return;
    if (out->comma[out->depth])
        text_char(&out->text, ',');
    out->comma[out->depth] = true;
    text_add(&out->text, fragment + 1, length - 2);
}

static void put_table(const struct option *row, struct json_out *out)
{
    if (!opt_null_table(row)) {
        opt_schema(row->table, out);
        return;
    }
    json_open(out, "oneOf", '[');
    json_open(out, NULL, '{');
    json_put_string(out, "type", "null");
    json_close(out, '}');
    json_open(out, NULL, '{');
    opt_schema(row->table, out);
    json_close(out, '}');
    json_close(out, ']');
}

static void put_row(const struct option *row, struct json_out *out)
{
    if (row->help)
        json_put_string(out, "description", row->help);
    if (row->standard && !(row->flags & OPT_REQUIRED))
        json_put_raw(out, "default", row->standard);
    switch (row->type) {
    case OPT_BOOL: put_type(row, "boolean", NULL, out); return;
    case OPT_INT:
    case OPT_NUMBER:
        put_type(row, row->type == OPT_INT ? "integer" : "number", NULL, out);
        put_limits(row, out);
        return;
    case OPT_SEED:
        put_type(row, "integer", "string", out);
        json_put_int(out, "minimum", 0);
        json_put_string(out, "pattern", "^[0-9]+$");
        return;
    case OPT_STRING:
    case OPT_WORD:
        if (row->words)
            put_words(row, out);
        else
            put_type(row, "string", NULL, out);
        return;
    case OPT_STRINGS:
    case OPT_INTS:
    case OPT_NUMBERS: put_list(row, out); return;
    case OPT_TABLE: put_table(row, out); return;
    case OPT_CUSTOM: put_fragment(row, out); return;
    }
}

static bool required(const struct option *row)
{
    return row->flags & OPT_REQUIRED || (!row->standard && row->type != OPT_TABLE);
}

static void schema_level(const struct option *table, const char *prefix, struct json_out *out)
{
    struct opt_entry entry;
    size_t n = strlen(prefix);
    json_put_string(out, "type", "object");
    json_open(out, "properties", '{');
    for (const struct option *row = table; row->key; row++) {
        if (!opt_entry_of(table, row, prefix, &entry))
            continue;
        json_open(out, entry.name, '{');
        if (entry.group)
            schema_level(table, entry.prefix, out);
        else
            put_row(row, out);
        json_close(out, '}');
    }
    json_close(out, '}');
    bool any = false;
    for (const struct option *row = table; row->key; row++)
        if (strncmp(row->key, prefix, n) == 0 && !strchr(row->key + n, '.') && required(row)) {
            if (!any)
                json_open(out, "required", '[');
            any = true;
            json_put_string(out, NULL, row->key + n);
        }
    if (any)
        json_close(out, ']');
    json_put_bool(out, "additionalProperties", false);
}

void opt_schema(const struct option *table, struct json_out *out)
{
    schema_level(table, "", out);
}
