/* training_state.c - what a training has reached: its state on the host, checkpoints of it, and
 * what is kept when it ends badly. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "model/nonfinite.h"
#include "run/profile.h"
#include "run/stop.h"
#include "run/training.h"

void training_state(const struct training *t, struct network_state *s)
{
    const struct model *m = network_model(t->network);
    unsigned states = optim_states(&t->config->train.optimizer);
    *s = (struct network_state){.params = mem_zero(m->params, sizeof *s->params)};
    if (m->buffers)
        s->buffers = mem_zero(m->buffers, sizeof *s->buffers);
    if (states > 0)
        s->m1 = mem_zero(m->params, sizeof *s->m1);
    if (states > 1)
        s->m2 = mem_zero(m->params, sizeof *s->m2);
}

void training_state_free(struct network_state *s)
{
    mem_free(s->params);
    mem_free(s->buffers);
    mem_free(s->m1);
    mem_free(s->m2);
    *s = (struct network_state){0};
}

double training_rate(const struct training *t, int64_t step)
{
    const struct train_options *o = &t->config->train;
    return o->optimizer.learning_rate *
           schedule_factor(&o->schedule, step, o->epochs * t->steps, t->steps);
}

double training_seconds(const struct training *t)
{
    return t->used + clock_now() - t->began;
}

static struct checkpoint checkpoint_of(struct training *t, const struct network_state *s)
{
    const struct model *m = network_model(t->network);
    struct checkpoint c = {.plan = t->plan,
                           .now = s->now,
                           .params = s->params,
                           .buffers = s->buffers,
                           .m1 = s->m1,
                           .m2 = s->m2,
                           .best_params = t->history.metric ? t->best.params : NULL,
                           .best_buffers = t->history.metric ? t->best.buffers : NULL,
                           .param_count = m->params,
                           .buffer_count = m->buffers,
                           .rows = t->history.rows,
                           .epochs = t->history.epochs,
                           .untrained = t->history.untrained,
                           .norms = &t->norms,
                           .seconds = training_seconds(t),
                           .journal = t->journal.length,
                           .best_journal = t->best_journal,
                           .config = t->config_text};
    memcpy(c.data, t->table->sha256, sizeof c.data);
    memcpy(c.training, t->id, sizeof c.training);
    return c;
}

static void checkpoint_written(struct training *t, int64_t step, int64_t name)
{
    mem_free(t->checkpoint);
    t->checkpoint = checkpoint_path(t->output, name);
    t->checkpoint_at = clock_now();
    log_info("checkpoint at step %lld", (long long)step);
}

/* What the machine keeps is newer than what is here. */
static bool is_newer_there(const struct training *t)
{
    return t->there.is && (!t->best.params || t->there.now.tried > t->best.now.tried);
}

/* Its weights, to be freed; nothing where those here are the best. */
static bool bring_best(struct training *t, struct network_state *s, struct err *e)
{
    *s = (struct network_state){0};
    if (!is_newer_there(t))
        return true;
    training_have_weights(t, s);
    s->now = t->there.now;
    return network_get_best(t->network, s, e);
}

bool training_checkpoint(struct training *t, struct err *e)
{
    struct network_state s, best = {0};
    double began = clock_now();
    bool good = training_look(t, true, &s, e) && training_finite(t, &s, e) &&
                (!t->history.metric || bring_best(t, &best, e)) && journal_sync(&t->journal, e);
    struct checkpoint c = checkpoint_of(t, &s);
    int64_t name;
    if (best.params) {
        c.best_params = best.params;
        c.best_buffers = best.buffers;
        c.best_journal = t->there.journal;
    }
    bool saves = good;
    good = good && keeper_save(&t->keeper, &c, &name, e);
    training_look_end(t, &s);
    training_state_free(&best);
    profile_span("checkpoint", 0, began);
    if (good || (saves && keeper_placed(e)))
        checkpoint_written(t, c.now.tried, name);
    return good;
}

void training_have_weights(const struct training *t, struct network_state *s)
{
    const struct model *m = network_model(t->network);
    s->params = mem_alloc(m->params, sizeof *s->params);
    if (m->buffers)
        s->buffers = mem_alloc(m->buffers, sizeof *s->buffers);
}

