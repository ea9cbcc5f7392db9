/* config.c - loading: the document with --set put in, read by the joined table, files joined to its
 * folder, then the environment and the command line on top, then the checks that need more than one
 * key. */
#include "config/config.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/process/reexec.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "base/process/shell.h"
#include "config/config_table.h"
#include "table/schema/sequence.h"

/* Keys that every config may set to null: their capabilities came after the first version, or are
 * not part of this build, which then takes no other value. */
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

/* Applies options of the command line other than --set; config_environment applies the
 * backend's. */
static bool apply(struct config *c, const struct overrides *o, struct setting_list *l,
                  struct err *e)
{
    if (o->batch_size >= 0 && !settings_put_int(l, "train.batch_size", "--batch-size",
                                                o->batch_size, &c->train.batch_size, e))
        return false;
    if (o->time_limit_s >= 0) {
        char number[40];
        c->train.time_limit_s = o->time_limit_s;
        snprintf(number, sizeof number, "%.15g", o->time_limit_s);
        settings_change(l, "train.time_limit_s", number, "--time-limit");
    }
    if (o->output_model)
        settings_put_string(l, "output.model", "-o", o->output_model, &c->output.model);
    return true;
}

/* Collects the origin of each value; preset: the keys that the preset gave. */
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
    c->member_count = config_member_count(c);
    c->members = mem_zero(c->member_count, sizeof *c->members);
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
    o = o ? o : &overrides_none;
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
                 config_placed(c, e)) &&
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

bool config_names_table(const char *path, struct text *config)
{
    static const char *const tables[] = {".csv", ".tsv", ".txt", ".CSV", ".TSV"};
    const char *name = file_base_name(path);
    size_t length = strlen(name);
    if (text_ends(name, ".gz"))
        length -= strlen(".gz");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const size_t ending = strlen(tables[i]);
        if (length <= ending || memcmp(name + length - ending, tables[i], ending) != 0)
            continue;
        if (config)
            text_printf(config, "%.*s.json", (int)(length - ending), name);
        return true;
    }
    return false;
}

/* A file that is not JSON may be a model or a CSV file, given in place of a config. */
static void other_file(const char *path, struct err *e)
{
    struct text config = {0};
    if (config_names_table(path, &config))
        err_help(e, "is this the data? `dnn init %s --target COL -o %s` writes a config",
                 shell_file(path), shell_file(config.data));
    else if (text_ends(path, ".dnn"))
        err_help(e, "is this a model? `dnn predict` and `dnn evaluate` take one");
    text_free(&config);
}

/* Settings of `as` that c has as well keep their origin; members get the origin "preset", and so do
 * the folds if c has none. */
static void keep_origins(const struct config *c, struct config *as)
{
    struct setting_list l = {as->settings, as->setting_count};
    for (size_t i = 0; i < l.count; i++) {
        const struct setting *now = &l.items[i];
        const struct setting *was = settings_find(c->settings, c->setting_count, now->key);
        if (strcmp(now->from, "default") == 0 || strcmp(now->from, "preset") == 0)
            continue;
        bool folds = strcmp(now->key, "ensemble.folds") == 0;
        if (strcmp(now->key, "ensemble.members") == 0 || (folds && !c->ensemble.folds))
            settings_from(&l, as->doc, now->key, "preset");
        else if (was)
            settings_change(&l, now->key, was->value, was->from);
    }
}

/* Keys of `train` that the user gave, and that a member of auto sets for itself, and folds of 0;
 * NULL: none. */
static char *find_unused(const struct config *c, const struct config *as)
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
    const struct setting *folds =
        settings_find(c->settings, c->setting_count, "ensemble.folds");
    if (folds && strcmp(folds->from, "default") != 0 && !c->ensemble.folds)
        text_printf(&keys, "%s%s", keys.length ? ", " : "", folds->key);
    char *found = keys.length ? mem_string(keys.data) : NULL;
    text_free(&keys);
    return found;
}

/* Preset auto becomes its members: the document with them, in which all else keeps its place, is
 * read again. */
static struct config *unfold(struct config *c, const struct overrides *o, struct err *e)
{
    struct text members = {0};
    char count[16];
    int folds;
    if (!config_portfolio(c, &members, &folds))
        return c;
    /* for sequences, without the defaults of the preset: the members bring theirs */
    const char *base = c->model.sequences ? "{\"preset\": \"gru\"}" : "{\"preset\": \"mlp\"}";
    struct json_doc *doc = c->doc;
    if (c->model.sequences)
        config_drop_preset(c, doc);
    snprintf(count, sizeof count, "%d", folds);
    bool good = json_set(doc, "ensemble.folds", count, e) &&
                json_set(doc, "ensemble.members", members.data, e) &&
                json_set(doc, "model", base, e);
    struct overrides rest = o ? *o : overrides_none;
    rest.sets = NULL; /* they are in the document */
    rest.set_count = 0;
    struct config *as = NULL;
    if (good) {
        c->doc = NULL; /* as has it */
        as = finish(doc, c->path, &rest, e);
    }
    text_free(&members);
    if (as) {
        keep_origins(c, as);
        as->unused = find_unused(c, as);
        mem_free(as->sets);
        as->sets = c->sets;
        as->set_count = c->set_count;
        c->sets = NULL;
        c->set_count = 0;
    } else {
        config_blame(c, e);
    }
    config_free(c);
    return as;
}

struct config *config_load(const char *path, const struct overrides *o, struct err *e)
{
    size_t length;
    char *text;
    struct json_doc *doc = NULL;
    if (file_slurp(reexec_config() ? reexec_config() : path, JSON_MOST_BYTES, ERR_JSON_LIMIT,
                   &text, &length, e))
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

struct config *config_parse_members(const char *text, size_t length, const char *name,
                                    const struct overrides *o, struct err *e)
{
    struct config *c = config_parse(text, length, name, o, e);
    return c ? unfold(c, o, e) : NULL;
}

void config_free(struct config *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->member_count; i++)
        config_free(c->members[i]);
    mem_free(c->members);
    opt_release(config_table, c);
    loss_release(&c->train.loss);
    architecture_free(c->architecture);
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
