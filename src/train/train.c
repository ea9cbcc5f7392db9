/* train.c - one training, from CSV to model file. struct train_job (job.h) owns everything. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/profile.h"
#include "base/process/stop.h"
#include "base/text.h"
#include "base/process/warnings.h"
#include "choose/memory.h"
#include "train/job.h"
#include "train/split_csv.h"

static bool read_gates(const struct train_request *q, struct train_result *r, struct err *e)
{
    const struct config *c = q->config;
    const int task = config_metric_task(c, true);
    if (q->require_count)
        r->gates = mem_zero(q->require_count, sizeof *r->gates);
    for (size_t i = 0; i < q->require_count; i++) {
        if (!gate_read(&r->gates[i], q->require[i], task, e))
            return false;
        r->gate_count++;
        if (r->gates[i].of == GATE_OF_WORST)
            return err_set(e, ERR_OPTION_VALUE, "--require: \"%s\" is of groups, which `dnn "
                           "evaluate --by COLUMN` measures", text_quote_z(q->require[i]));
    }
    return true;
}

void train_release(struct train_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++)
        gate_release(&r->gates[i]);
    for (uint32_t i = 0; i < r->member_count; i++)
        mem_free(r->members[i].name);
    mem_free(r->members);
    r->members = NULL;
    r->member_count = 0;
    decision_free(&r->decision);
    mem_free(r->gates);
    r->gates = NULL;
    r->gate_count = 0;
}

static bool check_only(const struct train_job *j, struct err *e)
{
    int64_t only = j->request->only;
    if (!j->request->one || (!j->ensemble->alone && only >= 0 && only < j->ensemble->runs))
        return true;
    if (!j->ensemble->alone)
        return err_set(e, ERR_USAGE, "there is no run %lld: the ensemble has runs 0 to %u",
                       (long long)only, j->ensemble->runs - 1);
    err_set(e, ERR_USAGE, "--run is for an ensemble, and the config has none");
    return err_help(e, "`dnn help ensembles` describes it");
}

static bool write_split(const struct train_job *j, struct err *e)
{
    struct data_options o = j->config->data;
    o.limit = j->request->limit;
    return split_csv_write(j->request->split_csv, j->table, &o, e);
}

static void note_limit(const struct train_job *j)
{
    if (j->request->limit)
        log_note("--limit: data.train is read up to its row %llu; train without it for a model of "
                 "all rows", (unsigned long long)j->request->limit);
}

/* One part of the rows chooses the epoch, the calibration and the threshold, and measures them: its
 * figures are too good. */
static void warn_no_test(const struct train_job *j, const struct train_result *r)
{
    static const char *const chosen[] = {"the epoch", "the epoch and the calibration",
                                         "the epoch and the threshold",
                                         "the epoch, the calibration and the threshold"};
    const int how = j->config->calibrate;
    const unsigned fitted = how != CALIBRATE_NONE && how != CALIBRATE_PRIOR ? 1 : 0;
    const unsigned cut = threshold_is_chosen(&j->config->cut) ? 2 : 0;
    if (j->run.list[PART_TEST].count || !j->run.list[PART_VALID].count)
        return;
    if (r->gate_count)
        log_warning("there is no test part: --require is measured on the validation rows, which "
                    "also choose %s: the figures are too good; give data.split.test a share (`dnn "
                    "help held-out`)", chosen[fitted + cut]);
    else
        log_note("there is no test part: the validation rows choose %s and also measure the "
                 "model, so its figures are too good; give data.split.test a share (`dnn help "
                 "held-out`)", chosen[fitted + cut]);
}

/* Work that is not cut short can take longer than the limit. */
static void tell_passed(const struct train_job *j, const struct train_result *r)
{
    const double limit = j->config->train.time_limit_s;
    if (limit > 0 && r->total_s > limit * 1.05 + 2)
        log_note("the training took %.3g s, with a time limit of %.6g s: reading and encoding the "
                 "data took %.3g s and are not cut short, nor are the first step, answers to a few "
                 "rows, and writing the model", r->total_s, limit, r->load_s);
}

static bool story(struct train_job *j, const struct train_request *q, struct train_result *r,
                  struct err *e)
{
    if (!read_gates(q, r, e) || !job_open(j, q, e) ||
        (q->split_csv && !split_csv_check(q->config, q->split_csv, j->output, e)) ||
        (q->profile && !profile_begin(q->profile, e)) || !job_load(j, e) ||
        (q->split_csv && !write_split(j, e)))
        return false;
    if (r->gate_count && !j->run.list[PART_TEST].count && !j->run.list[PART_VALID].count)
        return err_set(e, ERR_USAGE, "--require measures the test or the validation rows, and "
                                     "data.split leaves neither");
    note_limit(j);
    warn_no_test(j, r);
    r->rows_unlabelled = j->table->data->unlabelled;
    if (threshold_is_chosen(&j->config->cut) && !j->run.list[PART_VALID].count &&
        j->ensemble->alone) {
        err_set(e, ERR_CONFIG_CONFLICT, "`threshold` is chosen on the validation rows, and "
                                        "`data.split` leaves none");
        return err_help(e, "give data.split.valid a share, or leave `threshold` out");
    }
    if (!check_only(j, e))
        return false;
    double loaded = clock_now();
    profile_machine(j->backend.device); /* a training that is stopped writes its profile too */
    if (!ensemble_train(j, e))
        return false;
    profile_machine(j->backend.device); /* it may have gone on with the CPU */
    double trained = clock_now();
    if (!job_save(j, r, e))
        return false;
    r->backend = j->backend;
    r->load_s = loaded - j->began - j->opening_s;
    r->start_s = j->started - loaded + j->opening_s;
    r->train_s = trained - j->started;
    r->total_s = j->before + clock_now() - j->began;
    tell_passed(j, r);
    return true;
}

