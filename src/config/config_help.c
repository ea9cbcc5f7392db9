/* config_help.c - `dnn help KEY`: the page of a key, of a group of keys, a preset, a layer or a
 * type of column, from the tables. */
#include <string.h>

#include "config/config_help.h"
#include "backend/backend.h"
#include "base/mem.h"
#include "config/config_table.h"
#include "measure/metric.h"
#include "model/layer.h"
#include "model/network/model.h"

/* --- one row --- */

static void wrap(struct text *out, const char *text, const char *indent)
{
    size_t column = 0;
    for (const char *w = text; *w;) {
        size_t n = strcspn(w, " ");
        if (column && column + 1 + n > 78) {
            text_char(out, '\n');
            column = 0;
        }
        text_put(out, column ? " " : indent);
        text_add(out, w, n);
        column += n + (column ? 1 : strlen(indent));
        w += n + strspn(w + n, " ");
    }
    text_char(out, '\n');
}

static void put_words(struct text *out, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        text_printf(out, "%s%s", i ? ", " : "", words[i]);
}

void config_put_kind(struct text *out, const struct option *row)
{
    const char *range = opt_range(row);
    if (row->words)
        put_words(out, row->words);
    else
        text_put(out, opt_type_name(row->type));
    if (*range)
        text_printf(out, ", %s", range);
    if (row->flags & OPT_NULLABLE)
        text_put(out, ", or null");
    if (row->standard && !(row->flags & OPT_REQUIRED))
        text_printf(out, "; default %s", row->standard);
    else if (row->type != OPT_TABLE)
        text_put(out, "; required");
}

static void put_row(struct text *out, const char *key, const struct option *row)
{
    struct text kind = {0};
    config_put_kind(&kind, row);
    text_printf(out, "%s\n", key);
    wrap(out, kind.data, "    ");
    if (row->help)
        wrap(out, row->help, "    ");
    text_free(&kind);
}

/* Writes the options of a layer, a preset or a column, without the option that names it. */
static void put_options(struct text *out, const struct option *table)
{
    for (const struct option *row = table; row->key; row++)
        if (strcmp(row->key, "type") != 0 && strcmp(row->key, "preset") != 0 &&
            strcmp(row->key, "layers") != 0) {
            text_char(out, '\n');
            put_row(out, row->key, row);
        }
}

/* --- words in a config that are no keys --- */

static bool put_preset(struct text *out, const char *name)
{
    const struct preset *p = preset_find(name);
    if (!p)
        return false;
    text_printf(out, "\"model\": {\"preset\": \"%s\"}\n", p->name);
    wrap(out, p->summary, "    ");
    put_options(out, p->options);
    return true;
}

static bool put_layer(struct text *out, const char *name)
{
    const struct layer_type *t = layer_find(name);
    if (!t)
        return false;
    text_printf(out, "\"layers\": [{\"type\": \"%s\"}]\n", t->name);
    wrap(out, t->summary, "    ");
    put_options(out, t->options);
    if (t->nests)
        put_row(
            out, "\nlayers",
            &(struct option){.type = OPT_CUSTOM, .help = "The layers inside, as in \"model\"."});
    for (const char *const *example = t->examples; example && *example; example++)
        text_printf(out, "%s    %s\n", example == t->examples ? "\nfor example\n" : "", *example);
    return true;
}

static const struct { const char *name, *words; } column_words[] = {
    {"numeric", "Numbers such as -12, 0.5 or 1.5e-3; missing ones are imputed."},
    {"categorical", "Texts as they stand, each its own category."},
    {"datetime",
     "Dates YYYY-MM-DD, YYYY/MM/DD or YYYYMMDD, alone or with hh:mm[:ss[.fff]] behind a blank or "
     "T, and Z or an offset such as +02:00 behind that; a month YYYY-MM; a time of day hh:mm[:ss]. "
     "Weeks (2024-W07), days of the year (2024-045), names of zones and 12-hour times are not "
     "read. A zone is turned into UTC: the time of day of 10:00+02:00 is 8. A time alone is one of "
     "1970-01-01, a month its first day. The network sees the time as a "
     "number, and the time of day, the day of the week and the day of the year as circles."},
    {"id",
     "Names the row: it is repeated in predictions and never learned from. Any text; there may "
     "be several."},
    {"weight",
     "A number, at least 0, by which the row counts in training and in metrics. At most one "
     "column; it is no input."},
    {"group",
     "Rows with the same text belong together: data.split.method \"group\" keeps them in one "
     "part. It is no input."},
    {"text", "Free text. Its words and runs of words are hashed to inputs of the network; see `dnn "
             "help texts`."},
    {"ignore", "Not used, as if it were not listed; it need not be in files to be predicted."},
};

