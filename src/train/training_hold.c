/* training_hold.c - the checkpoint that a training went on from and may have to go back to: which
 * one, and until when. */
#include <math.h>

#include "base/mem.h"
#include "train/training.h"

/* What the loss of all steps up to this one says: of the last epoch that ended before it, and of
 * the one it lies in. */
static bool is_useless(const struct training *t, int64_t step, const struct step *now)
{
    const struct history *h = &t->history;
    int64_t ended = step / t->steps < h->epochs ? step / t->steps : h->epochs;
    if (ended > 0 && history_useless(h, ended))
        return true;
    if (step == ended * t->steps)
        return false;
    return ended < h->epochs ? history_useless(h, ended + 1)
                             : history_ruins(h, now->epoch_loss / now->epoch_weight);
}

/* Whether this epoch, the best one when it ended, is as good as a checkpoint of that step. */
static bool is_as_good(const struct training *t, int64_t epoch, int64_t step)
{
    const struct history *h = &t->history;
    int64_t before = step / t->steps;
    return !history_useless(h, epoch) && (h->metric || before == 0 || before >= epoch ||
                                         h->rows[epoch - 1].loss <= h->rows[before - 1].loss);
}

/* No epoch since the checkpoint of that step took its place: it would still be held, had nothing
 * stopped. */
static bool is_wanted(const struct training *t, int64_t step)
{
    const struct history *h = &t->history;
    for (int64_t epoch = step / t->steps + 1; epoch <= h->epochs; epoch++)
        if ((!h->metric || epoch == h->best_epoch) && is_as_good(t, epoch, step))
            return false;
    return step > 0;
}

void training_hold(struct training *t, const struct checkpoint *c)
{
    struct keeper *k = &t->keeper;
    struct text changed = {0};
    resume_differences(c->config, t->config_text, &changed);
    bool earlier = is_wanted(t, keeper_step(k, k->earlier));
    bool hold = earlier || !t->best.params || changed.length;
    text_free(&changed);
    for (size_t i = k->count; hold && i-- > 0 && !k->held;)
        if ((!earlier || k->own[i].name <= k->earlier) && !is_useless(t, k->own[i].step, &c->now))
            k->held = k->own[i].name;
}

void training_release(struct training *t, bool best)
{
    if (best && is_as_good(t, t->history.epochs, keeper_step(&t->keeper, t->keeper.held)))
        t->keeper.held = 0;
}

/* In the first epoch a ruined step refutes the checkpoint before it: neither held nor good. So it
 * is behind one that a run began with, whose first stretch is one step (epoch.c); behind one that
 * it wrote, where a stretch is of one step because a step takes so long. One batch of wild rows is
 * enough, and is too much: of a checkpoint within the first epoch, should the training diverge. */
void training_judge(struct training *t, const struct step *now)
{
    int64_t name = keeper_newest(&t->keeper).name;
    bool bad = now->bad_steps > 0 || !isfinite(now->loss) ||
               (now->weight > 0 && history_ruins(&t->history, now->loss / now->weight));
    if (!bad || t->history.epochs > 0 || keeper_step(&t->keeper, name) != now->tried - 1)
        return;
    t->refuted = name;
    if (t->keeper.held == name)
        t->keeper.held = 0;
}

/* Inside the first epoch: by what the file says of the steps so far. */
static bool is_good_inside(const struct training *t, int64_t name)
{
    struct err e = {0};
    char *path = checkpoint_path(t->output, name);
    struct checkpoint *c = name == t->refuted ? NULL : checkpoint_load(path, &e);
    bool good = c && !is_useless(t, c->now.tried, &c->now);
    checkpoint_free(c);
    mem_free(path);
    return good;
}

int64_t training_newest_good(const struct training *t)
{
    const struct keeper *k = &t->keeper;
    const struct step none = {0};
    for (size_t i = k->count; i-- > 0;) {
        const struct kept *own = &k->own[i];
        if (t->history.epochs == 0
                ? is_good_inside(t, own->name)
                : own->step <= t->history.epochs * t->steps && !is_useless(t, own->step, &none))
            return own->name;
    }
    return 0;
}
