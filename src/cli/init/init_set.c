/* init_set.c - the values of --set that `dnn init` needs before there is a config. */
#include "cli/init/init.h"

#include <string.h>

#include "base/mem.h"
#include "table/schema/schema.h"

const char *init_set_value(const struct overrides *o, const char *key)
{
    size_t length = strlen(key);
    for (size_t i = o->set_count; i-- > 0;)
        if (strncmp(o->sets[i], key, length) == 0 && o->sets[i][length] == '=')
            return o->sets[i] + length + 1;
    return NULL;
}

static const char columns[] = "data.columns";

/* The key of a --set below data.columns., its first name without quotes; mem_free. NULL: it is
 * another key. */
static char *column_key(const char *set)
{
    const size_t lead = sizeof columns, length = json_path_length(set); /* lead: with its dot */
    struct text key = {0};
    size_t quoted = 0;
    if (strncmp(set, columns, lead - 1) != 0 || set[lead - 1] != '.')
        return NULL;
    char *name = json_path_quoted(set + lead, &quoted);
    quoted = name ? quoted : 0;
    text_put(&key, name ? name : "");
    text_add(&key, set + lead + quoted, length - lead - quoted);
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
    static const char tail[] = ".missing";
    struct infer_own *own = mem_zero(o->set_count + 1, sizeof *own);
    *count = 0;
    for (size_t i = 0; i < o->set_count; i++) {
        const char *value = o->sets[i] + json_path_length(o->sets[i]);
        struct err e = {0};
        char *key = *value ? column_key(o->sets[i]) : NULL;
        if (!key)
            continue;
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
    const size_t length = strlen(name);
    bool found = init_set_value(o, columns) != NULL;
    for (size_t i = 0; i < o->set_count && !found; i++) {
        char *key = column_key(o->sets[i]);
        found = key && strncmp(key, name, length) == 0 && (!key[length] || key[length] == '.');
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

/* The column that a --set makes this type: that of its key, or, of data.columns itself, one of the
 * object. */
static char *column_in(const char *set, const char *value, const char *type)
{
    struct err e = {0};
    struct json_doc *doc = json_parse(value, strlen(value), "--set", &e);
    const struct json *v = doc ? json_root(doc) : NULL;
    char *name = column_key(set), *found = NULL;
    if (name && (v ? is_of_type(v, type) : strcmp(value, type) == 0))
        found = mem_string_n(name, strlen(name) -
                                       (text_ends(name, ".type") ? strlen(".type") : 0));
    else if (!name && v && json_kind(v) == JSON_OBJECT)
        for (v = json_at(v, 0); v && !found; v = json_next(v))
            if (is_of_type(v, type))
                found = mem_string(json_key(v));
    json_free(doc);
    mem_free(name);
    return found;
}

char *init_column_of(const struct overrides *o, int column_type)
{
    char *found = NULL;
    for (size_t i = 0; i < o->set_count && !found; i++) {
        const char *set = o->sets[i], *value = set + json_path_length(set) + 1;
        if (strncmp(set, columns, sizeof columns - 1) != 0 || !value[-1] ||
            !strchr(".=", set[sizeof columns - 1]))
            continue;
        char *key = mem_string_n(set, (size_t)(value - set) - 1);
        if (init_set_value(o, key) == value) /* no later --set of the key replaces it */
            found = column_in(set, value, column_type_names[column_type]);
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
