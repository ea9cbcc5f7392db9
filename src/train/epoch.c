/* epoch.c - the epochs of a training: steps in short stretches, so that signals, the clock and the
 * progress line are looked at some twenty times a second; validation; early stopping; checkpoints.
 * How long a stretch is leaves no trace in the result: a step depends on its number alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/profile.h"
#include "base/stop.h"
#include "choose/memory.h"
#include "model/nonfinite.h"
#include "train/training.h"

static const double STRETCH = 0.05; /* seconds of steps between two looks */

/* What the epochs share while they run. */
struct run {
    struct training *t;
    struct hyper *table;   /* [t->steps] */
    uint32_t stretch;      /* steps */
    double epochs_seconds; /* of the epochs finished in this process */
    int64_t epochs_here;
    double epoch_began, step_seconds; /* this epoch; the part of it spent in steps */
    int64_t steps_here;               /* of this epoch, in this process */
    double scale;                     /* of gradients in fp16, as it was said last */
};

enum verdict { GO_ON, END_HERE, FAILED };

static uint64_t rows_of_steps(const struct training *t, int64_t steps)
{
    uint64_t rows = (uint64_t)steps * t->batch * t->micro;
    return rows < t->source.count ? rows : t->source.count;
}

static double rows_per_second(const struct run *r)
{
    return r->step_seconds > 0 ? (double)rows_of_steps(r->t, r->steps_here) / r->step_seconds : 0;
}

/* The machine says that it is at a step between these two. Tables are indexed by what it says, and
 * a device that does not compute may say anything. */
static bool counted(const struct training *t, const struct step *now, int64_t least, int64_t most,
                    struct err *e)
{
    if (now->tried >= least && now->tried <= most && now->bad_steps >= 0)
        return true;
    err_set(e, ERR_MACHINE_FAULT,
            "%s does not compute: it says that %lld steps were done, where %lld to %lld were",
            select_is_gpu(&t->backend) ? "the GPU" : "the machine", (long long)now->tried,
            (long long)least, (long long)most);
    return err_help(e, "`dnn gpucheck` says what is wrong with it");
}

/* The learning rates of the rest of an epoch, from step `tried` of the training on. */
static bool epoch_begin(struct run *r, int64_t done, struct err *e)
{
    struct training *t = r->t;
    const struct train_options *o = &t->config->train;
    for (int64_t i = done; i < t->steps; i++)
        r->table[i - done] =
            (struct hyper){.lr = training_rate(t, t->history.epochs * t->steps + i),
                           .weight_decay = o->optimizer.weight_decay};
    struct network_state s = {0};
    network_step(t->network, &s.now);
    if (!training_answered(t, e) ||
        !network_epoch(t->network, (uint32_t)t->history.epochs, r->table,
                       (uint32_t)(t->steps - done), e))
        return false;
    if (done > 0) { /* resumed inside an epoch: its sums and its place in the order go back */
        s.now.lr = r->table[0].lr; /* the schedule's, not the checkpoint's */
        s.now.weight_decay = r->table[0].weight_decay;
        network_set(t->network, &s);
    }
    r->epoch_began = clock_now();
    r->step_seconds = 0;
    r->steps_here = 0;
    return true;
}

static void say_status(const struct run *r, const struct step *now)
{
    const struct training *t = r->t;
    char loss[32] = ""; /* none before the first step of an epoch */
    if (now->epoch_weight > 0)
        snprintf(loss, sizeof loss, "loss %.4f, ", now->epoch_loss / now->epoch_weight);
    log_asked("epoch %lld/%lld, step %lld, %sbest epoch %lld, %.0f rows/s, %.0f s used",
              (long long)t->history.epochs + 1, (long long)t->config->train.epochs,
              (long long)now->tried, loss, (long long)t->history.best_epoch, rows_per_second(r),
              training_seconds(t));
}

static double seconds_left(const struct run *r, double fraction)
{
    const struct training *t = r->t;
    double each = r->epochs_here ? r->epochs_seconds / (double)r->epochs_here
                  : fraction > 0 ? (clock_now() - r->epoch_began) / fraction
                                 : -1;
    double left = each * ((double)(t->config->train.epochs - t->history.epochs) - fraction);
    double limit = t->config->train.time_limit_s;
    if (limit > 0 && left > limit - training_seconds(t))
        left = limit - training_seconds(t);
    return each < 0 ? -1 : left > 0 ? left : 0;
}

static void show(const struct run *r, const struct step *now, int64_t done)
{
    double fraction = (double)done / (double)r->t->steps;
    double loss = now->epoch_weight > 0 ? now->epoch_loss / now->epoch_weight : (double)NAN;
    progress_step(r->t->progress, r->t->history.epochs + 1, fraction, loss, rows_per_second(r),
                  seconds_left(r, fraction));
}

static bool time_is_up(const struct training *t)
{
    return t->config->train.time_limit_s > 0 &&
           training_seconds(t) >= t->config->train.time_limit_s;
}

