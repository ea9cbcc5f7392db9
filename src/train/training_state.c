/* training_state.c - what a training has reached: its state on the host, and checkpoints of it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/profile.h"
#include "model/nonfinite.h"
#include "train/training.h"

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
                           .best_params = t->best.params,
                           .best_buffers = t->best.buffers,
                           .param_count = m->params,
                           .buffer_count = m->buffers,
                           .rows = t->history.rows,
                           .epochs = t->history.epochs,
                           .seconds = training_seconds(t),
                           .journal = t->journal.length,
                           .best_journal = t->best_journal,
                           .config = t->config_text};
    memcpy(c.data, t->table->sha256, sizeof c.data);
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
                bring_best(t, &best, e) && journal_sync(&t->journal, e);
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
        network_check_finite(t->network);
}

bool training_sound(struct training *t, const struct step *now, struct err *e)
{
    struct network_state s;
    bool finite = false;
    if (!machine_in_place(t->machine) && !network_is_finite(t->network, &finite, e))
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

bool training_write_best(struct training *t, struct err *e)
{
    struct checkpoint c = checkpoint_of(t, &t->best);
    int64_t name;
    c.epochs = t->best_epochs;
    c.journal = t->best_journal;
    if (!journal_sync(&t->journal, e) || !keeper_save(&t->keeper, &c, &name, e))
        return false;
    checkpoint_written(t, c.now.tried, name);
    return true;
}

/* Index of the first value that is not finite; count: all are. */
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
