/* keep.c - see keep.h. */
#include "train/keep.h"

#include <string.h>

#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/profile.h"
#include "base/text.h"
#include "config/output.h"

bool keep_due(const struct keeper *k, const struct run *r, const struct step *now, bool asked)
{
    if (run_is_path(r))
        return false;
    double every = r->config->train.checkpoint.every_s;
    bool fresh = r->pace.epochs > 0 && now->tried == r->history.epochs * r->steps;
    return asked ||
           (every > 0 ? clock_now() - k->at >= every : fresh); /* 0: after every epoch */
}

/* best: newer best weights than the run's; params NULL: none. */
static struct checkpoint checkpoint_of(const struct keeper *k, const struct run *r,
                                       const struct network_state *s,
                                       const struct network_state *best)
{
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
                           .buffer_count = network_buffers(r->network),
                           .rows = r->history.rows,
                           .epochs = r->history.epochs,
                           .seconds = run_seconds(r),
                           .journal = k->journal ? k->journal->length : 0,
                           .best_journal = best->params ? r->there.mark : r->best.mark,
                           .config = (char *)(uintptr_t)k->config};
    memcpy(c.data, k->data, sizeof c.data);
    return c;
}

/* A checkpoint that is in place counts as written, also if its folder could not be synced. */
static bool save(struct keeper *k, const struct checkpoint *c, struct err *e)
{
    int64_t name;
    bool good = (!k->journal || journal_sync(k->journal, e)) && keeper_save(k, c, &name, e);
    if (!good && !keeper_placed(e))
        return false;
    mem_free(k->last);
    k->last = checkpoint_path(k->output, name);
    k->at = clock_now();
    char shown[256];
    const char *base = file_base_name(k->last);
    text_escape(shown, sizeof shown, base, strlen(base));
    log_info("checkpoint at step %lld: %s", (long long)c->now.tried, shown);
    return good;
}

bool keep_write(struct keeper *k, struct run *r, struct err *e)
{
    struct network_state s, best = {0};
    double began = clock_now();
    bool good = run_map_state(r, true, &s, e) && run_finite(r, &s, e) &&
                run_newer_best(r, &best, e);
    if (good) {
        struct checkpoint c = checkpoint_of(k, r, &s, &best);
        good = save(k, &c, e);
    }
    run_unmap_state(r, &s);
    run_state_free(&best);
    profile_span("checkpoint", 0, began);
    return good;
}

bool keep_best(struct keeper *k, struct run *r, struct err *e)
{
    const struct network_state none = {0};
    struct checkpoint c = checkpoint_of(k, r, &r->best.state, &none);
    c.epochs = r->best.epochs;
    c.journal = r->best.mark;
    return save(k, &c, e);
}

bool keep_stopped(struct keeper *k, struct run *r, struct err *e)
{
    struct step now;
    if (!r->network)
        return true;
    network_step(r->network, &now);
    if (!run_answered(r, e))
        return false; /* the step of a failed machine means nothing */
    if (now.tried == 0 || r->broke || keep_write(k, r, e))
        return true;
    if (e->id != ERR_DIVERGED)
        return false;
    err_clear(e); /* broken: an older checkpoint serves */
    return true;
}

bool keep_drop(const char *output, struct err *e)
{
    struct checkpoint_list l;
    bool good = checkpoint_find(output, &l, e);
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = checkpoint_path(output, l.steps[i]);
        good = !output_is_checkpoint(path) || file_remove(path, e);
        mem_free(path);
    }
    checkpoint_list_free(&l);
    return good;
}