static bool put_column(struct text *out, const char *name)
{
    const struct option *table = column_plain_table;
    for (int i = 0; i < CONFIG_COLUMNS; i++)
        if (strcmp(config_columns[i].type, name) == 0)
            table = config_columns[i].table;
    for (size_t i = 0; i < sizeof column_words / sizeof *column_words; i++)
        if (strcmp(column_words[i].name, name) == 0) {
            text_printf(out, "\"columns\": {\"NAME\": {\"type\": \"%s\"}}, or short \"NAME\": "
                             "\"%s\"\n", name, name);
            wrap(out, column_words[i].words, "    ");
            put_options(out, table);
            return true;
        }
    return false;
}

static void put_models(struct text *out)
{
    text_put(out, "\npresets\n");
    for (size_t i = 0; i < preset_count(); i++)
        text_printf(out, "    %-14s %s\n", presets[i].name, presets[i].summary);
    text_put(out, "\nlayers\n");
    for (const struct layer_type *const *t = layer_types; *t; t++)
        text_printf(out, "    %-14s %s\n", (*t)->name, (*t)->summary);
}

static void put_columns(struct text *out)
{
    text_put(out, "\ntypes of columns\n    ");
    put_words(out, column_type_names);
    text_char(out, '\n');
    for (int i = 0; i < CONFIG_COLUMNS; i++)
        put_options(out, config_columns[i].table);
}

/* Every layer with its options. */
static void put_layers(struct text *out)
{
    text_put(out, "\"layers\": [{\"type\": TYPE, ...}, ...]\n");
    wrap(out, "The network spelled out, in \"model\" instead of a preset; a last dense layer to "
              "the answers is added. `dnn help TYPE` has examples.", "    ");
    for (const struct layer_type *const *t = layer_types; *t; t++) {
        text_printf(out, "\n%s\n", (*t)->name);
        wrap(out, (*t)->summary, "    ");
        for (const struct option *row = (*t)->options; row->key; row++)
            if (strcmp(row->key, "type") != 0 && strcmp(row->key, "layers") != 0) {
                struct text line = {0};
                text_printf(&line, "%s: ", row->key);
                config_put_kind(&line, row);
                wrap(out, line.data, "        ");
                text_free(&line);
            }
        if ((*t)->nests)
            text_put(out, "        layers: the layers inside; required\n");
    }
}

static bool put_metric(struct text *out, const char *name)
{
    const struct metric_type *m = metric_types;
    while (m->name && strcmp(m->name, name) != 0)
        m++;
    if (!m->name)
        return false;
    text_printf(out, "%s\n    a metric of", m->name);
    bool any = false;
    for (int task = 0; task_names[task]; task++)
        if (m->tasks & (1u << task)) {
            text_printf(out, "%s %s", any ? "," : "", task_names[task]);
            any = true;
        }
    if (m->tasks & (1u << METRIC_QUANTILE) && !any)
        text_put(out, " regression by models of loss quantile");
    if (m->tasks >> METRIC_REGION && !any)
        text_printf(out, "%s models with intervals or sets",
                    m->tasks & (1u << METRIC_QUANTILE) ? ", and of" : "");
    text_printf(out, "; %s\n", m->of_level ? "near its level is right"
                                : m->higher ? "higher is better"
                                            : "lower is better");
    struct text help = {0};
    text_printf(&help, "%s. `dnn evaluate` shows it; %s--require take%s its name.", m->help,
                any ? "train.early_stopping.metric and " : "its ", any ? "" : "s");
    wrap(out, help.data, "    ");
    text_free(&help);
    return true;
}

