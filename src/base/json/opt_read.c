/* opt_read.c - an object of a config by its table: unknown keys are errors, absent ones take their
 * defaults. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/json/opt_parts.h"

enum { MOST_LEVEL = 96 }; /* names in one object */

/* The names that may stand in the object whose dotted prefix is given ("" or "optimizer."): each
 * once, mem_free. */
static size_t level(const struct option *table, const char *prefix, char **names)
{
    struct opt_entry entry;
    size_t count = 0;
    for (const struct option *row = table; row->key && count < MOST_LEVEL; row++)
        if (opt_entry_of(table, row, prefix, &entry))
            names[count++] = mem_string(entry.name);
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
    err_words(e, (const char *const *)names, count);
    const char *near = text_nearest(key, (const char *const *)names, count);
    if (near)
        err_help(e, "did you mean `%s`?", near);
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
                             path, *path ? "." : "", full, opt_kind_name(json_kind(child)));
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

static bool read_default(struct opt_target *t)
{
    if (t->row->type == OPT_CUSTOM || opt_null_table(t->row))
        return true;
    if (t->row->type == OPT_TABLE)
        return opt_read(t->row->table, t->doc, NULL, t->name, t->field, t->e);
    struct json_doc *doc = json_parse(t->row->standard, strlen(t->row->standard), "default", t->e);
    if (!doc)
        return false;
    t->doc = doc;
    bool good = opt_value_read(t, json_root(doc));
    json_free(doc);
    return good;
}

bool opt_read(const struct option *table, const struct json_doc *doc, const struct json *at,
              const char *path, void *into, struct err *e)
{
    path = path ? path : "";
    for (const struct option *row = table; row->key; row++)
        opt_value_clear(row, opt_field(row, into));
    if (at && json_kind(at) != JSON_OBJECT) {
        json_fail(doc, at, e, ERR_CONFIG_TYPE, "%s%s%s: expected an object, got %s",
                  *path ? "`" : "the config", path, *path ? "`" : "",
                  opt_kind_name(json_kind(at)));
        return json_kind(at) == JSON_STRING && opt_find(table, "type")
                   ? err_help(e, "did you mean `%s.type`?", path)
                   : false;
    }
    if (at && !check_keys(table, doc, at, path, "", e))
        return false;
    bool good = true;
    for (const struct option *row = table; row->key && good; row++) {
        struct opt_target t = {.row = row, .doc = doc, .field = opt_field(row, into), .e = e};
        snprintf(t.name, sizeof t.name, "%s%s%s", path, *path ? "." : "", row->key);
        const struct json *v = find(at, row->key);
        if (v) {
            good = opt_value_read(&t, v);
        } else if (row->type == OPT_TABLE || (row->standard && !(row->flags & OPT_REQUIRED))) {
            good = read_default(&t);
        } else {
            int64_t line = 0, column = 0;
            if (at)
                json_place(doc, at, &line, &column);
            err_at(e, ERR_CONFIG_MISSING_KEY, doc ? json_name(doc) : "", line, column,
                   "`%s` is missing", t.name);
            err_key(e, "%s", t.name);
            good = opt_value_help(&t);
        }
    }
    if (!good)
        opt_release(table, into);
    return good;
}

void opt_release(const struct option *table, void *into)
{
    for (const struct option *row = table; into && row->key; row++) {
        void *field = opt_field(row, into);
        if (row->type == OPT_STRING) {
            mem_free(*(char **)field);
        } else if (row->type == OPT_STRINGS) {
            opt_strings_free(field);
        } else if (row->type == OPT_INTS) {
            mem_free(((struct opt_ints *)field)->items);
        } else if (row->type == OPT_NUMBERS) {
            mem_free(((struct opt_numbers *)field)->items);
        } else if (row->type == OPT_TABLE) {
            opt_release(row->table, field);
        }
        opt_value_clear(row, field);
    }
}
