/* cmd_tune.c - `dnn tune`: a search over configs. */
#include <math.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/warnings.h"
#include "cli/cli.h"
#include "config/output.h"
#include "train/search/tune.h"

static const struct arg_option tune_options_table[] = {
    {"output", 'o', "BEST.json", NULL, ARG_FILE, 0, 0,
     "Write the best config, one as any other. While the search runs, its journal lies beside it."},
    {"force", 0, NULL, NULL, 0, 0, 0, "Replace a config that exists; without it: 73."},
    {"trials", 0, "N", NULL, ARG_INT, 1, TUNE_MOST,
     "The number of trials; default: 30, or with --time-limit as many as fit."},
    {"trial", 0, "I", NULL, ARG_INT, 0, TUNE_MOST - 1,
     "Train trial I of the plan alone, for all of its epochs; -o writes its config. What a trial "
     "tries depends on train.seed and I alone."},
    {"time-limit", 0, "S", NULL, ARG_SECONDS, 0, 0,
     "End the search after S seconds with the best config so far; exit 0. Resumed searches count "
     "too."},
    {"trials-csv", 0, "FILE", NULL, ARG_FILE, 0, 0,
     "Write one line for each trial: its values, metrics on the validation rows (of the one "
     "searched for also the interval), seconds."},
    {"resume", 0, NULL, NULL, 0, 0, 0,
     "Go on with the search whose journal lies beside -o; finished trainings are not made again."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

static void summary(const struct tune_request *q, const struct tune_answer *a)
{
    const struct tune_result *best = &a->results[a->best];
    struct text line = {0};
    struct draw d;
    log_line("%u trial%s (%s), %zu trainings, %.2f s", q->only >= 0 ? 1 : a->trials,
             q->only >= 0 || a->trials == 1 ? "" : "s", a->timed_out ? "time limit" : "all",
             a->count, a->total_s);
    text_printf(&line, "best: trial %u, %lld epochs, valid", best->trial, (long long)best->epochs);
    metrics_put(&best->valid, &line);
    log_line("%s%s%s", line.data, q->output ? "; config " : "",
             q->output ? text_quote_z(q->output) : "");
    if (!isnan(a->gain))
        log_line("gain over the config as it is (trial 0): %s better by %s on the validation "
                 "rows, standard error %s%s", tune_gain_name(q->config, a),
                 text_figure(a->gain, 4), text_figure(a->gain_error, 2),
                 a->gain > 2 * a->gain_error ? "" : ": it may be chance");
    text_clear(&line);
    space_draw(&a->space, best->trial, &d);
    draw_write(&d, &line);
    log_line("best parameters: %s%s", line.data, d.count ? "" : " (no key is changed)");
    draw_free(&d);
    text_free(&line);
    if (q->only < 0 && config_auto_network(q->config))
        log_note("preset auto was not tried and may be better: `dnn train` of the config as it is "
                 "trains it");
}

static bool check_names(const struct args *a, const struct tune_request *q, struct err *e)
{
    if (q->resume && !q->output) {
        err_set(e, ERR_USAGE, "--resume needs -o: the journal lies beside it");
        return err_help(e, "name the output of the search that was stopped");
    }
    if (q->only >= 0 && (q->resume || q->trials || q->limit_s > 0))
        return err_set(e, ERR_OPTION_CONFLICT, "--trial is one training: it takes no --trials, "
                                               "--time-limit or --resume");
    const char *const outputs[] = {q->output, q->csv};
    for (size_t i = 0; i < 2; i++)
        if (outputs[i] && file_is_output(outputs[i]) && (i == 0 || a->json)) {
            err_set(e, ERR_OPTION_CONFLICT, "%s cannot be standard output%s",
                    i ? "--trials-csv" : "-o", i ? ", where --json writes" : "");
            return err_help(e, "name a file");
        }
    return true;
}

/* --time-limit limits the search, not each training. */
static struct config *load(const struct args *a, struct err *e)
{
    struct overrides o = cli_overrides(a);
    o.time_limit_s = -1;
    o.one_network = true;
    if (a->json)
        warnings_keep();
    return config_load(a->positionals[0], &o, e);
}

static int tune_command(struct args *a)
{
    struct err e = {0};
    struct config *config = load(a, &e);
    struct tune_request q = {.config = config,
                             .output = args_value(a, "output"),
                             .csv = args_value(a, "trials-csv"),
                             .trials = args_int(a, "trials", 0),
                             .only = args_int(a, "trial", -1),
                             .limit_s = args_seconds(a, "time-limit", 0),
                             .resume = args_value(a, "resume") != NULL,
                             .force = args_value(a, "force") != NULL,
                             .progress = cli_progress(a)};
    struct tune_answer r = {0};
    int code = EXIT_DONE;
    if (!config || !check_names(a, &q, &e) || (a->json && !output_apart(config, "-", &e)) ||
        !tune_run(&q, &r, &e)) {
        code = cli_fail_output(a, &e, q.output);
    } else {
        summary(&q, &r);
        if (a->json) {
            struct json_out out = {0};
            tune_write(&q, &r, &out);
            code = cli_json(a, &out, false);
        }
    }
    warnings_drop();
    tune_release(&r);
    config_free(config);
    return code;
}

const struct command command_tune = {
    .name = "tune",
    .usage = "tune CONFIG [--time-limit S] [--trials N] [--trial I] [-o BEST.json] "
             "[--force] [--trials-csv FILE] [--resume] [--json]",
    .summary = "Search: many trainings with other values, and the config of the best one.",
    .examples = "  dnn tune leads.json --trials 9 -o best.json --trials-csv trials.csv\n"
                "  dnn tune leads.json --time-limit 3 -o night.json --resume\n"
                "  dnn tune leads.json --trial 4 --json\n"
                "  dnn tune leads.json --trials 3 --set "
                "'tune.space={\"model.dropout\": {\"low\": 0, \"high\": 0.5}}'\n"
                "  dnn train best.json -o best.dnn\n",
    .notes = "Trial 0 changes no key of the config; each other one draws a value for every key of "
             "the space (tune.space, or that of the preset: `dnn help tuning`). A trial is one "
             "network: of preset auto, a list of them, the search takes preset mlp, of sequences "
             "gru, and says so. Trials are compared by "
             "train.early_stopping.metric on the validation rows; auto: log-loss or rmse. All are "
             "trained for a ninth of their epochs, the best third again for a third of them, and "
             "of those the best third for all; each is a whole training, and the best of all is "
             "written with its epochs. Trials run side by side, one a thread, with the same result "
             "for any number of threads. SIGTERM: exit 75, SIGINT: 130; with -o the journal "
             "BEST.json.journal is kept, and --resume continues from it.",
    .options = tune_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_CONFIG | COMMAND_JSON,
    .arguments = {1, 1},
    .run = tune_command,
};