static bool put_variable(struct text *out, const char *name)
{
    const struct config_variable *v = config_variable_find(name);
    if (!v)
        return false;
    text_printf(out, "%s\n", v->name);
    wrap(out, v->words, "    ");
    wrap(out, v->help, "    ");
    return true;
}

static bool put_environment(struct text *out)
{
    wrap(out,
         "An option or --set wins over a variable, a variable over the config. An empty variable "
         "counts as not set, except CUDA_VISIBLE_DEVICES: empty, it hides every GPU. A word that "
         "a variable does not have is exit 64. `dnn check` shows where each value came from. "
         "Several variables may name a backend: the first one of this list wins.",
         "");
    for (const struct config_variable *v = config_variables; v->name; v++) {
        text_char(out, '\n');
        put_variable(out, v->name);
    }
    return true;
}

/* --- a word of an option --- */

static bool has_word(const struct option *row, const char *word)
{
    for (size_t i = 0; row->words && row->words[i]; i++)
        if (strcmp(row->words[i], word) == 0)
            return true;
    return false;
}

/* The keys that have an effect only with this word of a key. */
static void put_belonging(struct text *out, const char *key, const char *word)
{
    for (const struct config_belonging *b = config_belongings; b->key; b++)
        if (strcmp(b->beside, key) == 0 && config_listed(b->words, word, strlen(word))) {
            text_char(out, '\n');
            put_row(out, b->key, opt_find(config_table, b->key));
        }
}

/* Rows of a table that stands in the config without being keys of it. */
static size_t put_table_word(struct text *out, const char *where, const struct option *table,
                             const char *word, size_t found)
{
    for (const struct option *row = table; row->key; row++)
        if (strcmp(row->key, "type") != 0 && strcmp(row->key, "preset") != 0 &&
            has_word(row, word)) {
            struct text key = {0};
            text_printf(&key, "%s%s of %s", found++ ? "\n" : "", row->key, where);
            put_row(out, key.data, row);
            text_free(&key);
        }
    return found;
}

static size_t put_other_words(struct text *out, const char *word, size_t found)
{
    struct text where = {0};
    for (int i = 0; i < CONFIG_COLUMNS; i++) {
        text_clear(&where);
        text_printf(&where, "a %s column", config_columns[i].type);
        found = put_table_word(out, where.data, config_columns[i].table, word, found);
    }
    for (size_t i = 0; i < preset_count(); i++) {
        text_clear(&where);
        text_printf(&where, "the preset %s", presets[i].name);
        found = put_table_word(out, where.data, presets[i].options, word, found);
    }
    for (const struct layer_type *const *t = layer_types; *t; t++) {
        text_clear(&where);
        text_printf(&where, "the layer %s", (*t)->name);
        found = put_table_word(out, where.data, (*t)->options, word, found);
    }
    text_free(&where);
    return found;
}

/* --- finding --- */

struct search {
    struct text *out;
    const char *word;
    const char **known; /* every name, to find the nearest */
    size_t known_count, found;
    bool values; /* look at words instead of names */
    bool backend; /* a key of that section was found */
};

static void know(struct search *s, const char *name)
{
    s->known = mem_more(s->known, s->known_count, sizeof *s->known);
    s->known[s->known_count++] = name;
}

static void hit(struct search *s, const char *key, const struct option *row)
{
    if (s->found++)
        text_char(s->out, '\n');
    put_row(s->out, key, row);
    s->backend |= strncmp(key, "backend.", 8) == 0;
}

/* Matches a key below the word ("train.loss"), a key that ends with it ("learning_rate"), or a key
 * with it as a value ("adamw"). */
