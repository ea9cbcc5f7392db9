/* preset_layers.c - a preset's list of layers with the values of its options put in. */
#include <string.h>

#include "base/mem.h"
#include "model/preset/preset.h"

/* The options as a JSON object; inside an "each", one of them is one of its items. */
struct values {
    const struct json *options;
    const char *each; /* NULL: none */
    const struct json *item;
};

static const struct json *value_of(const struct values *v, const char *name, size_t length)
{
    char *key = mem_string_n(name, length);
    const struct json *found =
        v->each && strcmp(v->each, key) == 0 ? v->item : json_get(v->options, key);
    mem_free(key);
    return found;
}

/* The value when the whole string is "{name}", else NULL. */
static const struct json *whole_value(const struct values *v, const char *string)
{
    size_t length = strlen(string);
    if (length < 3 || string[0] != '{' || strchr(string, '}') != string + length - 1)
        return NULL;
    return value_of(v, string + 1, length - 2);
}

/* A string with "{name}" in it. */
static void expand_string(const struct values *v, const char *key, const char *string,
                       struct json_out *out)
{
    struct text text = {0};
    for (const char *end; *string; string = end) {
        end = string[0] == '{' ? strchr(string, '}') : strchr(string, '{');
        if (string[0] == '{' && end) {
            const struct json *found = value_of(v, string + 1, (size_t)(end - string) - 1);
            text_put(&text, found ? json_string(found) : "");
            end++;
        } else {
            end = end ? end : string + strlen(string);
            text_add(&text, string, (size_t)(end - string));
        }
    }
    json_put_string(out, key, text.data ? text.data : "");
    text_free(&text);
}

static bool says_no(const struct json *value)
{
    switch (json_kind(value)) {
    case JSON_NULL:
    case JSON_FALSE: return true;
    case JSON_NUMBER: return !(json_number(value) > 0 || json_number(value) < 0);
    case JSON_STRING: return !*json_string(value) || strcmp(json_string(value), "none") == 0;
    case JSON_LIST:
    case JSON_OBJECT: return json_count(value) == 0;
    case JSON_TRUE: return false;
    }
    return false;
}

static void expand_value(const struct values *v, const char *key, const struct json *from,
                struct json_out *out);

static void expand_entry(const struct values *v, const struct json *entry, struct json_out *out);

static void expand_each(const struct values *v, const char *name, const struct json *layers,
                     struct json_out *out)
{
    const struct json *list = json_get(v->options, name);
    if (list && json_kind(list) == JSON_NUMBER) { /* so often */
        for (int64_t left = (int64_t)json_number(list); left > 0; left--)
            for (const struct json *l = json_at(layers, 0); l; l = json_next(l))
                expand_entry(v, l, out);
        return;
    }
    for (const struct json *item = list ? json_at(list, 0) : NULL; item; item = json_next(item)) {
        struct values one = {.options = v->options, .each = name, .item = item};
        for (const struct json *l = json_at(layers, 0); l; l = json_next(l))
            expand_entry(&one, l, out);
    }
}

/* True: the condition "{name}", "{name}=word" or "{name}!=word" does not hold. */
static bool left_out(const struct values *v, const char *condition)
{
    const char *equals = strchr(condition, '=');
    if (!equals) {
        const struct json *value = whole_value(v, condition);
        return value && says_no(value);
    }
    bool other = equals > condition && equals[-1] == '!';
    char *name = mem_string_n(condition, (size_t)(equals - condition) - other);
    const struct json *value = whole_value(v, name);
    mem_free(name);
    return !value || (strcmp(json_string(value), equals + 1) == 0) == other;
}

/* An entry of a list, once, several times or not at all. */
static void expand_entry(const struct values *v, const struct json *entry, struct json_out *out)
{
    const struct json *condition = NULL, *each = NULL;
    if (json_kind(entry) == JSON_OBJECT) {
        condition = json_get(entry, "if");
        each = json_get(entry, "each");
    }
    if (condition && left_out(v, json_string(condition)))
        return;
    if (each)
        expand_each(v, json_string(each), json_get(entry, "layers"), out);
    else
        expand_value(v, NULL, entry, out);
}

static void expand_value(const struct values *v, const char *key, const struct json *from,
                struct json_out *out)
{
    enum json_kind kind = json_kind(from);
    const struct json *value = kind == JSON_STRING ? whole_value(v, json_string(from)) : NULL;
    if (kind == JSON_LIST || kind == JSON_OBJECT) {
        json_open(out, key, kind == JSON_LIST ? '[' : '{');
        for (const struct json *c = json_at(from, 0); c; c = json_next(c))
            if (kind == JSON_LIST)
                expand_entry(v, c, out);
            else if (strcmp(json_key(c), "if") != 0)
                expand_value(v, json_key(c), c, out);
        json_close(out, kind == JSON_LIST ? ']' : '}');
    } else if (kind == JSON_STRING && !value) {
        expand_string(v, key, json_string(from), out);
    } else {
        struct text text = {0};
        json_write(&text, value ? value : from, 0);
        json_put_raw(out, key, text.data);
        text_free(&text);
    }
}

static struct json_doc *options_of(const struct preset *p, const void *spec, struct err *e)
{
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    for (const struct option *row = p->options; row->key; row++)
        if (row->type != OPT_CUSTOM)
            opt_write_value(row, spec, row->key, &out);
    json_close(&out, '}');
    struct json_doc *doc = json_parse_own(out.text.data, out.text.length, "options", e);
    text_free(&out.text);
    return doc;
}

static bool expand(const struct preset *p, const void *spec, const char *json,
                   struct json_out *out, struct err *e)
{
    struct json_doc *options = options_of(p, spec, e);
    struct json_doc *from = options ? json_parse_own(json, strlen(json), "preset", e) : NULL;
    if (from)
        expand_value(&(struct values){.options = json_root(options)}, NULL, json_root(from), out);
    json_free(options);
    json_free(from);
    return from != NULL;
}

bool preset_layers(const struct preset *p, const void *spec, struct json_out *out, struct err *e)
{
    return expand(p, spec, p->layers, out, e);
}

bool preset_output(const struct preset *p, const void *spec, struct json_out *out, struct err *e)
{
    return expand(p, spec, p->output, out, e);
}
