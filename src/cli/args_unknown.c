/* args_unknown.c - the help for an option that a command does not have: what its word means. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/shell.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "config/config_help.h"

enum { STEM = 64, OPTIONS_MOST = 64 };

/* Arguments that other programs take by an option. part: as it stands in the usage. */
static const struct { const char *other, *part; } arguments[] = {
    {"data", "DATA"},        {"input", "DATA"},       {"input_file", "DATA"}, {"file", "DATA"},
    {"csv", "DATA"},         {"test_data", "DATA"},   {"train_data", "DATA"}, {"model", "MODEL"},
    {"model_file", "MODEL"}, {"model_path", "MODEL"}, {"model_in", "MODEL"},  {"config", "CONFIG"},
    {"conf", "CONFIG"},      {"config_file", "CONFIG"}};

/* Names of other programs for our options, and the value that theirs stands for. */
static const struct { const char *other, *ours, *value; } options[] = {
    {"gpu", "backend", "dnn_gpu"},
    {"cuda", "backend", "dnn_gpu"},
    {"use_gpu", "backend", "dnn_gpu"},
    {"cpu", "backend", "dnn_cpu"},
    {"no_gpu", "backend", "dnn_cpu"},
    {"no_cuda", "backend", "dnn_cpu"},
    {"j", "threads", NULL},
    {"jobs", "threads", NULL},
    {"n_jobs", "threads", NULL},
    {"nthread", "threads", NULL},
    {"nthreads", "threads", NULL},
    {"n_threads", "threads", NULL},
    {"num_threads", "threads", NULL},
    {"thread_count", "threads", NULL},
    {"silent", "quiet", NULL},
    {"debug", "verbosity", "3"},
    {"log_level", "verbosity", "2"},
    {"overwrite", "force", NULL},
    {"timeout", "time-limit", NULL},
    {"max_time", "time-limit", NULL},
    {"time_budget", "time-limit", NULL},
    {"budget", "time-limit", NULL},
    {"save", "output", NULL},
    {"output_file", "output", NULL},
    {"output_path", "output", NULL},
    {"outfile", "output", NULL},
    {"model_out", "output", NULL},
    {"save_model", "output", NULL},
    {"continue", "resume", NULL},
    {"pretrained", "init-from", NULL},
    {"warm_start", "init-from", NULL},
    {"init_model", "init-from", NULL},
    {"t", "target", NULL},
    {"y", "target", NULL},
    {"label", "target", NULL},
    {"label_column", "target", NULL},
    {"target_column", "target", NULL},
    {"drop", "ignore", NULL},
    {"exclude", "ignore", NULL},
    {"ignore_column", "ignore", NULL},
    {"sep", "delimiter", NULL},
    {"separator", "delimiter", NULL},
    {"head", "limit", NULL},
    {"nrows", "limit", NULL},
    {"n_rows", "limit", NULL},
    {"max_rows", "limit", NULL},
    {"k", "folds", NULL},
    {"cv", "folds", NULL},
    {"n_splits", "folds", NULL},
    {"n_folds", "folds", NULL},
    {"cutoff", "threshold", NULL},
    {"group", "by", NULL},
    {"group_by", "by", NULL},
    {"shap", "rows", "FILE"},
    {"pdp", "effects", NULL}};

/* An unknown option: its word without dashes and value; plain: with _ between its parts. */
struct unknown {
    const struct command *command;
    int argc, at;
    char **argv;
    char stem[STEM], plain[STEM];
    const char *value; /* NULL: none */
    bool behind;       /* the value is the next word */
};

static const struct arg_option *option_of(const struct command *c, const char *name)
{
    const struct arg_option *tables[ARG_TABLES];
    const size_t count = args_tables(c, tables);
    for (size_t t = 0; t < count; t++)
        for (const struct arg_option *o = tables[t]; o->name; o++)
            if (strcmp(o->name, name) == 0)
                return o;
    return NULL;
}

static void take(struct unknown *u)
{
    const char *name = u->argv[u->at] + strspn(u->argv[u->at], "-");
    const size_t length = strcspn(name, "=");
    snprintf(u->stem, sizeof u->stem, "%.*s", (int)length, name);
    for (size_t i = 0; i <= strlen(u->stem); i++)
        u->plain[i] = (char)(u->stem[i] == '-' ? '_' : tolower((unsigned char)u->stem[i]));
    const char *next = u->at + 1 < u->argc ? u->argv[u->at + 1] : "-";
    u->behind = !name[length] && (*next != '-' || isdigit((unsigned char)next[1]));
    u->value = name[length] ? name + length + 1 : u->behind ? next : NULL;
}

