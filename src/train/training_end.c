/* training_end.c - how a training ends early: stopped by a signal, failed with its machine, or
 * broken; what is kept of it, and what to change. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "train/training.h"

/* What it was to go on from, and had not read yet. */
static bool goes_on(const struct training *t)
{
    struct checkpoint_list l = {0};
    struct err ignored = {0};
    bool any = t->resume && !t->looked && checkpoint_find(t->output, &l, &ignored) && l.count > 0;
    checkpoint_list_free(&l);
    return any;
}

bool training_stopped(struct training *t, struct err *e)
{
    enum err_id id = stop_id();
    struct step now = {0};
    char room[512];
    if (!t->output) /* nothing is trained: `dnn check` */
        return stop_error("the plan was made", e);
    if (t->network) {
        network_step(t->network, &now);
        if (!training_answered(t, e))
            return false; /* a machine that failed tells no step */
    }
    if (now.tried > 0 && !t->broke && !training_checkpoint(t, e)) {
        if (e->id != ERR_DIVERGED)
            return false;
        err_clear(e); /* broken: an older checkpoint serves */
    }
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
    if (goes_on(t)) {
        err_set(e, id, "stopped by %s before the first step: what it was to go on from is left",
                stop_name());
        return err_help(e, "the same command with --resume goes on from there");
    }
    err_set(e, id, "stopped by %s before the first step: nothing to resume, start again",
            stop_name());
    return false;
}

/* The newest checkpoint that it found. mem_free; NULL: there is none. */
static char *left_there(const struct training *t)
{
    struct kept newest = keeper_newest(&t->keeper);
    return newest.name < 0 || !t->output ? NULL : checkpoint_path(t->output, newest.name);
}

bool training_keep_last(struct training *t, char *text, size_t room)
{
    struct err e = {0};
    char shown[512];
    bool whole = t->best.m1 || !optim_states(&t->config->train.optimizer);
    bool ended = t->best.params && t->output, have = ended && whole;
    t->says_kept = true;
    if (have && keeper_newest(&t->keeper).step < t->best.now.tried && !training_write_best(t, &e))
        log_warning("the last good state, after step %lld, is lost: %s",
                    (long long)t->best.now.tried, e.what);
    bool unread = goes_on(t);
    char *left = t->checkpoint ? NULL : left_there(t);
    if (t->checkpoint)
        snprintf(text, room, "the last good checkpoint is kept: \"%s\"",
                 training_quoted(t->checkpoint, shown));
    else if (unread)
        snprintf(text, room, "what it was to go on from is left");
    else if (left)
        snprintf(text, room, "no epoch had ended well before; what it went on from is left: \"%s\"",
                 training_quoted(left, shown));
    else
        snprintf(text, room, "%s",
                 have    ? "no checkpoint could be written"
                 : ended ? "no checkpoint had been written yet"
                         : "no epoch had ended well before: there is no checkpoint to keep");
    mem_free(left);
    return t->checkpoint || unread;
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
    select_restart(&s, t->config, e, again, then,
                   (struct anew_spent){here, training_seconds(t)});
}

/* The program that comes reads all of it again: what came through a pipe is gone. */
bool training_lasts(const struct training *t)
{
    const struct data_options *o = &t->config->data;
    const struct opt_strings *lists[] = {&o->train, &o->valid, &o->test};
    bool all = true;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            all &= file_lasts(lists[k]->items[i]);
    return all;
}

/* Whoever asked for the end before the machine failed is not answered with another beginning. */
static void end_instead(struct err *e)
{
    struct err was = *e;
    err_clear(e);
    err_set(e, stop_id(), "stopped by %s, and %s", stop_name(), was.what);
    err_help(e, "%s", was.help);
}

bool training_failed(struct training *t, struct err *e)
{
    char kept[600], advice[sizeof e->help];
    bool left = stop_is(e) && !t->says_kept; /* a machine that did not answer in time */
    if (!left && e->id != ERR_MACHINE_FAULT && (e->id != ERR_GPU_MEMORY || !t->network))
        return false; /* without room for the network, nothing was begun */
    bool again = training_keep_last(t, kept, sizeof kept);
    bool falls = select_falls_back(&t->backend, &t->config->backend, e) && t->output;
    bool gone = falls && !training_lasts(t);
    if (falls && !gone && !stop_wanted())
        restart(t, e, again);
    if (falls && stop_wanted()) {
        end_instead(e);
        gone = false;
    }
    size_t length = t->said = strlen(e->what);
    snprintf(e->what + length, sizeof e->what - length, "; %s%s", kept,
             gone ? "; the CPU cannot go on: the rows came through a pipe, and once" : "");
    snprintf(advice, sizeof advice, "%s", e->help); /* of whoever knows the card */
    return err_help(e, "the same command with%s --resume %s%s%s", again ? "" : "out",
                    again ? "goes on from there and gives the same model"
                          : "starts at the first step", *advice ? "; " : "", advice);
}

bool training_diverged(struct training *t, int64_t step, const char *what, struct err *e)
{
    int64_t first = t->history.epochs * t->steps;
    double rate = training_rate(t, step > 0 ? step - 1 : 0);
    return err_set(e, ERR_DIVERGED,
                   "training diverged: %s (epoch %lld, step %lld, learning rate %.3g)", what,
                   (long long)t->history.epochs + (step > first), (long long)step, rate);
}

void training_advice(const struct training *t, char *text, size_t room)
{
    const struct train_options *o = &t->config->train;
    double rate = o->optimizer.learning_rate;
    if (o->clip_norm > 0)
        snprintf(text, room,
                 "lower train.optimizer.learning_rate (now %.3g) or train.clip_norm (now %.3g)",
                 rate, o->clip_norm);
    else
        snprintf(text, room,
                 "lower train.optimizer.learning_rate (now %.3g), or set train.clip_norm to 1.0; "
                 "look for extreme values in the data or the target", rate);
}

bool training_useless(struct training *t, const char *broke, const char *why, struct err *e)
{
    char advice[300];
    training_advice(t, advice, sizeof advice);
    keeper_undo(&t->keeper);
    mem_free(t->checkpoint);
    t->checkpoint = NULL;
    t->says_kept = true;
    err_clear(e);
    err_set(e, ERR_DIVERGED, "%s; %s: nothing is written", broke, why);
    return err_help(e, "%s; then start again%s", advice,
                    t->keeper.count ? " without --resume" : "");
}