bool training_look(struct training *t, bool all, struct network_state *s, struct err *e)
{
    *s = (struct network_state){0};
    if (network_view(t->network, s))
        return training_answered(t, e);
    if (all)
        training_state(t, s);
    else
        training_have_weights(t, s);
    return network_get(t->network, s, e);
}

void training_look_end(const struct training *t, struct network_state *s)
{
    if (!machine_in_place(t->machine))
        training_state_free(s);
    *s = (struct network_state){0};
}

bool training_answered(struct training *t, struct err *e)
{
    return machine_wait(t->machine, MACHINE_PATIENCE, e);
}

void training_sound_ask(struct training *t)
{
    if (!machine_in_place(t->machine))
        network_look(t->network);
}

bool training_sound(struct training *t, const struct step *now, struct err *e)
{
    struct network_state s;
    bool finite = false;
    if (!machine_in_place(t->machine) && !network_looked(t->network, &finite, e))
        return false;
    if (finite)
        return true;
    bool good = training_look(t, false, &s, e); /* which one is not */
    s.now = *now;
    good = good && training_finite(t, &s, e);
    training_look_end(t, &s);
    return good;
}

static bool remember_copy(struct training *t, struct err *e)
{
    const struct model *m = network_model(t->network);
    struct network_state end;
    if (!training_look(t, false, &end, e))
        return false;
    if (!t->best.params)
        training_have_weights(t, &t->best);
    memcpy(t->best.params, end.params, m->params * sizeof *end.params);
    if (m->buffers)
        memcpy(t->best.buffers, end.buffers, m->buffers * sizeof *end.buffers);
    t->best.now = end.now;
    return true;
}

static bool bring_whole(struct training *t, struct err *e)
{
    struct network_state all;
    training_state(t, &all);
    if (!network_get(t->network, &all, e)) {
        training_state_free(&all);
        return false;
    }
    training_state_free(&t->best);
    t->best = all;
    t->there.brought = clock_now();
    return true;
}

/* Seconds between two times that all is brought, which takes some milliseconds: what a card that
 * breaks may cost. */
static const double BRING_EVERY = 1;

/* Whether t->best is that as well: *here. */
static bool remember_there(struct training *t, const struct step *now, bool *here, struct err *e)
{
    network_keep_best(t->network);
    t->there.is = true;
    t->there.now = *now;
    t->there.epochs = t->history.epochs;
    t->there.journal = t->journal.length;
    *here = !t->best.params || clock_now() - t->there.brought >= BRING_EVERY;
    return !*here || bring_whole(t, e);
}

bool training_remember(struct training *t, const struct step *now, struct err *e)
{
    bool here = true, there = network_keeps_best(t->network);
    if (there ? !remember_there(t, now, &here, e) : !remember_copy(t, e))
        return false;
    if (here) {
        t->best_epochs = t->history.epochs;
        t->best_journal = t->journal.length;
    }
    return true;
}

/* t->best becomes what the machine keeps, where that is newer and the machine is sound. Its moments
 * are gone. */
static void take_there(struct training *t)
{
    struct network_state s;
    struct err e = {0};
    if (!is_newer_there(t))
        return;
    if (!bring_best(t, &s, &e)) {
        training_state_free(&s);
        return;
    }
    training_state_free(&t->best);
    t->best = s;
    t->best_epochs = t->there.epochs;
    t->best_journal = t->there.journal;
}

bool training_stopped(struct training *t, struct err *e)
{
    enum err_id id = stop_exit() == EXIT_SIGINT ? ERR_INTERRUPTED : ERR_STOPPED;
    struct step now = {0};
    char room[512];
    if (!t->output) /* nothing is trained: `dnn check` */
        return stop_error("the plan was made", e);
    if (t->network) {
        network_step(t->network, &now);
        if (!training_answered(t, e))
            return false; /* a machine that failed tells no step */
    }
    if (now.tried > 0 && !training_checkpoint(t, e))
        return false;
    t->says_kept = true;
    if (t->checkpoint) {
        err_set(e, id, "stopped by %s; the checkpoint \"%s\" holds everything", stop_name(),
                training_quoted(t->checkpoint, room));
        char *other = resume_newer(&t->keeper, t->config_text, t->table->sha256);
        if (!other)
            return err_help(e, "the same command with --resume goes on from there");
        err_help(e, "--resume would go on from the newer one of an earlier training, \"%s\": move "
                    "that away first, and the same command with --resume goes on from this one",
                 training_quoted(other, room));
        mem_free(other);
        return false;
    }
    err_set(e, id, "stopped by %s before the first step: nothing to resume, start again",
            stop_name());
    return false;
}

