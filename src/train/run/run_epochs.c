/* run_epochs.c - the epochs of a run: steps in short stretches, with a look at signals and clock
 * after each; validation; early stopping. The length of a stretch leaves no trace in the result: a
 * step depends on its number alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/profile.h"
#include "base/process/stop.h"
#include "train/run/run_path.h"

static const double STRETCH = 0.05; /* seconds of steps between two looks */

enum verdict { GO_ON, END_HERE, STOPPED, FAILED };

/* --- time and pace --- */

double run_seconds(const struct run *r)
{
    return r->used + clock_now() - r->began;
}

static struct hyper rates_of(const struct run *r, int64_t step)
{
    const struct train_options *o = &r->config->train;
    struct hyper rates = schedule_at(&o->schedule, step, o->epochs * r->steps, r->steps);
    rates.lr *= o->optimizer.learning_rate;
    rates.weight_decay *= o->optimizer.weight_decay;
    return rates;
}

double run_rate(const struct run *r, int64_t step)
{
    return rates_of(r, step).lr;
}

double run_epoch_loss(const struct step *now)
{
    return now->epoch_weight > 0 ? now->epoch_loss / now->epoch_weight : (double)NAN;
}

static uint64_t rows_of_steps(const struct run *r, int64_t steps)
{
    uint64_t rows = (uint64_t)steps * r->batch * r->micro;
    return rows < r->source.count ? rows : r->source.count;
}

double run_rows_per_second(const struct run *r)
{
    const struct run_pace *p = &r->pace;
    return p->step_seconds > 0 ? (double)rows_of_steps(r, p->steps) / p->step_seconds : 0;
}

double run_seconds_left(const struct run *r, double fraction)
{
    const struct run_pace *p = &r->pace;
    double each = p->epochs      ? p->seconds / (double)p->epochs
                  : fraction > 0 ? (clock_now() - p->began) / fraction
                                 : -1;
    double left = each * ((double)(r->config->train.epochs - r->history.epochs) - fraction);
    double limit = r->config->train.time_limit_s;
    if (limit > 0 && left > limit - run_seconds(r))
        left = limit - run_seconds(r);
    return each < 0 ? -1 : left > 0 ? left : 0;
}

static bool time_is_up(const struct run *r)
{
    const double limit = r->config->train.time_limit_s;
    return limit > 0 && run_seconds(r) >= run_judge_from(r, r->history.metric != NULL);
}

/* --- steps --- */

/* Checks the step number of the machine: tables are indexed by it, and a broken device may give
 * any. */
static bool counted(const struct run *r, const struct step *now, int64_t least, int64_t most,
                    struct err *e)
{
    if (now->tried >= least && now->tried <= most && now->bad_steps >= 0)
        return true;
    err_set(e, ERR_MACHINE_FAULT,
            "%s does not compute: it says that %lld steps were done, where %lld to %lld were",
            machine_in_place(r->machine) ? "the machine" : "the GPU", (long long)now->tried,
            (long long)least, (long long)most);
    return err_help(e, "`dnn gpucheck` says what is wrong with it");
}

/* If state passes from window to window, each epoch has an order of its own. */
static bool deal(struct run *r, struct err *e)
{
    struct lanes before = run_deal(r);
    bool good = !r->lanes.count || network_source(r->network, &r->source, e);
    lanes_free(&before);
    return good;
}

/* Gives the network the rates of an epoch's steps after the first `done` ones. */
static bool epoch_begin(struct run *r, int64_t done, struct err *e)
{
    const uint32_t epoch = (uint32_t)r->history.epochs, count = (uint32_t)(r->steps - done);
    struct hyper *rates = mem_alloc(count, sizeof *rates);
    for (int64_t i = 0; i < count; i++)
        rates[i] = rates_of(r, epoch * r->steps + done + i);
    struct network_state s = {0};
    network_step(r->network, &s.now);
    bool good = run_answered(r, e) && deal(r, e) &&
                network_epoch(r->network, epoch, rates, count, e);
    mem_free(rates);
    if (!good)
        return false;
    if (done > 0) /* resumed inside an epoch: its sums and its place in the order go back */
        network_set(r->network, &s);
    r->pace.began = clock_now();
    r->pace.step_seconds = 0;
    r->pace.steps = 0;
    return true;
}

/* Signals, time limit, and the owner's turn. */
static enum verdict look_around(struct run *r, const struct step *now, struct err *e)
{
    if (stop_wanted())
        return STOPPED;
    if (now->tried > 0 && time_is_up(r)) { /* a model has seen one batch at least */
        r->stopped = "time_limit";
        if (r->history.epochs == 0)
            log_warning("the time limit came before the end of the first epoch: the model has seen "
                        "%llu of %llu training rows",
                        (unsigned long long)rows_of_steps(r, now->tried),
                        (unsigned long long)r->source.count);
        return END_HERE;
    }
    const struct run_watch *w = &r->watch;
    return w->pause && !w->pause(w->owner, r, now, e) ? FAILED : GO_ON;
}

