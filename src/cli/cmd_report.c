/* cmd_report.c - `dnn report`: a page about a model, for people. */
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/outfile.h"
#include "cli/cli.h"
#include "cli/held_rows.h"
#include "cli/report_page.h"
#include "config/output.h"

static const struct arg_option report_options_table[] = {
    {"output", 'o', "REPORT.html", NULL, ARG_FILE, 0, 0, "The page."},
    PART_OPTION,
    {"by", 0, "COLUMN", NULL, ARG_MANY, 0, 0,
     "Metrics by group, the worst first, as `dnn evaluate --by` gives them: a group for each text "
     "of a column of the data, or, as age:4, for each of so many bins of its numbers or dates. "
     "May stand many times."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static bool check_output(const struct args *a, const char *output, struct err *e)
{
    if (!output)
        return err_set(e, ERR_USAGE, "`dnn report` writes a page: -o says where");
    for (size_t i = 0; strcmp(output, "-") != 0 && i < a->positional_count; i++)
        if (file_same(output, a->positionals[i]))
            return err_set(e, ERR_SAME_FILE, "\"%s\" is an input", text_quote_z(output));
    return output_spares(output, e);
}

static bool write_page(const char *output, const struct text *page, struct err *e)
{
    struct outfile o = {.fd = -1};
    if (!outfile_open(&o, output, e))
        return false;
    if (outfile_write(&o, page->data, page->length, e))
        return outfile_commit(&o, e);
    outfile_abort(&o);
    return false;
}

static int report_command(struct args *a)
{
    struct err e = {0};
    const char *output = args_value(a, "output");
    size_t by_count;
    const char **by = args_list(a, "by", &by_count);
    struct report_request q = {.model = a->positionals[0],
                               .groups = (char *const *)(const void *)by,
                               .group_count = by_count,
                               .overrides = cli_overrides(a)};
    struct report r = {0};
    struct text page = {0};
    struct held_rows rows = {0};
    bool good = check_output(a, output, &e) &&
                held_rows_read(a, by_count > 0, &rows, &q.inputs, &q.input_count, &q.part, &e) &&
                cli_reading(a, &q.reading, &e) &&
                report_make(&q, &r, &e);
    if (good) {
        report_page(&q, &r, &page);
        good = write_page(output, &page, &e);
    }
    int code = good ? EXIT_DONE : cli_fail_output(a, &e, output);
    text_free(&page);
    report_release(&r);
    held_rows_free(&rows);
    cli_drop(by);
    cli_drop(q.overrides.sets);
    return code;
}

const struct command command_report = {
    .name = "report",
    .usage = "report MODEL [DATA.csv]... -o REPORT.html [--part P] [--by COLUMN[:BINS]]... "
             "[READING]",
    .summary = "A page about a model, for people: how good, on what, which columns matter.",
    .examples = "  dnn report leads.dnn test.csv -o leads.html\n"
                "  dnn report leads.dnn test.csv --by city --by age:4 -o leads.html\n"
                "  dnn report leads.dnn -o leads.html\n",
    .notes = "One HTML file with its charts, readable without script and offline, in light and "
             "dark and on paper. With labelled rows, best ones that the model was not trained on: "
             "metrics with intervals, ROC and precision-recall, calibration, scores by label, "
             "thresholds, confusion, or the errors of a regression; metrics by group (--by); "
             "which columns matter, and how each acts. "
             "Without rows: what the model's file says. The learning curves are in the file of a "
             "model since it holds the history of its epochs.",
    .options = report_options_table,
    .reads = true,
    .computes = true,
    .least = 1,
    .most = 4096,
    .run = report_command,
};
