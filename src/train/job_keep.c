/* job_keep.c - the checkpoints of a job. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/ensemble.h"
#include "train/job.h"

/* --- to resume from --- */

static bool drop_others(struct train_job *j, struct err *e)
{
    j->dropped = true;
    log_note("%s; its checkpoints are removed, and the training starts afresh", e->what);
    err_clear(e);
    return keep_drop(j->output, e);
}

bool job_find_checkpoint(struct train_job *j, struct err *e)
{
    bool look = j->resume && !j->looked;
    j->looked = true;
    if (!look ||
        resume_find(&j->keeper, j->config_text, j->table->sha256, &j->found, &j->keeper.last,
                    e))
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

/* --- after a failure --- */

/* The newest checkpoint that was found. mem_free; NULL: none. */
static char *left_there(const struct train_job *j)
{
    struct checkpoint_id newest = keeper_newest(&j->keeper);
    return newest.name < 0 || !j->output ? NULL : checkpoint_path(j->output, newest.name);
}

bool job_keep_last(struct train_job *j, char *text, size_t room)
{
    struct err e = {0};
    char shown[512];
    if (j->ensemble) {
        j->says_kept = true;
        return ensemble_kept(j->ensemble, text, room);
    }
    const struct network_state *best = &j->run.best.state;
    bool whole = best->m1 || !optim_states(&j->config->train.optimizer);
    bool ended = best->params && j->output, have = ended && whole;
    j->says_kept = true;
    if (have && keeper_newest(&j->keeper).step < best->now.tried &&
        !keep_best(&j->keeper, &j->run, &e))
        log_warning("the last good state, after step %lld, is lost: %s",
                    (long long)best->now.tried, e.what);
    bool unread = job_has_unread(j);
    char *left = j->keeper.last ? NULL : left_there(j);
    if (j->keeper.last)
        snprintf(text, room, "the last good checkpoint is kept: \"%s\"",
                 job_quoted(j->keeper.last, shown));
    else if (unread)
        snprintf(text, room, "the earlier checkpoints are left as they are");
    else if (left)
        snprintf(text, room, "no good epoch was finished; the checkpoint that it resumed from is "
                             "left: \"%s\"",
                 job_quoted(left, shown));
    else
        snprintf(text, room, "%s",
                 have    ? "no checkpoint could be written"
                 : ended ? "no checkpoint had been written yet"
                         : "no good epoch was finished: there is no checkpoint");
    mem_free(left);
    return j->keeper.last || unread;
}

/* After a full disk, say. */
bool job_tell_kept(struct train_job *j, struct err *e)
{
    char shown[512], advice[sizeof e->help];
    bool model = keeper_placed(e) && file_same(e->file, j->output); /* it exists already */
    bool again = !keeper_placed(e) && j->keeper.last && strcmp(e->file, j->keeper.last) == 0;
    if (j->says_kept || !j->keeper.last || again) /* resuming from it would fail as well */
        return false;
    j->says_kept = true;
    snprintf(advice, sizeof advice, "%s", e->help);
    return err_help(e, "%s%sthe checkpoint \"%s\" %s", advice, *advice ? "; " : "",
                    job_quoted(j->keeper.last, shown),
                    model ? "stays beside it"
                          : "is whole: the same command with --resume continues from there");
}
