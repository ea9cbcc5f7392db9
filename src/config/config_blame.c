/* config_blame.c - an error about a value that a --set gave names that --set, not a place in the
 * file. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_table.h"

void config_note_sets(struct config *c, const struct overrides *o)
{
    c->sets = mem_zero(o->set_count + 1, sizeof *c->sets);
    for (size_t i = 0; i < o->set_count; i++) {
        const size_t length = json_path_length(o->sets[i]);
        if (o->sets[i][length])
            c->sets[c->set_count++] = mem_string_n(o->sets[i], length);
    }
}

/* True: one of the two keys is the other, or stands above it. */
static bool related(const char *key, size_t length, const char *path)
{
    size_t n = strlen(path), shorter = n < length ? n : length;
    if (!length || strncmp(key, path, shorter) != 0)
        return false;
    return n == length || (n > length ? path[length] : key[n]) == '.';
}

/* The --set of this key, or of one above or below it, or NULL. */
static const char *set_of(const struct config *c, const char *key)
{
    for (size_t i = c->set_count; i-- > 0;) /* the last --set of a key counts */
        if (related(key, strlen(key), c->sets[i]))
            return c->sets[i];
    return NULL;
}

/* Appends to the help. */
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
    config_near(e);
    if (!c->set_count || (!alone && !together) || (alone && e->line > 0))
        return false;
    const char *path = set_of(c, e->key);
    if (!path && (together || e->line > 0)) {
        const char *other = set_of(c, e->other);
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
