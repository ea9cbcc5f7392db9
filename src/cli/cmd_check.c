/* cmd_check.c - `dnn check`: validates config and data, prints the plan. Trains nothing. */
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/warnings.h"
#include "check/check.h"
#include "cli/cli.h"
#include "config/output.h"
#include "train/search/tune.h"

static const struct arg_option check_options_table[] = {
    {"resolved", 0, NULL, NULL, 0, 0, 0,
     "Print the config with every default filled in, and nothing else."},
    {"find-batch-size", 0, NULL, NULL, 0, 0, 0,
     "Time steps with batches of --min to --max rows that fit, and say which size is best: the "
     "smallest within 5 % of the most rows a second."},
    {"min", 0, "N", NULL, ARG_INT, 1, TRAIN_BATCH_MOST, "The smallest batch that "
     "--find-batch-size tries; default 16."},
    {"max", 0, "N", NULL, ARG_INT, 1, TRAIN_BATCH_MOST, "The largest batch that it tries; "
     "default 4096."},
    {NULL, 0, NULL, NULL, 0, 0, 0, NULL}};

bool cli_worth_telling(const struct config *c, size_t at)
{
    const struct setting *s = &c->settings[at];
    if (strcmp(s->from, "default") == 0 || strcmp(s->key, "data.columns") == 0)
        return false;
    const struct json *v = json_path(json_root(c->doc), s->key);
    bool follows = strncmp(s->key, "backend.", 8) == 0 && strcmp(s->from, "config") == 0 &&
                   (!v || json_kind(v) == JSON_NULL);
    return !follows;
}

/* Three columns: key, value, origin of the value. */
static void settings_text(const struct config *c, struct text *out)
{
    enum { VALUE_MOST = 40, SHOWN_MOST = 120 }; /* a longer one pushes its line to the right; a
                                                 * list of members is no text for people */
    int key = 0, value = 0;
    for (size_t i = 0; i < c->setting_count; i++) {
        int k = (int)strlen(c->settings[i].key), v = (int)strlen(c->settings[i].value);
        if (!cli_worth_telling(c, i))
            continue;
        key = k > key ? k : key;
        value = v > value && v <= VALUE_MOST ? v : value;
    }
    text_put(out, "settings    (those that were set)\n");
    for (size_t i = 0; i < c->setting_count; i++)
        if (cli_worth_telling(c, i))
            text_printf(out, "  %-*s  %-*s  %s\n", key, c->settings[i].key, value,
                        strlen(c->settings[i].value) <= SHOWN_MOST ? c->settings[i].value
                                                                   : "(long: --resolved has it)",
                        c->settings[i].from);
}

static void tried_text(const struct check_result *r, struct text *out)
{
    text_printf(out, "batch sizes (timed here)\n  %8s %12s %12s %10s\n", "rows", "ms a step",
                "rows/s", "memory");
    for (uint32_t i = 0; i < r->tried_count; i++)
        text_printf(out, "  %8u %12.3f %12.0f %10s%s\n", r->tried[i].rows,
                    1000 * r->tried[i].step_s, r->tried[i].rows_per_s,
                    text_bytes(r->tried[i].bytes),
                    r->tried[i].rows == r->best_batch ? "  best" : "");
    text_printf(out, "  train.batch_size=%u is the smallest within 5 %% of the fastest\n",
                r->best_batch);
}

/* "35 s", "1:02:03 (h:mm:ss)": a rotating thread-local buffer. */
static const char *duration(double seconds)
{
    static _Thread_local char rooms[2][48];
    static _Thread_local unsigned turn;
    char *out = rooms[turn++ % 2];
    const long whole = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000;
    if (seconds < 60)
        snprintf(out, 48, "%.3g s", seconds);
    else
        snprintf(out, 48, "%ld:%02ld:%02ld (h:mm:ss)", whole / 3600, whole / 60 % 60, whole % 60);
    return out;
}

