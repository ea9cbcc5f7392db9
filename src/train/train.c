/* train.c - one training, from CSV to model file. struct train_job (job.h) owns everything. */
#include "train/train.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/profile.h"
#include "base/stop.h"
#include "base/text.h"
#include "base/warnings.h"
#include "choose/memory.h"
#include "train/job.h"

static bool read_gates(const struct train_request *q, struct train_result *r, struct err *e)
{
    if (q->require_count)
        r->gates = mem_zero(q->require_count, sizeof *r->gates);
    for (size_t i = 0; i < q->require_count; i++, r->gate_count++)
        if (!gate_read(&r->gates[i], q->require[i], q->config->task, e))
            return false;
    return true;
}

void train_release(struct train_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++)
        gate_release(&r->gates[i]);
    mem_free(r->gates);
    r->gates = NULL;
    r->gate_count = 0;
}

static bool story(struct train_job *j, const struct train_request *q, struct train_result *r,
                  struct err *e)
{
    if (!read_gates(q, r, e) || !job_open(j, q, e) ||
        (q->profile && !profile_begin(q->profile, e)) || !job_load(j, e))
        return false;
    if (r->gate_count && !j->run.list[PART_TEST].count && !j->run.list[PART_VALID].count)
        return err_set(e, ERR_USAGE, "--require measures the test or the validation rows, and "
                                     "data.split leaves neither");
    double loaded = clock_now();
    if (!job_build(j, e))
        return false;
    double started = clock_now();
    profile_machine(j->backend.device);
    if (!job_train(j, e))
        return false;
    double trained = clock_now();
    if (!job_save(j, r, e))
        return false;
    r->backend = j->backend;
    r->load_s = loaded - j->began - j->opening_s;
    r->start_s = started - loaded + j->opening_s;
    r->train_s = trained - started;
    r->total_s = j->before + clock_now() - j->began;
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
    const struct anew_spent before = anew_spent();
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
    train_write_end(r, out);
    metrics_write(&r->valid, "valid", out);
    metrics_write(&r->test, "test", out);
    metrics_write(&r->baseline, "baseline", out);
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
