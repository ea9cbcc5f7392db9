/* config.c - loading: the document with --set put in, read by the joined table, files joined to its
 * folder, then the environment and the command line on top, then the checks that need more than one
 * key. */
#include "config/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/anew.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config_help.h"
#include "config/config_table.h"
#include "model/preset.h"
#include "table/sequence.h"

/* Keys of capabilities that are not part of this build: null is what every config may say of them,
 * anything else is an unknown key. */
const char *const config_absent[] = {
    "ensemble", "calibrate", "tune", "target_transform",
    "data.thousands", "data.quote", "data.reader", "data.cache",
    "data.split.seed", "train.sampling", "backend.blas", NULL};

static void drop_absent(struct json_doc *doc)
{
    for (size_t i = 0; config_absent[i]; i++) {
        const struct json *v = json_path(json_root(doc), config_absent[i]);
        const struct option *row = opt_find(config_table, config_absent[i]);
        if (v && json_kind(v) == JSON_NULL && (!row || !(row->flags & OPT_NULLABLE)))
            json_remove(doc, config_absent[i]);
    }
}

/* --- --set --- */

/* Whether the JSON value is one that a key of this kind takes; row NULL: a key of a room's own
 * object. */
static bool fits(const struct option *row, const struct json *v)
{
    enum json_kind kind = json_kind(v);
    int64_t whole;
    if (!row)
        return true;
    if (kind == JSON_NULL)
        return row->flags & OPT_NULLABLE;
    switch (row->type) {
    case OPT_BOOL: return kind == JSON_TRUE || kind == JSON_FALSE;
    case OPT_INT:
    case OPT_NUMBER: return kind == JSON_NUMBER;
    case OPT_SEED:
        return kind == JSON_STRING ||
               json_integer(v, &whole); /* a longer one stays text, digit by digit */
    case OPT_STRING:
    case OPT_WORD: return kind == JSON_STRING;
    case OPT_STRINGS: return kind == JSON_STRING || kind == JSON_LIST;
    case OPT_INTS:
    case OPT_NUMBERS: return kind == JSON_LIST;
    case OPT_TABLE: return kind == JSON_OBJECT;
    case OPT_CUSTOM: return true;
    }
    return true;
}

bool config_top_key(const char *key, const struct json *value)
{
    if (strchr(key, '.'))
        return false;
    const struct option *row = opt_find(config_table, key);
    bool known = row && (!value || fits(row, value));
    for (size_t i = 0; !row && config_absent[i]; i++)
        known |= strcmp(config_absent[i], key) == 0 && (!value || json_kind(value) == JSON_NULL);
    return known;
}

/* The preset that the config names; NULL: none, or one that is not known. */
static const struct preset *preset_of(const struct json_doc *doc)
{
    const struct json *word = json_path(json_root(doc), "model.preset");
    return word && json_kind(word) == JSON_STRING ? preset_find(json_string(word)) : NULL;
}

static const struct option *preset_option(const struct json_doc *doc, const char *name)
{
    const struct preset *p = preset_of(doc);
    return p ? opt_find(p->options, name) : NULL;
}

/* The row of the list that path names an entry of ("data.missing.0"), else NULL; *list is its key,
 * mem_free. */
static const struct option *list_of(const struct json_doc *doc, const char *path, char **list)
{
    const char *dot = strrchr(path, '.');
    *list = NULL;
    if (!dot || strspn(dot + 1, "0123456789") != strlen(dot + 1))
        return NULL;
    *list = mem_string_n(path, (size_t)(dot - path));
    const struct option *row = opt_find(config_table, *list);
    if (!row && strncmp(*list, "model.", 6) == 0)
        row = preset_option(doc, *list + 6);
    bool is_list =
        row && (row->type == OPT_STRINGS || row->type == OPT_INTS || row->type == OPT_NUMBERS);
    return is_list ? row : NULL;
}

/* The option row of the value at path. An entry of a list is put into the default when the document
 * has no list. */
static const struct option *row_of(struct json_doc *doc, const char *path)
{
    static const struct option entry = {.key = "entry", .type = OPT_STRING};
    const struct option *row = opt_find(config_table, path);
    struct err e = {0};
    char *list;
    const struct option *of = list_of(doc, path, &list);
    const struct json *there = of ? json_path(json_root(doc), list) : NULL;
    if (of && of->standard && !there) /* when it cannot be, the entry cannot be put there either */
        json_set(doc, list, of->standard, &e);
    if (there && json_kind(there) == JSON_STRING &&
        of->type == OPT_STRINGS) { /* short for a list */
        struct json_out one = {0};
        json_open(&one, NULL, '[');
        json_put_string(&one, NULL, json_string(there));
        json_close(&one, ']');
        json_set(doc, list, one.text.data, &e);
        text_free(&one.text);
    }
    mem_free(list);
    return row || !of || of->type != OPT_STRINGS ? row : &entry;
}

