/* cmd_help.c - `dnn help`, `dnn schema`: pages made from the tables. */
#include "cli/cli.h"
#include "cli/help.h"
#include "config/config_help.h"

static int help_run(struct args *a)
{
    struct text out = {0};
    struct err e = {0};
    const char *word = a->positional_count ? a->positionals[0] : NULL;
    if (!word)
        help_overview(&out);
    else if (!help_word(word, &out, &e)) {
        text_free(&out);
        return cli_fail(a, &e, NULL);
    }
    return cli_print(a, &out);
}

const struct command command_help = {
    .name = "help",
    .usage = "help [COMMAND|TOPIC|KEY|--OPTION|E1203]",
    .summary = "Show the page of a command, a topic, a config key or an error.",
    .examples = "  dnn help train\n  dnn help cron\n  dnn help train.optimizer.learning_rate\n"
                "  dnn help --resume\n  dnn help E1203\n",
    .most = 1,
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
