/* schema_sequence.c - "data.sequence" in a schema: the columns of wide format, or those that tell
 * the records of a sequence. */
#include "table/schema/declaration.h"
#include "table/schema/sequence.h"

/* The columns of a sequence; no other column is an input beside them. */
static bool declare_wide(struct declaration *d)
{
    struct schema *s = d->schema;
    struct sequence found;
    bool good = sequence_find(d->options, d->doc, &s->dialect, &found, d->e);
    for (size_t i = 0; good && found.steps && i < s->column_count; i++)
        if (column_type_is_input(s->columns[i].type)) {
            json_fail(d->doc, d->places[i], d->e, ERR_CONFIG_CONFLICT,
                      "column \"%s\" is an input beside the sequence, which this version does not "
                      "learn from", text_quote_z(s->columns[i].name));
            err_other(d->e, "data.sequence");
            good = err_help(d->e, "leave it out of data.columns");
        }
    for (size_t i = 0; good && i < found.names.count; i++) {
        const char *name = found.names.items[i];
        if (declared_at(d, name) == UINT32_MAX) {
            struct column *c = declare_column(d, name, d->options->sequence);
            c->type = COLUMN_NUMERIC;
            c->scale = SCALE_STANDARD;
            c->impute = IMPUTE_MEAN;
        } else {
            good = json_fail(d->doc, d->options->sequence, d->e, ERR_CONFIG_COLUMNS,
                             "`data.sequence`: column \"%s\" stands twice, or elsewhere too",
                             text_quote_z(name));
        }
    }
    s->steps_sorted = found.sorted;
    sequence_take(&found, &s->steps, &s->channels);
    return good;
}

/* A column that tells the records of a sequence; it may be a feature or an id as well. */
static bool declare_told(struct declaration *d, const char *name, const char *key, int type,
                         uint32_t *at)
{
    struct schema *s = d->schema;
    *at = declared_at(d, name);
    if (*at == UINT32_MAX) {
        declare_column(d, name, d->options->sequence);
        *at = (uint32_t)s->column_count - 1;
        s->columns[*at].type = type;
    }
    if (s->columns[*at].type == COLUMN_IGNORE)
        s->columns[*at].type = type;
    if (*at != s->target)
        return true;
    const struct json *place = json_get(d->options->sequence, key);
    json_fail(d->doc, place, d->e, ERR_CONFIG_COLUMNS, "`data.sequence.%s`: \"%s\" is the target",
              key, text_quote_z(name));
    return err_other(d->e, "data.target");
}

static bool declare_windows(struct declaration *d)
{
    struct windows *w = &d->schema->windows;
    struct sequence_long found;
    bool good = sequence_long_read(d->options, d->schema->task, d->doc, &found, d->e);
    if (good && found.group) {
        *w = (struct windows){.window = (uint32_t)found.window,
                              .stride = (uint32_t)found.stride,
                              .order = UINT32_MAX,
                              .label = found.label,
                              .sort = found.unordered != 0,
                              .carry = found.carry_state};
        good = declare_told(d, found.group, "group", COLUMN_GROUP, &w->group) &&
               (!found.order ||
                declare_told(d, found.order, "order", COLUMN_SPLIT, &w->order));
    }
    sequence_long_free(&found);
    return good;
}

/* A text as tokens is the only input. */
static bool declare_tokens(const struct declaration *d)
{
    const struct schema *s = d->schema;
    size_t text = 0;
    while (text < s->column_count && !column_is_tokens(&s->columns[text]))
        text++;
    for (size_t i = 0; text < s->column_count && i < s->column_count; i++)
        if (i != text && column_type_is_input(s->columns[i].type)) {
            json_fail(d->doc, d->places[i], d->e, ERR_CONFIG_CONFLICT,
                      "column \"%s\" is an input beside the tokens of \"%s\", which this version "
                      "does not learn from", text_quote_z(s->columns[i].name),
                      text_quote_z(s->columns[text].name));
            err_other(d->e, "data.columns");
            return err_help(d->e, "leave it out of data.columns, or give the text \"encode\": "
                                  "\"hashed\"");
        }
    if (text == s->column_count || !s->windows.window)
        return true;
    json_fail(d->doc, d->places[text], d->e, ERR_CONFIG_CONFLICT,
              "column \"%s\": its tokens are a sequence, and the rows are steps of one",
              text_quote_z(s->columns[text].name));
    err_other(d->e, "data.sequence");
    return err_help(d->e, "leave one of them out");
}

bool declare_sequence(struct declaration *d)
{
    return declare_wide(d) && declare_windows(d) && declare_tokens(d);
}
