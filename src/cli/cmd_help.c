/* cmd_help.c - `dnn help`, `dnn schema`: pages made from the tables. */
#include "cli/cli.h"
#include "cli/help.h"
#include "config/config_help.h"

enum { HELP_WORDS = 8 };

static const struct arg_option help_options_table[] = {
    {"keyword", 'k', "WORD", NULL, 0, 0, 0,
     "List the pages that have this word, and those behind it, the best first."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* The words of -k and of the line, or several words of the line: the pages that have them. */
static bool search(const struct args *a, struct text *out, struct err *e)
{
    const char *keyword = args_value(a, "keyword");
    const char *words[HELP_WORDS + 1];
    size_t count = 0;
    struct text all = {0};
    if (keyword)
        words[count++] = keyword;
    for (size_t i = 0; i < a->positional_count; i++)
        words[count++] = a->positionals[i];
    if (help_search(words, count, out))
        return true;
    for (size_t i = 0; i < count; i++)
        text_printf(&all, "%s%s", i ? " " : "", text_quote_z(words[i]));
    err_set(e, ERR_USAGE, "no page has %s \"%s\"", count > 1 ? "all the words" : "the word",
            all.data);
    text_free(&all);
    return err_help(e, "`dnn help` lists commands and topics, `dnn help keys` the config keys");
}

static int help_run(struct args *a)
{
    struct text out = {0};
    struct err e = {0};
    const char *word = a->positional_count ? a->positionals[0] : NULL;
    bool many = args_value(a, "keyword") || a->positional_count > 1;
    if (!word && !many)
        help_overview(&out);
    else if (many ? !search(a, &out, &e) : !help_word(word, &out, &e)) {
        text_free(&out);
        return cli_fail(a, &e, NULL);
    }
    return cli_print(a, &out);
}

const struct command command_help = {
    .name = "help",
    .usage = "help [COMMAND|TOPIC|KEY|--OPTION|E1203] [-k WORD...]",
    .summary = "Show the page of a command, a topic, a config key or an error.",
    .examples = "  dnn help train\n  dnn help cron\n  dnn help train.optimizer.learning_rate\n"
                "  dnn help --resume\n  dnn help E1203\n  dnn help -k overfitting\n",
    .options = help_options_table,
    .arguments = {0, HELP_WORDS},
    .run = help_run,
};

static int schema_run(struct args *a)
{
    struct text out = {0};
    config_schema(&out);
    return cli_print(a, &out);
}

const struct command command_schema = {
    .name = "schema",
    .usage = "schema",
    .summary = "Print the JSON Schema (draft 2020-12) of the config, for editors.",
    .examples = "  dnn schema > dnn.schema.json\n",
    .run = schema_run,
};
