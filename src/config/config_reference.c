/* config_reference.c - every key of a config, one a row, with its words and its default: `dnn help
 * keys` and the README's reference. */
#include <string.h>

#include "base/mem.h"
#include "config/config_help.h"
#include "config/config_table.h"
#include "model/layer.h"
#include "model/preset/preset.h"

/* "key   First sentence of its help. [words; default]" */
static void write_row(struct text *out, const char *key, const struct option *row)
{
    const char *words = row->help ? row->help : "", *stop = strstr(words, ". ");
    int length = stop ? (int)(stop - words) + 1 : (int)strlen(words);
    text_printf(out, "  %-34s %.*s", key, length, words);
    if (row->type != OPT_CUSTOM) {
        text_put(out, " [");
        config_put_kind(out, row);
        text_char(out, ']');
    } else if (row->standard) {
        text_printf(out, " [default %s]", row->standard);
    }
    text_char(out, '\n');
}

/* type: what an entry is of ("a numeric column"), write_row before the help. */
static void put_table(struct text *out, const char *where, const struct option *table,
                      const char *of)
{
    for (const struct option *row = table; row->key; row++) {
        if (strcmp(row->key, "type") == 0 || strcmp(row->key, "preset") == 0 ||
            strcmp(row->key, "layers") == 0)
            continue;
        struct text key = {0}, help = {0};
        struct option shown = *row;
        text_printf(&key, "%s.%s", where, row->key);
        text_printf(&help, "%s: %s", of, row->help ? row->help : "");
        shown.help = help.data;
        write_row(out, key.data, &shown);
        text_free(&key);
        text_free(&help);
    }
}

static void put_columns(struct text *out)
{
    write_row(out, "data.columns.NAME.type",
        &(struct option){.type = OPT_WORD,
                         .words = column_type_names,
                         .help = "What the column is; \"NAME\": \"numeric\" is short for "
                                 "{\"type\": \"numeric\"}."});
    for (int i = 0; i < CONFIG_COLUMNS; i++)
        put_table(out, "data.columns.NAME", config_columns[i].table, config_columns[i].type);
}

static void put_layer(struct text *out, const struct layer_type *t)
{
    text_printf(out, "    %-32s %s", t->name, t->summary);
    for (const struct option *row = t->options; row->key; row++)
        if (strcmp(row->key, "type") != 0 && strcmp(row->key, "layers") != 0) {
            text_printf(out, " %s [", row->key);
            config_put_kind(out, row);
            text_char(out, ']');
        }
    text_char(out, '\n');
}

static void put_model(struct text *out)
{
    const char **names = mem_zero(preset_count() + 1, sizeof *names);
    for (size_t i = 0; i < preset_count(); i++)
        names[i] = presets[i].name;
    write_row(out, "model.preset",
        &(struct option){.type = OPT_WORD,
                         .words = names,
                         .standard = "\"auto\"",
                         .help = "A ready network; its own options stand beside its name."});
    mem_free(names);
    for (size_t i = 0; i < preset_count(); i++)
        put_table(out, "model", presets[i].options, presets[i].name);
    write_row(out, "model.layers",
        &(struct option){.type = OPT_CUSTOM,
                         .help =
                             "In place of a preset: a list of {\"type\": TYPE, ...}, with these "
                             "types and options."});
    for (const struct layer_type *const *t = layer_types; *t; t++)
        put_layer(out, *t);
}

static void each(const char *key, const struct option *row, void *context)
{
    write_row(context, key, row);
    if (strcmp(key, "data.columns") == 0)
        put_columns(context);
    if (strcmp(key, "model") == 0)
        put_model(context);
}

void config_reference(struct text *out)
{
    config_keys(each, out);
}

bool config_column_help(const char *key, struct text *out,
                        void (*put_row)(struct text *, const char *, const struct option *))
{
    static const char columns[] = "data.columns.";
    const char *dot = strrchr(key, '.'), *name = dot ? dot + 1 : key;
    bool found = false;
    if ((dot && strncmp(key, columns, sizeof columns - 1) != 0) || strcmp(name, "type") == 0)
        return false;
    for (int i = 0; i < CONFIG_COLUMNS; i++) {
        const struct option *row = opt_find(config_columns[i].table, name);
        if (!row)
            continue;
        struct text where = {0};
        text_printf(&where, "%sdata.columns.NAME.%s, of a %s column", found ? "\n" : "", name,
                    config_columns[i].type);
        put_row(out, where.data, row);
        text_free(&where);
        found = true;
    }
    return found;
}
