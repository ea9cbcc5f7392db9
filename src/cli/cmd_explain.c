/* cmd_explain.c - `dnn explain`: which columns the model's answers hang on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/explain.h"
#include "base/mem.h"
#include "cli/cli.h"

#define BAR 30 /* characters of the longest bar */

static const struct arg_option explain_options_table[] = {
    {"repeats", 0, "N", NULL, ARG_INT, 1, EXPLAIN_REPEATS_MOST,
     "How often each column is dealt anew; default 5. The interval is that of their mean."},
    {"group", 0, "a,b", NULL, ARG_MANY, 0, 0,
     "Columns that are dealt together, as one entry: of columns that say the same, each alone "
     "seems to matter little. May stand many times."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static void result_text(const struct explain_result *r, struct text *out)
{
    size_t width = 6;
    double most = 0;
    for (uint32_t i = 0; i < r->column_count; i++) {
        size_t length = strlen(text_quote_z(r->columns[i].name));
        width = length > width && length <= 32 ? length : width;
        most = fmax(most, r->columns[i].importance);
    }
    text_printf(out, "%s %.6g on %llu rows; how much worse it is when the column's cells are dealt "
                "to other rows\n", r->metric->name, r->value, (unsigned long long)r->rows);
    for (uint32_t i = 0; i < r->column_count; i++) {
        const struct importance *p = &r->columns[i];
        char range[64] = "";
        if (!isnan(p->interval.low))
            snprintf(range, sizeof range, "(%.3g to %.3g)", p->interval.low, p->interval.high);
        text_printf(out, "%-*s %10.4g  %-24s", (int)width, text_quote_z(p->name), p->importance,
                    range);
        int bar = most > 0 ? (int)lround(BAR * p->importance / most) : 0;
        if (bar > 0)
            text_char(out, ' ');
        for (int k = 0; k < bar; k++)
            text_char(out, '#');
        while (out->length && out->data[out->length - 1] == ' ')
            out->data[--out->length] = '\0';
        text_char(out, '\n');
    }
}

static int explain_command(struct args *a)
{
    struct err e = {0};
    size_t groups;
    const char **group = args_list(a, "group", &groups);
    struct explain_request q = {.model = a->positionals[0],
                                .inputs = (char *const *)(const void *)(a->positionals + 1),
                                .input_count = a->positional_count - 1,
                                .groups = group,
                                .group_count = groups,
                                .repeats = args_int(a, "repeats", EXPLAIN_REPEATS),
                                .overrides = cli_overrides(a)};
    struct explain_result r = {0};
    int code;
    if (!cli_reading(a, &q.reading, &e) || !explain_run(&q, &r, &e)) {
        code = cli_fail(a, &e, NULL);
    } else if (a->json) {
        struct json_out out = {0};
        explain_write(&q, &r, &out);
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        result_text(&r, &out);
        code = cli_print(a, &out);
        text_free(&out);
    }
    explain_release(&r);
    cli_drop(group);
    cli_drop(q.overrides.sets);
    return code;
}

const struct command command_explain = {
    .name = "explain",
    .usage = "explain MODEL DATA.csv [--repeats N] [--group a,b]... [READING] [--json]",
    .summary = "Which columns matter: permutation importance with intervals.",
    .examples = "  dnn explain leads.dnn test.csv\n"
                "  dnn explain leads.dnn test.csv --repeats 20 --group age,city --json\n",
    .notes = "Takes labelled rows, best ones that the model was not trained on. The cells of a "
             "column are dealt to other rows, and the task's metric (logloss, or rmse) is measured "
             "again: the importance is how much worse it gets, in its own units. About 0: the "
             "answers do not hang on the column, or another column says the same. The dealing is "
             "always the same for the same rows.",
    .options = explain_options_table,
    .reads = true,
    .computes = true,
    .has_json = true,
    .least = 2,
    .most = 4096,
    .run = explain_command,
};
