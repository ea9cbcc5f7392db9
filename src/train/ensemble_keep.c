/* ensemble_keep.c - the files of the runs of an ensemble: MODEL.ckpt-run-<run> of a finished one,
 * its part; MODEL.ckpt-run-<run>.ckpt-<step> of one at work, as of any training. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/ensemble.h"
#include "train/job.h"

/* --- to resume from --- */

bool ensemble_fits(const struct train_job *j, const struct run_part *p, const char *data,
                   const char *path, struct err *e)
{
    struct text keys = {0};
    resume_differences(p->config, j->config_text, &keys);
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
    char *path = part_path(j->output, run), room[512];
    struct err why = {0};
    struct run_part *p = file_exists(path) ? part_load(path, &why) : NULL;
    bool good = true;
    if (why.id != ERR_NONE) {
        log_warning("\"%s\" is passed over, and its run is trained again: %s",
                    job_quoted(path, room), why.what);
    } else if (p && p->run != run) {
        log_warning("\"%s\" is passed over: it holds run %u", job_quoted(path, room), p->run);
    } else if (p) {
        good = ensemble_fits(j, p, j->table->sha256, path, &why);
        if (good) {
            j->run.used = p->used > j->run.used ? p->used : j->run.used;
            n->parts[run] = p;
            n->kept[run] = true;
            p = NULL;
            good = keep_drop(path, e); /* killed between the two */
        } else if (j->request->restart) {
            good = file_remove(path, e);
            log_note("\"%s\" is of another config or other data: removed", job_quoted(path, room));
        } else {
            *e = why;
        }
    }
    part_free(p);
    mem_free(path);
    return good;
}

/* Reads the newest checkpoint of a run that was at work. */
static bool read_at_work(struct train_job *j, uint32_t run, struct err *e)
{
    struct at_work *w = &j->ensemble->at_work[run];
    bool good = resume_find(&w->keeper, j->config_text, j->table->sha256, &w->found,
                            &w->keeper.last, e);
    if (good && w->found && w->found->seconds > j->run.used)
        j->run.used = w->found->seconds;
    if (good || e->id != ERR_CHECKPOINT_OTHER || !j->request->restart)
        return good;
    log_note("%s: removed", e->what);
    err_clear(e);
    return keep_drop(w->output, e);
}

static uint32_t count_there(const struct at_work *w)
{
    struct checkpoint_list l;
    struct err ignored = {0};
    checkpoint_find(w->output, &l, &ignored);
    uint32_t there = l.count || file_exists(w->output);
    checkpoint_list_free(&l);
    return there;
}

bool ensemble_find(struct train_job *j, int64_t only, struct err *e)
{
    struct ensemble *n = j->ensemble;
    uint32_t finished = 0, begun = 0, there = 0;
    unsigned stale = 0;
    n->at_work = mem_zero(n->runs, sizeof *n->at_work);
    for (uint32_t i = 0; i < n->runs; i++) {
        struct at_work *w = &n->at_work[i];
        if (only >= 0 && i != only)
            continue;
        w->output = only >= 0 ? mem_string(j->output) : part_path(j->output, i);
        w->keeper = (struct keeper){
            .output = w->output,
            .keep = n->configs[i / n->folds]->train.checkpoint.keep,
            .config = j->config_text,
            .data = j->table->sha256};
        stale += checkpoint_sweep(w->output);
        if (j->resume && only < 0 && !read_finished(j, i, e))
            return false;
        if (j->resume && !n->parts[i] && !read_at_work(j, i, e))
            return false;
        finished += n->parts[i] != NULL;
        begun += w->found != NULL;
        there += !j->resume && only < 0 ? count_there(w) : 0;
    }
    if (stale)
        log_note("%u temporary file%s of runs that were killed removed", stale,
                 stale > 1 ? "s" : "");
    if (begun + finished && only < 0)
        log_line("resuming: %u of %u runs are finished, %u had begun", finished, n->runs, begun);
    else if (j->resume && !begun)
        log_note("there is no run to resume from: the training starts afresh");
    else if (there)
        log_note("%u run%s of an earlier training will be replaced; --resume would go on from %s",
                 there, there == 1 ? "" : "s", there == 1 ? "it" : "them");
    return true;
}

/* --- while they train, and after --- */

bool ensemble_kept(const struct ensemble *n, char *text, size_t room)
{
    uint32_t kept = 0, begun = 0;
    for (uint32_t i = 0; i < n->runs; i++) {
        kept += n->kept[i];
        begun += n->at_work && !n->parts[i] && n->at_work[i].keeper.last;
    }
    snprintf(text, room, "%u of %u runs are finished and kept beside the model, and %u in progress "
             "%s checkpoints", kept, n->runs, begun, begun == 1 ? "has" : "have");
    return kept + begun > 0;
}

bool ensemble_stopped(struct train_job *j, int64_t only, struct err *e)
{
    const struct ensemble *n = j->ensemble;
    char kept[200], room[512];
    bool any = ensemble_kept(n, kept, sizeof kept);
    j->says_kept = true;
    err_clear(e);
    if (!any) {
        err_set(e, stop_id(), "stopped by %s before the first step of the first run: nothing to "
                              "resume, start again", stop_name());
        return false;
    }
    if (only < 0)
        err_set(e, stop_id(), "stopped by %s; %s", stop_name(), kept);
    else
        err_set(e, stop_id(), "stopped by %s; the checkpoint \"%s\" is written", stop_name(),
                job_quoted(n->at_work[only].keeper.last, room));
    return err_help(e, "the same command with --resume continues from there");
}

void ensemble_clear(const struct train_job *j)
{
    const struct ensemble *n = j->ensemble;
    for (uint32_t i = 0; i < n->runs; i++) {
        struct err e = {0};
        char *path = part_path(j->output, i);
        if (n->kept[i] && !file_remove(path, &e))
            log_warning("%s", e.what);
        if (n->at_work)
            keeper_clear(&n->at_work[i].keeper);
        mem_free(path);
    }
}

void ensemble_let_go(struct ensemble *n)
{
    for (uint32_t i = 0; n->at_work && i < n->runs; i++) {
        keeper_release(&n->at_work[i].keeper);
        checkpoint_free(n->at_work[i].found);
        mem_free(n->at_work[i].output);
    }
    mem_free(n->at_work);
}
