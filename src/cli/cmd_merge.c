/* cmd_merge.c - `dnn merge`: the parts of an ensemble's runs become a model. */
#include "base/file/file.h"
#include "base/process/warnings.h"
#include "cli/cli.h"
#include "cli/text/train_text.h"
#include "train/train.h"

static const struct arg_option merge_options_table[] = {
    {"output", 'o', "MODEL", NULL, ARG_FILE, 0, 0,
     "The model file; default: output.model of the config."},
    {"force", 0, NULL, NULL, 0, 0, 0,
     "Replace a model even by one that is no better than a constant answer."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static bool check_names(const struct args *a, const struct train_request *q, struct err *e)
{
    if (!q->output) {
        err_set(e, ERR_USAGE, "no name for the model");
        return err_help(e, "give -o MODEL, or set \"output\": {\"model\": ...} in the config");
    }
    for (size_t i = 1; i < a->positional_count; i++)
        if (file_same(a->positionals[i], q->output))
            return err_set(e, ERR_SAME_FILE, "the output \"%s\" is one of the parts",
                           text_quote_z(q->output));
    return true;
}

static int tell(struct args *a, const struct train_request *q, const struct train_result *r)
{
    train_text(r, q->output);
    if (!a->json)
        return EXIT_DONE;
    struct json_out out = {0};
    train_write(q, r, &out);
    return cli_json(a, &out, false);
}

static int merge_command(struct args *a)
{
    struct err e = {0};
    struct config *config = cli_config(a, args_value(a, "output"), &e);
    if (!config)
        return cli_fail(a, &e, "nothing was written");
    struct train_request q = {.config = config,
                              .output = config->output.model,
                              .force = args_value(a, "force") != NULL};
    struct train_result r = {.stopped = ""};
    int code;
    if (!check_names(a, &q, &e) ||
        !train_merge(&q, a->positionals + 1, a->positional_count - 1, &r, &e))
        code = cli_fail(a, &e, r.says_kept ? NULL : "nothing was written");
    else
        code = tell(a, &q, &r);
    warnings_drop();
    train_release(&r);
    config_free(config);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .usage = "merge CONFIG PART... -o MODEL [--force] [--json]",
    .summary = "Make the model of an ensemble from the parts of its runs.",
    .examples = "  dnn train leads.json --set ensemble.folds=2 --run 0 -o p0\n"
                "  dnn train leads.json --set ensemble.folds=2 --run 1 -o p1\n"
                "  dnn merge leads.json --set ensemble.folds=2 p0 p1 -o leads.dnn\n",
    .notes = "Any scheduler can spread the runs. With an ensemble of 15 runs in the config, seq 0 "
             "14 | xargs -P 4 -I{} dnn train leads.json --run {} -o p{} --threads 1 trains four "
             "at a time. The model has the same bytes as that of `dnn train`. No data are read. A "
             "part that is missing or there twice: exit 64; one of another config, other data or "
             "another kind of processor: 76.",
    .options = merge_options_table,
    .flags = COMMAND_CONFIG | COMMAND_JSON,
    .arguments = {2, 65536},
    .run = merge_command,
};