/* Loss and gradients of the last `steps` steps, from step `first` of the run on, are finite. */
static bool steps_good(const struct run *r, const struct step *now, int64_t first, uint32_t steps,
                       struct err *e)
{
    char what[256], where[160];
    if (now->bad_steps > 0) {
        uint32_t good = now->bad_steps < steps ? steps - (uint32_t)now->bad_steps : 0;
        network_nonfinite(r->network, where, sizeof where);
        snprintf(what, sizeof what, "%s is not finite%s", where,
                 now->scale > 0 ? ", at the smallest scale of fp16" : "");
        return run_diverged(r, first + good + 1, what, e);
    }
    return isfinite(now->epoch_loss) ||
           run_diverged(r, now->tried, "the loss is not finite", e);
}

/* Sets the next stretch from the time of this one; it grows slowly, as the first steps are slow. */
static void fit_stretch(struct run *r, uint32_t steps, double took)
{
    double wish = took > 0 ? STRETCH / took * steps : 2.0 * steps;
    wish = wish > 4.0 * steps ? 4.0 * steps : wish;
    r->pace.stretch = wish < 1 ? 1 : wish > 1e6 ? 1000000 : (uint32_t)wish;
}

/* Adds the steps to the message of a machine that failed in one of them. */
static enum verdict lost_in(struct err *e, int64_t tried, uint32_t steps)
{
    size_t said = strlen(e->what);
    long long first = (long long)tried + 1;
    if (e->id == ERR_MACHINE_FAULT && steps > 1)
        snprintf(e->what + said, sizeof e->what - said, ", in steps %lld to %lld", first,
                 (long long)tried + steps);
    else if (e->id == ERR_MACHINE_FAULT)
        snprintf(e->what + said, sizeof e->what - said, ", in step %lld", first);
    return FAILED;
}

/* The steps of an epoch from `done` on. */
static enum verdict steps_run(struct run *r, int64_t done, struct step *now, struct err *e)
{
    while (done < r->steps) {
        int64_t left = r->steps - done;
        uint32_t steps = left < (int64_t)r->pace.stretch ? (uint32_t)left : r->pace.stretch;
        double began = clock_now();
        int64_t tried = now->tried;
        bool all = step_train(r->stepper, steps, e);
        if (!all && e->id != ERR_NONE)
            return lost_in(e, tried, steps);
        double took = clock_now() - began;
        network_step(r->network, now);
        if (!run_answered(r, e) ||
            !counted(r, now, all ? tried + steps : tried, tried + steps, e))
            return FAILED;
        if (!all)
            steps = (uint32_t)(now->tried - tried); /* the steps before the stop */
        done += steps;
        r->pace.steps += steps;
        r->pace.step_seconds += took;
        fit_stretch(r, steps, took);
        if (!steps_good(r, now, r->history.epochs * r->steps + done - steps, steps, e))
            return FAILED;
        if (!all)
            return STOPPED;
        if (r->watch.steps)
            r->watch.steps(r->watch.owner, r, now, done);
        enum verdict v = done < r->steps ? look_around(r, now, e) : GO_ON;
        if (v != GO_ON)
            return v;
    }
    return GO_ON;
}

/* --- the end of an epoch --- */

/* The metric of early stopping; all metrics if the owner wants them. */
static bool validate(struct run *r, double *metric, struct metrics *all, struct err *e)
{
    const struct metric_type *m = r->history.metric;
    *metric = (double)NAN;
    all->count = 0;
    if (!m)
        return true;
    if (!r->watch.all_metrics)
        return score_metric(&r->score, PART_VALID, m, metric, e);
    if (!score_all(&r->score, PART_VALID, m, all, e))
        return false;
    *metric = metrics_get(all, m->name);
    return true;
}

/* A metric without a value: an answer is not finite, which is an error; or it is not defined for
 * these answers (precision without a positive answer), and the epoch is not the best. */
static bool answers_finite(struct run *r, const struct step *now, struct err *e)
{
    return score_finite(&r->score, PART_VALID, e) ||
           (e->id == ERR_NONE &&
            run_diverged(r, now->tried, "an answer to a validation row is not finite", e));
}

static void log_scale(struct run *r, const struct step *now)
{
    if (!(now->scale > 0) || !(now->scale < r->pace.scale || now->scale > r->pace.scale))
        return;
    log_line("fp16: gradients are scaled by %g after epoch %lld; steps skipped so far: %lld",
             now->scale, (long long)r->history.epochs, (long long)now->skipped);
    r->pace.scale = now->scale;
}

