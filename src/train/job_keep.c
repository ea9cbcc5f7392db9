/* job_keep.c - the files of the runs beside the output. Of a single run, and of `train --run`:
 * MODEL.ckpt-<step>. Of several: MODEL.ckpt-run-<run> of a finished one, its part;
 * MODEL.ckpt-run-<run>.ckpt-<step> of one at work. And the ends before the model, which leave them:
 * stopped by a signal, failed with the machine, or broken without a good epoch. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/job.h"

int64_t job_only(const struct train_job *j)
{
    return j->ensemble->alone ? 0 : j->request->one ? j->request->only : -1;
}

/* --- to resume from --- */

bool job_part_fits(const struct train_job *j, const struct run_part *p, const char *data,
                   const char *path, struct err *e)
{
    struct text keys = {0};
    resume_differences(p->config, j->config_text, true, &keys);
    bool same = !keys.length && strcmp(p->data, data) == 0;
    if (!same) {
        err_at(e, ERR_CHECKPOINT_OTHER, path, 0, 0, "the run is of other %s%s",
               keys.length ? "config: " : "data", keys.length ? keys.data : "");
        err_help(e, "it was trained from another config or other data; remove it, or name the "
                    "config that it belongs to");
    }
    text_free(&keys);
    return same;
}

/* Reads the file of a finished run. A damaged one is passed over with a warning. */
static bool read_finished(struct train_job *j, uint32_t run, struct err *e)
{
    struct ensemble *n = j->ensemble;
    const char *path = n->keepers[run].output;
    char room[512];
    struct err why = {0};
    struct run_part *p = file_exists(path) ? part_load(path, &why) : NULL;
    bool good = true;
    if (why.id != ERR_NONE) {
        log_warning("\"%s\" is passed over, and its run is trained again: %s",
                    job_quoted(path, room), why.what);
    } else if (p && p->run != run) {
        log_warning("\"%s\" is passed over: it holds run %u", job_quoted(path, room), p->run);
    } else if (p && job_part_fits(j, p, j->table->sha256, path, &why)) {
        j->run.used = p->used > j->run.used ? p->used : j->run.used;
        n->parts[run] = p;
        n->keepers[run].part = true;
        return keep_drop(path, e); /* killed between the two */
    } else if (p && j->request->restart) {
        good = file_remove(path, e);
        log_note("\"%s\" is of another config or other data: removed", job_quoted(path, room));
    } else if (p) {
        *e = why;
        good = false;
    }
    part_free(p);
    return good;
}

/* Reads the newest checkpoint of a run that was at work. *dropped: there were others, which were
 * removed. */
static bool read_at_work(struct train_job *j, struct keeper *k, bool *dropped, struct err *e)
{
    bool good = resume_find(k, e);
    if (good && k->found && k->found->seconds > j->run.used)
        j->run.used = k->found->seconds;
    if (good || e->id != ERR_CHECKPOINT_OTHER || !j->request->restart)
        return good;
    *dropped = true;
    log_note("%s%s", e->what, j->ensemble->alone
                                  ? "; its checkpoints are removed, and the training starts afresh"
                                  : ": removed");
    err_clear(e);
    return keep_drop(k->output, e);
}

static uint32_t count_there(const struct keeper *k)
{
    struct checkpoint_list l;
    struct err ignored = {0};
    checkpoint_find(k->output, &l, &ignored);
    uint32_t there = l.count || file_exists(k->output);
    checkpoint_list_free(&l);
    return there;
}

