/* cmd_predict.c - `dnn predict`: rows in, answers out. */
#include <string.h>
#include <unistd.h>

#include "answer/stream/predict.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/held_rows.h"

static const char *const bad_row_words[] = {"stop", "null", "skip", NULL}; /* as enum bad_row */
static const char *const io_words[] = {"csv", "tsv", NULL};

static const struct arg_option predict_options_table[] = {
    {"output", 'o', "OUT", NULL, ARG_FILE, 0, 0,
     "Where the answers go. The default, and -, is standard output."},
    {"columns", 0, "a,b,c", NULL, 0, 0, 0,
     "The names of the input's columns; with --no-header. One with a comma in it stands in double "
     "quotes, as in CSV: '\"a,b\",c'."},
    {"no-header", 0, NULL, NULL, 0, 0, 0, "Neither input nor output has a header."},
    {"passthrough", 0, "LIST", NULL, 0, 0, 0,
     "Input columns to repeat in the output: a,b,c, named as for --columns, or all. Their cells "
     "stay as they are, a decimal comma too; answers have a point, and commas between (tsv: "
     "tabs)."},
    {"uncertainty", 0, NULL, NULL, 0, 0, 0,
     "Add a last column, uncertainty: the standard deviation, over the networks of an ensemble, of "
     "the predicted label's probability, or of the value. One network has none: an error (65)."},
    {"io", 0, "FORMAT", io_words, 0, 0, 0,
     "csv, or tsv: tabs and no quoting, in and out. Default: the training file's delimiter in, CSV "
     "out."},
    {"null", 0, "TEXT", NULL, ARG_EMPTY, 0, 0,
     "What stands for a missing value. An input cell with this text is missing, like those of "
     "data.missing; a missing answer (--on-bad-row null) is written as this text. Default: "
     "nothing."},
    {"on-bad-row", 0, "RULE", bad_row_words, 0, 0, 0,
     "What happens at a row that cannot be read: stop (default, exit 65), null (an empty "
     "answer in its place), skip."},
    {"rejects", 0, "FILE", NULL, ARG_FILE, 0, 0,
     "With --on-bad-row null or skip: keep bad rows: line, column, reason and the raw text."},
    {"max-bad-rows", 0, "N", NULL, ARG_INT, 0, INT64_MAX, "Stop (65) at more than N bad rows."},
    {"threshold", 0, "X", NULL, 0, 0, 0,
     "binary: the least probability that is answered as positive; default: the model's, or 0.5."},
    {"top", 0, "K", NULL, ARG_INT, 1, 65535,
     "In place of a probability for every label: the predicted label, then the likeliest of the "
     "others, K in all, as prediction, probability, prediction_2, probability_2, ..."},
    PART_OPTION,
    {"limit", 0, "N", NULL, ARG_INT, 1, INT64_MAX, "Answer the first N rows alone."},
    {"require", 0, "GATE", NULL, ARG_MANY, 0, 0,
     "A gate on unseen, the share of rows with a category or a number beyond training, e.g. "
     "'unseen<=0.01'. Not met: exit 82; the answers are written all the same."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static struct predict_request request_of(const struct args *a)
{
    const char *output = args_value(a, "output");
    return (struct predict_request){
        .rows = {.model = a->positionals[0],
                 .overrides = cli_overrides(a),
                 .progress = cli_rows_out(a) && isatty(STDOUT_FILENO) ? PROGRESS_NONE
                                                                      : cli_progress(a),
                 .columns = args_value(a, "columns"),
                 .no_header = args_value(a, "no-header") != NULL,
                 .csv = args_word(a, "io", -1) == 0,
                 .tsv = args_word(a, "io", -1) == 1,
                 .on_bad_row = (enum bad_row)args_word(a, "on-bad-row", BAD_ROW_STOP),
                 .rejects = args_value(a, "rejects"),
                 .max_bad_rows = args_int(a, "max-bad-rows", -1),
                 .limit = (uint64_t)args_int(a, "limit", 0)},
        .output = output ? output : "-",
        .passthrough = args_value(a, "passthrough"),
        .uncertainty = args_value(a, "uncertainty") != NULL,
        .top = (uint32_t)args_int(a, "top", 0),
        .null_text = args_value(a, "null")};
}

/* Errors of the command line alone. *note: the state of the output file, or NULL. */
static bool check_line(const struct args *a, const struct predict_request *q, const char **note,
                       struct err *e)
{
    *note = NULL;
    if (q->rows.columns && !q->rows.no_header) {
        err_set(e, ERR_OPTION_CONFLICT, "--columns names the columns of an input without header");
        return err_help(e, "add --no-header, or leave --columns out");
    }
    if (q->rows.reading.delimiter && (q->rows.tsv || q->rows.csv)) {
        err_set(e, ERR_OPTION_CONFLICT, "--io and --delimiter both say what delimits the input");
        return err_help(e, "leave one of them out; without --io the answers are CSV");
    }
    if (q->rows.reading.quote && q->rows.tsv)
        return err_set(e, ERR_OPTION_CONFLICT, "--io tsv reads without quoting, whatever --quote "
                                               "says");
    if (q->rows.on_bad_row == BAD_ROW_STOP && (q->rows.rejects || q->rows.max_bad_rows >= 0)) {
        const char *option = q->rows.rejects ? "--rejects" : "--max-bad-rows";
        err_set(e, ERR_OPTION_CONFLICT, "%s belongs to --on-bad-row null or skip", option);
        return err_help(e, "add --on-bad-row skip or null, or leave %s out: the first bad row "
                        "stops", option);
    }
    if (q->null_text && q->rows.tsv && q->null_text[strcspn(q->null_text, "\t\n\r")]) {
        err_set(e, ERR_OPTION_VALUE, "--null: \"%s\" holds a tab or a line end",
                text_quote_z(q->null_text));
        return err_expected(e, "a text without them: --io tsv has no quoting");
    }
    if (a->json && q->rows.rejects && !cli_rows_out(a) && file_is_output(q->rows.rejects)) {
        *note = "nothing was written";
        err_set(e, ERR_OPTION_CONFLICT, "--rejects and --json both write to standard output");
        return err_help(e, "name a file with --rejects");
    }
    return true;
}

static int predict_command(struct args *a)
{
    struct err e = {0};
    struct predict_request q = request_of(a);
    struct predict_result r = {0};
    int code = EXIT_DONE;
    const bool answers = cli_rows_out(a);
    const char *note = NULL;
    double threshold;
    q.require = (char *const *)(const void *)args_list(a, "require", &q.require_count);
    struct config *beside = NULL;
    if (!held_rows_read(a, false, &beside, &q.rows, &e) ||
        !args_number(a, "threshold", &threshold, &q.threshold, &e) ||
        !check_line(a, &q, &note, &e)) {
        code = cli_fail(a, &e, note);
    } else if (!predict_run(&q, &r, &e)) {
        code = answers ? cli_fail(a, &e, NULL) : cli_fail_output(a, &e, q.output);
    } else if (a->json) {
        struct json_out out = {0};
        predict_write(&r, &out);
        code = cli_json(a, &out, answers);
    }
    for (size_t i = 0; code == EXIT_DONE && i < r.gate_count; i++)
        if (!r.gates[i].pass)
            log_warning("gate not met: %s, measured %s; the answers are written",
                        text_quote_z(r.gates[i].text), text_figure(r.gates[i].value, 6));
    if (code == EXIT_DONE)
        log_info("%llu rows; seconds: load %.3g, predict %.3g, all %.3g",
                 (unsigned long long)r.rows, r.load_s, r.predict_s, r.total_s);
    if (code == EXIT_DONE && !r.passed)
        code = EXIT_GATE;
    predict_release(&r);
    config_free(beside);
    return code;
}

const struct command command_predict = {
    .name = "predict",
    .usage = "predict MODEL [DATA.csv|-]... [-o OUT|-] [options]",
    .summary = "Predict: rows in, answers out, in the same order; memory does not grow.",
    .examples = "  dnn predict leads.dnn new.csv -o answers.csv\n"
                "  dnn predict leads.dnn new.csv --passthrough city > answers.csv\n"
                "  cat new.csv | dnn predict leads.dnn - --on-bad-row skip --rejects bad.csv > "
                "answers.csv\n",
    .notes = "Columns are matched by name, in any order; extra ones are ignored. The output has "
             "the id columns, "
             "the passthrough columns, then prediction and, for classes, probability_<label>. The "
             "answer to a row "
             "depends on the model and that row alone. Rows that come through a pipe are answered "
             "as they come: whole ones do not wait for more.",
    .options = predict_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_READS | COMMAND_JSON | COMMAND_ROWS,
    .arguments = {1, 4096},
    .run = predict_command,
};