/* Validates, tells the owner, keeps the best weights. */
static enum verdict epoch_end(struct run *r, const struct step *now, struct err *e)
{
    struct metrics valid;
    struct run_epoch p = {.now = now, .loss = run_epoch_loss(now), .valid = &valid};
    const struct run_watch *w = &r->watch;
    double began = clock_now();
    run_sound_begin(r);
    bool valued = validate(r, &p.metric, &valid, e);
    r->pace.validation = clock_now() - began;
    profile_span("validation", 0, began);
    if (!valued)
        return e->id == ERR_NONE ? STOPPED : FAILED;
    if (r->history.metric && !isfinite(p.metric)) {
        if (!answers_finite(r, now, e))
            return FAILED;
        p.metric = (double)NAN;
    }
    if (!run_sound(r, now, e))
        return FAILED;
    double last = run_is_path(r) ? 0 : run_rate(r, (r->history.epochs + 1) * r->steps - 1);
    p.best = history_add(&r->history, (struct history_row){p.loss, p.metric, last});
    p.rows_per_s = run_rows_per_second(r);
    p.seconds = clock_now() - r->pace.began;
    r->pace.seconds += p.seconds;
    r->pace.epochs++;
    profile_span("epoch", r->history.epochs, r->pace.began);
    if (w->epoch && !w->epoch(w->owner, r, &p, e))
        return FAILED;
    log_scale(r, now);
    return p.best && !run_remember(r, now, e) ? FAILED : GO_ON;
}

/* The weights inside an epoch become the model's. */
static enum verdict end_inside(struct run *r, const struct step *now, struct err *e)
{
    run_sound_begin(r);
    return run_sound(r, now, e) ? END_HERE : FAILED;
}

/* A run that broke ends with its best epoch. */
static enum verdict go_back(struct run *r, struct err *e)
{
    bool stops = stop_wanted();
    if (!stops && !r->best.state.params)
        return FAILED;
    r->stopped = "diverged";
    r->broke = mem_string(e->what);
    err_clear(e);
    return stops ? STOPPED : END_HERE;
}

/* The epochs of a preset that is solved for. No checkpoint is written: a path is short, and a
 * resumed training begins it anew. */
static enum verdict path_run(struct run *r, struct err *e)
{
    const struct run_watch *w = &r->watch;
    struct run_path *p = run_path_open(r, e);
    enum verdict v = p ? GO_ON : FAILED;
    double loss;
    r->pace.began = clock_now();
    while (v == GO_ON && run_path_next(p, &loss, e)) {
        struct step now;
        network_step(r->network, &now);
        now.epoch_loss = loss;
        now.epoch_weight = 1;
        r->pace.steps = r->steps; /* each training row was read */
        r->pace.step_seconds = clock_now() - r->pace.began;
        v = epoch_end(r, &now, e);
        if (v == GO_ON && w->pause && !w->pause(w->owner, r, &now, e))
            v = FAILED;
        r->pace.began = clock_now();
        if (v == GO_ON && time_is_up(r)) {
            r->stopped = "time_limit";
            v = END_HERE;
        }
    }
    if (v == GO_ON && e->id != ERR_NONE)
        v = FAILED;
    if (v == GO_ON && stop_wanted())
        v = STOPPED;
    if (v == GO_ON || v == END_HERE)
        run_path_tell(p);
    run_path_close(p);
    return v;
}

enum run_end run_epochs(struct run *r, struct err *e)
{
    enum verdict v = GO_ON;
    r->pace = (struct run_pace){.stretch = 1};
    r->stopped = "epochs";
    const bool path = run_is_path(r);
    if (!run_judge_begin(r, e))
        v = e->id == ERR_NONE ? STOPPED : FAILED;
    if (!path && !r->quiet && r->config->architecture->solution == SOLVED_BY_RIDGE)
        log_line("rocket: %llu training rows are too many to solve for: the weights are found in "
                 "steps", (unsigned long long)r->list[PART_TRAIN].count);
    if (path && v == GO_ON)
        v = path_run(r, e);
    while (!path && v == GO_ON && r->history.epochs < r->config->train.epochs) {
        struct step now;
        if (history_over(&r->history, r->steps)) {
            r->stopped = "patience";
            break;
        }
        r->pace.began = clock_now();
        network_step(r->network, &now);
        int64_t first = r->history.epochs * r->steps, done = now.tried - first;
        bool sound = run_answered(r, e) && counted(r, &now, first, first + r->steps, e);
        v = sound ? look_around(r, &now, e) : FAILED;
        if (v == GO_ON && done < r->steps)
            v = epoch_begin(r, done, e) ? steps_run(r, done, &now, e) : FAILED;
        if (v == GO_ON)
            v = epoch_end(r, &now, e);
        else if (v == END_HERE)
            v = end_inside(r, &now, e);
    }
    if (v == FAILED && e->id == ERR_DIVERGED)
        v = go_back(r, e);
    if (v == GO_ON || v == END_HERE)
        run_judge_end(r);
    return v == FAILED ? RUN_FAILED : v == STOPPED ? RUN_STOPPED : RUN_ENDED;
}
