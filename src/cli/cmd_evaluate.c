/* cmd_evaluate.c - `dnn evaluate`: metrics on labelled data, gates with exit 82; `dnn verify`: the
 * golden rows. */
#include <math.h>
#include <string.h>

#include "answer/evaluate/evaluate.h"
#include "answer/verify.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/held_rows.h"
#include "cli/text/evaluate_text.h"
#include "cli/format.h"

static const char *const bad_row_words[] = {"stop", "skip", NULL};

static const struct arg_option evaluate_options_table[] = {
    {"require", 0, "GATE", NULL, ARG_MANY, 0, 0,
     "A gate on a metric, e.g. 'auc>=0.85'; >= > <= <; may stand many times. Also on an end of "
     "its interval, auc.low>=0.8, on precision@recall=0.8>=0.5, and on the worst group of --by, "
     "auc.worst>=0.7. One not met: exit 82."},
    {"better-than", 0, "MODEL", NULL, ARG_FILE | ARG_READ, 0, 0,
     "A gate: better than this model on the same rows."},
    {"on", 0, "METRIC", NULL, 0, 0, 0, "The metric of --better-than; default: the task's own."},
    {"by", 0, "COLUMN", NULL, ARG_MANY, 0, 0,
     "Metrics by group: a group for each text of a column of the data, or, as age:4, for each of "
     "4 bins of its numbers or dates. May stand many times. With --better-than a number is "
     "its least advantage; default 0."},
    {"on-bad-row", 0, "RULE", bad_row_words, 0, 0, 0,
     "What happens at a row that cannot be read: stop (default, exit 65), skip (left out and "
     "counted). A row without a target is no bad row: it is always left out and counted."},
    {"threshold", 0, "X", NULL, 0, 0, 0,
     "binary: the least probability that is answered as positive; default: the model's, or 0.5."},
    PART_OPTION,
    FORMAT_OPTION,
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static void put_value(double value, struct text *out)
{
    if (isnan(value))
        text_put(out, "undefined");
    else
        text_put(out, text_figure(value, 6));
}

/* The measured value of a gate. */
static void put_measured(const struct gate *g, struct text *out)
{
    if (g->compares) {
        put_value(g->own, out);
        text_put(out, " against ");
        put_value(g->other, out);
        text_put(out, ", better by ");
    }
    gate_put(g, out);
    if (g->compares)
        interval_put(&g->interval, out);
}

/* The value with its 95 % interval; "-" if it is not defined. */
static void metric_row(const char *name, double value, int width, const struct interval *i,
                       struct text *out)
{
    if (isnan(value))
        text_printf(out, "%-10s -\n", name);
    else if (isnan(i->low) || isnan(i->high))
        text_printf(out, "%-10s %s\n", name, text_figure(value, 6));
    else
        text_printf(out, "%-10s %-*s (%s to %s)\n", name, width, text_figure(value, 6),
                    text_figure(i->low, 4), text_figure(i->high, 4));
}

static void metric_rows(const struct metrics *m, struct text *out)
{
    size_t width = 10;
    for (uint32_t i = 0; i < m->count; i++) {
        const size_t length = strlen(text_figure(m->m[i].value, 6));
        width = length > width ? length : width;
    }
    for (uint32_t i = 0; i < m->count; i++)
        metric_row(m->m[i].type->name, m->m[i].value, (int)width, &m->m[i].interval, out);
}

static void result_text(const struct evaluate_result *r, struct text *out)
{
    text_printf(out, "rows       %llu\n", (unsigned long long)r->rows);
    if (r->unlabelled)
        text_printf(out, "no target  %llu\n", (unsigned long long)r->unlabelled);
    if (r->bad)
        text_printf(out, "bad rows   %llu\n", (unsigned long long)r->bad);
    metric_rows(&r->metrics, out);
    const struct schema *s = r->serve.schema;
    for (uint32_t k = 0; k < s->quantile_count; k++)
        text_printf(out, "quantile   %.6g: %.4g of the targets at or below it\n", s->quantiles[k],
                    r->tally->below[k] / r->tally->weight);
    if (s->quantile_count)
        text_printf(out, "coverage   is the share between the lowest and the highest, near %.6g\n",
                    s->quantiles[s->quantile_count - 1] - s->quantiles[0]);
    else if (loss_quantile(&r->tally->criterion.loss) > 0)
        text_printf(out, "quantile   %.6g (coverage should be near it)\n",
                    loss_quantile(&r->tally->criterion.loss));
    evaluate_details(r, out);
    for (size_t i = 0; i < r->gate_count; i++) {
        text_printf(out, "gate %s: %s (", text_quote_z(r->gates[i].text),
                    r->gates[i].pass ? "met" : "NOT met");
        put_measured(&r->gates[i], out);
        text_put(out, ")\n");
    }
}

/* Takes the number out of the list of --by, which with --better-than is its least advantage, and
 * checks that --on comes with --better-than. */
static bool take_better(struct evaluate_request *q, const char **by, size_t count, struct err *e)
{
    bool given = false;
    q->groups = (char *const *)(const void *)by;
    for (size_t i = 0; i < count; i++) {
        if (!q->better_than || !text_to_double(by[i], &q->by)) {
            by[q->group_count++] = by[i];
            continue;
        }
        if (given)
            return err_set(e, ERR_OPTION_CONFLICT, "--by: two numbers, and --better-than has one "
                                                   "least advantage");
        given = true;
    }
    return !q->on || q->better_than ||
           err_set(e, ERR_OPTION_CONFLICT, "--on belongs to --better-than");
}

static int print_result(struct args *a, struct evaluate_result *r, enum format format)
{
    if (format == FORMAT_JSON) {
        struct json_out out = {0};
        evaluate_write(r, &out);
        return cli_json(a, &out, false);
    }
    struct text out = {0};
    if (format == FORMAT_JUNIT)
        format_junit(a, &(struct format_suite){.gates = r->gates,
                                               .gate_count = r->gate_count,
                                               .by = r->by,
                                               .by_count = r->by_count}, &out);
    else if (format == FORMAT_PROM)
        format_prom(&(struct format_part){"data", &r->metrics, r->by, r->by_count}, 1, &out);
    else
        result_text(r, &out);
    return cli_print(a, &out);
}

/* A model that is better by chance alone may pass: the interval tells. */
static void tell_chance(const struct gate *g)
{
    if (g->compares && g->pass && g->interval.low < 0)
        log_note("%s: the 95 %% interval of the advantage, %s to %s, reaches below 0: on other "
                 "rows the other model may be the better one", text_quote_z(g->text),
                 text_figure(g->interval.low, 4), text_figure(g->interval.high, 4));
}

static void tell_gates(const struct evaluate_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++) {
        tell_chance(&r->gates[i]);
        if (r->gates[i].pass)
            continue;
        struct text measured = {0};
        put_measured(&r->gates[i], &measured);
        log_warning("gate not met: %s, measured %s", text_quote_z(r->gates[i].text),
                    measured.data);
        text_free(&measured);
    }
}

