/* args_unknown.c - the help for an option that a command does not have: what its word means. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/process/shell.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "config/config.h"
#include "config/config_help.h"

enum { STEM = 64, OPTIONS_MOST = 64 };

/* Arguments, as they stand in the usage, and the options by which other programs take them. */
static const struct { const char *part, *others; } arguments[] = {
    {"DATA", "data input input_file file csv test_data train_data"},
    {"MODEL", "model model_file model_path model_in"},
    {"CONFIG", "config conf config_file"}};

/* Our options, the value that they are meant with (NULL: that of the word), and their names in
 * other programs. */
static const struct { const char *ours, *value, *others; } options[] = {
    {"backend", "dnn_gpu", "gpu cuda use_gpu"},
    {"backend", "dnn_cpu", "cpu no_gpu no_cuda"},
    {"threads", NULL, "j jobs n_jobs nthread nthreads n_threads num_threads thread_count"},
    {"quiet", NULL, "silent"},
    {"verbosity", "3", "debug"},
    {"verbosity", "2", "log_level"},
    {"force", NULL, "overwrite"},
    {"time-limit", NULL, "timeout max_time time_budget budget"},
    {"output", NULL, "save output_file output_path outfile model_out save_model"},
    {"resume", NULL, "continue"},
    {"init-from", NULL, "pretrained warm_start init_model"},
    {"target", NULL, "t y label label_column target_column"},
    {"ignore", NULL, "drop exclude ignore_column"},
    {"delimiter", NULL, "sep separator"},
    {"limit", NULL, "head nrows n_rows max_rows"},
    {"folds", NULL, "k cv n_splits n_folds"},
    {"threshold", NULL, "cutoff"},
    {"by", NULL, "group group_by"},
    {"rows", "FILE", "shap"},
    {"effects", NULL, "pdp"}};

/* An unknown option: its word without dashes and value; plain: with _ between its parts. */
struct unknown {
    const struct command *command;
    int argc;
    char **argv;
    char stem[STEM], plain[STEM];
    const char *value; /* NULL: none */
    bool behind;       /* the value is the next word */
};

static struct unknown unknown_at(const struct command *c, int argc, char **argv, int at)
{
    struct unknown u = {.command = c, .argc = argc, .argv = argv};
    const char *name = argv[at] + strspn(argv[at], "-");
    const size_t length = strcspn(name, "=");
    snprintf(u.stem, sizeof u.stem, "%.*s", (int)length, name);
    for (size_t i = 0; i <= strlen(u.stem); i++)
        u.plain[i] = (char)(u.stem[i] == '-' ? '_' : tolower((unsigned char)u.stem[i]));
    const char *next = at + 1 < argc ? argv[at + 1] : "-";
    u.behind = !name[length] && (*next != '-' || isdigit((unsigned char)next[1]));
    u.value = name[length] ? name + length + 1 : u.behind ? next : NULL;
    return u;
}

/* The length of the arguments in the usage of c, if the option stands for one of them; else 0. */
static size_t argument_of(const struct unknown *u, const struct command *c)
{
    size_t length = strlen(c->usage);
    static const char *const ends[] = {" -", " [-"};
    for (size_t i = 0; i < 2; i++) {
        const char *end = strstr(c->usage, ends[i]);
        length = end && (size_t)(end - c->usage) < length ? (size_t)(end - c->usage) : length;
    }
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        const char *part = strstr(c->usage, arguments[i].part);
        if (part && (size_t)(part - c->usage) < length &&
            args_listed(arguments[i].others, u->plain))
            return length;
    }
    return 0;
}

static bool is_argument(const struct unknown *u, struct err *e)
{
    const size_t length = argument_of(u, u->command);
    return length && !err_help(e, "it is an argument, not an option: `dnn %.*s`", (int)length,
                               u->command->usage);
}

/* The option of c that other programs call so, or NULL; *value: of it, or NULL. */
static const struct arg_option *called(const struct unknown *u, const struct command *c,
                                       const char **value)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const struct arg_option *o =
            args_listed(options[i].others, u->plain) ? args_find(c, options[i].ours) : NULL;
        *value = o && options[i].value ? options[i].value : u->value;
        if (o)
            return o;
    }
    return NULL;
}

/* --name VALUE */
static void put_option(const struct arg_option *o, const char *value, struct text *out)
{
    text_printf(out, "--%s", o->name);
    if (o->value)
        text_printf(out, " %s", value ? shell_word("%s", value) : o->value);
}

static bool is_option(const struct unknown *u, struct err *e)
{
    const char *value;
    struct text shown = {0};
    const struct arg_option *o = called(u, u->command, &value);
    if (!o)
        return false;
    put_option(o, value, &shown);
    err_help(e, "did you mean %s?", shown.data);
    text_free(&shown);
    return true;
}

/* KEY=VALUE as a word of the shell; a list of numbers in brackets. */
static void put_setting(const struct unknown *u, const struct spoken_key *key, struct text *out)
{
    const char *value = key->value ? key->value : u->value ? u->value : "VALUE";
    const bool bare = key->list && *value && strspn(value, "0123456789., ") == strlen(value);
    text_put(out, " --set ");
    text_put(out, shell_word(bare ? "%s=[%s]" : "%s=%s", key->key, value));
}

/* The line as it should be. With data in place of a config there are two: `dnn init`, which takes
 * the data and what a config holds, then the command with the rest. */
