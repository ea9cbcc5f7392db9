/* config_blame.c - who is to blame for a value: the file, or a --set of the command line. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "run/config_table.h"

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

/* Whether the sentence names the key: `train.epochs`, "train.epochz", or column "age". */
static bool names(const char *what, const char *path)
{
    static const char columns[] = "data.columns.", column[] = "column \"";
    bool of_column = strncmp(path, columns, sizeof columns - 1) == 0;
    for (const char *q = what; (q = strpbrk(q, "`\"")); q++) {
        size_t length = strcspn(q + 1, "`\"");
        if (related(q + 1, length, path))
            return true;
        size_t before = sizeof column - 2; /* without its quote */
        if (of_column && (size_t)(q - what) >= before &&
            strncmp(q - before, column, sizeof column - 1) == 0 &&
            related(q + 1, length, path + sizeof columns - 1))
            return true;
        q += length;
        if (!q[1])
            break;
        q++;
    }
    return false;
}

const char *config_set_of(const struct config *c, const char *what)
{
    for (size_t i = c->set_count; i-- > 0;) /* the last one of a key is the one that counts */
        if (names(what, c->sets[i]))
            return c->sets[i];
    return NULL;
}

bool config_blame(const struct config *c, struct err *e)
{
    bool alone = e->id == ERR_CONFIG_KEY || e->id == ERR_CONFIG_TYPE || e->id == ERR_CONFIG_RANGE ||
                 e->id == ERR_CONFIG_WORD || e->id == ERR_CONFIG_EMPTY ||
                 e->id == ERR_JSON_DUPLICATE;
    bool together = e->id == ERR_CONFIG_CONFLICT || e->id == ERR_CONFIG_COLUMNS ||
                    e->id == ERR_CONFIG_SPLIT_COLUMN || e->id == ERR_CONFIG_SIZE ||
                    e->id == ERR_CONFIG_LABEL || e->id == ERR_SET_VALUE;
    if (!c->set_count || (!alone && !together) || (alone && e->line > 0))
        return false;
    const char *path = config_set_of(c, e->what);
    if (!path && (together || e->line > 0))
        return false;
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

/* --- columns that the data lack --- */

/* The key that names the column, and the value that stands there. */
static const struct json *column_key(const struct config *c, const char *quoted, const char **key)
{
    const struct json *root = json_root(c->doc), *v = json_path(root, *key = "data.target");
    if (v && strcmp(text_quote_z(json_string(v)), quoted) == 0)
        return v;
    v = json_path(root, *key = "data.split.column");
    if (v && strcmp(text_quote_z(json_string(v)), quoted) == 0)
        return v;
    *key = "data.columns";
    const struct json *list = json_path(root, *key);
    for (v = list ? json_at(list, 0) : NULL; v; v = json_next(v))
        if (strcmp(text_quote_z(json_key(v)), quoted) == 0)
            return v;
    return NULL;
}

bool config_blame_column(const struct config *c, struct err *e)
{
    const char *open = strchr(e->what, '"'), *key;
    if (e->id != ERR_MODEL_COLUMN || !open)
        return false;
    char *name = mem_string_n(open + 1, strcspn(open + 1, "\""));
    const struct json *v = column_key(c, name, &key);
    size_t used = strlen(e->what);
    if (v && used < sizeof e->what) {
        struct text path = {0};
        int64_t line, column;
        json_place(c->doc, v, &line, &column);
        text_printf(&path, "`%s%s%s`", key, strcmp(key, "data.columns") == 0 ? "." : "",
                    strcmp(key, "data.columns") == 0 ? name : "");
        const char *set = line > 0 ? NULL : config_set_of(c, path.data);
        char room[512];
        text_escape(room, sizeof room, json_name(c->doc), strlen(json_name(c->doc)));
        if (set)
            snprintf(e->what + used, sizeof e->what - used, ", which --set %s names",
                     text_quote_z(set));
        else if (line > 0)
            snprintf(e->what + used, sizeof e->what - used, ", which `%s` names (%s:%lld:%lld)",
                     key, room, (long long)line, (long long)column);
        text_free(&path);
    }
    mem_free(name);
    return false;
}