/* "age": "numeric" becomes {"type": "numeric"} when a --set names something below it. */
static bool unfold_column(struct json_doc *doc, const char *path, struct err *e)
{
    static const char columns[] = "data.columns";
    size_t n = sizeof columns - 1;
    const struct json *list = json_path(json_root(doc), columns);
    if (!list || json_kind(list) != JSON_OBJECT || strncmp(path, columns, n) != 0 ||
        path[n] != '.' || json_path(json_root(doc), path))
        return true;
    const struct json *found = NULL;
    size_t longest = 0; /* names may hold dots: the longest that fits is meant, as in json_path */
    for (const struct json *c = json_at(list, 0); c; c = json_next(c)) {
        size_t length = strlen(json_key(c));
        if (strncmp(path + n + 1, json_key(c), length) == 0 && path[n + 1 + length] == '.' &&
            length >= longest) {
            found = c;
            longest = length;
        }
    }
    if (!found || json_kind(found) != JSON_STRING)
        return true;
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    json_put_string(&out, "type", json_string(found));
    json_close(&out, '}');
    char *column = mem_string_n(path, n + 1 + longest);
    bool good = json_set(doc, column, out.text.data, e);
    mem_free(column);
    text_free(&out.text);
    return good;
}

/* A word where only a number can stand: said with the word, the range and an example. */
static bool number_given(const struct option *row, const char *path, const char *value,
                         const struct json *read, struct err *e)
{
    bool number = row && (row->type == OPT_INT || row->type == OPT_NUMBER);
    if (!number || (read && json_kind(read) != JSON_STRING))
        return true;
    err_set(e, ERR_SET_VALUE, "--set %s: \"%s\" is not %s", text_quote_z(path),
            text_quote_z(value), row->type == OPT_INT ? "an integer" : "a number");
    if (*opt_range(row))
        err_expected(e, "%s", opt_range(row));
    if (row->standard && strcmp(row->standard, "null") != 0)
        err_help(e, "as in --set %s=%s", path, row->standard);
    return false;
}

bool config_set(struct json_doc *doc, const char *set, struct err *e)
{
    const char *equals = strchr(set, '=');
    if (!equals || equals == set) {
        err_set(e, ERR_SET_VALUE, "--set \"%s\": no key and value", text_quote_z(set));
        return err_expected(e, "path.to.key=VALUE");
    }
    char *path = mem_string_n(set, (size_t)(equals - set));
    const struct option *row = row_of(doc, path);
    const char *value = equals + 1;
    struct err unread = {0};
    char number[64] = "0"; /* .5 is no JSON */
    double v;
    if (row && row->type == OPT_NUMBER && *value == '.' && text_to_double(value, &v))
        value = strncat(number, value, sizeof number - 2);
    struct json_doc *read = json_parse(value, strlen(value), "--set", &unread);
    struct json_out text = {0};
    if (!read && unread.id == ERR_JSON_LIMIT) { /* no word either */
        err_set(e, ERR_SET_VALUE, "--set %.200s: %.700s", text_quote_z(path), unread.what);
        mem_free(path);
        return false;
    }
    if (!number_given(row, path, value, read ? json_root(read) : NULL, e)) {
        json_free(read);
        mem_free(path);
        return false;
    }
    bool text_key = row && (row->type == OPT_STRING || row->type == OPT_WORD ||
                            row->type == OPT_STRINGS);
    bool null = read && json_kind(json_root(read)) == JSON_NULL && !text_key;
    bool as_is = read && !text_key && (!row || row->type != OPT_SEED); /* "got number": as given */
    if (null || as_is || (read && fits(row, json_root(read))))
        json_write(&text.text, json_root(read), 0);
    else if (row && row->type == OPT_STRING &&
             strcmp(value, "\\t") == 0) /* a shell has no easy way to give a tab */
        json_put_string(&text, NULL, "\t");
    else
        json_put_string(&text, NULL, value);
    bool good = unfold_column(doc, path, e) && json_set(doc, path, text.text.data, e);
    if (!good && e->id != ERR_BUG) {
        char what[sizeof e->what];
        snprintf(what, sizeof what, "%s", e->what);
        err_clear(e);
        err_set(e, ERR_SET_VALUE, "--set: %.900s", what);
    }
    json_free(read);
    text_free(&text.text);
    mem_free(path);
    return good;
}

/* --- files --- */

static void join(char **path, const char *config)
{
    if (!*path || !**path || strcmp(*path, "-") == 0) /* an empty name stays one, to be refused */
        return;
    char *joined = file_join(config, *path);
    mem_free(*path);
    *path = joined;
}