/* No epoch has ended; or the best of them is nothing to go back to, or, without validation rows,
 * each was of this run. */
static bool best_is_useless(const struct training *t)
{
    const struct history *h = &t->history;
    return !t->best.params || (h->metric && history_useless(h, h->best_epoch));
}

static bool has_good_epoch(const struct training *t)
{
    for (int64_t epoch = 1; epoch <= t->history.epochs; epoch++)
        if (!history_useless(&t->history, epoch))
            return true;
    return false;
}

/* The checkpoint of that name becomes the newest one. 0: none is good, and none that this run wrote
 * is left; what it had gone on from is another's work, which may be judged wrongly here. */
static void go_back(struct training *t, int64_t name)
{
    if (name)
        keeper_back(&t->keeper, keeper_step(&t->keeper, name));
    else
        keeper_undo(&t->keeper);
    training_state_free(&t->best);
    t->there.is = false;
    mem_free(t->checkpoint);
    t->checkpoint = name ? checkpoint_path(t->output, name) : NULL;
}

/* The newest of those that it went on from, though none is good. mem_free; NULL: there is none. */
static char *left_there(const struct training *t)
{
    struct kept newest = keeper_newest(&t->keeper);
    return newest.name < 0 || !t->output ? NULL : checkpoint_path(t->output, newest.name);
}

/* The norms stay out: those of another learning rate are of another size. Weights without moments
 * are no state to go on from to the same bytes: good enough only for who goes back and changes the
 * learning rate; the optimiser's steps are counted anew then, since its first ones correct for
 * moments that begin at 0. */
bool training_keep_last(struct training *t, bool back, char *text, size_t room)
{
    struct err e = {0};
    char shown[512];
    if (back)
        take_there(t);
    bool whole = t->best.m1 || !optim_states(&t->config->train.optimizer);
    if (back && t->output && (t->keeper.held || best_is_useless(t)))
        go_back(t, t->keeper.held ? t->keeper.held : training_newest_good(t));
    bool ended = t->best.params && t->output, have = ended && (back || whole);
    t->says_kept = true;
    if (have && (back || keeper_newest(&t->keeper).step < t->best.now.tried)) {
        struct checkpoint c = checkpoint_of(t, &t->best);
        int64_t name;
        c.epochs = t->best_epochs;
        c.journal = t->best_journal;
        c.norms = NULL;
        if (!whole)
            c.now.applied = 0;
        if (journal_sync(&t->journal, &e) && (back ? keeper_rewind(&t->keeper, &c, &name, &e)
                                                   : keeper_save(&t->keeper, &c, &name, &e)))
            checkpoint_written(t, c.now.tried, name);
        else
            log_warning("the last good state, after step %lld, is lost: %s",
                        (long long)c.now.tried, e.what);
    }
    char *left = t->checkpoint ? NULL : left_there(t);
    if (t->checkpoint)
        snprintf(text, room, "the last good checkpoint is kept: \"%s\"",
                 training_quoted(t->checkpoint, shown));
    else if (left)
        snprintf(text, room, "no epoch had ended well before; what it went on from is left: \"%s\"",
                 training_quoted(left, shown));
    else
        snprintf(text, room, "%s",
                 have    ? "no checkpoint could be written"
                 : ended ? "no checkpoint had been written yet"
                 : has_good_epoch(t)
                     ? "no checkpoint of an epoch that ended well had been written yet"
                     : "no epoch had ended well before: there is no checkpoint to keep");
    mem_free(left);
    return t->checkpoint != NULL;
}

