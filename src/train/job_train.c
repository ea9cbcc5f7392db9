/* job_train.c - a run while it trains: progress, status, checkpoints, metrics file. */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "choose/memory.h"
#include "train/job.h"

/* The owner of a run while it trains. */
struct working {
    struct train_job *j;
    uint32_t run;
    uint32_t asked; /* ensemble.asked when it wrote a checkpoint, or began */
};

static void steps_done(void *working, const struct run *r, const struct step *now, int64_t done)
{
    const struct working *w = working;
    double fraction = (double)done / (double)r->steps;
    progress_step(w->j->progress, r->history.epochs + 1, fraction, run_epoch_loss(now),
                  run_rows_per_second(r), run_seconds_left(r, fraction));
}

static void log_epoch(const struct run *r, const struct step *now)
{
    char loss[32] = ""; /* none before the first step of an epoch */
    if (now->epoch_weight > 0)
        snprintf(loss, sizeof loss, "loss %.4f, ", run_epoch_loss(now));
    log_asked("epoch %lld/%lld, step %lld, %sbest epoch %lld, %.0f rows/s, %.0f s used",
              (long long)r->history.epochs + 1, (long long)run_epochs_most(r),
              (long long)now->tried, loss, (long long)r->history.best_epoch,
              run_rows_per_second(r), run_seconds(r));
}

static void log_runs(const struct train_job *j)
{
    const struct ensemble *n = j->ensemble;
    parallel_lock(j->jobs);
    uint32_t finished = n->scored + ensemble_done(n, false);
    parallel_unlock(j->jobs);
    log_asked("%u of %u runs are finished", finished, n->runs);
}

/* A signal that asks for a checkpoint is for all runs at work. */
static bool asked(struct working *w)
{
    struct ensemble *n = w->j->ensemble;
    parallel_lock(w->j->jobs);
    n->asked += stop_checkpoint();
    bool is = w->asked != n->asked;
    w->asked = n->asked;
    parallel_unlock(w->j->jobs);
    return is;
}

/* If another run has failed, this one gives up. */
static bool pause_here(void *working, struct run *r, const struct step *now, struct err *e)
{
    struct working *w = working;
    struct train_job *j = w->j;
    const bool status = stop_status(); /* asking takes the signal */
    if (status && j->ensemble->alone)
        log_epoch(r, now);
    else if (status)
        log_runs(j);
    if (parallel_failed(j->jobs))
        return err_set(e, ERR_BUG, "another run of the ensemble failed");
    if (!j->ensemble->keepers)
        return true;
    struct keeper *k = &j->ensemble->keepers[w->run];
    return !keep_due(k, r, now, asked(w)) || keep_write(k, r, e);
}

static bool has_lines(const struct train_job *j)
{
    return (j->shared ? j->shared : &j->journal)->path != NULL;
}

/* Writes the line of an epoch (dnn.epoch/1) to output.metrics, if the config names it. */
static bool write_line(struct train_job *j, uint32_t run, const struct run *r,
                       const struct run_epoch *p, struct err *e)
{
    const struct history *h = &r->history;
    struct json_out out = {0};
    if (!has_lines(j))
        return true;
    json_open(&out, NULL, '{');
    json_put_string(&out, "schema", "dnn.epoch/1");
    if (j->shared)
        json_put_int(&out, "fold", j->fold);
    if (!j->ensemble->alone)
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
    parallel_lock(j->jobs);
    bool good = journal_line(j->shared ? j->shared : &j->journal, out.text.data, e);
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

static bool epoch_done(void *working, struct run *r, const struct run_epoch *p, struct err *e)
{
    const struct working *w = working;
    struct train_job *j = w->j;
    const bool alone = j->ensemble->alone;
    if (alone)
        progress_epoch(j->progress, r->history.epochs, p->loss, p->metric, p->best, p->rows_per_s,
                       p->seconds);
    if (alone && r->pace.epochs == 1)
        select_took(&j->backend, foretell(r, p->seconds));
    bool good = write_line(j, w->run, r, p, e);
    if (alone)
        r->mark = j->journal.length;
    return good;
}

bool job_train(struct train_job *j, uint32_t run, struct run *r, struct err *e)
{
    const bool alone = j->ensemble->alone;
    struct working w = {.j = j, .run = run};
    parallel_lock(j->jobs);
    w.asked = j->ensemble->asked;
    parallel_unlock(j->jobs);
    if (!job_build(j, run, r, e))
        return false;
    r->watch = (struct run_watch){.owner = &w,
                                  .all_metrics = has_lines(j),
                                  .steps = alone ? steps_done : NULL,
                                  .pause = pause_here,
                                  .epoch = epoch_done};
    if (alone) {
        j->started = clock_now();
        j->progress = progress_open((enum progress_style)j->request->progress, run_epochs_most(r),
                                    r->history.metric ? r->history.metric->name : NULL);
    }
    enum run_end end = run_epochs(r, e);
    if (end == RUN_STOPPED)
        err_clear(e);
    if (alone && end == RUN_ENDED) {
        progress_close(j->progress);
        j->progress = NULL;
    }
    return end == RUN_ENDED;
}
