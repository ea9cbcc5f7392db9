/* config_set.c - puts the values of --set into a config's document. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "config/config_help.h"
#include "config/config_table.h"
#include "model/preset/preset.h"

/* True: a key of this kind takes the JSON value; row NULL: a key of a room's own object. */
static bool fits(const struct option *row, const struct json *v)
{
    enum json_kind kind = json_kind(v);
    int64_t whole;
    if (!row)
        return true;
    if (kind == JSON_NULL)
        return row->flags & OPT_NULLABLE;
    switch (row->type) {
    case OPT_BOOL: return kind == JSON_TRUE || kind == JSON_FALSE;
    case OPT_INT:
    case OPT_NUMBER: return kind == JSON_NUMBER;
    case OPT_SEED:
        return kind == JSON_STRING ||
               json_integer(v, &whole); /* a longer one stays text, digit by digit */
    case OPT_STRING:
    case OPT_WORD: return kind == JSON_STRING;
    case OPT_STRINGS: return kind == JSON_STRING || kind == JSON_LIST;
    case OPT_INTS:
    case OPT_NUMBERS: return kind == JSON_LIST;
    case OPT_TABLE: return kind == JSON_OBJECT;
    case OPT_CUSTOM: return true;
    }
    return true;
}

bool config_top_key(const char *key, const struct json *value)
{
    if (strchr(key, '.'))
        return false;
    const struct option *row = opt_find(config_table, key);
    return row && (!value || fits(row, value));
}

/* The preset that the config names; NULL: none, or an unknown one. */
static const struct preset *preset_of(const struct json_doc *doc)
{
    const struct json *word = json_path(json_root(doc), "model.preset");
    return word && json_kind(word) == JSON_STRING ? preset_find(json_string(word)) : NULL;
}

static const struct option *preset_option(const struct json_doc *doc, const char *name)
{
    const struct preset *p = preset_of(doc);
    return p ? opt_find(p->options, name) : NULL;
}

/* The row of the list that path names an entry of ("data.missing.0"), else NULL; *list is its key,
 * mem_free. */
static const struct option *list_of(const struct json_doc *doc, const char *path, char **list)
{
    const char *dot = strrchr(path, '.');
    *list = NULL;
    if (!dot || strspn(dot + 1, "0123456789") != strlen(dot + 1))
        return NULL;
    *list = mem_string_n(path, (size_t)(dot - path));
    const struct option *row = opt_find(config_table, *list);
    if (!row && strncmp(*list, "model.", 6) == 0)
        row = preset_option(doc, *list + 6);
    bool is_list =
        row && (row->type == OPT_STRINGS || row->type == OPT_INTS || row->type == OPT_NUMBERS);
    return is_list ? row : NULL;
}

/* The option row of the value at path. An entry of a list is put into the default when the document
 * has no list. */
static const struct option *row_of(struct json_doc *doc, const char *path)
{
    static const struct option entry = {.key = "entry", .type = OPT_STRING};
    const struct option *row = opt_find(config_table, path);
    struct err e = {0};
    char *list;
    const struct option *of = list_of(doc, path, &list);
    const struct json *there = of ? json_path(json_root(doc), list) : NULL;
    if (of && of->standard && !there) /* when it cannot be, the entry cannot be put there either */
        json_set(doc, list, of->standard, &e);
    if (there && json_kind(there) == JSON_STRING &&
        of->type == OPT_STRINGS) { /* short for a list */
        struct json_out one = {0};
        json_open(&one, NULL, '[');
        json_put_string(&one, NULL, json_string(there));
        json_close(&one, ']');
        json_set(doc, list, one.text.data, &e);
        text_free(&one.text);
    }
    mem_free(list);
    return row || !of || of->type != OPT_STRINGS ? row : &entry;
}

/* "age": "numeric" becomes {"type": "numeric"} when a --set names something below it. */
static bool unfold_column(struct json_doc *doc, const char *path, struct err *e)
{
    static const char columns[] = "data.columns";
    size_t n = sizeof columns - 1;
    const struct json *list = json_path(json_root(doc), columns);
    if (!list || json_kind(list) != JSON_OBJECT || strncmp(path, columns, n) != 0 ||
        path[n] != '.' || json_path(json_root(doc), path))
        return true;
    const struct json *found = NULL;
    size_t longest = 0; /* names may hold dots: the longest that fits is meant, as in json_path */
    char *quoted = json_path_quoted(path + n + 1, &longest);
    if (quoted)
        found = json_get(list, quoted);
    mem_free(quoted);
    for (const struct json *c = found ? NULL : json_at(list, 0); c; c = json_next(c)) {
        size_t length = strlen(json_key(c));
        if (strncmp(path + n + 1, json_key(c), length) == 0 && path[n + 1 + length] == '.' &&
            length >= longest) {
            found = c;
            longest = length;
        }
    }
    if (!found || json_kind(found) != JSON_STRING)
        return true;
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    json_put_string(&out, "type", json_string(found));
    json_close(&out, '}');
    char *column = mem_string_n(path, n + 1 + longest);
    bool good = json_set(doc, column, out.text.data, e);
    mem_free(column);
    text_free(&out.text);
    return good;
}