struct line {
    const struct command *init; /* NULL: no data stands there */
    struct text rest, first;
    bool target; /* `first` names it */
};

/* The data that stand in place of the config, NULL: none do. */
static const char *data_given(const struct command *c, int argc, char **argv)
{
    const char *text;
    for (int i = 0; i < argc && c != command_find("init"); i++) {
        const struct arg_option *o = args_named(c, argv[i], &text);
        if (o && o->value && !text && !(o->flags & ARG_MAYBE))
            i++;
        else if (argv[i][0] != '-')
            return config_names_table(argv[i], NULL) ? argv[i] : NULL;
    }
    return NULL;
}

static void put_word(struct text *out, const char *word)
{
    text_char(out, ' ');
    shell_put(out, word, strlen(word));
}

/* The unknown option, in other words. False: it has none. *next: the next word is its value. */
static bool put_meant(struct line *l, const struct unknown *u, bool *next)
{
    const char *value;
    struct spoken_key key;
    const struct arg_option *o = called(u, u->command, &value);
    struct text *out = o || !l->init ? &l->rest : &l->first;
    if (!o && l->init) {
        value = u->value;
        o = args_find(l->init, u->stem);
        o = o ? o : called(u, l->init, &value);
    }
    if (o) {
        text_char(out, ' ');
        put_option(o, value, out);
        l->target |= out == &l->first && strcmp(o->name, "target") == 0;
        *next = u->behind && o->value && value == u->value;
        return true;
    }
    if (l->init && argument_of(u, l->init) && u->value) {
        put_word(out, u->value);
        *next = u->behind;
        return true;
    }
    if (!u->plain[1] || !config_spoken_key(u->plain, &key))
        return false;
    put_setting(u, &key, out);
    /* --fp16 has no value: a word after it is an argument */
    *next = u->behind && (!key.value || isdigit((unsigned char)*u->value));
    return true;
}

static void put_line(struct line *l, const struct command *c, int argc, char **argv)
{
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        const char *text, *word = argv[i];
        const bool dashed = !ended && word[0] == '-' && word[1];
        const struct arg_option *o = dashed ? args_named(c, word, &text) : NULL;
        bool behind = o && o->value && !text && !(o->flags & ARG_MAYBE);
        ended = ended || strcmp(word, "--") == 0;
        const struct unknown u = unknown_at(c, argc, argv, i);
        if (!dashed || o || ended || !put_meant(l, &u, &behind)) {
            const bool first = l->init && (!dashed || (o && strcmp(o->name, "set") == 0));
            put_word(first ? &l->first : &l->rest, word);
            if (behind && i + 1 < argc)
                put_word(first ? &l->first : &l->rest, argv[i + 1]);
        }
        i += behind;
    }
}

/* --epochs 10, --lr=0.1, and --target with data in place of a config: shows the line as it should
 * be. */
static bool is_key(const struct unknown *u, struct err *e)
{
    struct spoken_key key = {0};
    const char *data = data_given(u->command, u->argc, u->argv);
    struct line l = {.init = data ? command_find("init") : NULL}, alone = {.init = l.init};
    struct text config = {0};
    bool behind;
    const bool meant = put_meant(&alone, u, &behind);
    if (meant)
        put_line(&l, u->command, u->argc, u->argv);
    if (meant && data && !l.target)
        text_put(&l.first, " --target COL");
    if (data)
        config_names_table(data, &config);
    const bool fits = l.rest.length + l.first.length + 2 * config.length < sizeof e->help - 200;
    if (meant && data && fits)
        err_help(e, "that stands in a config: `dnn init%s -o %s` writes it from the data, then "
                 "`dnn %s %s%s`", l.first.data, shell_file(config.data), u->command->name,
                 shell_file(config.data), l.rest.length ? l.rest.data : "");
    else if (meant && data)
        err_help(e, "that stands in a config, which `dnn init` writes from the data");
    else if (meant && config_spoken_key(u->plain, &key) && fits)
        err_help(e, "it is a key of the config: `dnn %s%s`; `dnn help %s` describes it",
                 u->command->name, l.rest.data, key.key);
    else if (meant)
        err_help(e, "it is a key of the config:%s; `dnn help %s` describes it", alone.rest.data,
                 key.key);
    text_free(&config);
    text_free(&l.rest);
    text_free(&l.first);
    text_free(&alone.rest);
    text_free(&alone.first);
    return meant;
}

static bool is_near(const struct unknown *u, struct err *e)
{
    const char *known[OPTIONS_MOST];
    const struct arg_option *o;
    size_t count = 0;
    for (; count < OPTIONS_MOST && (o = args_option(u->command, count)) != NULL; count++)
        known[count] = o->name;
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
        if (u->plain[1] && args_find(commands[i], u->stem))
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
    const struct unknown u = unknown_at(c, argc, argv, at);
    err_set(e, ERR_OPTION_UNKNOWN, "`dnn %s` has no option \"%s\"", c->name,
            text_quote_z(argv[at]));
    if (!is_argument(&u, e) && !is_option(&u, e) && !(c->flags & COMMAND_CONFIG && is_key(&u, e)) &&
        !is_near(&u, e) && !is_of_others(&u, e))
        err_help(e, "`dnn help %s` lists them; `--` ends the options", c->name);
    return false;
}
