/* init_set.c - see init_set.h. */
#include "cli/init/init_set.h"

#include <string.h>

#include "base/mem.h"
#include "table/schema.h"

const char *init_set_value(const struct overrides *o, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = o->set_count; i-- > 0;)
        if (strncmp(o->sets[i], key, length) == 0 && o->sets[i][length] == '=')
            return o->sets[i] + length + 1;
    return NULL;
}

/* The key of a --set, a column's name without quotes; mem_free. */
static char *plain_key(const char *set)
{
    static const char lead[] = "data.columns.";
    const size_t length = json_path_length(set);
    struct text key = {0};
    size_t quoted = 0;
    char *name = strncmp(set, lead, sizeof lead - 1) == 0
                     ? json_path_quoted(set + sizeof lead - 1, &quoted) : NULL;
    text_add(&key, set, name ? sizeof lead - 1 : length);
    if (name) {
        const size_t at = sizeof lead - 1 + quoted;
        text_put(&key, name);
        text_add(&key, set + at, length - at);
    }
    mem_free(name);
    return key.data;
}

/* The texts of a list, or one text; v NULL: `value` unchanged. */
static void take_texts(const struct json *v, const char *value, struct opt_strings *list)
{
    bool of_list = v && json_kind(v) == JSON_LIST;
    for (const struct json *one = of_list ? json_at(v, 0) : NULL; one; one = json_next(one))
        if (json_kind(one) == JSON_STRING)
            opt_strings_add(list, json_string(one));
    if (!of_list)
        opt_strings_add(list, v && json_kind(v) == JSON_STRING ? json_string(v) : value);
}

bool init_take_missing(const struct overrides *o, struct opt_strings *list)
{
    const char *value = init_set_value(o, "data.missing");
    struct err e = {0};
    if (!value)
        return false;
    struct json_doc *doc = json_parse(value, strlen(value), "--set", &e);
    take_texts(doc ? json_root(doc) : NULL, value, list);
    json_free(doc);
    return true;
}

struct infer_own *init_take_own(const struct overrides *o, size_t *count)
{
    static const char lead[] = "data.columns.", tail[] = ".missing";
    struct infer_own *own = mem_zero(o->set_count + 1, sizeof *own);
    *count = 0;
    for (size_t i = 0; i < o->set_count; i++) {
        const char *value = o->sets[i] + json_path_length(o->sets[i]);
        struct err e = {0};
        if (!*value || strncmp(o->sets[i], lead, sizeof lead - 1) != 0)
            continue;
        char *whole = plain_key(o->sets[i]), *key = mem_string(whole + sizeof lead - 1);
        mem_free(whole);
        struct json_doc *doc = json_parse(value + 1, strlen(value + 1), "--set", &e);
        const struct json *v = doc ? json_root(doc) : NULL;
        const bool named = text_ends(key, tail);
        if (named)
            key[strlen(key) - (sizeof tail - 1)] = '\0';
        else
            v = v && json_kind(v) == JSON_OBJECT ? json_get(v, tail + 1) : NULL;
        if (named || v) {
            own[*count].column = mem_string(key);
            take_texts(v, value + 1, &own[(*count)++].texts);
        }
        json_free(doc);
        mem_free(key);
    }
    return own;
}

void init_drop_own(struct infer_own *own, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        mem_free(own[i].column);
        opt_strings_free(&own[i].texts);
    }
    mem_free(own);
}

bool init_column_given(const struct overrides *o, const char *name)
{
    static const char lead[] = "data.columns.";
    size_t n = sizeof lead - 1, length = strlen(name);
    if (init_set_value(o, "data.columns"))
        return true;
    bool found = false;
    for (size_t i = 0; i < o->set_count && !found; i++) {
        char *key = plain_key(o->sets[i]);
        found = strncmp(key, lead, n) == 0 && strncmp(key + n, name, length) == 0 &&
                (!key[n + length] || key[n + length] == '.');
        mem_free(key);
    }
    return found;
}

bool init_split_by_column(const struct overrides *o)
{
    const char *method = init_set_value(o, "data.split.method");
    return method && strcmp(method, split_method_names[SPLIT_COLUMN]) == 0;
}

bool init_says_part(const struct overrides *o, const char *name)
{
    const char *of = init_set_value(o, "data.split.column");
    return init_split_by_column(o) && of && strcmp(of, name) == 0;
}

/* A type, or an object with one. */
static bool is_of_type(const struct json *v, const char *type)
{
    if (json_kind(v) == JSON_OBJECT)
        v = json_get(v, "type");
    return v && json_kind(v) == JSON_STRING && strcmp(json_string(v), type) == 0;
}

/* The column that a --set makes this type: the column of `key`, or, for data.columns, one of the
 * object. */
static char *column_in(const char *key, const char *value, const char *lead, const char *type)
{
    struct err e = {0};
    struct json_doc *doc = json_parse(value, strlen(value), "--set", &e);
    const struct json *v = doc ? json_root(doc) : NULL;
    const char *name = strcmp(key, lead) != 0 ? key + strlen(lead) + 1 : NULL;
    char *found = NULL;
    if (name) {
        size_t length = strlen(name) - (text_ends(name, ".type") ? strlen(".type") : 0);
        if (v ? is_of_type(v, type) : strcmp(value, type) == 0)
            found = mem_string_n(name, length);
    } else if (v && json_kind(v) == JSON_OBJECT) {
        for (v = json_at(v, 0); v && !found; v = json_next(v))
            if (is_of_type(v, type))
                found = mem_string(json_key(v));
    }
    json_free(doc);
    return found;
}

char *init_column_of(const struct overrides *o, int column_type)
{
    static const char lead[] = "data.columns";
    const size_t n = sizeof lead - 1;
    char *found = NULL;
    for (size_t i = 0; i < o->set_count && !found; i++) {
        size_t length = json_path_length(o->sets[i]);
        if (strncmp(o->sets[i], lead, n) != 0 || !o->sets[i][length] ||
            (length > n && o->sets[i][n] != '.'))
            continue;
        char *key = mem_string_n(o->sets[i], length);
        const char *value = o->sets[i] + length + 1;
        char *plain = plain_key(o->sets[i]);
        if (init_set_value(o, key) == value) /* no later --set of the key replaces it */
            found = column_in(plain, value, lead, column_type_names[column_type]);
        mem_free(plain);
        mem_free(key);
    }
    return found;
}

int init_split_method(const struct overrides *o, int task)
{
    char *group = init_column_of(o, COLUMN_GROUP);
    const bool grouped = group != NULL;
    mem_free(group);
    if (grouped)
        return SPLIT_GROUP;
    return task == TASK_REGRESSION ? SPLIT_RANDOM : SPLIT_STRATIFIED;
}