static void join_row(const char *key, const struct option *row, const void *base, void *context)
{
    struct config *c = context;
    void *field = (char *)(uintptr_t)base + row->offset;
    (void)key;
    if (!(row->flags & OPT_PATH))
        return;
    if (row->type == OPT_STRING)
        join(field, c->path);
    struct opt_strings *list = field;
    for (size_t i = 0; row->type == OPT_STRINGS && i < list->count; i++)
        join(&list->items[i], c->path);
}

/* --- all of it --- */

/* Options of the command line other than --set; config_environment does those of the backend. */
static bool apply(struct config *c, const struct overrides *o, struct setting_list *l,
                  struct err *e)
{
    char number[40];
    if (o->batch_size >= 0) {
        const struct option *row = opt_find(config_table, "train.batch_size");
        if ((double)o->batch_size < row->low || (double)o->batch_size > row->high) {
            err_set(e, ERR_OPTION_VALUE, "--batch-size %lld is out of range",
                    (long long)o->batch_size);
            return err_expected(e, "%s", opt_range(row));
        }
        c->train.batch_size = o->batch_size;
        snprintf(number, sizeof number, "%lld", (long long)o->batch_size);
        settings_change(l, "train.batch_size", number, "--batch-size");
    }
    if (o->time_limit_s >= 0) {
        c->train.time_limit_s = o->time_limit_s;
        snprintf(number, sizeof number, "%.15g", o->time_limit_s);
        settings_change(l, "train.time_limit_s", number, "--time-limit");
    }
    if (o->output_model) {
        struct json_out quoted = {0};
        json_put_string(&quoted, NULL, o->output_model);
        settings_change(l, "output.model", quoted.text.data, "-o");
        text_free(&quoted.text);
        mem_free(c->output.model);
        c->output.model = mem_string(o->output_model);
    }
    return true;
}

/* Where each value came from; preset: the keys that it gave. */
static void collect(struct setting_list *l, const struct config *c, const struct text *preset)
{
    settings_collect(l, config_table, "", c, c->doc, "config");
    for (size_t at = 0; at < preset->length; at += strlen(preset->data + at) + 1)
        settings_from(l, c->doc, preset->data + at, "preset");
}

/* The document, with the defaults of its preset, read by the table. */
static bool read_document(struct config *c, struct setting_list *l, struct err *e)
{
    struct text of_preset = {0};
    c->model.doc = c->doc;
    bool good = config_add_preset(c->doc, config_preset(c->doc), &of_preset, e) &&
                opt_read(config_table, c->doc, json_root(c->doc), "", c, e);
    if (good)
        collect(l, c, &of_preset);
    text_free(&of_preset);
    if (!good)
        return false;
    c->model.sequences = config_has_steps(c->data.sequence, c->data.columns);
    c->model.each = sequence_answers_rows(c->data.sequence, c->task);
    opt_each(config_table, "", c, join_row, c);
    if (isnan(c->backend.memory_limit_gb))
        c->backend.memory_limit_gb = 0;
    return true;
}

struct config *config_beside(const struct config *c, struct json_doc *doc, struct err *e)
{
    struct config *m = mem_zero(1, sizeof *m);
    struct setting_list l = {0};
    m->doc = doc;
    m->path = mem_string(c->path);
    bool good = read_document(m, &l, e);
    m->settings = l.items;
    m->setting_count = l.count;
    if (good) {
        const struct setting *s =
            settings_find(c->settings, c->setting_count, "train.batch_size");
        if (s && strcmp(s->from, "--batch-size") == 0)
            m->train.batch_size = c->train.batch_size;
        m->train.time_limit_s = c->train.time_limit_s;
        good = config_check(m, e);
    }
    if (good)
        return m;
    config_free(m);
    return NULL;
}

static bool load(struct config *c, const struct overrides *o, struct err *e)
{
    static const struct overrides none = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    o = o ? o : &none;
    config_note_sets(c, o);
    for (size_t i = 0; i < o->set_count; i++)
        if (!config_set(c->doc, o->sets[i], e))
            return false;
    if (json_kind(json_root(c->doc)) == JSON_OBJECT)
        drop_absent(c->doc);
    struct setting_list l = {0};
    if (!read_document(c, &l, e))
        return config_blame(c, e);
    bool good = (config_environment(&c->backend, o, false, &l, e) ||
                 config_placed(c, "backend.device", e)) &&
                apply(c, o, &l, e);
    c->settings = l.items;
    c->setting_count = l.count;
    return (good && config_check(c, e) && config_check_members(c, e)) || config_blame(c, e);
}

static struct config *finish(struct json_doc *doc, const char *path, const struct overrides *o,
                             struct err *e)
{
    if (!doc)
        return NULL;
    struct config *c = mem_zero(1, sizeof *c);
    c->doc = doc;
    c->path = mem_string(path);
    if (load(c, o, e))
        return c;
    config_free(c);
    return NULL;
}