/* An error is a test case too: a pipeline shows it with the others. */
static int fail(struct args *a, const struct err *e, enum format format)
{
    int code = cli_fail(a, e, NULL);
    if (format == FORMAT_JUNIT && code != EXIT_SIGPIPE) {
        struct text out = {0};
        format_junit(a, &(struct format_suite){.error = e}, &out);
        cli_print(a, &out);
    }
    return code;
}

static int evaluate_command(struct args *a)
{
    struct err e = {0};
    size_t gates;
    double threshold;
    const char **require = args_list(a, "require", &gates);
    struct config *beside = NULL;
    size_t by_count;
    const char **by = args_list(a, "by", &by_count);
    struct evaluate_request q = {.rows = {.model = a->positionals[0],
                                          .overrides = cli_overrides(a),
                                          .progress = cli_progress(a),
                                          .on_bad_row = args_word(a, "on-bad-row", 0)
                                                            ? BAD_ROW_SKIP
                                                            : BAD_ROW_STOP},
                                 .require = (char *const *)(const void *)require,
                                 .require_count = gates,
                                 .better_than = args_value(a, "better-than"),
                                 .on = args_value(a, "on")};
    struct evaluate_result r = {0};
    enum format format;
    int code;
    if (format_read(a, &format, &e) &&
        held_rows_read(a, true, &beside, &q.rows, &e) &&
        args_number(a, "threshold", &threshold, &q.threshold, &e) &&
        take_better(&q, by, by_count, &e) &&
        evaluate_run(&q, &r, &e))
        code = print_result(a, &r, format);
    else
        code = fail(a, &e, format);
    if (code == EXIT_DONE) {
        tell_gates(&r);
        code = r.passed ? EXIT_DONE : EXIT_GATE;
    }
    evaluate_release(&r);
    config_free(beside);
    return code;
}

