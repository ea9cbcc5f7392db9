/* cmd_report.c - `dnn report`: a page about a model or about data, for people. */
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/file/outfile.h"
#include "base/process/shell.h"
#include "base/process/stop.h"
#include "check/inspect.h"
#include "cli/cli.h"
#include "cli/held_rows.h"
#include "cli/report/html.h"
#include "cli/report/page.h"
#include "config/output.h"

static const struct arg_option report_options_table[] = {
    {"output", 'o', "REPORT.html", NULL, ARG_FILE, 0, 0,
     "The page; default: beside the first argument, named after it, leads.html for leads.dnn, "
     "leads.data.html for the data leads.csv. A default name replaces no file but the page of the "
     "same model or data."},
    PART_OPTION,
    {"require", 0, "GATE", NULL, ARG_MANY, 0, 0,
     "A gate on a metric, as `dnn evaluate --require` takes it; the page says whether it is met. "
     "May stand many times. One not met: the page is written, exit 82."},
    {"target", 0, "COLUMN", NULL, 0, 0, 0,
     "Of a page about data: the column that the others are shown against."},
    {"note", 0, "TEXT", NULL, 0, 0, 0,
     "Text for the model card: whom to ask, what the model is for, what it is not for."},
    {"by", 0, "COLUMN", NULL, ARG_MANY, 0, 0,
     "Metrics by group, the worst first, as `dnn evaluate --by` gives them: a group for each text "
     "of a column of the data, or, as age:4, for each of 4 bins of its numbers or dates. "
     "May stand many times."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* A name that nobody gave replaces the page of the same file alone. */
static bool is_own_page(const struct args *a, bool data, const char *output, struct err *e)
{
    struct text title = {0}, head = {0}, what = {0};
    report_title(a->positionals[0], data, &title);
    html_title(&head, title.data);
    text_printf(&what, "the page of \"%s\"", text_quote_z(a->positionals[0]));
    bool own = file_is_ours(output, head.data, what.data, "name the page with -o FILE", e);
    text_free(&title);
    text_free(&head);
    text_free(&what);
    return own;
}

static bool check_output(const struct args *a, const char *output, struct err *e)
{
    for (size_t i = 0; strcmp(output, "-") != 0 && i < a->positional_count; i++)
        if (file_same(output, a->positionals[i]))
            return err_set(e, ERR_SAME_FILE, "\"%s\" is an input", text_quote_z(output));
    return output_spares(output, e);
}

/* --- rows and their page --- */

static bool make_page(struct report_request *q, const char *output, bool *passed, struct err *e)
{
    struct report r = {0};
    struct text page = {0};
    bool good = report_make(q, &r, e);
    if (good) {
        report_page(q, &r, &page);
        good = outfile_whole(output, &page, e);
    }
    *passed = !r.measured || r.value.passed;
    for (size_t i = 0; good && r.measured && i < r.value.gate_count; i++)
        if (!r.value.gates[i].pass)
            log_warning("gate not met: %s, measured %s", text_quote_z(r.value.gates[i].text),
                        text_figure(r.value.gates[i].value, 6));
    text_free(&page);
    report_release(&r);
    return good;
}

/* Finds the rows: the command line's, else the test rows of the training. */
static bool find_rows(const struct args *a, bool needs, struct config **beside,
                      struct report_request *q, struct err *e)
{
    if (!held_rows_read(a, false, beside, &q->rows, e))
        return false;
    struct text why = {0};
    q->held = held_rows_default(a, beside, &q->rows, &why);
    if (why.length && !needs)
        log_note("the page is without rows: %s; to name rows: dnn report %s DATA.csv, or "
                 "TRAIN.csv --part test", why.data, shell_file(q->rows.model));
    text_free(&why);
    return !needs || q->rows.input_count ||
           held_rows_read(a, true, beside, &q->rows, e);
}

/* The test rows that nobody asked for cannot be had: a page without them. False: another error. */
static bool forget_rows(struct report_request *q, struct err *e)
{
    if (err_exit(e) != EXIT_DATA)
        return false;
    log_note("the page is without rows, as the test rows of the training cannot be taken: %s",
             e->what);
    mem_free(e->more);
    err_clear(e);
    q->rows.inputs = NULL;
    q->rows.input_count = 0;
    q->rows.part = NULL;
    q->held = false;
    return true;
}

/* --- a page about data --- */

static bool make_data_page(const struct args *a, const char *output, const char *date,
                           struct err *e)
{
    static const char *const others[] = {"part", "by", "require"};
    struct reading as = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (args_value(a, others[i]))
            return err_set(e, ERR_OPTION_CONFLICT, "--%s needs a model, and \"%s\" is data",
                           others[i], text_quote_z(a->positionals[0]));
    if (a->positional_count > 1)
        return err_set(e, ERR_USAGE, "a page about data is of one file, and \"%s\" is data, not "
                       "a model", text_quote_z(a->positionals[0]));
    if (!cli_reading(a, &as, e))
        return false;
    const struct infer_request q = {.path = a->positionals[0],
                                    .target = args_value(a, "target"),
                                    .delimiter = as.delimiter,
                                    .decimal = as.decimal,
                                    .encoding = args_word(a, "encoding", -1),
                                    .quote = args_word(a, "quote", -1),
                                    .header = -1,
                                    .stop = stop_wanted,
                                    .progress = cli_progress(a)};
    struct data_look look;
    struct text page = {0};
    bool good = data_look_run(&look, &q, e);
    if (good) {
        report_data_page(&look, report_file(q.path), args_value(a, "note"), date, &page);
        good = outfile_whole(output, &page, e);
    } else if (e->id == ERR_NONE) {
        stop_error("the end of the file", e);
    }
    text_free(&page);
    data_look_free(&look);
    return good;
}

/* --- a page about a model --- */

static bool make_model_page(const struct args *a, struct report_request *q, const char *output,
                            bool *passed, struct err *e)
{
    const bool needs = q->group_count + q->require_count > 0;
    struct config *beside = NULL;
    bool good = false;
    if (args_value(a, "target"))
        err_set(e, ERR_OPTION_CONFLICT, "--target belongs to a page about data, and \"%s\" is a "
                "model", text_quote_z(q->rows.model));
    else
        good = find_rows(a, needs, &beside, q, e) && make_page(q, output, passed, e);
    if (!good && q->held && !needs && forget_rows(q, e))
        good = make_page(q, output, passed, e);
    config_free(beside);
    return good;
}

static int report_command(struct args *a)
{
    struct err e = {0};
    const char *output = args_value(a, "output");
    const struct clock_day day = clock_today();
    size_t by_count, gates;
    const char **by = args_list(a, "by", &by_count), **require = args_list(a, "require", &gates);
    struct report_request q = {.rows = {.model = a->positionals[0],
                                        .overrides = cli_overrides(a)},
                               .groups = (char *const *)(const void *)by,
                               .group_count = by_count,
                               .require = (char *const *)(const void *)require,
                               .require_count = gates,
                               .note = args_value(a, "note"),
                               .date = day.text};
    struct text named = {0};
    bool passed = true;
    const bool data = inspect_is_data(q.rows.model);
    if (!output) { /* beside the first argument; a model often has the name of its data */
        cli_renamed(q.rows.model, data ? ".data.html" : ".html", &named);
        output = named.data;
    }
    bool good = check_output(a, output, &e) &&
                (!named.data || is_own_page(a, data, output, &e)) &&
                (data ? make_data_page(a, output, day.text, &e)
                      : make_model_page(a, &q, output, &passed, &e));
    if (good && named.data)
        log_note("the page is %s", text_quote_z(output));
    int code = good ? passed ? EXIT_DONE : EXIT_GATE : cli_fail_output(a, &e, output);
    text_free(&named);
    return code;
}

const struct command command_report = {
    .name = "report",
    .usage = "report MODEL|DATA.csv [DATA.csv]... [-o REPORT.html] [--part P] "
             "[--by COLUMN[:BINS]]... [--require GATE]... [--target COLUMN] [--note TEXT] "
             "[READING]",
    .summary = "A page about a model or data, for people: how good, what matters.",
    .examples = "  dnn report leads.dnn test.csv -o leads.html\n"
                "  dnn report leads.dnn test.csv --by city --by age:4 -o leads.html\n"
                "  dnn report leads.dnn test.csv --require 'auc>=0.8' --note 'Ask Ann.'\n"
                "  dnn report leads.dnn\n"
                "  dnn report leads.csv --target converted\n",
    .notes = "One HTML file with its charts, readable without script and offline, in light and "
             "dark, on a phone and on paper. At the top a sentence says what the model "
             "predicts and how good it is. With labelled rows, best ones that the model was "
             "not trained on, follow: metrics with intervals, curves, confusion, metrics by "
             "group (--by), thresholds, which columns matter and how each acts, calibration, "
             "drift, the training, and a model card (--note). Rows without labels: scores and "
             "drift. Without DATA the rows are the test rows of the training, where the config "
             "that stands beside the model (leads.json for leads.dnn) names files that are "
             "there; else the page shows what the model's file says. The date of the page is "
             "that of SOURCE_DATE_EPOCH where the environment has it. Of a file of data the "
             "page shows columns, ranges, missing cells, copies of rows, columns that say the "
             "same, values, words of texts, rows a month, and with --target what the target is "
             "where a column has a value: a share, the shares of its labels, or a mean.",
    .options = report_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_READS,
    .arguments = {1, 4096},
    .run = report_command,
};
