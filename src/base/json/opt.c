/* opt.c - option tables looked at: finding a row, walking through them, naming a type and a range.
 */
#include "base/json/opt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/json/opt_parts.h"

void opt_strings_add(struct opt_strings *list, const char *text)
{
    list->items = mem_more(list->items, list->count, sizeof *list->items);
    list->items[list->count++] = mem_string(text);
}

struct opt_strings opt_strings_copy(const struct opt_strings *list)
{
    struct opt_strings copy = {mem_zero(list->count + 1, sizeof *copy.items), list->count};
    for (size_t i = 0; i < list->count; i++)
        copy.items[i] = mem_string(list->items[i]);
    return copy;
}

void opt_strings_free(struct opt_strings *list)
{
    for (size_t i = 0; i < list->count; i++)
        mem_free(list->items[i]);
    mem_free(list->items);
    *list = (struct opt_strings){0};
}

const struct option *opt_find(const struct option *table, const char *key)
{
    for (const struct option *row = table; row->key; row++) {
        size_t n = strlen(row->key);
        if (strcmp(row->key, key) == 0)
            return row;
        if (row->type == OPT_TABLE && strncmp(row->key, key, n) == 0 && key[n] == '.')
            return opt_find(row->table, key + n + 1);
    }
    return NULL;
}

void opt_each(const struct option *table, const char *path, const void *from,
              void (*each)(const char *key, const struct option *row, const void *base,
                           void *context),
              void *context)
{
    for (const struct option *row = table; row->key; row++) {
        char full[MOST_NAME];
        snprintf(full, sizeof full, "%s%s%s", path, *path ? "." : "", row->key);
        const void *field = from ? (const char *)from + row->offset : NULL;
        bool null = field && opt_null_table(row) && !*(const bool *)field;
        if (row->type == OPT_TABLE && !null)
            opt_each(row->table, full, field, each, context);
        else
            each(full, row, from, context);
    }
}

/* As messages name a type, without an article and with it. */
static const struct { const char *name, *one; } types[] = {
    [OPT_BOOL] = {"true or false", "true or false"},
    [OPT_INT] = {"integer", "an integer"},
    [OPT_SEED] = {"integer or string of digits", "an integer or a string of digits"},
    [OPT_NUMBER] = {"number", "a number"},
    [OPT_STRING] = {"string", "a string"},
    [OPT_WORD] = {"word", "a string"},
    [OPT_STRINGS] = {"string or list of strings", "a string or a list of strings"},
    [OPT_INTS] = {"list of integers", "a list of integers"},
    [OPT_NUMBERS] = {"list of numbers", "a list of numbers"},
    [OPT_TABLE] = {"object", "an object"},
    [OPT_CUSTOM] = {"value", "a value"},
};

const char *opt_type_name(enum opt_type type)
{
    return types[type].name;
}

const char *opt_type_one(enum opt_type type)
{
    return types[type].one;
}

bool opt_entry_of(const struct option *table, const struct option *row, const char *prefix,
                  struct opt_entry *entry)
{
    size_t n = strlen(prefix);
    if (strncmp(row->key, prefix, n) != 0)
        return false;
    size_t length = strcspn(row->key + n, ".");
    entry->group = row->key[n + length] == '.';
    for (const struct option *earlier = table; entry->group && earlier < row; earlier++)
        if (strncmp(earlier->key, row->key, n + length + 1) == 0)
            return false;
    if (n + length + 2 > sizeof entry->prefix || length + 1 > sizeof entry->name)
        return false;
    memcpy(entry->name, row->key + n, length);
    entry->name[length] = '\0';
    memcpy(entry->prefix, row->key, n + length);
    memcpy(entry->prefix + n + length, ".", 2);
    return true;
}

bool opt_limited(const struct option *row)
{
    return row->low < 0 || row->low > 0 || row->high < 0 || row->high > 0;
}

const char *opt_range(const struct option *row)
{
    static _Thread_local char buffers[4][80];
    static _Thread_local unsigned turn;
    char *out = buffers[turn++ % 4];
    bool low = opt_limited(row) && isfinite(row->low),
         high = opt_limited(row) && isfinite(row->high);
    bool open_low = row->flags & OPT_OPEN_LOW, open_high = row->flags & OPT_OPEN_HIGH;
    size_t room = sizeof buffers[0];
    if (low && high && !open_low && !open_high)
        snprintf(out, room, "%.15g to %.15g", row->low, row->high);
    else if (low && high)
        snprintf(out, room, "%s %.15g and %s %.15g", open_low ? "more than" : "at least", row->low,
                 open_high ? "less than" : "at most", row->high);
    else if (low)
        snprintf(out, room, "%s %.15g", open_low ? "more than" : "at least", row->low);
    else if (high)
        snprintf(out, room, "%s %.15g", open_high ? "less than" : "at most", row->high);
    else
        out[0] = '\0';
    return out;
}