/* Refuses a word in place of a number: the error has the word, the range and an example. */
static bool number_given(const struct option *row, const char *path, const char *value,
                         const struct json *read, struct err *e)
{
    bool number = row && (row->type == OPT_INT || row->type == OPT_NUMBER);
    if (!number || (read && json_kind(read) != JSON_STRING))
        return true;
    err_set(e, ERR_SET_VALUE, "--set %s: \"%s\" is not %s", text_quote_z(path),
            text_quote_z(value), row->type == OPT_INT ? "an integer" : "a number");
    if (*opt_range(row))
        err_expected(e, "%s", opt_range(row));
    if (row->standard && strcmp(row->standard, "null") != 0)
        err_help(e, "as in --set %s", shell_word("%s=%s", path, row->standard));
    return false;
}

/* An object or a list that is no JSON, as the shell takes double quotes away. A text may begin
 * with any character; so may a word in a list of a column. */
static bool object_given(const struct option *row, bool text_key, const char *path,
                         const char *value, const struct err *unread, struct err *e)
{
    const bool column = !row && strncmp(path, "data.columns.", strlen("data.columns.")) == 0;
    if (text_key || !(*value == '{' || (*value == '[' && !column)))
        return true;
    err_set(e, ERR_SET_VALUE, "--set %.200s: character %lld of the value: %.600s",
            text_quote_z(path), (long long)unread->column, unread->what);
    return err_help(e, "an object or a list is JSON, in single quotes for the shell: "
                    "--set 'train.loss={\"type\": \"focal\"}'");
}

bool config_set(struct json_doc *doc, const char *set, struct err *e)
{
    const char *equals = set + json_path_length(set);
    if (!*equals || equals == set) {
        err_set(e, ERR_SET_VALUE, "--set \"%s\": no key and value", text_quote_z(set));
        return err_expected(e, "path.to.key=VALUE");
    }
    char *path = mem_string_n(set, (size_t)(equals - set));
    const struct option *row = row_of(doc, path);
    const char *value = equals + 1;
    struct err unread = {0};
    char number[64] = "0"; /* .5 is no JSON */
    double v;
    const bool text_key = row && (row->type == OPT_STRING || row->type == OPT_WORD ||
                                  row->type == OPT_STRINGS);
    if (row && !text_key && *value == '.' && text_to_double(value, &v))
        value = strncat(number, value, sizeof number - 2);
    struct json_doc *read = json_parse(value, strlen(value), "--set", &unread);
    struct json_out text = {0};
    if (!read && unread.id == ERR_JSON_LIMIT) { /* no word either */
        err_set(e, ERR_SET_VALUE, "--set %.200s: %.700s", text_quote_z(path), unread.what);
        mem_free(path);
        return false;
    }
    if (!number_given(row, path, value, read ? json_root(read) : NULL, e) ||
        (!read && !object_given(row, text_key, path, value, &unread, e))) {
        json_free(read);
        mem_free(path);
        return false;
    }
    bool null = read && json_kind(json_root(read)) == JSON_NULL && !text_key;
    bool as_is = read && !text_key && (!row || row->type != OPT_SEED); /* "got number": as given */
    if (null || as_is || (read && fits(row, json_root(read))))
        json_write(&text.text, json_root(read), 0);
    else if (row && row->type == OPT_STRING &&
             strcmp(value, "\\t") == 0) /* a shell has no easy way to give a tab */
        json_put_string(&text, NULL, "\t");
    else
        json_put_string(&text, NULL, value);
    bool good = unfold_column(doc, path, e) && json_set(doc, path, text.text.data, e);
    if (!good && e->id != ERR_BUG) {
        char what[sizeof e->what];
        snprintf(what, sizeof what, "%s", e->what);
        err_clear(e);
        err_set(e, ERR_SET_VALUE, "--set: %.900s", what);
    }
    json_free(read);
    text_free(&text.text);
    mem_free(path);
    return good;
}
