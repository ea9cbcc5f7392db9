/* cmd_train.c - `dnn train`: CSV in, model file out. */
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/warnings.h"
#include "cli/cli.h"
#include "cli/format.h"
#include "cli/text/train_text.h"
#include "config/output.h"
#include "train/train.h"

static const char *const resume_words[] = {"or-restart", NULL};

static const struct arg_option train_options_table[] = {
    {"output", 'o', "MODEL", NULL, ARG_FILE, 0, 0,
     "The model file; default: output.model of the config."},
    {"resume", 0, "or-restart", resume_words, ARG_MAYBE, 0, 0,
     "Go on from the newest valid checkpoint; the result is the same bytes. or-restart: where the "
     "config or the data have changed, remove the checkpoints and start again."},
    {"init-from", 0, "MODEL", NULL, ARG_FILE, 0, 0,
     "Begin with the weights of a model of the same inputs and layers, as for a nightly training; "
     "it may be the one that -o replaces. Else 76."},
    {"require", 0, "GATE", NULL, ARG_MANY, 0, 0,
     "A gate on a metric of the test part, else the validation part, e.g. 'auc>=0.85'; may stand "
     "many times. One not met: exit 82, and the old model stays."},
    {"force", 0, NULL, NULL, 0, 0, 0,
     "Replace a model even by one that is no better than a constant answer."},
    {"time-limit", 0, "S", NULL, ARG_SECONDS, 0, 0,
     "Stop after S seconds of training and keep the best weights so far; exit 0."},
    {"run", 0, "I", NULL, ARG_INT, 0, 65535,
     "Train run I of the ensemble alone and write it as a part, with -o PART; `dnn check --json` "
     "lists the runs, `dnn merge` puts the parts together: the same bytes."},
    {"split-csv", 0, "FILE", NULL, ARG_FILE, 0, 0,
     "Write the part of every row: its number among the data rows, the id columns, and train, "
     "valid or test."},
    {"limit", 0, "N", NULL, ARG_INT, 1, UINT32_MAX,
     "Train on the first N rows of data.train alone, for a first try; the model says so."},
    {"profile", 0, "FILE", NULL, ARG_FILE, 0, 0,
     "Write where the time goes as a trace for Perfetto: host and machine, and the operations of "
     "the first steps."},
    FORMAT_OPTION,
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

/* With --verbose: the settings that are not at their default, and their origin. */
static void tell_settings(const struct config *c)
{
    for (size_t i = 0; i < c->setting_count; i++)
        if (cli_worth_telling(c, i))
            log_info("%s = %s (%s)", c->settings[i].key, c->settings[i].value, c->settings[i].from);
}

/* A file that is opened by its name as well: each would write over the other. */
static bool shares_output(const char *path)
{
    return path && file_descriptor(path) < 0 && file_is_output(path);
}

/* Errors of the command line and of file names in the config. */
static bool check_names(const struct args *a, const struct train_request *q, struct err *e)
{
    const char *metrics = q->config->output.metrics;
    if (q->one && (q->require_count || q->force))
        return err_set(e, ERR_OPTION_CONFLICT, "--run takes no --require or --force: a part is one "
                                               "run, without a model");
    if (q->one && q->limit)
        return err_set(e, ERR_OPTION_CONFLICT, "--run takes no --limit: `dnn merge` puts parts of "
                                               "all rows together");
    if (q->one && !args_value(a, "output"))
        return err_set(e, ERR_USAGE, "--run writes a part: name it with -o PART");
    if (!q->output) {
        err_set(e, ERR_USAGE, "no name for the model");
        return err_help(e, "give -o MODEL, or set \"output\": {\"model\": ...} in the config");
    }
    if (a->json && shares_output(metrics)) {
        err_set(e, ERR_OPTION_CONFLICT,
                "output.metrics and the result of --json are one file: \"%s\"",
                text_quote_z(metrics));
        return err_help(e, "name another file, or /dev/stdout: each line behind the one before");
    }
    if (a->json && q->profile && file_is_output(q->profile)) {
        err_set(e, ERR_OPTION_CONFLICT, "--profile and --json both write to standard output");
        return err_help(e, "name a file with --profile");
    }
    return true;
}

/* --format junit and prom: gates and metrics as far as they are known. e: the training failed, or
 * a gate is not met. */
static int tell_format(const struct args *a, const struct train_result *r, const struct err *e)
{
    const int format = args_word(a, "format", FORMAT_TEXT);
    const struct format_part all[] = {{.name = "baseline", .metrics = &r->baseline},
                                      {.name = "valid", .metrics = &r->valid},
                                      {.name = "test", .metrics = &r->test}};
    struct text out = {0};
    bool gates = !e || e->id == ERR_GATE_UNMET;
    if (format == FORMAT_JUNIT)
        format_junit(a, &(struct format_suite){.gates = r->gates,
                                               .gate_count = gates ? r->gate_count : 0,
                                               .error = gates ? NULL : e}, &out);
    else if (format == FORMAT_PROM && gates)
        format_prom(all, sizeof all / sizeof *all, &out);
    return out.length ? cli_print(a, &out) : EXIT_DONE;
}

/* Prints the result of a training that ended or was stopped; returns the exit code. */
static int tell_result(const struct args *a, const struct train_request *q, struct train_result *r)
{
    if (r->exit != EXIT_DONE)
        return r->exit;
    train_text(r, q->output);
    log_info("seconds: load %.3g, start %.3g, train %.3g, all %.3g", r->load_s, r->start_s,
             r->train_s, r->total_s);
    if (!a->json)
        return tell_format(a, r, NULL);
    struct json_out out = {0};
    train_write(q, r, &out);
    return cli_json(a, &out, false);
}

struct work { const struct train_request *q; struct train_result *r; };

static int train_stopped(const struct args *a, const struct err *why)
{
    struct err e = *why;
    const struct work *w = a->work;
    if (!w)
        return -1;
    if (!w->r->over) {
        train_stuck(w->r, &e);
        return cli_fail(a, &e, NULL);
    }
    log_warning("dnn_gpu: %s; the model is written, the GPU was only to be given back", why->what);
    return tell_result(a, w->q, w->r);
}

static int train_command(struct args *a)
{
    struct err e = {0};
    enum format format;
    if (!format_read(a, &format, &e))
        return cli_fail(a, &e, "nothing was written");
    struct config *config = cli_config(a, args_value(a, "output"), &e);
    if (!config)
        return cli_fail(a, &e, "nothing was written");
    const char *resume = args_value(a, "resume");
    size_t gates;
    const char **require = args_list(a, "require", &gates);
    struct train_request q = {.config = config,
                              .output = config->output.model,
                              .resume = resume != NULL,
                              .restart = resume && *resume,
                              .force = args_value(a, "force") != NULL,
                              .require = (char *const *)(const void *)require,
                              .require_count = gates,
                              .split_csv = args_value(a, "split-csv"),
                              .limit = (uint64_t)args_int(a, "limit", 0),
                              .profile = args_value(a, "profile"),
                              .init_from = args_value(a, "init-from"),
                              .progress = cli_progress(a),
                              .one = args_value(a, "run") != NULL,
                              .only = args_int(a, "run", 0)};
    struct train_result r = {0};
    int code;
    a->work = &(struct work){&q, &r};
    tell_settings(config);
    if (!output_apart(config, "-", &e)) {
        code = cli_fail(NULL, &e, "nothing was written"); /* no JSON object in this case either */
    } else if (!check_names(a, &q, &e)) {
        code = cli_fail(a, &e, "nothing was written");
    } else if (!train_run(&q, &r, &e)) {
        if (e.id == ERR_GATE_UNMET)
            train_metrics_text(&r);
        code = r.says_kept ? cli_fail(a, &e, NULL) : cli_fail_output(a, &e, q.output);
        tell_format(a, &r, &e);
    } else {
        code = tell_result(a, &q, &r);
    }
    warnings_drop();
    train_release(&r);
    config_free(config);
    return code;
}

const struct command command_train = {
    .name = "train",
    .usage = "train CONFIG [-o MODEL] [--resume[=or-restart]] [--time-limit S] "
             "[--require GATE]... [--init-from MODEL] [--split-csv FILE] [--limit N] [--force] "
             "[--run I] "
             "[--profile FILE] [--format text|json|junit|prom] [--json]",
    .summary = "Train: CSV in, model file out.",
    .examples = "  dnn train leads.json\n"
                "  dnn train leads.json -o leads.dnn --set train.epochs=50 --set train.seed=7\n"
                "  dnn train leads.json -o leads.dnn --resume --json\n"
                "  dnn train leads.json -o leads.dnn --require 'auc>=0.85'\n"
                "  dnn train leads.json -o p.dnn --set train.epochs=2 --profile trace.json\n",
    .notes = "The model is written aside, synced and renamed over the old one, so a nightly job "
             "may name the same file each time. Checkpoints lie beside it and go when it is "
             "written. SIGTERM: a checkpoint, exit 75; SIGINT: the same, exit 130. A second signal "
             "ends at once, if it comes 0.1 seconds or more after the first (timeout(1) sends "
             "each signal twice). SIGUSR1: a checkpoint, and the training continues. SIGUSR2: a "
             "line of progress. Same seed, config and data: the same bytes, whatever the threads.",
    .options = train_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_CONFIG | COMMAND_JSON,
    .arguments = {1, 1},
    .run = train_command,
    .stuck = train_stopped,
};