static void put_rows(const struct check_result *r, struct text *out)
{
    const unsigned long long train = r->rows[0], valid = r->rows[1], test = r->rows[2];
    if (r->folds > 1 && !valid && r->fold_rows[0] + r->fold_rows[1] == train)
        text_printf(out,
                    "rows        train and valid %llu in %u folds (a network trains on %llu and is "
                    "validated on the other %llu), test %llu\n",
                    train, r->folds, (unsigned long long)r->fold_rows[0],
                    (unsigned long long)r->fold_rows[1], test);
    else
        text_printf(out, "rows        train %llu, valid %llu, test %llu\n", train, valid, test);
}

/* A line a member: its networks are alike. */
static void put_members(const struct check_result *r, struct text *out)
{
    const uint32_t folds = r->folds ? r->folds : 1;
    text_printf(out,
                "networks    %u: %u member%s in %u fold%s each, %u at a time; one after another "
                "%s\n  %-24s %12s %12s\n",
                r->run_count, r->run_count / folds, r->run_count == folds ? "" : "s", folds,
                folds == 1 ? "" : "s", r->runs_beside, duration(r->runs_seconds), "member",
                "parameters", "seconds");
    for (uint32_t i = 0; i < r->run_count; i += folds) {
        double seconds = 0;
        for (uint32_t f = i; f < i + folds; f++)
            seconds += r->runs[f].seconds;
        text_printf(out, "  %-24s %12llu %12.3g\n", text_quote_z(r->runs[i].member),
                    (unsigned long long)r->runs[i].parameters, seconds);
    }
}

static void plan_text(const struct config *c, const struct check_result *r, struct text *out)
{
    put_rows(r, out);
    text_put(out, "columns     ");
    const char *comma = "";
    for (int i = 0; i < COLUMN_TYPES; i++)
        if (r->columns_by_type[i]) {
            text_printf(out, "%s%s %llu", comma, column_role_names[i],
                        (unsigned long long)r->columns_by_type[i]);
            comma = ", ";
        }
    text_printf(out, "\nparameters  %llu", (unsigned long long)r->model_parameters);
    if (r->run_count > 1)
        text_printf(out, " in %u networks", r->run_count);
    text_char(out, '\n');
    text_printf(
        out, "memory      about %s (table %s, weights and state %s, activations %s, other %s)\n",
        text_bytes(r->host_bytes), text_bytes(r->encoded_bytes), text_bytes(r->weights_bytes),
        text_bytes(r->activations_bytes), text_bytes(r->other_bytes));
    if (r->device.all)
        text_printf(out,
                    "device      %s at most (weights %s, state %s, activations %s, data %s)\n",
                    text_bytes(r->device.all), text_bytes(r->device.weights),
                    text_bytes(r->device.state), text_bytes(r->device.activations),
                    text_bytes(r->device.data));
    text_printf(out, "batch       %u", r->batch);
    if (r->micro > 1)
        text_printf(out, ", %u of them a step", r->micro);
    if (r->batch < c->train.batch_size)
        text_put(out, ": all training rows");
    text_printf(out, "; the largest that fits: train %llu, predict %llu\n",
                (unsigned long long)r->largest_batch_train,
                (unsigned long long)r->largest_batch_predict);
    text_printf(out, "backend     %s (requested %s: %s), %u thread%s, BLAS %s", r->backend.used,
                r->backend.requested, r->backend.reason, r->backend.threads,
                r->backend.threads == 1 ? "" : "s",
                strcmp(r->backend.blas_core, "none") == 0 ? "not used" : r->backend.blas_core);
    if (select_is_gpu(&r->backend) || strcmp(r->backend.precision, "bf16") == 0)
        text_printf(out, ", products in %s (requested %s)", r->backend.precision,
                    r->backend.precision_wish);
    text_char(out, '\n');
    text_printf(out, "time        about %s ", duration(r->seconds));
    if (select_compared(&r->backend))
        text_printf(out, "by steps timed here, %.1f s as estimated ",
                    select_is_gpu(&r->backend) ? r->backend.gpu_s : r->backend.cpu_s);
    const char *sooner = c->train.early_stopping.patience > 0
                             ? ", if early stopping does not end it sooner" : "";
    if (r->run_count)
        text_printf(out, "(all epochs%s)\n", sooner);
    else if (r->work == CHECK_RIDGE)
        text_put(out, "(solved by ridge regression, without epochs)\n");
    else if (r->work == CHECK_PATH)
        text_put(out, "(a path of penalties, without epochs)\n");
    else
        text_printf(out, "(%lld epoch%s%s)\n", (long long)c->train.epochs,
                    c->train.epochs == 1 ? "" : "s", sooner);
    if (r->run_count)
        put_members(r, out);
    if (r->tried_count)
        tried_text(r, out);
    settings_text(c, out);
}

