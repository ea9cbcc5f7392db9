/* job_end.c - ends before the model: stopped by a signal, failed with the machine, or broken
 * without a good epoch. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/job.h"

bool job_stopped(struct train_job *j, struct err *e)
{
    enum err_id id = stop_id();
    char room[512];
    if (!j->output) /* `dnn check` trains nothing */
        return stop_error("the plan was made", e);
    if (j->run.network && !keep_stopped(&j->keeper, &j->run, e))
        return false;
    j->says_kept = true;
    if (j->keeper.last) {
        err_set(e, id, "stopped by %s; the checkpoint \"%s\" is written", stop_name(),
                job_quoted(j->keeper.last, room));
        char *other = resume_newer(&j->keeper, j->config_text, j->table->sha256);
        if (!other)
            return err_help(e, "the same command with --resume continues from there");
        err_help(e, "--resume would continue from the newer checkpoint of an earlier training, "
                    "\"%s\": move that one away, then run the same command with --resume",
                 job_quoted(other, room));
        mem_free(other);
        return false;
    }
    if (job_has_unread(j)) {
        err_set(e, id, "stopped by %s before the first step: the earlier checkpoints "
                "are left as they are",
                stop_name());
        return err_help(e, "the same command with --resume continues from there");
    }
    err_set(e, id, "stopped by %s before the first step: there is no checkpoint; start again",
            stop_name());
    return false;
}

/* Executes the program again with the CPU. It takes the lock again, so this one releases it. */
static void restart(struct train_job *j, const struct err *e, bool again)
{
    char then[600];
    struct selection s = j->backend;
    snprintf(then, sizeof then, "%s",
             again ? "continuing on the CPU from the last good checkpoint"
                   : "starting again on the CPU");
    journal_close(&j->journal);
    lock_drop(&j->lock);
    double here = j->before + clock_now() - j->began;
    select_restart(&s, j->config, e, again, then,
                   (struct reexec_spent){here, run_seconds(&j->run)});
}

/* True: the data can be read again; none comes through a pipe. */
static bool job_lasts(const struct train_job *j)
{
    const struct data_options *o = &j->config->data;
    const struct opt_strings *lists[] = {&o->train, &o->valid, &o->test};
    bool all = true;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        for (size_t i = 0; i < lists[k]->count; i++)
            all &= file_lasts(lists[k]->items[i]);
    return all;
}

bool job_failed(struct train_job *j, struct err *e)
{
    char kept[600], advice[sizeof e->help];
    if (e->id != ERR_MACHINE_FAULT && (e->id != ERR_GPU_MEMORY || !j->run.network))
        return false; /* no room for the network: nothing was begun */
    bool again = job_keep_last(j, kept, sizeof kept);
    bool falls = select_may_use_cpu(&j->backend, &j->config->backend, e) && j->output;
    bool gone = falls && !job_lasts(j);
    if (falls && !gone && !stop_wanted())
        restart(j, e, again);
    size_t length = j->said = strlen(e->what);
    snprintf(e->what + length, sizeof e->what - length, "; %s%s", kept,
             gone ? "; the CPU cannot go on: the rows came through a pipe, and once" : "");
    snprintf(advice, sizeof advice, "%s", e->help); /* the help of the machine */
    return err_help(e, "the same command with%s --resume %s%s%s", again ? "" : "out",
                    again ? "continues from there and gives the same model"
                          : "starts at the first step", *advice ? "; " : "", advice);
}

void job_advice(const struct train_job *j, char *text, size_t room)
{
    const struct train_options *o = &j->config->train;
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

bool job_useless(struct train_job *j, const char *broke, const char *why, struct err *e)
{
    char advice[300];
    job_advice(j, advice, sizeof advice);
    keeper_undo(&j->keeper);
    j->says_kept = true;
    err_clear(e);
    err_set(e, ERR_DIVERGED, "%s; %s: nothing is written", broke, why);
    return err_help(e, "%s; then start again%s", advice,
                    j->keeper.count ? " without --resume" : "");
}