const struct command command_evaluate = {
    .name = "evaluate",
    .usage = "evaluate MODEL [DATA.csv]... [--part P] [--require 'auc>=0.85']... "
             "[--by COLUMN[:BINS]]... [--better-than MODEL [--on METRIC] [--by X]] "
             "[--on-bad-row stop|skip] [--threshold X] "
             "[READING] [--format text|json|junit|prom] [--json]",
    .summary = "Measure a model on labelled data; gates have an exit code of their own (82).",
    .examples = "  dnn evaluate leads.dnn test.csv\n"
                "  dnn evaluate leads.dnn test.csv --require 'auc>=0.6' --require 'logloss<0.7'\n"
                "  dnn evaluate leads.dnn leads.csv --part test\n"
                "  dnn evaluate leads.dnn test.csv --by city --by age:4\n"
                "  dnn evaluate leads.dnn test.csv --better-than old.dnn --on auc --by 0 --json\n",
    .options = evaluate_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_READS | COMMAND_JSON,
    .arguments = {1, 4096},
    .run = evaluate_command,
};

static int verify_command(struct args *a)
{
    struct err e = {0};
    struct overrides o = cli_overrides(a);
    struct verify_result r = {0};
    int code = EXIT_DONE;
    if (!verify_run(a->positionals[0], &o, true, &r, &e))
        code = cli_fail(a, &e, NULL);
    else if (a->json) {
        struct json_out out = {0};
        json_open(&out, NULL, '{');
        json_put_string(&out, "schema", "dnn.verify/1");
        json_put_int(&out, "rows", (int64_t)r.rows);
        json_put_number(&out, "largest_difference", r.largest_difference);
        json_put_bool(&out, "pass", r.pass);
        select_write(&r.backend, "backend", &out);
        json_close(&out, '}');
        code = cli_json(a, &out, false);
    } else {
        struct text out = {0};
        text_printf(&out, "%llu golden rows, largest difference %.3g: %s\n",
                    (unsigned long long)r.rows, r.largest_difference,
                    !r.pass  ? "NOT the same answers"
                    : r.bits ? "the same bits"
                             : "within the bound");
        code = cli_print(a, &out);
    }
    if (code == EXIT_DONE && !r.pass)
        code = select_is_gpu(&r.backend) ? EXIT_GPUFAULT : EXIT_FORMAT;
    return code;
}

const struct command command_verify = {
    .name = "verify",
    .usage = "verify MODEL [--json]",
    .summary = "Replay the golden rows stored in a model on this machine.",
    .examples = "  dnn verify leads.dnn\n",
    .notes = "The answers must be the same bits on the backend and core type that trained the "
             "model, and within the documented bound elsewhere. A difference: exit 76, or 81 on a "
             "GPU. A model without golden rows: exit 69.",
    .flags = COMMAND_COMPUTES | COMMAND_JSON,
    .arguments = {1, 1},
    .run = verify_command,
};
