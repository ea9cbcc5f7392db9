/* init_columns.c - the columns of a config that `dnn init` is about to write. */
#include "cli/init/init.h"

#include <string.h>

#include "base/mem.h"

/* True: a column of that type is an input of the network. */
static bool is_feature(const char *type)
{
    static const char *const features[] = {"numeric", "categorical", "datetime", "text"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (strcmp(type, features[i]) == 0)
            return true;
    return false;
}

bool init_has_feature(const struct config *c)
{
    const struct json *list = c->data.columns;
    if (c->data.sequence && json_kind(c->data.sequence) != JSON_NULL)
        return true;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v))
        if (is_feature(column_entry_type(v)) && strcmp(json_key(v), c->data.target) != 0)
            return true;
    return false;
}

/* The column of that name. The search begins at *at, which is then the place after it: names in the
 * file's order are found at once. NULL: the file has none. */
static const struct infer_column *column_from(const struct infer *found, const char *name,
                                              size_t *at)
{
    for (size_t i = 0; i < found->count; i++) {
        size_t here = (*at + i) % found->count;
        if (strcmp(found->columns[here].name, name) == 0) {
            *at = here + 1;
            return &found->columns[here];
        }
    }
    return NULL;
}

void init_unused(const struct config *c, struct infer *found)
{
    enum { LACKING, NOT_LEARNED, LEARNED };
    const struct json *list = c->data.columns;
    uint8_t *use = mem_zero(found->count + 1, 1);
    size_t at = 0;
    for (const struct json *v = list ? json_at(list, 0) : NULL; v; v = json_next(v)) {
        const struct infer_column *column = column_from(found, json_key(v), &at);
        if (column)
            use[column - found->columns] =
                is_feature(column_entry_type(v)) ? LEARNED : NOT_LEARNED;
    }
    for (size_t i = 0; i < found->count; i++) {
        struct infer_column *column = &found->columns[i];
        if (use[i] == LEARNED || strcmp(column->name, c->data.target) == 0)
            continue;
        column->note[0] = '\0';
        if (use[i] == LACKING)
            column->reason[0] = '\0';
    }
    mem_free(use);
}

bool init_lists_target(const struct infer_column *c, int task)
{
    return task == TASK_REGRESSION ? c->type == COLUMN_NUMERIC && (c->form || c->none.count)
                                   : c->none.count > 0;
}

void init_put_column(const struct infer_column *c, int type, struct json_out *o)
{
    const bool formed = type == COLUMN_NUMERIC || type == COLUMN_DATETIME;
    const struct form *f = formed ? c->form : NULL;
    const uint32_t buckets = type == COLUMN_TEXT ? c->buckets : 0;
    const size_t none = is_feature(column_role_names[type]) ? c->none.count : 0;
    if (!f && !buckets && !none) {
        json_put_string(o, c->name, column_role_names[type]);
        return;
    }
    json_open(o, c->name, '{');
    json_put_string(o, "type", column_role_names[type]);
    if (none)
        json_put_strings(o, "missing", c->none.items, none);
    if (buckets)
        json_put_int(o, "buckets", buckets);
    if (f && f->thousands)
        json_put_string(o, "thousands", f->thousands);
    if (f && f->unit_count)
        json_put_strings(o, "unit", f->units, f->unit_count);
    if (f && f->format)
        json_put_string(o, "format", f->format);
    json_close(o, '}');
}