static bool checkpoint_due(const struct run *r, const struct step *now)
{
    const struct training *t = r->t;
    double every = t->config->train.checkpoint.every_s;
    bool fresh = r->epochs_here > 0 && now->tried == t->history.epochs * t->steps;
    return stop_checkpoint() ||
           (every > 0 ? clock_now() - t->checkpoint_at >= every : fresh); /* 0: after every epoch */
}

/* What the world wants between two stretches. */
static enum verdict look_around(struct run *r, const struct step *now, struct err *e)
{
    struct training *t = r->t;
    if (stop_wanted()) {
        training_stopped(t, e);
        return FAILED;
    }
    if (stop_status())
        say_status(r, now);
    if (now->tried > 0 && time_is_up(t)) { /* a model has seen one batch at least */
        t->stopped = "time_limit";
        if (t->history.epochs == 0)
            log_warning("the time limit came before the end of the first epoch: the model has seen "
                        "%llu of %llu training rows",
                        (unsigned long long)rows_of_steps(t, now->tried),
                        (unsigned long long)t->source.count);
        return END_HERE;
    }
    return checkpoint_due(r, now) && !training_checkpoint(t, e) ? FAILED : GO_ON;
}

/* The last `steps` steps, from step `first` of the training on: loss and gradients are finite. */
static bool steps_good(const struct run *r, const struct step *now, int64_t first, uint32_t steps,
                       struct err *e)
{
    struct training *t = r->t;
    char what[256], where[160];
    if (now->bad_steps > 0) {
        uint32_t good = now->bad_steps < steps ? steps - (uint32_t)now->bad_steps : 0;
        network_nonfinite(t->network, where, sizeof where);
        snprintf(what, sizeof what, "%s is not finite%s", where,
                 now->scale > 0 ? ", at the smallest scale of fp16" : "");
        return training_diverged(t, first + good + 1, what, e);
    }
    return isfinite(now->epoch_loss) ||
           training_diverged(t, now->tried, "the loss is not finite", e);
}

/* So many of these steps take as long as a stretch should; not at once, as the first are slow. */
static void fit_stretch(struct run *r, uint32_t steps, double took)
{
    double wish = took > 0 ? STRETCH / took * steps : 2.0 * steps;
    wish = wish > 4.0 * steps ? 4.0 * steps : wish;
    r->stretch = wish < 1 ? 1 : wish > 1e6 ? 1000000 : (uint32_t)wish;
}

/* Which of them it was, the machine does not tell. */
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
    struct training *t = r->t;
    while (done < t->steps) {
        int64_t left = t->steps - done;
        uint32_t steps = left < (int64_t)r->stretch ? (uint32_t)left : r->stretch;
        double began = clock_now();
        int64_t tried = now->tried;
        bool all = step_train(t->stepper, steps, e);
        if (!all && e->id != ERR_NONE)
            return lost_in(e, tried, steps);
        double took = clock_now() - began;
        network_step(t->network, now);
        if (!training_answered(t, e) ||
            !counted(t, now, all ? tried + steps : tried, tried + steps, e))
            return FAILED;
        if (!all)
            steps = (uint32_t)(now->tried - tried); /* those before the one that was left */
        done += steps;
        r->steps_here += steps;
        r->step_seconds += took;
        fit_stretch(r, steps, took);
        if (!steps_good(r, now, t->history.epochs * t->steps + done - steps, steps, e))
            return FAILED;
        if (!all) {
            training_stopped(t, e);
            return FAILED;
        }
        show(r, now, done);
        enum verdict v = done < t->steps ? look_around(r, now, e) : GO_ON;
        if (v != GO_ON)
            return v;
    }
    return GO_ON;
}

static bool write_line(struct run *r, const struct step *now, double loss,
                       const struct metrics *valid, struct err *e)
{
    struct training *t = r->t;
    if (!t->journal.path)
        return true;
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    json_put_string(&out, "schema", "dnn.epoch/1");
    json_put_int(&out, "epoch", t->history.epochs);
    json_put_int(&out, "step", now->tried);
    json_open(&out, "train", '{');
    json_put_number(&out, "loss", loss);
    json_close(&out, '}');
    metrics_write(valid, "valid", &out);
    if (now->scale > 0) {
        json_put_number(&out, "loss_scale", now->scale);
        json_put_int(&out, "skipped_steps", now->skipped);
    }
    json_put_number(&out, "learning_rate", t->history.rows[t->history.epochs - 1].learning_rate);
    json_put_number(&out, "rows_per_s", rows_per_second(r));
    json_put_number(&out, "seconds", clock_now() - r->epoch_began);
    memory_note(t->machine);
    memory_write("memory", &out);
    json_close(&out, '}');
    bool good = journal_line(&t->journal, out.text.data, e);
    text_free(&out.text);
    return good;
}

