/* cmd_explain.c - `dnn explain`: which columns matter to the model. */
#include "answer/explain/attribute.h"
#include "answer/explain/explain.h"
#include "base/file/file.h"
#include "base/file/outfile.h"
#include "cli/cli.h"
#include "cli/text/explain_text.h"
#include "cli/held_rows.h"

static const struct arg_option explain_options_table[] = {
    {"repeats", 0, "N", NULL, ARG_INT, 1, EXPLAIN_REPEATS_MOST,
     "How often each column is shuffled; default 5. The interval is that of their mean."},
    {"group", 0, "a,b", NULL, ARG_MANY, 0, 0,
     "Columns that are shuffled together, as one entry: where columns carry the same "
     "information, each alone seems to matter little. May stand many times."},
    {"rows", 0, "FILE", NULL, ARG_FILE, 0, 0,
     "Instead: what each column or channel adds to each answer, as CSV. Needs no target."},
    {"effects", 0, "FILE", NULL, ARG_FILE | ARG_MAYBE | ARG_BEHIND, 0, 0,
     "Instead: how each column acts, the mean answer over its values, in units of the answer. "
     "Needs no target. FILE: the same as CSV (`dnn help effects`); it stands behind the data, or "
     "behind MODEL with --part, else write --effects=FILE."},
    PART_OPTION,
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* --- --rows --- */

static bool check_rows(const struct args *a, const char *output, struct err *e)
{
    if (args_value(a, "repeats") || args_value(a, "group"))
        return err_set(e, ERR_OPTION_CONFLICT, "--rows shuffles no columns: without --repeats and "
                                               "--group");
    if (file_is_output(output))
        return err_set(e, ERR_OPTION_VALUE, "--rows: standard output has the summary: name a file");
    for (size_t i = 0; i < a->positional_count; i++)
        if (file_same(output, a->positionals[i]))
            return err_set(e, ERR_SAME_FILE, "--rows: \"%s\" is an input", text_quote_z(output));
    return true;
}

static int rows_command(struct args *a)
{
    struct err e = {0};
    struct attribute_request q = {.rows = {.model = a->positionals[0],
                                           .overrides = cli_overrides(a),
                                           .progress = cli_progress(a)},
                                  .output = args_value(a, "rows")};
    struct attribute_result r = {0};
    struct config *beside = NULL;
    int code;
    if (!check_rows(a, q.output, &e) ||
        !held_rows_read(a, true, &beside, &q.rows, &e) ||
        !attribute_run(&q, &r, &e)) {
        code = cli_fail_output(a, &e, q.output);
    } else if (a->json) {
        struct json_out out = {0};
        attribute_write(&q, &r, &out);
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        explain_text_rows(&q, &r, &out);
        code = cli_print(a, &out);
    }
    attribute_release(&r);
    config_free(beside);
    return code;
}

/* --- --effects --- */

static bool check_effects(const struct args *a, const char *output, struct err *e)
{
    if (args_value(a, "repeats") || args_value(a, "group") || args_value(a, "rows"))
        return err_set(e, ERR_OPTION_CONFLICT, "--effects shuffles no columns: without --repeats, "
                                               "--group and --rows");
    if (output && file_is_output(output))
        return err_set(e, ERR_OPTION_VALUE,
                       "--effects: standard output has the summary: name a file");
    for (size_t i = 0; output && i < a->positional_count; i++)
        if (file_same(output, a->positionals[i]))
            return err_set(e, ERR_SAME_FILE, "--effects: \"%s\" is an input",
                           text_quote_z(output));
    return !output || file_is_ours(output, EFFECTS_CSV_BEGIN, "a file of --effects",
                                   "choose another FILE, or remove this one", e);
}

static bool write_effects(const char *output, const struct effects_result *r, struct err *e)
{
    struct text csv = {0};
    effects_csv(r, &csv);
    const bool good = outfile_whole(output, &csv, e);
    text_free(&csv);
    return good;
}

static int effects_command(struct args *a)
{
    struct err e = {0};
    const char *output = args_value(a, "effects");
    if (!*output)
        output = NULL;
    struct config *beside = NULL;
    struct effects_request q = {.rows = {.model = a->positionals[0],
                                         .overrides = cli_overrides(a),
                                         .progress = cli_progress(a)}};
    struct effects_result r = {0};
    int code;
    if (!check_effects(a, output, &e) ||
        !held_rows_read(a, true, &beside, &q.rows, &e) ||
        !effects_run(&q, &r, &e) || (output && !write_effects(output, &r, &e))) {
        code = cli_fail_output(a, &e, output);
    } else if (a->json) {
        struct json_out out = {0};
        effects_write(&r, output, &out);
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        explain_text_effects(&r, &out);
        code = cli_print(a, &out);
    }
    effects_release(&r);
    config_free(beside);
    return code;
}

static int explain_command(struct args *a)
{
    struct err e = {0};
    size_t groups;
    if (args_value(a, "effects"))
        return effects_command(a);
    if (args_value(a, "rows"))
        return rows_command(a);
    const char **group = args_list(a, "group", &groups);
    struct explain_request q = {.rows = {.model = a->positionals[0],
                                         .overrides = cli_overrides(a),
                                         .progress = cli_progress(a)},
                                .groups = group,
                                .group_count = groups,
                                .repeats = args_int(a, "repeats", EXPLAIN_REPEATS)};
    struct explain_result r = {0};
    struct config *beside = NULL;
    int code;
    if (!held_rows_read(a, true, &beside, &q.rows, &e) || !explain_run(&q, &r, &e)) {
        code = cli_fail(a, &e, NULL);
    } else if (a->json) {
        struct json_out out = {0};
        explain_write(&q, &r, &out);
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        explain_text(&r, &out);
        code = cli_print(a, &out);
    }
    explain_release(&r);
    config_free(beside);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .usage = "explain MODEL [DATA.csv]... [--part P] [--rows FILE] [--effects [FILE]] "
             "[--repeats N] [--group a,b]... [READING] [--json]",
    .summary = "Which columns matter: permutation importance; how each acts; each row's "
               "attributions.",
    .examples = "  dnn explain leads.dnn test.csv\n"
                "  dnn explain leads.dnn test.csv --repeats 20 --group age,city --json\n"
                "  dnn explain leads.dnn new.csv --rows why.csv\n"
                "  dnn explain leads.dnn new.csv --effects effects.csv\n",
    .notes = "Takes labelled rows, best ones that the model was not trained on. The cells of a "
             "column are shuffled among the rows, and the task's metric (logloss, or rmse) is "
             "measured again: the importance is how much worse it gets, in its own units. Near 0: "
             "the model does not use the column, or another column carries the same information. "
             "The same rows are always shuffled in the same way. Columns with the same information "
             "share their importance: such groups stand below the list, each with its "
             "--group. They are columns whose "
             "association on 1000 of the rows is 0.9 or more: rank correlation of numbers, "
             "Cramer's V of categories, correlation ratio of one of each. Of wide "
             "sequences a channel is shuffled, with all "
             "its steps; of sequences with a row a step, a column is shuffled among windows.\n\n"
             "--rows: a line for each that predict gives: the id columns, what each column adds, "
             "`base`, `answer` (of more than two labels also `prediction`, whose probability is "
             "explained). The attributions add up to answer - base, up to rounding; the summary "
             "says the largest difference. `base` is the answer to the mean row, not the mean "
             "answer. They are integrated gradients against the training mean, "
             "taken in finite steps: all columns change together from the mean to the row, and "
             "a column gets the changes of the answer at its own steps. Numbers go in equal steps "
             "of the file's units; a category goes over at once, at another time on each of up to "
             "16 paths, which begin with the training rows' categories, each as often as its "
             "share; a text, of tokens too, begins empty. The training mean of a number that is "
             "not of scale standard is that of its quantiles in the model.\n\n"
             "--rows of sequences: a channel or column moves with all its steps, and gets one "
             "number. `base` is the answer to a sequence of the same length at the mean. Of "
             "sequences with a row a step all rows are held in memory. With a label each row, a "
             "column's number is what all its steps add to the answer to that row. Windows that "
             "overlap and windows of a group are put together first, as predict does it (`dnn "
             "help tagging`).\n\n"
             "--effects: each row of a sample gets one value in the column, its other cells stay, "
             "and the answers are averaged: partial dependence (`dnn help effects`).",
    .options = explain_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_READS | COMMAND_JSON,
    .arguments = {1, 4096},
    .run = explain_command,
};