/* With all defaults the config may exceed the limits of a config file. */
static void warn_large(const struct text *resolved)
{
    struct err e = {0};
    json_free(json_parse(resolved->data, resolved->length, "resolved", &e));
    if (e.id == ERR_JSON_LIMIT)
        log_warning("with every default filled in this config is more than a command reads (E%d): "
                    "%s", (int)e.id, e.what);
}

static int tell_plan(const struct args *a, const struct config *config, struct check_result *r)
{
    if (args_value(a, "resolved")) {
        warn_large(&r->resolved);
        return cli_print(a, &r->resolved);
    }
    if (a->json) {
        struct json_out out = {0};
        check_write(config, r, &out);
        return cli_json(a, &out, false);
    }
    struct text out = {0};
    plan_text(config, r, &out);
    return cli_print(a, &out);
}

/* Checks the config's own space as `dnn tune` does. */
static bool check_space(const struct config *config, struct err *e)
{
    const struct json *space = config->tune.space;
    return !space || json_kind(space) == JSON_NULL || tune_check(config, e);
}

static bool batch_sizes_asked(const struct args *a, struct check_request *q, struct err *e)
{
    bool asked = args_value(a, "find-batch-size") != NULL;
    if (!asked && (args_value(a, "min") || args_value(a, "max")))
        return err_set(e, ERR_USAGE, "--min and --max belong to --find-batch-size");
    q->least = (uint32_t)args_int(a, "min", 16);
    q->most = asked ? (uint32_t)args_int(a, "max", q->least > 4096 ? q->least : 4096) : 0;
    if (asked && q->least > q->most)
        return err_set(e, ERR_USAGE, "--min %u is more than --max %u", q->least, q->most);
    return true;
}

static int check_command(struct args *a)
{
    struct err e = {0};
    struct config *config = cli_config(a, NULL, &e);
    if (!config)
        return cli_fail(a, &e, NULL);
    struct check_result r = {0};
    struct check_request q = {.progress = cli_progress(a)};
    int code;
    if (!output_apart(config, "-", &e))
        code = cli_fail(NULL, &e, NULL); /* no JSON object in this case either */
    else if (!batch_sizes_asked(a, &q, &e) || !check_space(config, &e) ||
             !check_run(config, &q, &r, &e))
        code = cli_fail(a, &e, NULL);
    else
        code = tell_plan(a, config, &r);
    check_free(&r);
    warnings_drop();
    config_free(config);
    return code;
}

const struct command command_check = {
    .name = "check",
    .usage = "check CONFIG [--resolved] [--find-batch-size [--min N] [--max N]] [--json]",
    .summary =
        "Validate config and data, and print the plan: rows, parameters, memory, backend, time.",
    .examples = "  dnn check leads.json\n"
                "  dnn check leads.json --resolved > resolved.json\n"
                "  dnn check leads.json --set train.batch_size=1024 --json\n"
                "  dnn check leads.json --find-batch-size --max 8192\n",
    .options = check_options_table,
    .flags = COMMAND_COMPUTES | COMMAND_CONFIG | COMMAND_JSON,
    .arguments = {1, 1},
    .run = check_command,
};