void train_stuck(struct train_result *r, struct err *e)
{
    struct train_job *j = r->job;
    if (j)
        job_failed(j, e);
}

bool train_run(const struct train_request *q, struct train_result *r, struct err *e)
{
    const struct reexec_spent before = reexec_spent();
    struct train_job j = {.request = q, .began = clock_now(), .before = before.here};
    j.run.began = j.began;
    j.run.used = before.all;
    memset(r, 0, sizeof *r);
    r->job = &j;
    bool good = story(&j, q, r, e) || job_failed(&j, e) || job_tell_kept(&j, e);
    r->exit = good ? EXIT_DONE : (int)err_exit(e);
    r->says_kept = j.says_kept;
    r->said = j.said;
    r->job = NULL;
    r->over = good;
    job_close(&j);
    r->over = false;
    stop_phase("ending", false);
    struct err late = {0};
    if (profile_end(good, &late) || !good)
        return good;
    *e = late;
    r->exit = (int)err_exit(e);
    r->says_kept = true;
    char shown[512], advice[sizeof e->help];
    text_escape(shown, sizeof shown, q->output, strlen(q->output));
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe model \"%s\" is written", advice, *advice ? "; " : "", shown);
}

void train_write_end(const struct train_result *r, struct json_out *out)
{
    json_put_int(out, "epochs", r->epochs);
    if (r->best_epoch)
        json_put_int(out, "best_epoch", r->best_epoch);
    else
        json_put_null(out, "best_epoch");
    json_put_string(out, "stopped", r->stopped);
}

void train_write_judged(const struct train_result *r, struct json_out *out)
{
    if (!r->judged_of[PART_VALID] && !r->judged_of[PART_TEST])
        return;
    json_open(out, "judged", '{');
    for (int p = PART_VALID; p < PARTS; p++) {
        char of[16];
        snprintf(of, sizeof of, "%s_of", part_words[p]);
        json_put_int(out, part_words[p], (int64_t)r->judged[p]);
        json_put_int(out, of, (int64_t)r->judged_of[p]);
    }
    json_close(out, '}');
}

void train_write_members(const struct train_result *r, bool whole, struct json_out *out)
{
    json_open(out, "members", '[');
    for (uint32_t i = 0; i < r->member_count; i++) {
        const struct train_member *m = &r->members[i];
        json_open(out, NULL, '{');
        json_put_string(out, "name", m->name);
        json_put_number(out, "weight", m->weight);
        json_put_int(out, "folds", m->folds);
        metrics_write(&m->valid, "valid", out);
        if (whole) {
            metrics_write_intervals(&m->valid, "valid_intervals", out);
            json_put_number(out, "seconds", m->seconds);
        }
        json_close(out, '}');
    }
    json_close(out, ']');
}

void train_write(const struct train_request *q, const struct train_result *r, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.train/1");
    json_put_string(out, "model", q->output);
    select_write(&r->backend, "backend", out);
    memory_write("memory", out);
    json_open(out, "rows", '{');
    for (int p = 0; p < PARTS; p++)
        json_put_int(out, part_words[p], (int64_t)r->rows[p]);
    json_close(out, '}');
    train_write_judged(r, out);
    json_put_int(out, "rows_unlabelled", (int64_t)r->rows_unlabelled);
    decision_write(&r->decision, out);
    train_write_end(r, out);
    if (r->member_count)
        train_write_members(r, true, out);
    metrics_write(&r->valid, "valid", out);
    metrics_write(&r->test, "test", out);
    metrics_write(&r->baseline, "baseline", out);
    metrics_write_intervals(&r->valid, "valid_intervals", out);
    metrics_write_intervals(&r->test, "test_intervals", out);
    if (r->gate_count)
        gates_write(r->gates, r->gate_count, out);
    warnings_write(out);
    json_open(out, "seconds", '{');
    json_put_number(out, "load", r->load_s);
    json_put_number(out, "start", r->start_s);
    json_put_number(out, "train", r->train_s);
    json_put_number(out, "total", r->total_s);
    json_close(out, '}');
    json_put_string(out, "model_sha256", r->sha256);
    json_close(out, '}');
}