static void match_key(const char *key, const struct option *row, void *context)
{
    struct search *s = context;
    if (strncmp(key, "encoders.", 9) == 0 && strncmp(s->word, "encoders", 8) != 0)
        return; /* the keys of columns */
    size_t n = strlen(s->word), length = strlen(key);
    if (s->values) {
        if (has_word(row, s->word)) {
            hit(s, key, row);
            put_belonging(s->out, key, s->word);
        }
        return;
    }
    bool below = strncmp(key, s->word, n) == 0 && (key[n] == '.' || key[n] == '\0');
    bool ends = length > n && strcmp(key + length - n, s->word) == 0 && key[length - n - 1] == '.';
    const char *inside = strstr(key, s->word); /* "optimizer" in "train.optimizer.type" */
    bool group = inside && inside > key && inside[-1] == '.' && inside[n] == '.';
    if (below || ends || group)
        hit(s, key, row);
    know(s, row->key);
    for (size_t i = 0; row->words && row->words[i]; i++)
        if (strcmp(row->words[i], "none") != 0 && strcmp(row->words[i], "auto") != 0)
            know(s, row->words[i]);
    const char *last = strrchr(row->key, '.');
    if (last)
        know(s, last + 1);
}

static void look_model(struct search *s)
{
    const char *name = strncmp(s->word, "model.", 6) == 0 ? s->word + 6 : s->word;
    for (size_t i = 0; i < preset_count(); i++) {
        const struct option *row = opt_find(presets[i].options, name);
        if (row) {
            struct text where = {0};
            text_printf(&where, "model.%s, with model.preset \"%s\"", name, presets[i].name);
            hit(s, where.data, row);
            text_free(&where);
        }
        know(s, presets[i].name);
    }
    for (const struct layer_type *const *t = layer_types; *t; t++)
        know(s, (*t)->name);
    for (const struct config_variable *v = config_variables; v->name; v++)
        know(s, v->name);
    for (const struct metric_type *m = metric_types; m->name; m++)
        know(s, m->name);
}

bool config_key_help(const char *key, struct text *out)
{
    struct search s = {.out = out, .word = key};
    config_keys(match_key, &s);
    bool found = s.found > 0;
    if (found && strcmp(key, "model") == 0)
        put_models(out);
    if (found && strcmp(key, "data.columns") == 0)
        put_columns(out);
    if (!found && strcmp(key, "data.columns.NAME.type") == 0) {
        put_columns(out);
        found = true;
    }
    found = found || config_column_help(key, out, put_row);
    if (!found && (strcmp(key, "preset") == 0 || strcmp(key, "model.preset") == 0)) {
        text_put(out, "model.preset\n");
        wrap(out, "The name of a ready network; its own options stand beside it. `dnn help NAME` "
                  "shows them.", "    ");
        put_models(out);
        found = true;
    }
    if (!found && (strcmp(key, "layers") == 0 || strcmp(key, "model.layers") == 0)) {
        put_layers(out);
        found = true;
    }
    if (!found && strcmp(key, "environment") == 0)
        found = put_environment(out);
    found = found || put_preset(out, key) || put_layer(out, key) || put_column(out, key) ||
            put_variable(out, key);
    if (!found) {
        look_model(&s);
        s.values = true;
        if (!s.found) {
            config_keys(match_key, &s);
            s.found = put_other_words(out, key, s.found);
        }
        found = s.found > 0 || put_metric(out, key);
    }
    if (s.backend && !machine_known("cuda"))
        wrap(out, "\nThis build has no GPU kernels: it computes on the CPU alone.", "");
    const char *dot = strrchr(key, '.');
    if (!found && !(dot && config_near_path(key, out))) {
        const char *near = text_nearest(key, s.known, s.known_count);
        near = near || !dot ? near : text_nearest(dot + 1, s.known, s.known_count);
        if (near)
            text_put(out, near);
    }
    mem_free(s.known);
    return found;
}

struct keys {
    void (*each)(const char *key, const struct option *row, void *context);
    void *context;
};

static void pass_on(const char *key, const struct option *row, const void *base, void *context)
{
    const struct keys *k = context;
    (void)base;
    k->each(key, row, k->context);
}

void config_keys(void (*each)(const char *key, const struct option *row, void *context),
                 void *context)
{
    opt_each(config_table, "", NULL, pass_on, &(struct keys){each, context});
}