bool job_find(struct train_job *j, struct err *e)
{
    struct ensemble *n = j->ensemble;
    const int64_t only = job_only(j);
    uint32_t finished = 0, begun = 0, there = 0;
    unsigned stale = 0;
    bool dropped = false;
    if (n->keepers)
        return true;
    n->keepers = mem_zero(n->runs, sizeof *n->keepers);
    for (uint32_t i = 0; i < n->runs; i++) {
        struct keeper *k = &n->keepers[i];
        if (only >= 0 && i != only)
            continue;
        *k = (struct keeper){.output = only < 0 ? checkpoint_run_path(j->output, i)
                                                : mem_string(j->output),
                             .keep = n->configs[i / n->folds]->train.checkpoint.keep,
                             .journal = n->alone ? &j->journal : NULL,
                             .config = j->config_text,
                             .data = j->table->sha256};
        stale += checkpoint_sweep(k->output);
        if (j->resume && only < 0 && !read_finished(j, i, e))
            return false;
        if (j->resume && !n->parts[i] && !read_at_work(j, k, &dropped, e))
            return false;
        finished += n->parts[i] != NULL;
        begun += k->found != NULL;
        there += !j->resume && only < 0 ? count_there(k) : 0;
    }
    if (stale)
        log_note("%u temporary file%s of runs that were killed removed", stale,
                 stale > 1 ? "s" : "");
    if (begun + finished && only < 0)
        log_line("resuming: %u of %u runs are finished, %u had begun", finished, n->runs, begun);
    else if (j->resume && !begun && !(n->alone && dropped))
        log_note("there is no %s to resume from: the training starts afresh",
                 n->alone ? "checkpoint" : "run");
    else if (there)
        log_note("%u run%s of an earlier training will be replaced; --resume would go on from %s",
                 there, there == 1 ? "" : "s", there == 1 ? "it" : "them");
    return true;
}

/* There are checkpoints to resume from that were not read yet. */
static bool has_unread(const struct train_job *j)
{
    struct checkpoint_list l = {0};
    struct err ignored = {0};
    const bool read = j->ensemble && j->ensemble->keepers;
    bool any = j->resume && !read && checkpoint_find(j->output, &l, &ignored) && l.count > 0;
    checkpoint_list_free(&l);
    return any;
}

/* --- what is left after a stop or a failure --- */

/* Which of several runs are in files: "3 of 9 runs are finished and kept, ..". False: none is. */
static bool tell_kept(const struct ensemble *n, char *text, size_t room)
{
    uint32_t kept = 0, begun = 0;
    for (uint32_t i = 0; n->keepers && i < n->runs; i++) {
        kept += n->keepers[i].part;
        begun += !n->parts[i] && n->keepers[i].last;
    }
    snprintf(text, room, "%u of %u runs are finished and kept beside the model, and %u in progress "
             "%s checkpoints", kept, n->runs, begun, begun == 1 ? "has" : "have");
    return kept + begun > 0;
}

/* After a failure of the machine: writes a single run's best epoch as a checkpoint, if that is
 * newer than the last one. text: "the last good checkpoint is kept: ..", or why there is none.
 * False: there is none. */
static bool keep_last(struct train_job *j, char *text, size_t room)
{
    struct err e = {0};
    char shown[512];
    j->says_kept = true;
    if (j->ensemble && !j->ensemble->alone)
        return tell_kept(j->ensemble, text, room);
    struct keeper none = {0}, *k = j->ensemble ? j->ensemble->keepers : NULL;
    k = k ? k : &none; /* nothing was read yet */
    const struct network_state *best = &j->run.best.state;
    bool whole = best->m1 || !optim_states(&j->config->train.optimizer);
    bool ended = best->params && k->output, have = ended && whole;
    if (have && keeper_newest(k).step < best->now.tried && !keep_best(k, &j->run, &e))
        log_warning("the last good state, after step %lld, is lost: %s",
                    (long long)best->now.tried, e.what);
    bool unread = has_unread(j);
    if (k->last)
        snprintf(text, room, "the last good checkpoint is kept: \"%s\"",
                 job_quoted(k->last, shown));
    else
        snprintf(text, room, "%s",
                 unread  ? "the earlier checkpoints are left as they are"
                 : have  ? "no checkpoint could be written"
                 : ended ? "no checkpoint had been written yet"
                         : "no good epoch was finished: there is no checkpoint");
    return k->last || unread;
}

