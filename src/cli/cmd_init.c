/* cmd_init.c - `dnn init`: looks at the data once and writes an explicit config. The only command
 * that guesses anything. */
#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/process/shell.h"
#include "base/process/stop.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/init/init.h"
#include "config/output.h"

static const struct arg_option init_options_table[] = {
    {"target", 0, "COL", NULL, 0, 0, 0, "The column to predict (required)."},
    {"id", 0, "COL", NULL, ARG_MANY, 0, 0,
     "A column that names a row: repeated in predictions, never learned from."},
    {"ignore", 0, "COL", NULL, ARG_MANY, 0, 0, "A column to leave out."},
    {"output", 'o', "CONFIG", NULL, ARG_FILE, 0, 0, "The config file; default: standard output."},
    {"force", 0, NULL, NULL, 0, 0, 0, "Replace a config that exists."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* A task that the user names decides what else is written: the split, the positive label. */
static void take_task(struct infer *found, const char *word)
{
    found->task = args_place(task_names, word, found->task);
    if (found->task != TASK_BINARY) {
        mem_free(found->positive);
        found->positive = NULL;
    }
}

static char character(const char *text)
{
    if (!text)
        return '\0';
    if (strcmp(text, "\\t") == 0 || strcmp(text, "\"\\t\"") == 0)
        return '\t';
    return text[0] == '"' && text[1] ? text[1] : text[0];
}

/* Sections that only a --set fills, in the order of the contract's example. */
static const char *const set_sections[] = {"train", "backend"};

/* data.missing, with the texts of columns that a sequence takes, which have no entries. Caller:
 * opt_strings_free. */
static struct opt_strings all_missing(const struct infer *found, const struct init_sequence *s)
{
    struct opt_strings all = opt_strings_copy(&found->missing);
    for (size_t i = 0; i < found->count; i++) {
        const struct opt_strings *none = &found->columns[i].none;
        for (size_t k = 0; k < none->count && init_sequence_has(s, &found->columns[i]); k++)
            if (!opt_strings_has(&all, none->items[k], strlen(none->items[k])))
                opt_strings_add(&all, none->items[k]);
    }
    return all;
}

static void config_text(const struct infer *found, const struct overrides *sets,
                        const struct opt_strings *files, const char *model_path, struct json_out *o)
{
    struct init_sequence sequence = init_sequence_find(found, sets);
    struct opt_strings missing = all_missing(found, &sequence);
    json_open(o, NULL, '{');
    json_put_string(o, "task", task_names[found->task]);
    json_open(o, "data", '{');
    if (files->count == 1)
        json_put_string(o, "train", files->items[0]);
    else
        json_put_strings(o, "train", files->items, files->count);
    infer_write_dialect(found, o);
    json_put_strings(o, "missing", missing.items, missing.count);
    opt_strings_free(&missing);
    json_put_string(o, "target", found->columns[found->target].name);
    if (found->positive)
        json_put_string(o, "positive", found->positive);
    json_open(o, "columns", '{');
    for (size_t i = 0; i < found->count; i++) {
        const struct infer_column *c = &found->columns[i];
        const bool is_target = infer_is_target(found, c);
        if ((!is_target || init_lists_target(c, found->task)) &&
            !init_sequence_has(&sequence, c) && !init_says_part(sets, c->name))
            init_put_column(c, is_target && found->task != TASK_REGRESSION ? COLUMN_CATEGORICAL
                                                                            : c->type, o);
    }
    json_close(o, '}');
    init_sequence_write(&sequence, found, o);
    init_sequence_free(&sequence);
    json_open(o, "split", '{');
    json_put_string(o, "method", split_method_names[init_split_method(sets, found->task)]);
    if (!init_split_by_column(sets)) { /* which knows no shares */
        json_put_number(o, "valid", 0.15);
        json_put_number(o, "test", 0.15);
    }
    json_close(o, '}');
    json_close(o, '}');
    json_open(o, "model", '{');
    json_put_string(o, "preset", "auto");
    json_close(o, '}');
    for (size_t i = 0; i < sizeof set_sections / sizeof *set_sections; i++) {
        json_open(o, set_sections[i], '{');
        json_close(o, '}');
    }
    json_open(o, "output", '{');
    json_put_string(o, "model", model_path);
    json_close(o, '}');
    json_close(o, '}');
}

/* leads.csv or leads.csv.gz -> leads.dnn, beside the config */
static char *model_name(const char *path)
{
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    if (strcmp(path, "-") == 0)
        base = "model";
    size_t length = strlen(base) - (text_ends(base, ".gz") ? 3 : 0), stem = length;
    while (stem && base[stem - 1] != '.')
        stem--;
    struct text out = {0};
    text_add(&out, base, stem > 1 ? stem - 1 : length);
    text_put(&out, ".dnn");
    return out.data;
}

/* Refuses a --set that is wrong on its own. Faults that need the whole data are left to `dnn
 * check`. */
static bool check_sets(const struct config *c, struct err *e)
{
    struct err wrong = {0};
    struct schema *s = schema_declare(&c->data, c->task, c->doc, &wrong);
    if (!s)
        config_blame(c, &wrong);
    schema_free(s);
    if (wrong.id == ERR_SET_VALUE) {
        *e = wrong;
        return false;
    }
    if (!init_has_feature(c))
        log_warning("no column is left to learn from, and `dnn train` will refuse this config "
                    "(E1312): give one a type, as in --set data.columns.NAME=categorical");
    return true;
}

/* Clears an error's place in the draft, which no user can open: the fault came with a --set. The
 * message names it; else the only one is named here. */
static void forget_place(const struct overrides *sets, struct err *e)
{
    if (e->line == 0 || !sets->set_count)
        return;
    e->file[0] = '\0';
    e->line = e->column = 0;
    if (strstr(e->what, "--set") || strstr(e->help, "--set") || sets->set_count > 1)
        return;
    char what[sizeof e->what];
    const char *set = sets->sets[0];
    snprintf(what, sizeof what, "--set %.200s: %.780s", text_quote(set, strcspn(set, "=")),
             e->what);
    memcpy(e->what, what, sizeof what);
}

/* Refuses a --set of the sections model, train, backend and output that is wrong on its own, before
 * the data is read. */
static bool check_sets_alone(const struct overrides *o, struct err *e)
{
    static const char skeleton[] = "{\"task\": \"regression\", \"data\": {\"train\": \"x.csv\", "
                                   "\"target\": \"y\", \"columns\": {\"x\": \"numeric\"}}}";
    const char **sets = mem_zero(o->set_count + 1, sizeof *sets);
    struct overrides alone = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    struct err wrong = {0};
    for (size_t i = 0; i < o->set_count; i++)
        if (strncmp(o->sets[i], "data", 4) != 0 && strncmp(o->sets[i], "task", 4) != 0)
            sets[alone.set_count++] = o->sets[i];
    alone.sets = sets;
    struct config *c =
        config_parse(skeleton, sizeof skeleton - 1, "config", &alone, &wrong);
    config_free(c);
    mem_free((void *)(uintptr_t)sets);
    if (wrong.id != ERR_SET_VALUE)
        return true; /* it may depend on the task or the columns: looked at with them */
    *e = wrong;
    return false;
}

static void drop_empty(struct json_doc *doc, const char *key)
{
    const struct json *v = json_path(json_root(doc), key);
    if (v && json_kind(v) == JSON_OBJECT && json_count(v) == 0)
        json_remove(doc, key);
}

/* Removes the defaults of a preset: another preset, named later, has its own. */
static void drop_preset(const struct config *c)
{
    for (size_t i = 0; i < c->setting_count; i++) {
        if (strcmp(c->settings[i].from, "preset") != 0)
            continue;
        char *key = mem_string(c->settings[i].key);
        json_remove(c->doc, key);
        for (char *dot; (dot = strrchr(key, '.')) != NULL;) {
            *dot = '\0';
            drop_empty(c->doc, key);
        }
        mem_free(key);
    }
}

static bool make_config(const struct args *a, struct infer *found,
                        const struct overrides *o, struct text *json, struct err *e)
{
    const char *data = a->positionals[0], *output = args_value(a, "output");
    char *model = model_name(data);
    struct opt_strings files = {0};
    for (size_t i = 0; i < a->positional_count; i++) {
        char *path = file_seen_from(output, a->positionals[i]);
        opt_strings_add(&files, path);
        mem_free(path);
    }
    struct json_out draft = {0};
    config_text(found, o, &files, model, &draft);
    struct overrides sets = {.sets = o->sets,
                             .set_count = o->set_count,
                             .threads = -1,
                             .batch_size = -1,
                             .time_limit_s = -1};
    struct config *config =
        config_parse(draft.text.data, draft.text.length, output ? output : "config", &sets, e);
    bool good = config && check_sets(config, e);
    bool large = !config && e->id == ERR_JSON_LIMIT;
    if (good) {
        init_unused(config, found);
        drop_preset(config);
        for (size_t i = 0; i < sizeof set_sections / sizeof *set_sections; i++)
            drop_empty(config->doc, set_sections[i]);
        json_write(json, json_root(config->doc), 2);
        text_char(json, '\n');
        large = json->length > JSON_MOST_BYTES; /* with its line ends and blanks */
        good = !large;
    }
    if (large) {
        err_clear(e);
        err_at(e, ERR_CSV_LIMIT, data, 0, 0, "%zu columns are more than a config can list",
               found->count);
        err_expected(e, "a config of at most %d keys and %zu bytes", JSON_MOST_KEYS,
                     JSON_MOST_BYTES);
        err_help(e, "give a file without the columns that are not needed");
    }
    if (!good)
        forget_place(&sets, e);
    config_free(config);
    text_free(&draft.text);
    opt_strings_free(&files);
    mem_free(model);
    return good;
}

/* A column has one role. */
static bool check_lists(const struct infer_request *q, struct err *e)
{
    for (size_t i = 0; i < q->id_count + q->ignored_count; i++) {
        bool id = i < q->id_count;
        const char *name = id ? q->ids[i] : q->ignored[i - q->id_count];
        if (strcmp(name, q->target) == 0)
            return err_set(e, ERR_OPTION_CONFLICT, "column \"%s\" is the target and is also --%s",
                           text_quote_z(name), id ? "id" : "ignore");
        for (size_t k = 0; id && k < q->ignored_count; k++)
            if (strcmp(name, q->ignored[k]) == 0)
                return err_set(e, ERR_OPTION_CONFLICT, "column \"%s\" is --id and also --ignore",
                               text_quote_z(name));
    }
    return true;
}

/* A name without the blanks around it, as names of the file are read; mem_free. */
static char *trimmed(const char *name)
{
    size_t from = strspn(name, " \t"), length = strlen(name);
    while (length > from && strchr(" \t", name[length - 1]))
        length--;
    return mem_string_n(name + from, length - from);
}

/* A file of data that `dnn init` can take. */
static bool check_file(const struct args *a, const char *data, struct err *e)
{
    const char *output = args_value(a, "output");
    if (utf8_valid_prefix(data, strlen(data)) != strlen(data)) {
        err_set(e, ERR_USAGE, "the name of the file \"%s\" is not UTF-8, and a config can hold no "
                "other text", text_quote_z(data));
        return err_help(e, "rename the file, or give it a second name with `ln -s`");
    }
    if (output && strcmp(output, "-") != 0 && file_same(output, data))
        return err_set(e, ERR_SAME_FILE, "the config would replace the data file %s",
                       text_quote_z(output));
    return true;
}

/* Errors of the command line alone. *note: about the output file, or NULL. */
static bool check_line(const struct args *a, const char **note, struct err *e)
{
    *note = NULL;
    for (size_t i = 0; i < a->positional_count; i++)
        if (!*a->positionals[i] || strcmp(a->positionals[i], "-") == 0) {
            err_set(e, ERR_USAGE, "`dnn init` looks at the data more than once: give a file");
            return err_expected(e, "dnn %s", a->command->usage);
        }
    if (!args_value(a, "target")) {
        err_set(e, ERR_USAGE, "`dnn init` needs --target COL, the column to predict");
        return err_expected(e, "dnn %s", a->command->usage);
    }
    *note = "nothing was written";
    for (size_t i = 0; i < a->positional_count; i++)
        if (!check_file(a, a->positionals[i], e))
            return false;
    return true;
}

/* Reading options given by --set are not guessed. */
static struct infer_request request_of(const struct args *a, const struct overrides *o)
{
    struct infer_request q = {.path = a->positionals[0],
                              .more = a->positionals + 1,
                              .more_count = a->positional_count - 1,
                              .target = args_value(a, "target"),
                              .header = -1,
                              .stop = stop_wanted,
                              .progress = cli_progress(a)};
    q.ids = args_list(a, "id", &q.id_count);
    q.ignored = args_list(a, "ignore", &q.ignored_count);
    q.delimiter = character(init_set_value(o, "data.delimiter"));
    q.decimal = character(init_set_value(o, "data.decimal"));
    const char *header = init_set_value(o, "data.header");
    if (header)
        q.header = strcmp(header, "false") != 0;
    q.encoding = args_place(csv_encoding_names, init_set_value(o, "data.encoding"), -1);
    q.quote = args_place(csv_quote_names, init_set_value(o, "data.quote"), -1);
    return q;
}

/* Replaces names that the file has in another form of Unicode by the file's; `kept` owns them. */
static void compose(const struct infer_request *q, const char *option, const char **names,
                    size_t count, struct opt_strings *kept)
{
    for (size_t i = 0; i < count; i++) {
        const char *at = names[i];
        while (*at && !(*at & 0x80))
            at++;
        char *same = *at ? infer_composed(q, names[i]) : NULL;
        if (!same)
            continue;
        log_note("--%s \"%s\": the file has this name in another form of Unicode (NFC, NFD); "
                 "its column is taken", option, text_quote_z(names[i]));
        opt_strings_add(kept, same);
        names[i] = kept->items[kept->count - 1];
        mem_free(same);
    }
}

/* The target with the blanks around its name, or without them if the file has no such column; then
 * q->target is `bare`. */
static struct infer *infer_data(struct infer_request *q, char *bare, struct err *e)
{
    struct infer *found = infer_file(q, e);
    if (e->id == ERR_INFER_TARGET && strcmp(bare, q->target) != 0) {
        struct err other = {0};
        q->target = bare;
        if (!check_lists(q, &other)) {
            err_clear(e);
            *e = other;
        } else if ((found = infer_file(q, &other)) != NULL || other.id == ERR_NONE)
            err_clear(e);
    }
    return found;
}

enum { WORTH_A_TIME = 10000 }; /* cells: less is trained in seconds */

static int init_command(struct args *a)
{
    struct err e = {0};
    const char *output = args_value(a, "output"), *note;
    if (!check_line(a, &note, &e))
        return cli_fail(a, &e, note);
    if (output && !output_takes_config(output, args_value(a, "force") != NULL, &e))
        return cli_fail_output(a, &e, output);
    struct overrides o = cli_overrides(a);
    struct infer_request q = request_of(a, &o);
    char *weight = init_column_of(&o, COLUMN_WEIGHT);
    q.weight = weight;
    struct opt_strings missing = {0};
    if (init_take_missing(&o, &missing))
        q.missing = &missing;
    struct infer_own *own = init_take_own(&o, &q.own_count);
    q.own = own;
    struct text json = {0};
    struct opt_strings composed = {0};
    compose(&q, "target", &q.target, 1, &composed);
    compose(&q, "id", (const char **)(uintptr_t)q.ids, q.id_count, &composed);
    compose(&q, "ignore", (const char **)(uintptr_t)q.ignored, q.ignored_count, &composed);
    char *bare = trimmed(q.target);
    bool right = check_lists(&q, &e) && check_sets_alone(&o, &e);
    struct infer *found = right ? infer_data(&q, bare, &e) : NULL;
    if (found)
        take_task(found, init_set_value(&o, "task"));
    bool looked = found && init_sequence_rows(&q, &o, found, &e);
    if (right && !looked && e.id == ERR_NONE)
        stop_error("the end of the file", &e);
    int code = EXIT_DONE;
    if (!looked || !make_config(a, found, &o, &json, &e) ||
        !outfile_whole(output ? output : "-", &json, &e))
        code = cli_fail_output(a, &e, output);
    else
        init_notes(found, &o);
    if (code == EXIT_DONE)
        log_note("`dnn check %s` reads the data with this config and reports everything that "
                 "training would refuse",
                 output && strcmp(output, "-") != 0 ? shell_file(output) : "CONFIG");
    if (code == EXIT_DONE && log_level() >= LOG_NOTE && found->rows * found->count >= WORTH_A_TIME)
        init_time(&json, output ? output : "config", init_set_value(&o, "model.preset"),
                  found->rows);
    infer_free(found);
    mem_free(bare);
    opt_strings_free(&composed);
    mem_free(weight);
    opt_strings_free(&missing);
    init_drop_own(own, q.own_count);
    text_free(&json);
    return code;
}

const struct command command_init = {
    .name = "init",
    .usage =
        "init DATA.csv... --target COL [--id COL]... [--ignore COL]... [--set K=V]... [-o CONFIG] "
        "[--force]",
    .summary = "Look at the data once and write an explicit config.",
    .examples = "  dnn init leads.csv --target converted -o leads.json\n"
                "  dnn init leads.csv --target converted --id lead_id --ignore note -o leads.json\n"
                "  dnn init leads.csv --target converted --set data.split.method=random\n"
                "  dnn init leads.csv --target converted --set model.preset=mlp -o leads.json\n",
    .notes = "This is the only place where anything is guessed: delimiter, quoting, header, "
             "decimal sign, encoding, every column's type, the task, the positive label. Several "
             "files are one table: their columns are matched by name. What "
             "--set says is taken as given. Read the config, mend it, and nothing will be guessed "
             "again.",
    .options = init_options_table,
    .flags = COMMAND_CONFIG,
    .arguments = {1, 4096},
    .run = init_command,
};
