/* cmd_inspect.c - `dnn inspect`: shows the content of a model or a CSV file. */
#include <string.h>

#include "check/inspect.h"
#include "cli/cli.h"

static int inspect_command(struct args *a)
{
    struct err e = {0};
    struct inspect seen = {0};
    int code;
    if (!*a->positionals[0] || strcmp(a->positionals[0], "-") == 0) {
        err_set(&e, ERR_USAGE, "`dnn inspect` reads its file more than once: give a file");
        err_expected(&e, "dnn %s", a->command->usage);
        return cli_fail(a, &e, NULL);
    }
    if (!inspect_open(&seen, a->positionals[0], &e))
        code = cli_fail(a, &e, NULL);
    else if (a->json) {
        struct json_out out = {0};
        inspect_write(&seen, &out);
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        inspect_text(&seen, &out);
        code = cli_print(a, &out);
    }
    inspect_close(&seen);
    return code;
}

const struct command command_inspect = {
    .name = "inspect",
    .usage = "inspect MODEL|DATA.csv [--json]",
    .summary = "Show what is inside a model or a CSV file.",
    .examples = "  dnn inspect leads.dnn\n"
                "  dnn inspect leads.csv --json\n",
    .flags = COMMAND_JSON,
    .arguments = {1, 1},
    .run = inspect_command,
};
