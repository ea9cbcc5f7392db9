/* config_blame.c - who is to blame for a value: a place in the file, a --set of the command line,
 * the environment, or nobody: a default. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_table.h"

void config_note_sets(struct config *c, const struct overrides *o)
{
    c->sets = mem_zero(o->set_count + 1, sizeof *c->sets);
    for (size_t i = 0; i < o->set_count; i++) {
        const char *equals = strchr(o->sets[i], '=');
        if (equals)
            c->sets[c->set_count++] = mem_string_n(o->sets[i], (size_t)(equals - o->sets[i]));
    }
}

/* Whether one of the two keys is the other, or stands above it. */
static bool related(const char *key, size_t length, const char *path)
{
    size_t n = strlen(path), shorter = n < length ? n : length;
    if (!length || strncmp(key, path, shorter) != 0)
        return false;
    return n == length || (n > length ? path[length] : key[n]) == '.';
}

const char *config_set_of(const struct config *c, const char *key)
{
    for (size_t i = c->set_count; i-- > 0;) /* the last one of a key is the one that counts */
        if (related(key, strlen(key), c->sets[i]))
            return c->sets[i];
    return NULL;
}

/* Put behind the help. */
__attribute__((format(printf, 2, 3))) static void help_add(struct err *e, const char *format, ...)
{
    size_t used = strlen(e->help);
    va_list args;
    va_start(args, format);
    vsnprintf(e->help + used, sizeof e->help - used, format, args);
    va_end(args);
}

bool config_blame(const struct config *c, struct err *e)
{
    bool alone = e->id == ERR_CONFIG_KEY || e->id == ERR_CONFIG_TYPE || e->id == ERR_CONFIG_RANGE ||
                 e->id == ERR_CONFIG_WORD || e->id == ERR_CONFIG_EMPTY ||
                 e->id == ERR_CONFIG_MISSING_KEY || e->id == ERR_JSON_DUPLICATE;
    bool together = e->id == ERR_CONFIG_CONFLICT || e->id == ERR_CONFIG_COLUMNS ||
                    e->id == ERR_CONFIG_SPLIT_COLUMN || e->id == ERR_CONFIG_SIZE ||
                    e->id == ERR_CONFIG_LABEL || e->id == ERR_SET_VALUE;
    config_near(c, e);
    if (!c->set_count || (!alone && !together) || (alone && e->line > 0))
        return false;
    const char *path = config_set_of(c, e->key);
    if (!path && (together || e->line > 0)) {
        const char *other = config_set_of(c, e->other);
        if (other)
            help_add(e, e->help[0] ? " (--set %s)" : "see --set %s", text_quote_z(other));
        return false;
    }
    char what[sizeof e->what], lead[256];
    const char *rest = e->what;
    snprintf(lead, sizeof lead, "`%s`: ", path ? path : "");
    if (path && strncmp(rest, lead, strlen(lead)) == 0)
        rest += strlen(lead);
    snprintf(what, sizeof what, "--set%s%.200s: %.780s", path ? " " : "",
             path ? text_quote_z(path) : "", rest);
    memcpy(e->what, what, sizeof what);
    e->file[0] = '\0';
    e->line = e->column = 0;
    if (alone)
        e->id = ERR_SET_VALUE;
    return false;
}

/* --- data that do not fit a value --- */

/* What data.columns says of the column, NULL when nothing. */
static const struct json *column_entry(const struct config *c, const char *name)
{
    const struct json *list = json_path(json_root(c->doc), "data.columns");
    return list && json_kind(list) == JSON_OBJECT ? json_get(list, name) : NULL;
}

/* "leads.json:11:17", "--set", "MODEL_BACKEND", "default": where the value of key stands, v, came
 * from. */
static void put_origin(const struct config *c, const char *key, const struct json *v,
                       struct text *out)
{
    const struct setting *s = settings_find(c->settings, c->setting_count, key);
    int64_t line = 0, column = 0;
    char room[512];
    if (v)
        json_place(c->doc, v, &line, &column);
    if (line > 0 && (!s || strcmp(s->from, "config") == 0)) {
        text_escape(room, sizeof room, json_name(c->doc), strlen(json_name(c->doc)));
        text_printf(out, "%s:%lld:%lld", room, (long long)line, (long long)column);
    } else {
        text_put(out, s && strcmp(s->from, "config") != 0 ? s->from : v ? "--set" : "default");
    }
}

/* The values that an error of the data is about. "*" is the entry of the column that the error is
 * about. Of those that a file shows beside the error, only a --set is told. */
static const struct {
    enum err_id id;
    const char *key;
    bool always;
} about[] = {{ERR_POSITIVE_UNSEEN, "data.positive", true},
             {ERR_LABEL_COUNT, "task", true},
             {ERR_LABEL_UNSEEN, "data.split.method", true},
             {ERR_LABEL_UNSEEN, "data.valid", true},
             {ERR_LABEL_UNSEEN, "data.test", true},
             {ERR_SPLIT_EMPTY, "data.split.valid", true},
             {ERR_SPLIT_EMPTY, "data.split.test", true},
             {ERR_METRIC_ROWS, "train.early_stopping.metric", true},
             {ERR_SPLIT_TIME, "data.split.method", true},
             {ERR_CSV_PART, "data.split.column", true},
             {ERR_CSV_DELIMITER, "data.delimiter", true},
             {ERR_COLUMN_EMPTY, "*", true},
             {ERR_CONFIG_COLUMNS, "*", true},
             {ERR_CATEGORY_LIMIT, "*", true},
             {ERR_CSV_MISSING_VALUE, "*impute", true},
             {ERR_CSV_UNKNOWN_CATEGORY, "*unknown", true},
             {ERR_CSV_WEIGHT, "*", true},
             {ERR_CSV_ENCODING, "data.encoding", false},
             {ERR_CSV_NUMBER, "data.decimal", false},
             {ERR_CSV_NUMBER, "*", false},
             {ERR_CSV_DATE, "*", false}};

static void blame_value(const struct config *c, const char *key, bool always, struct err *e)
{
    const struct json *v;
    struct text path = {0}, from = {0};
    if (key[0] == '*') {
        v = e->subject[0] ? column_entry(c, e->subject) : NULL;
        if (!v)
            return;
        text_printf(&path, "data.columns.%s", text_quote_z(e->subject));
        if (key[1]) {
            text_printf(&path, ".%s", key + 1);
            v = json_get(v, key + 1) ? json_get(v, key + 1) : v;
        }
    } else {
        v = json_path(json_root(c->doc), key);
        text_put(&path, key);
    }
    put_origin(c, key, v, &from);
    if (always || strcmp(from.data, "--set") == 0)
        help_add(e, e->help[0] ? " (`%s`: %s)" : "see `%s` (%s)", path.data, from.data);
    text_free(&path);
    text_free(&from);
}

bool config_blame_data(const struct config *c, struct err *e)
{
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (e->id == about[i].id &&
            ((e->id != ERR_SPLIT_EMPTY && e->id != ERR_LABEL_UNSEEN) ||
             strcmp(e->key, about[i].key) == 0))
            blame_value(c, about[i].key, about[i].always, e);
    return false;
}