/* Everything is given back, but what the GPU holds: the program that comes takes the lock anew. */
static void restart(struct training *t, const struct err *e, bool again)
{
    char then[600];
    struct selection s = t->backend;
    snprintf(then, sizeof then, "%s",
             again ? "going on with the CPU from the last good checkpoint"
                   : "beginning anew with the CPU");
    journal_close(&t->journal);
    lock_drop(&t->lock);
    double here = t->before + clock_now() - t->began;
    select_restart(&s, e, again, then, (struct select_spent){here, training_seconds(t)});
}

/* The program that comes reads all of it again: what came through a pipe is gone. */
static bool data_last(const struct training *t)
{
    const struct data_options *o = &t->config->data;
    const struct opt_strings *lists[] = {&o->train, &o->valid, &o->test};
    bool all = true;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            all &= file_lasts(lists[k]->items[i]);
    return all;
}

bool training_failed(struct training *t, struct err *e)
{
    char kept[600], advice[sizeof e->help];
    if (e->id != ERR_MACHINE_FAULT && (e->id != ERR_GPU_MEMORY || !t->network))
        return false; /* without room for the network, nothing was begun */
    bool again = training_keep_last(t, false, kept, sizeof kept);
    size_t length = t->said = strlen(e->what);
    bool falls = select_falls_back(&t->backend, &t->config->backend, e) && t->output;
    bool gone = falls && !data_last(t);
    if (falls && !gone)
        restart(t, e, again);
    snprintf(e->what + length, sizeof e->what - length, "; %s%s", kept,
             gone ? "; the CPU cannot go on: the rows came through a pipe, and once" : "");
    snprintf(advice, sizeof advice, "%s", e->help); /* of whoever knows the card */
    return err_help(e, "the same command with%s --resume %s%s%s", again ? "" : "out",
                    again ? "goes on from there and gives the same model"
                          : "starts at the first step", *advice ? "; " : "", advice);
}

/* What lies there may be the beginning of what was gone back from: it went on from the checkpoint
 * that is held, inside the first epoch, and did not come to the end of that; or none of those that
 * lie there is good. */
static bool is_second(const struct training *t)
{
    return t->checkpoint ? t->history.epochs == 0 && t->keeper.held : t->keeper.count > 0;
}

bool training_diverged(struct training *t, int64_t step, const char *what, struct err *e)
{
    const struct train_options *o = &t->config->train;
    int64_t first = t->history.epochs * t->steps;
    double rate = training_rate(t, step > 0 ? step - 1 : 0);
    char kept[600];
    bool again = training_keep_last(t, true, kept, sizeof kept);
    err_set(e, ERR_DIVERGED,
            "training diverged: %s (epoch %lld, step %lld, learning rate %.3g); %s", what,
            (long long)t->history.epochs + (step > first), (long long)step, rate, kept);
    const char *then = is_second(t) ? "remove that checkpoint and start again"
                       : again      ? "and go on with --resume"
                                    : "and start again";
    if (o->clip_norm > 0)
        return err_help(e,
                        "lower train.optimizer.learning_rate (now %.3g) or train.clip_norm (now "
                        "%.3g), %s",
                        o->optimizer.learning_rate, o->clip_norm, then);
    return err_help(e,
                    "lower train.optimizer.learning_rate (now %.3g), or set train.clip_norm to "
                    "1.0, %s; look for extreme values in the data or the target",
                    o->optimizer.learning_rate, then);
}

/* The first value that is not finite; count: there is none. */
static uint64_t not_finite(const real *values, uint64_t count)
{
    uint64_t i = 0;
    while (i < count && isfinite(values[i]))
        i++;
    return i;
}

bool training_finite(struct training *t, const struct network_state *s, struct err *e)
{
    const struct model *m = network_model(t->network);
    uint64_t at = not_finite(s->params, m->params);
    char where[160] = "a running statistic of batch_norm", what[200];
    if (at == m->params && not_finite(s->buffers, m->buffers) == m->buffers)
        return true;
    if (at < m->params)
        model_name_weight(m, at, where, sizeof where);
    snprintf(what, sizeof what, "%s is not finite", where);
    return training_diverged(t, s->now.tried, what, e);
}
