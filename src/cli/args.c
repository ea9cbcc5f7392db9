/* args.c - reads a command line against the tables. */
#include "cli/args.h"

#include <string.h>

#include "base/mem.h"
#include "config/backend_settings.h"
#include "config/config.h"
#include "csv/csv.h"
#include "table/schema/options.h"

static const char *const format_words[] = {"text", "json", NULL};
static const char *const progress_words[] = {"auto", "bar", "plain", "none", NULL}; /* in the order
                                                                  * of enum progress_style */

const struct arg_option common_options[] = {
    {"help", 'h', NULL, NULL, 0, 0, 0, "Show this page."},
    {"verbosity", 0, "N", NULL, ARG_INT, 0, 3,
     "0 errors and warnings; 1 default: notes and progress too; 2 verbose; 3 debug."},
    {"quiet", 'q', NULL, NULL, 0, 0, 0,
     "As --verbosity 0: standard error has errors and warnings alone; results stay on standard "
     "output."},
    {"verbose", 'v', NULL, NULL, 0, 0, 0, "As --verbosity 2."},
    {"log-format", 0, "FORMAT", format_words, 0, 0, 0,
     "text, or json: one object a line on standard error."},
    {"progress", 0, "STYLE", progress_words, 0, 0, 0,
     "auto, bar, plain or none. auto: a bar on a terminal, else a line at most each 10 seconds. "
     "plain: a line for each epoch of a training, as --log-format json has it."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

const struct arg_option compute_options[] = {
    {"backend", 0, "B", NULL, 0, 0, 0, BACKEND_OPTION_HELP},
    {"device", 0, "D", NULL, 0, 0, 0, "Which GPU: auto, 0, cuda:0, a UUID."},
    {"threads", 0, "N", NULL, ARG_INT, 0, THREADS_MOST,
     "Threads; 0: as many as affinity and cgroup allow. The result does not depend on it."},
    {"batch-size", 0, "N", NULL, ARG_INT, 1, PREDICT_BATCH_MOST,
     "train: rows a step; elsewhere rows computed at a time; the answers do not depend on "
     "it."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

const struct arg_option config_options[] = {{"set", 0, "KEY=VALUE", NULL, ARG_MANY, 0, 0,
                                             "Set a config key, e.g. train.epochs=50; may stand "
                                             "many times. A path counts from the config's folder. "
                                             "A column's name with = or . stands in quotes: "
                                             "'data.columns.\"a=b\".type=numeric'."},
                                            {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

const struct arg_option reading_options[] = {
    {"delimiter", 0, "C", NULL, 0, 0, 0,
     "The delimiter of these files: , ; | or \\t; this and the next three: default as the "
     "training file."},
    {"decimal", 0, "C", data_decimal_names, 0, 0, 0,
     "Their decimal sign. If it was the thousands separator in training, the two signs change "
     "places."},
    {"encoding", 0, "NAME", csv_encoding_names, 0, 0, 0,
     "Their encoding: utf-8, latin1 or cp1252."},
    {"quote", 0, "RULE", csv_quote_names, 0, 0, 0,
     "How their quotes are read: as RFC 4180 (strict), also inside a cell (lenient), as characters "
     "(none), with \\\" for a quote inside quotes (backslash)."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

const struct arg_option json_options[] = {
    {"json", 0, NULL, NULL, 0, 0, 0, "One JSON object, last on standard output."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

const struct arg_option *args_option(const struct command *c, size_t at)
{
    const struct arg_option *const tables[] = {c->options,
                                               c->flags & COMMAND_CONFIG ? config_options : NULL,
                                               c->flags & COMMAND_READS ? reading_options : NULL,
                                               c->flags & COMMAND_COMPUTES ? compute_options : NULL,
                                               c->flags & COMMAND_JSON ? json_options : NULL,
                                               common_options};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct arg_option *o = tables[t]; o && o->name; o++)
            if (at-- == 0)
                return o;
    return NULL;
}

static const struct arg_option *find(const struct command *c, const char *name, size_t length,
                                     char letter)
{
    const struct arg_option *o;
    for (size_t i = 0; (o = args_option(c, i)) != NULL; i++)
        if (name ? strlen(o->name) == length && memcmp(o->name, name, length) == 0
                 : o->letter == letter)
            break;
    return o;
}

const struct arg_option *args_find(const struct command *c, const char *name)
{
    return find(c, name, strlen(name), 0);
}

int args_place(const char *const *words, const char *word, int otherwise)
{
    for (int i = 0; word && words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return otherwise;
}

bool args_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *p = length ? strstr(list, word) : NULL; p; p = strstr(p + 1, word))
        if ((p == list || p[-1] == ' ') && (p[length] == ' ' || !p[length]))
            return true;
    return false;
}

static bool check_value(const struct command *c, const struct arg_option *o, const char *text,
                        struct err *e)
{
    int64_t high = o->high;
    if (c->flags & COMMAND_CONFIG && strcmp(o->name, "batch-size") == 0)
        high = TRAIN_BATCH_MOST; /* rows of a step */
    if (!*text && o->flags & ARG_EMPTY)
        return true;
    if (!*text)
        return err_set(e, ERR_OPTION_VALUE, "--%s needs a value (%s)", o->name, o->value);
    if (o->words && args_place(o->words, text, -1) >= 0)
        return true;
    if (o->words) {
        err_set(e, ERR_OPTION_VALUE, "--%s: \"%s\" is not one of its words", o->name,
                text_quote_z(text));
        struct text list = {0};
        size_t count = 0;
        for (; o->words[count]; count++)
            text_printf(&list, "%s%s", count ? ", " : "", o->words[count]);
        err_expected(e, "%s", list.data);
        text_free(&list);
        const char *near = text_nearest(text, o->words, count);
        return near ? err_help(e, "did you mean %s?", near) : false;
    }
    int64_t whole;
    if (o->flags & ARG_INT && (!text_to_int(text, &whole) || whole < o->low || whole > high)) {
        err_set(e, ERR_OPTION_VALUE, "--%s: \"%s\" is not a number it takes", o->name,
                text_quote_z(text));
        return err_expected(e, "an integer from %lld to %lld", (long long)o->low,
                            (long long)high);
    }
    double seconds;
    if (o->flags & ARG_SECONDS &&
        (!text_to_seconds(text, &seconds) || !(seconds >= 0 && seconds <= 1e9))) {
        err_set(e, ERR_OPTION_VALUE, "--%s: \"%s\" is not a duration", o->name,
                text_quote_z(text));
        return err_expected(e, "seconds, as 90 or 90s, or 5m, 2h, 1h30m, 1d; at most 1e9 seconds");
    }
    return true;
}

/* text NULL: an option that may have a value has none. */
static bool option_add(struct args *a, const struct arg_option *o, const char *text, struct err *e)
{
    if (o->value && text && !check_value(a->command, o, text, e))
        return false;
    size_t at = a->value_count; /* after the last value of this option, or the end */
    while (at && a->options[at - 1] != o)
        at--;
    at = at ? at : a->value_count;
    const size_t rest = a->value_count++ - at;
    memmove(a->options + at + 1, a->options + at, rest * sizeof *a->options);
    memmove(a->values + at + 1, a->values + at, rest * sizeof *a->values);
    a->options[at] = o;
    a->values[at] = text ? text : "";
    if (strcmp(o->name, "json") == 0)
        a->json = true;
    if (strcmp(o->name, "help") == 0)
        a->help = true;
    return true;
}

/* MODEL and DATA stand before the word, or MODEL does, and --part in the line takes rows without
 * DATA. */
static bool data_known(const struct args *a, int argc, char **argv)
{
    const size_t part = args_ahead(a->command, argc, argv, "part") != NULL;
    return a->positional_count + part >= 2 && a->positional_count;
}

/* Takes an option. text: its value in the word itself, or NULL; *i moves over a value that is the
 * next word. */
static bool take(struct args *a, const struct arg_option *o, const char *text, int argc,
                 char **argv, int *i, struct err *e)
{
    const char *next = *i + 1 < argc ? argv[*i + 1] : NULL;
    if (text && !o->value)
        return err_set(e, ERR_OPTION_VALUE, "--%s takes no value", o->name);
    if (text || !o->value)
        return option_add(a, o, text, e);
    const bool follows = o->flags & ARG_BEHIND && next && next[0] && next[0] != '-' &&
                         data_known(a, argc, argv);
    if (o->flags & ARG_MAYBE && !follows)
        return option_add(a, o, NULL, e);
    if (!next)
        return err_set(e, ERR_OPTION_VALUE, "--%s needs a value (%s)", o->name, o->value);
    ++*i;
    return option_add(a, o, next, e);
}

/* One word that begins with '-': --name, --name=value, or letters. */
static bool option(struct args *a, int argc, char **argv, int *i, struct err *e)
{
    const char *word = argv[*i], *text;
    const struct arg_option *o;
    if (word[1] == '-') {
        o = args_named(a->command, word, &text);
        return o ? take(a, o, text, argc, argv, i, e)
                 : args_unknown(a->command, argc, argv, *i, e);
    }
    for (const char *letter = word + 1; *letter; letter++) {
        o = find(a->command, NULL, 0, *letter);
        if (!o)
            return args_unknown(a->command, argc, argv, *i, e);
        if (o->value)
            return take(a, o, letter[1] ? letter + 1 : NULL, argc, argv, i, e);
        if (!option_add(a, o, NULL, e))
            return false;
    }
    return true;
}

const struct arg_option *args_named(const struct command *c, const char *word, const char **text)
{
    const struct arg_option *o;
    *text = NULL;
    if (word[0] != '-' || !word[1])
        return NULL;
    if (word[1] == '-') {
        const char *equals = strchr(word, '=');
        *text = equals ? equals + 1 : NULL;
        return find(c, word + 2, equals ? (size_t)(equals - word) - 2 : strlen(word + 2), 0);
    }
    for (word++; (o = find(c, NULL, 0, *word)) != NULL && !o->value && word[1];)
        word++;
    *text = word[1] ? word + 1 : NULL;
    return o;
}

const char *args_ahead(const struct command *c, int argc, char **argv, const char *name)
{
    const char *found = NULL, *text;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const struct arg_option *o = args_named(c, argv[i], &text);
        if (o && o->value && !text && !(o->flags & ARG_MAYBE))
            text = i + 1 < argc ? argv[++i] : NULL;
        if (o && strcmp(o->name, name) == 0)
            found = o->value && text ? text : "";
    }
    return found;
}

bool args_parse(struct args *a, const struct command *c, int argc, char **argv, struct err *e)
{
    *a = (struct args){.command = c};
    /* they decide the form and place of errors, also of out of memory */
    a->json = args_ahead(c, argc, argv, "json") != NULL;
    a->output = args_ahead(c, argc, argv, "output");
    a->positionals = mem_zero((size_t)argc + 1, sizeof *a->positionals);
    size_t letters = 1;
    for (int i = 0; i < argc; i++)
        letters += strlen(argv[i]);
    a->options = mem_zero((size_t)argc + letters, sizeof *a->options);
    a->values = mem_zero((size_t)argc + letters, sizeof *a->values);
    bool options = true;
    for (int i = 0; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!option(a, argc, argv, &i, e))
                return false;
        } else
            a->positionals[a->positional_count++] = argv[i];
    }
    if (a->help)
        return true;
    if (args_value(a, "quiet") && args_value(a, "verbose"))
        return err_set(e, ERR_OPTION_CONFLICT, "--quiet and --verbose contradict each other");
    if (a->positional_count < c->arguments.least || a->positional_count > c->arguments.most) {
        if (a->positional_count > c->arguments.most)
            err_set(e, ERR_USAGE, "`dnn %s` takes no argument \"%s\"", c->name,
                    text_quote_z(a->positionals[c->arguments.most]));
        else
            err_set(e, ERR_USAGE, "`dnn %s` needs more arguments", c->name);
        return err_expected(e, "dnn %s", c->usage);
    }
    return true;
}

void args_free(struct args *a)
{
    mem_free((void *)(uintptr_t)a->positionals);
    mem_free((void *)(uintptr_t)a->options);
    mem_free((void *)(uintptr_t)a->values);
    *a = (struct args){0};
}

const char *args_value(const struct args *a, const char *name)
{
    for (size_t i = a->value_count; i-- > 0;)
        if (strcmp(a->options[i]->name, name) == 0)
            return a->values[i];
    return NULL;
}

int args_word(const struct args *a, const char *name, int otherwise)
{
    const char *text = args_value(a, name);
    return text ? args_place(args_find(a->command, name)->words, text, otherwise) : otherwise;
}

int64_t args_int(const struct args *a, const char *name, int64_t otherwise)
{
    const char *text = args_value(a, name);
    int64_t value;
    return text && text_to_int(text, &value) ? value : otherwise;
}

double args_seconds(const struct args *a, const char *name, double otherwise)
{
    const char *text = args_value(a, name);
    double value;
    return text && text_to_seconds(text, &value) ? value : otherwise;
}

const char **args_list(const struct args *a, const char *name, size_t *count)
{
    size_t end = a->value_count;
    while (end && strcmp(a->options[end - 1]->name, name) != 0)
        end--;
    for (*count = 0; *count < end && a->options[end - 1 - *count] == a->options[end - 1];)
        ++*count;
    return a->values + end - *count;
}

bool args_number(const struct args *a, const char *name, double *value, const double **given,
                 struct err *e)
{
    const char *text = args_value(a, name);
    *given = text ? value : NULL;
    return !text || text_to_double(text, value) ||
           err_set(e, ERR_OPTION_VALUE, "--%s: \"%s\" is not a number", name,
                   text_quote_z(text));
}
