/* cmd_help.c - `dnn help`, `dnn schema`: pages made from the tables. */
#include <string.h>

#include "cli/cli.h"
#include "config/config_help.h"

static void error_rows(struct text *out)
{
    const struct err_info *info;
    for (size_t i = 0; (info = err_info_at(i)); i++)
        text_printf(out, "  E%d  %3d  %s\n", (int)info->id, (int)info->exit, info->summary);
}

static int help_run(struct args *a)
{
    struct text out = {0};
    struct err e = {0};
    const char *word = a->positional_count ? a->positionals[0] : NULL;
    if (!word)
        help_overview(&out);
    else if (strcmp(word, "keys") == 0)
        config_reference(&out);
    else if (strcmp(word, "errors") == 0)
        error_rows(&out);
    else if (strcmp(word, "gpu") == 0)
        help_gpu(&out);
    else if (!help_topic(word, &out, &e)) {
        text_free(&out);
        return cli_fail(a, &e, NULL);
    }
    int code = cli_print(a, &out);
    text_free(&out);
    return code;
}

const struct command command_help = {
    .name = "help",
    .usage = "help [COMMAND|KEY|WORD|E1203|keys|layers|environment|errors|exit|signals|gpu]",
    .summary = "Show the page of a command, a config key or an error.",
    .examples = "  dnn help train\n  dnn help train.optimizer.learning_rate\n  dnn help E1203\n"
                "  dnn help --resume\n",
    .most = 1,
    .run = help_run,
};

static int schema_run(struct args *a)
{
    struct text out = {0};
    config_schema(&out);
    int code = cli_print(a, &out);
    text_free(&out);
    return code;
}

const struct command command_schema = {
    .name = "schema",
    .usage = "schema",
    .summary = "Print the JSON Schema (draft 2020-12) of the config, for editors.",
    .examples = "  dnn schema > dnn.schema.json\n",
    .run = schema_run,
};