/* A file that is not JSON may be a model or a CSV file, given in place of a config. */
static void other_file(const char *path, struct err *e)
{
    static const char *const tables[] = {".csv", ".tsv", ".txt", ".CSV", ".TSV"};
    bool table = false;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        table |= text_ends(path, tables[i]);
    if (table)
        err_help(e, "is this the data? `dnn init FILE --target COL -o CONFIG` writes a config");
    else if (text_ends(path, ".dnn"))
        err_help(e, "is this a model? `dnn predict` and `dnn evaluate` take one");
}

/* Settings of `as` that c has as well keep their origin; the members are those of the preset. */
static void keep_origins(const struct config *c, struct config *as)
{
    struct setting_list l = {as->settings, as->setting_count};
    for (size_t i = 0; i < l.count; i++) {
        const struct setting *now = &l.items[i];
        const struct setting *was = settings_find(c->settings, c->setting_count, now->key);
        if (strcmp(now->from, "config") != 0)
            continue;
        if (strncmp(now->key, "ensemble.", 9) == 0)
            settings_from(&l, as->doc, now->key, "preset");
        else if (was)
            settings_change(&l, now->key, was->value, was->from);
    }
}

/* Keys of `train` that the user gave, and that a member of auto sets for itself; NULL: none. */
static char *find_unused(const struct config *as)
{
    struct text keys = {0};
    const struct json *members = json_path(json_root(as->doc), "ensemble.members");
    for (size_t i = 0; i < as->setting_count; i++) {
        const struct setting *s = &as->settings[i];
        if (strncmp(s->key, "train.", 6) != 0 || strcmp(s->from, "default") == 0 ||
            strcmp(s->from, "preset") == 0)
            continue;
        const struct json *m = json_at(members, 0);
        while (m && !json_path(m, s->key))
            m = json_next(m);
        if (m)
            text_printf(&keys, "%s%s", keys.length ? ", " : "", s->key);
    }
    char *found = keys.length ? mem_string(keys.data) : NULL;
    text_free(&keys);
    return found;
}

/* Preset auto becomes its members: the document with them is read again. */
static struct config *unfold(struct config *c, const struct overrides *o, struct err *e)
{
    struct text members = {0}, text = {0};
    if (!config_portfolio(c, &members)) {
        text_free(&members);
        return c;
    }
    /* of sequences without what the preset brought: members have other ones */
    const char *base = c->model.sequences ? "{\"preset\": \"gru\"}" : "{\"preset\": \"mlp\"}";
    struct json_doc *doc = c->model.sequences ? config_base(c, e) : c->doc;
    bool good = doc && json_set(doc, "ensemble", members.data, e) &&
                json_set(doc, "model", base, e);
    if (good)
        json_write(&text, json_root(doc), 0);
    if (doc != c->doc)
        json_free(doc);
    struct overrides rest = o ? *o : (struct overrides){.threads = -1, .batch_size = -1,
                                                        .time_limit_s = -1};
    rest.sets = NULL; /* they are in the document */
    rest.set_count = 0;
    struct config *as = good ? finish(json_parse_own(text.data, text.length, c->path, e), c->path,
                                      &rest, e)
                             : NULL;
    text_free(&members);
    text_free(&text);
    if (as) {
        keep_origins(c, as);
        as->unused = find_unused(as);
    }
    config_free(c);
    return as;
}

struct config *config_load(const char *path, const struct overrides *o, struct err *e)
{
    size_t length;
    char *text = anew_config(&length); /* of the program that this one was */
    struct json_doc *doc = NULL;
    if (text || file_slurp(path, JSON_MOST_BYTES, ERR_JSON_LIMIT, &text, &length, e))
        doc = json_parse(text, length, path, e);
    if (!doc && e->id / 100 == 11)
        other_file(path, e);
    struct config *c = finish(doc, path, o, e);
    if (c && !(o && o->one_network))
        c = unfold(c, o, e);
    if (!c) {
        mem_free(text);
        return NULL;
    }
    c->text = text;
    c->text_length = length;
    return c;
}

struct config *config_parse(const char *text, size_t length, const char *name,
                            const struct overrides *o, struct err *e)
{
    return finish(json_parse(text, length, name, e), name, o, e);
}

void config_free(struct config *c)
{
    if (!c)
        return;
    opt_release(config_table, c);
    settings_free(c->settings, c->setting_count);
    for (size_t i = 0; i < c->set_count; i++)
        mem_free(c->sets[i]);
    mem_free(c->unused);
    mem_free(c->sets);
    json_free(c->doc);
    mem_free(c->path);
    mem_free(c->text);
    mem_free(c);
}