/* The metric of early stopping; all of them when somebody keeps a journal. */
static bool validate(struct training *t, double *metric, struct metrics *all, struct err *e)
{
    *metric = (double)NAN;
    all->count = 0;
    if (!t->history.metric)
        return true;
    if (!t->journal.path)
        return score_metric(&t->score, PART_VALID, t->history.metric, metric, e);
    if (!score_all(&t->score, PART_VALID, t->history.metric, all, e))
        return false;
    *metric = metrics_get(all, t->history.metric->name);
    return true;
}

/* Seconds of the whole training, all runs together, as the first epoch of this run foretells: the
 * most it may take. */
static double foretell(const struct training *t, double epoch_s)
{
    double limit = t->config->train.time_limit_s;
    double all = training_seconds(t) +
                 epoch_s * (double)(t->config->train.epochs - t->history.epochs);
    return limit > 0 && all > limit ? limit : all;
}

/* A metric without a value: the answers are not finite, or it is not defined for them (precision
 * without a positive answer). The latter is an epoch that is not the best. */
static bool answers_finite(struct training *t, const struct step *now, struct err *e)
{
    return score_finite(&t->score, PART_VALID, e) ||
           (e->id == ERR_NONE &&
            training_diverged(t, now->tried, "an answer to a validation row is not finite", e));
}

/* All steps are done: validates, keeps the best weights. */
static enum verdict epoch_end(struct run *r, const struct step *now, struct err *e)
{
    struct training *t = r->t;
    double loss = now->epoch_weight > 0 ? now->epoch_loss / now->epoch_weight : (double)NAN, metric;
    struct metrics valid;
    double began = clock_now();
    training_sound_ask(t);
    bool valued = validate(t, &metric, &valid, e);
    profile_span("validation", 0, began);
    if (!valued) {
        if (e->id == ERR_NONE)
            training_stopped(t, e);
        return FAILED;
    }
    if (t->history.metric && !isfinite(metric)) {
        if (!answers_finite(t, now, e))
            return FAILED;
        metric = (double)NAN;
    }
    if (!training_sound(t, now, e))
        return FAILED;
    double last = training_rate(t, (t->history.epochs + 1) * t->steps - 1);
    bool best = history_add(&t->history, (struct history_row){loss, metric, last});
    double seconds = clock_now() - r->epoch_began;
    progress_epoch(t->progress, t->history.epochs, loss, metric, best, rows_per_second(r), seconds);
    r->epochs_seconds += seconds;
    profile_span("epoch", t->history.epochs, r->epoch_began);
    if (r->epochs_here++ == 0)
        select_took(&t->backend, foretell(t, seconds));
    if (now->scale > 0 && (now->scale < r->scale || now->scale > r->scale)) {
        log_line("fp16: gradients are scaled by %g after epoch %lld; steps skipped so far: %lld",
                 now->scale, (long long)t->history.epochs, (long long)now->skipped);
        r->scale = now->scale;
    }
    if (!write_line(r, now, loss, &valid, e))
        return FAILED;
    return best && !training_remember(t, now, e) ? FAILED : GO_ON;
}

/* The weights as they stand inside an epoch, which are to be the model's. */
static enum verdict end_inside(struct training *t, const struct step *now, struct err *e)
{
    training_sound_ask(t);
    return training_sound(t, now, e) ? END_HERE : FAILED;
}

/* A run that broke ends with its best epoch. */
static enum verdict go_back(struct training *t, struct err *e)
{
    if (stop_wanted()) {
        err_clear(e);
        t->broke = mem_string("");
        training_stopped(t, e);
        return FAILED;
    }
    if (!t->best.params) {
        struct err was = *e;
        training_useless(t, was.what, "no epoch had ended", e);
        return FAILED;
    }
    t->stopped = "diverged";
    t->broke = mem_string(e->what);
    err_clear(e);
    return END_HERE;
}

bool epochs_run(struct training *t, struct err *e)
{
    struct run r = {.t = t, .stretch = 1};
    r.table = mem_alloc((size_t)t->steps, sizeof *r.table);
    stop_phase("training", false);
    enum verdict v = GO_ON;
    t->stopped = "epochs";
    while (v == GO_ON && t->history.epochs < t->config->train.epochs) {
        struct step now;
        if (history_over(&t->history)) {
            t->stopped = "patience";
            break;
        }
        r.epoch_began = clock_now();
        network_step(t->network, &now);
        int64_t first = t->history.epochs * t->steps, done = now.tried - first;
        bool sound = training_answered(t, e) && counted(t, &now, first, first + t->steps, e);
        v = sound ? look_around(&r, &now, e) : FAILED;
        if (v == GO_ON && done < t->steps)
            v = epoch_begin(&r, done, e) ? steps_run(&r, done, &now, e) : FAILED;
        if (v == GO_ON)
            v = epoch_end(&r, &now, e);
        else if (v == END_HERE)
            v = end_inside(t, &now, e);
    }
    if (v == FAILED && e->id == ERR_DIVERGED)
        v = go_back(t, e);
    mem_free(r.table);
    return v != FAILED;
}