static bool is_argument(const struct unknown *u, struct err *e)
{
    const char *usage = u->command->usage;
    size_t length = strlen(usage);
    static const char *const ends[] = {" -", " [-"};
    for (size_t i = 0; i < 2; i++) {
        const char *end = strstr(usage, ends[i]);
        length = end && (size_t)(end - usage) < length ? (size_t)(end - usage) : length;
    }
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        const char *part = strstr(usage, arguments[i].part);
        if (strcmp(arguments[i].other, u->plain) == 0 && part && (size_t)(part - usage) < length)
            return !err_help(e, "it is an argument, not an option: `dnn %.*s`", (int)length,
                             usage);
    }
    return false;
}

static bool is_option(const struct unknown *u, struct err *e)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (strcmp(options[i].other, u->plain) != 0)
            continue;
        const struct arg_option *o = option_of(u->command, options[i].ours);
        if (!o)
            continue;
        const char *value = options[i].value ? options[i].value : u->value;
        if (o->value && value)
            err_help(e, "did you mean --%s %s?", o->name, shell_word("%s", value));
        else
            err_help(e, "did you mean --%s%s%s?", o->name, o->value ? " " : "",
                     o->value ? o->value : "");
        return true;
    }
    return false;
}

/* KEY=VALUE as a word of the shell; a list of numbers in brackets. */
static void put_setting(const struct unknown *u, const struct spoken_key *key, struct text *out)
{
    const char *value = key->value ? key->value : u->value ? u->value : "VALUE";
    const bool bare = key->list && *value && strspn(value, "0123456789., ") == strlen(value);
    text_put(out, shell_word(bare ? "%s=[%s]" : "%s=%s", key->key, value));
}

/* --epochs 10, --lr=0.1: the option is a key of the config. Shows the line with --set in its
 * place. */
static bool is_key(const struct unknown *u, struct err *e)
{
    struct spoken_key key;
    struct text line = {0}, setting = {0};
    if (!u->command->has_config || !u->plain[1] || !config_spoken_key(u->plain, &key))
        return false;
    put_setting(u, &key, &setting);
    /* --fp16 has no value: a word after it is an argument */
    const bool skip = u->behind && (!key.value || isdigit((unsigned char)*u->value));
    for (int i = 0; i < u->argc; i++) {
        if (skip && i == u->at + 1)
            continue;
        text_put(&line, i == u->at ? " --set " : " ");
        if (i == u->at)
            text_put(&line, setting.data);
        else
            shell_put(&line, u->argv[i], strlen(u->argv[i]));
    }
    if (line.length < sizeof e->help - 200)
        err_help(e, "it is a key of the config: `dnn %s%s`; `dnn help %s` describes it",
                 u->command->name, line.data, key.key);
    else
        err_help(e, "it is a key of the config: --set %s; `dnn help %s` describes it", setting.data,
                 key.key);
    text_free(&line);
    text_free(&setting);
    return true;
}

static bool is_near(const struct unknown *u, struct err *e)
{
    const char *known[OPTIONS_MOST];
    size_t count = 0;
    const struct arg_option *tables[ARG_TABLES];
    const size_t table_count = args_tables(u->command, tables);
    for (size_t t = 0; t < table_count; t++)
        for (const struct arg_option *o = tables[t]; o->name && count < OPTIONS_MOST; o++)
            known[count++] = o->name;
    const char *near = text_nearest(u->stem, known, count);
    if (near)
        err_help(e, "did you mean --%s?", near);
    static const char *const alone[] = {"version"};
    if (!near && text_nearest(u->stem, alone, 1)) {
        err_help(e, "did you mean `dnn --version`?");
        return true;
    }
    return near != NULL;
}

static bool is_of_others(const struct unknown *u, struct err *e)
{
    struct text names = {0};
    size_t count = 0;
    for (size_t i = 0; commands[i]; i++)
        if (u->plain[1] && option_of(commands[i], u->stem))
            text_printf(&names, "%s`dnn %s`", count++ ? ", " : "", commands[i]->name);
    if (count)
        err_help(e, "it is an option of %s", names.data);
    else if (command_find(u->stem))
        err_help(e, "it is a command: `dnn %s`", command_find(u->stem)->name);
    else if (strcmp(u->plain, "dry_run") == 0)
        err_help(e, "`dnn check` shows what a training would do, and trains nothing");
    text_free(&names);
    return e->help[0] != '\0';
}

bool args_unknown(const struct command *c, int argc, char **argv, int at, struct err *e)
{
    struct unknown u = {.command = c, .argc = argc, .argv = argv, .at = at};
    take(&u);
    err_set(e, ERR_OPTION_UNKNOWN, "`dnn %s` has no option \"%s\"", c->name,
            text_quote_z(argv[at]));
    if (!is_argument(&u, e) && !is_option(&u, e) && !is_key(&u, e) && !is_near(&u, e) &&
        !is_of_others(&u, e))
        err_help(e, "`dnn help %s` lists them; `--` ends the options", c->name);
    return false;
}