/* After a full disk, say. */
bool job_tell_kept(struct train_job *j, struct err *e)
{
    const int64_t only = j->ensemble && j->ensemble->keepers ? job_only(j) : -1;
    const char *last = only < 0 ? NULL : j->ensemble->keepers[only].last;
    char shown[512], advice[sizeof e->help];
    bool model = file_in_place(e) && file_same(e->file, j->output); /* it exists already */
    bool again = !file_in_place(e) && last && strcmp(e->file, last) == 0;
    if (j->says_kept || !last || again) /* resuming from it would fail as well */
        return false;
    j->says_kept = true;
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe checkpoint \"%s\" %s", advice, *advice ? "; " : "",
                    job_quoted(last, shown),
                    model ? "stays beside it"
                          : "is whole: the same command with --resume continues from there");
}

void job_clear(const struct train_job *j)
{
    const struct ensemble *n = j->ensemble;
    for (uint32_t i = 0; n->keepers && i < n->runs; i++) {
        struct err e = {0};
        if (n->keepers[i].part && !file_remove(n->keepers[i].output, &e))
            log_warning("%s", e.what);
        keeper_clear(&n->keepers[i]);
    }
}

/* --- ends before the model --- */

bool job_stopped(struct train_job *j, struct err *e)
{
    struct ensemble *n = j->ensemble;
    char kept[200], room[512];
    if (!j->output) /* `dnn check` trains nothing */
        return stop_error("the plan was made", e);
    struct keeper *own = n && n->keepers && job_only(j) >= 0 ? &n->keepers[job_only(j)] : NULL;
    if (own && n->alone && !keep_stopped(own, &j->run, e))
        return false;
    j->says_kept = true;
    err_clear(e);
    if (own && own->last)
        err_set(e, stop_id(), "stopped by %s; the checkpoint \"%s\" is written", stop_name(),
                job_quoted(own->last, room));
    else if (!own && n && n->keepers && tell_kept(n, kept, sizeof kept))
        err_set(e, stop_id(), "stopped by %s; %s", stop_name(), kept);
    else if (has_unread(j))
        err_set(e, stop_id(), "stopped by %s before the first step: the earlier checkpoints "
                "are left as they are", stop_name());
    else
        return err_set(e, stop_id(), n && n->keepers && !n->alone
                           ? "stopped by %s before the first step of the first run: nothing to "
                             "resume, start again"
                           : "stopped by %s before the first step: there is no checkpoint; start "
                             "again", stop_name());
    return err_help(e, "the same command with --resume continues from there");
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
    int part = PART_TRAIN;
    while (part < PARTS && !data_passing(&j->config->data, part))
        part++;
    return part == PARTS;
}

bool job_failed(struct train_job *j, struct err *e)
{
    char kept[600], advice[sizeof e->help];
    if (e->id != ERR_MACHINE_FAULT && (e->id != ERR_GPU_MEMORY || !j->run.network))
        return false; /* no room for the network: nothing was begun */
    bool again = keep_last(j, kept, sizeof kept);
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
    if (j->ensemble->members > 1)
        snprintf(text, room,
                 "lower the members' train.optimizer.learning_rate, or set their train.clip_norm "
                 "to 1.0; look for extreme values in the data or the target");
    else if (o->clip_norm > 0)
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
    const struct ensemble *n = j->ensemble;
    size_t found = 0;
    char advice[300];
    job_advice(j, advice, sizeof advice);
    for (uint32_t i = 0; i < n->runs; i++) {
        keeper_undo(&n->keepers[i]);
        found += n->keepers[i].count;
    }
    j->says_kept = true;
    err_clear(e);
    err_set(e, ERR_DIVERGED, "%s; %s: nothing is written", broke, why);
    return err_help(e, "%s; then start again%s", advice,
                    found ? " without --resume" : "");
}
