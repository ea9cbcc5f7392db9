/* job_train.c - the job's part while its run trains: progress, status, checkpoints, metrics
 * file. */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "choose/memory.h"
#include "train/job.h"
#include "train/parallel.h"

static void steps_done(void *job, const struct run *r, const struct step *now, int64_t done)
{
    const struct train_job *j = job;
    double fraction = (double)done / (double)r->steps;
    progress_step(j->progress, r->history.epochs + 1, fraction, run_epoch_loss(now),
                  run_rows_per_second(r), run_seconds_left(r, fraction));
}

static void log_status(const struct run *r, const struct step *now)
{
    char loss[32] = ""; /* none before the first step of an epoch */
    if (now->epoch_weight > 0)
        snprintf(loss, sizeof loss, "loss %.4f, ", run_epoch_loss(now));
    log_asked("epoch %lld/%lld, step %lld, %sbest epoch %lld, %.0f rows/s, %.0f s used",
              (long long)r->history.epochs + 1, (long long)run_epochs_most(r),
              (long long)now->tried, loss, (long long)r->history.best_epoch,
              run_rows_per_second(r), run_seconds(r));
}

static bool pause_here(void *job, struct run *r, const struct step *now, struct err *e)
{
    struct train_job *j = job;
    if (stop_status())
        log_status(r, now);
    return !keep_due(&j->keeper, r, now, stop_checkpoint()) || keep_write(&j->keeper, r, e);
}

bool job_has_lines(const struct train_job *j)
{
    return (j->shared ? j->shared : &j->journal)->path != NULL;
}

bool job_epoch_line(struct train_job *j, const struct run *r, int64_t run,
                    const struct run_epoch *p, struct err *e)
{
    const struct history *h = &r->history;
    struct json_out out = {0};
    if (!job_has_lines(j))
        return true;
    json_open(&out, NULL, '{');
    json_put_string(&out, "schema", "dnn.epoch/1");
    if (j->shared)
        json_put_int(&out, "fold", j->fold);
    if (run >= 0)
        json_put_int(&out, "run", run);
    json_put_int(&out, "epoch", h->epochs);
    json_put_int(&out, "step", p->now->tried);
    json_open(&out, "train", '{');
    json_put_number(&out, "loss", p->loss);
    json_close(&out, '}');
    metrics_write(p->valid, "valid", &out);
    if (p->now->scale > 0) {
        json_put_number(&out, "loss_scale", p->now->scale);
        json_put_int(&out, "skipped_steps", p->now->skipped);
    }
    json_put_number(&out, "learning_rate", h->rows[h->epochs - 1].learning_rate);
    json_put_number(&out, "rows_per_s", p->rows_per_s);
    json_put_number(&out, "seconds", p->seconds);
    memory_note(r->machine);
    memory_write("memory", &out);
    json_close(&out, '}');
    if (j->jobs)
        parallel_lock(j->jobs);
    bool good = journal_line(j->shared ? j->shared : &j->journal, out.text.data, e);
    if (j->jobs)
        parallel_unlock(j->jobs);
    text_free(&out.text);
    return good;
}

/* The most seconds of the whole training, estimated from the first epoch in this process. */
static double foretell(const struct run *r, double epoch_s)
{
    double limit = r->config->train.time_limit_s;
    double all = run_seconds(r) + epoch_s * (double)(run_epochs_most(r) - r->history.epochs);
    return limit > 0 && all > limit ? limit : all;
}

static bool epoch_done(void *job, struct run *r, const struct run_epoch *p, struct err *e)
{
    struct train_job *j = job;
    progress_epoch(j->progress, r->history.epochs, p->loss, p->metric, p->best, p->rows_per_s,
                   p->seconds);
    if (r->pace.epochs == 1)
        select_took(&j->backend, foretell(r, p->seconds));
    if (!job_epoch_line(j, r, -1, p, e))
        return false;
    r->mark = j->journal.length;
    return true;
}

bool job_train(struct train_job *j, struct err *e)
{
    struct run *r = &j->run;
    r->watch = (struct run_watch){.owner = j,
                                  .all_metrics = j->journal.path != NULL,
                                  .steps = steps_done,
                                  .pause = pause_here,
                                  .epoch = epoch_done};
    j->progress = progress_open((enum progress_style)j->request->progress, run_epochs_most(r),
                                r->history.metric ? r->history.metric->name : NULL);
    stop_phase("training", false);
    enum run_end end = run_epochs(r, e);
    if (end == RUN_STOPPED)
        return job_stopped(j, e);
    if (end == RUN_FAILED && e->id == ERR_DIVERGED) {
        struct err was = *e;
        return job_useless(j, was.what, "no epoch had ended", e);
    }
    if (end == RUN_FAILED)
        return false;
    progress_close(j->progress);
    j->progress = NULL;
    return true;
}
