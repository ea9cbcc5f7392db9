/* job_keep.c - the checkpoints of a job. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/profile.h"
#include "config/output.h"
#include "train/job.h"

/* --- to resume from --- */

/* --resume=or-restart: removes the checkpoints of another config or of other data. A file of such a
 * name that is not a checkpoint stays. */
static bool drop_others(struct train_job *j, struct err *e)
{
    struct checkpoint_list l;
    j->dropped = true;
    log_note("%s; its checkpoints are removed, and the training starts afresh", e->what);
    err_clear(e);
    bool good = checkpoint_find(j->output, &l, e);
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = checkpoint_path(j->output, l.steps[i]);
        good = !output_is_checkpoint(path) || file_remove(path, e);
        mem_free(path);
    }
    checkpoint_list_free(&l);
    return good;
}

bool job_find_checkpoint(struct train_job *j, struct err *e)
{
    bool look = j->resume && !j->looked;
    j->looked = true;
    if (!look ||
        resume_find(&j->keeper, j->config_text, j->table->sha256, &j->found, &j->checkpoint, e))
        return true;
    bool other = e->id == ERR_CHECKPOINT_OTHER && j->request && j->request->restart;
    return other && drop_others(j, e);
}

bool job_has_unread(const struct train_job *j)
{
    struct checkpoint_list l = {0};
    struct err ignored = {0};
    bool any = j->resume && !j->looked && checkpoint_find(j->output, &l, &ignored) && l.count > 0;
    checkpoint_list_free(&l);
    return any;
}

/* --- writing --- */

/* best: newer best weights than the run's; params NULL: none. */
static struct checkpoint checkpoint_of(const struct train_job *j, const struct network_state *s,
                                       const struct network_state *best)
{
    const struct run *r = &j->run;
    const struct model *m = network_model(r->network);
    const struct network_state *b = best->params ? best : &r->best.state;
    struct checkpoint c = {.plan = r->plan,
                           .now = s->now,
                           .params = s->params,
                           .buffers = s->buffers,
                           .m1 = s->m1,
                           .m2 = s->m2,
                           .best_params = b->params,
                           .best_buffers = b->buffers,
                           .param_count = m->params,
                           .buffer_count = m->buffers,
                           .rows = r->history.rows,
                           .epochs = r->history.epochs,
                           .seconds = run_seconds(r),
                           .journal = j->journal.length,
                           .best_journal = best->params ? r->there.mark : r->best.mark,
                           .config = j->config_text};
    memcpy(c.data, j->table->sha256, sizeof c.data);
    return c;
}

/* A checkpoint that is in place counts as written, also if its folder could not be synced. */
static bool save(struct train_job *j, const struct checkpoint *c, struct err *e)
{
    int64_t name;
    bool good = keeper_save(&j->keeper, c, &name, e);
    if (!good && !keeper_placed(e))
        return false;
    mem_free(j->checkpoint);
    j->checkpoint = checkpoint_path(j->output, name);
    j->checkpoint_at = clock_now();
    log_info("checkpoint at step %lld", (long long)c->now.tried);
    return good;
}

bool job_checkpoint(struct train_job *j, struct err *e)
{
    struct run *r = &j->run;
    struct network_state s, best = {0};
    double began = clock_now();
    bool good = run_look(r, true, &s, e) && run_finite(r, &s, e) && run_newer_best(r, &best, e) &&
                journal_sync(&j->journal, e);
    if (good) {
        struct checkpoint c = checkpoint_of(j, &s, &best);
        good = save(j, &c, e);
    }
    run_look_end(r, &s);
    run_state_free(&best);
    profile_span("checkpoint", 0, began);
    return good;
}

/* --- after a failure --- */

/* The best epoch, moments included. */
static bool write_best(struct train_job *j, struct err *e)
{
    const struct network_state none = {0};
    struct checkpoint c = checkpoint_of(j, &j->run.best.state, &none);
    c.epochs = j->run.best.epochs;
    c.journal = j->run.best.mark;
    return journal_sync(&j->journal, e) && save(j, &c, e);
}

/* The newest checkpoint that was found. mem_free; NULL: there is none. */
static char *left_there(const struct train_job *j)
{
    struct kept newest = keeper_newest(&j->keeper);
    return newest.name < 0 || !j->output ? NULL : checkpoint_path(j->output, newest.name);
}

bool job_keep_last(struct train_job *j, char *text, size_t room)
{
    struct err e = {0};
    char shown[512];
    const struct network_state *best = &j->run.best.state;
    bool whole = best->m1 || !optim_states(&j->config->train.optimizer);
    bool ended = best->params && j->output, have = ended && whole;
    j->says_kept = true;
    if (have && keeper_newest(&j->keeper).step < best->now.tried && !write_best(j, &e))
        log_warning("the last good state, after step %lld, is lost: %s",
                    (long long)best->now.tried, e.what);
    bool unread = job_has_unread(j);
    char *left = j->checkpoint ? NULL : left_there(j);
    if (j->checkpoint)
        snprintf(text, room, "the last good checkpoint is kept: \"%s\"",
                 job_quoted(j->checkpoint, shown));
    else if (unread)
        snprintf(text, room, "the earlier checkpoints are left as they are");
    else if (left)
        snprintf(text, room, "no good epoch was finished; the checkpoint that it resumed from is left: \"%s\"",
                 job_quoted(left, shown));
    else
        snprintf(text, room, "%s",
                 have    ? "no checkpoint could be written"
                 : ended ? "no checkpoint had been written yet"
                         : "no good epoch was finished: there is no checkpoint");
    mem_free(left);
    return j->checkpoint || unread;
}

/* After a full disk, say. */
bool job_tell_kept(struct train_job *j, struct err *e)
{
    char shown[512], advice[sizeof e->help];
    bool model = keeper_placed(e) && file_same(e->file, j->output); /* there already */
    bool again = !keeper_placed(e) && j->checkpoint && strcmp(e->file, j->checkpoint) == 0;
    if (j->says_kept || !j->checkpoint || again) /* resuming from it would fail as well */
        return false;
    j->says_kept = true;
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe checkpoint \"%s\" %s", advice, *advice ? "; " : "",
                    job_quoted(j->checkpoint, shown),
                    model ? "stays beside it"
                          : "is whole: the same command with --resume continues from there");
}
