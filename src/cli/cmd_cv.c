/* cmd_cv.c - `dnn cv`: k-fold cross-validation of a config. */
#include <math.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/warnings.h"
#include "cli/cli.h"
#include "config/output.h"
#include "table/schema/schema.h"
#include "train/cv.h"

static const struct arg_option cv_options_table[] = {
    {"folds", 0, "N", NULL, ARG_INT, 2, ENSEMBLE_FOLDS, "The number of folds; default: 5."},
    {"output", 'o', "OOF.csv", NULL, ARG_FILE, 0, 0,
     "Write the answer to each row by the fold that left it out: ids, fold, and the columns of "
     "`dnn predict`, intervals and sets too; of sequences the lines of `dnn predict`, one a row, a "
     "window or a group."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* "auc 0.912 +- 0.004", for each metric with a value. */
static void put_pooled(struct text *line, const struct metrics *m, const struct metrics *error)
{
    for (uint32_t k = 0; k < m->count; k++) {
        if (isnan(m->m[k].value))
            continue;
        text_printf(line, " %s %s", m->m[k].type->name, text_figure(m->m[k].value, 4));
        if (!isnan(error->m[k].value))
            text_printf(line, " +- %s", text_figure(error->m[k].value, 2));
    }
}

static void summary(const struct cv_result *r, const char *output)
{
    static const char *const answered[] = {[LABEL_LAST] = "windows", [LABEL_ROW] = "rows",
                                           [LABEL_GROUP] = "sequences"};
    struct text line = {0};
    for (uint32_t f = 0; f < r->fold_count; f++) {
        text_clear(&line);
        text_printf(&line, "fold %-3u", f);
        metrics_put(&r->folds[f].metrics, &line);
        log_line("%s", line.data);
    }
    text_clear(&line);
    text_put(&line, "pooled  ");
    put_pooled(&line, &r->pooled, &r->error);
    log_line("%s", line.data);
    log_line("%u folds, %llu %s answered, %.2f s%s%s", r->fold_count,
             (unsigned long long)r->answers, answered[r->label], r->total_s,
             output ? "; answers " : "", output ? text_quote_z(output) : "");
    text_free(&line);
}

static bool check_names(const struct args *a, const char *output, struct err *e)
{
    if (!a->json || !output || !file_is_output(output))
        return true;
    err_set(e, ERR_OPTION_CONFLICT, "-o and --json both write to standard output");
    return err_help(e, "name a file with -o");
}

static int cv_command(struct args *a)
{
    struct err e = {0};
    struct config *config = cli_config(a, NULL, &e);
    if (!config)
        return cli_fail(a, &e, "nothing was written");
    struct cv_request q = {.config = config,
                           .folds = args_int(a, "folds", CV_FOLDS),
                           .output = args_value(a, "output"),
                           .progress = cli_progress(a)};
    struct cv_result r = {0};
    int code = EXIT_DONE;
    if (!check_names(a, q.output, &e) || (a->json && !output_apart(config, "-", &e)) ||
        !cv_run(&q, &r, &e)) {
        code = cli_fail_output(a, &e, q.output);
    } else {
        summary(&r, q.output);
        if (a->json) {
            struct json_out out = {0};
            cv_write(&r, &out);
            code = cli_json(a, &out, false);
        }
    }
    warnings_drop();
    cv_release(&r);
    config_free(config);
    return code;
}

const struct command command_cv = {
    .name = "cv",
    .usage = "cv CONFIG [--folds N] [-o OOF.csv] [--json]",
    .summary = "Cross-validate: the training repeated on k folds, with standard errors.",
    .examples = "  dnn cv leads.json\n"
                "  dnn cv leads.json --folds 10 --set train.epochs=50\n"
                "  dnn cv leads.json --folds 3 -o oof.csv --json\n",
    .notes = "All rows of data.train and data.valid are cut into N folds as data.split.method "
             "says; each fold repeats the whole training, that of an ensemble with its selection "
             "included, on the other rows, and answers its own. Rows of data.test are not used. A "
             "config without an ensemble sets the share data.split.valid of a fold's training rows "
             "aside for early stopping. Folds train side by side, one a thread, with the same "
             "result for any number of threads. pooled: the metrics of all answers together; +- "
             "and \"standard_error\": the deviation over the folds divided by the root of their "
             "number. A fold's own interval, in brackets and in \"intervals\", is of 95 %. No "
             "model is written. Data from a pipe cannot be read a second time for -o.",
    .options = cv_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_CONFIG | COMMAND_JSON,
    .arguments = {1, 1},
    .run = cv_command,
};
