/* run_state.c - the state of a run on the host, and its best weights. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "train/run/run.h"

/* --- host arrays --- */

static void alloc_weights(const struct run *r, struct network_state *s)
{
    const struct model *m = network_model(r->network);
    s->params = mem_alloc(m->params, sizeof *s->params);
    if (network_buffers(r->network))
        s->buffers = mem_alloc(network_buffers(r->network), sizeof *s->buffers);
}

static void alloc_state(const struct run *r, struct network_state *s)
{
    uint64_t params = network_model(r->network)->params;
    unsigned states = optim_states(&r->config->train.optimizer);
    alloc_weights(r, s);
    s->m1 = states > 0 ? mem_alloc(params, sizeof *s->m1) : NULL;
    s->m2 = states > 1 ? mem_alloc(params, sizeof *s->m2) : NULL;
}

void run_state_free(struct network_state *s)
{
    mem_free(s->params);
    mem_free(s->buffers);
    mem_free(s->m1);
    mem_free(s->m2);
    *s = (struct network_state){0};
}

bool run_answered(const struct run *r, struct err *e)
{
    return machine_wait(r->machine, MACHINE_PATIENCE, e);
}

bool run_map_state(struct run *r, bool all, struct network_state *s, struct err *e)
{
    *s = (struct network_state){0};
    if (network_view(r->network, s))
        return run_answered(r, e);
    if (all)
        alloc_state(r, s);
    else
        alloc_weights(r, s);
    return network_get(r->network, s, e);
}

void run_unmap_state(const struct run *r, struct network_state *s)
{
    if (!machine_in_place(r->machine))
        run_state_free(s);
    *s = (struct network_state){0};
}

/* --- finite or not --- */

/* Index of the first value that is not finite; count: all are. */
static uint64_t not_finite(const real *values, uint64_t count)
{
    uint64_t i = 0;
    while (i < count && isfinite(values[i]))
        i++;
    return i;
}

bool run_diverged(const struct run *r, int64_t step, const char *what, struct err *e)
{
    int64_t first = r->history.epochs * r->steps;
    double rate = run_rate(r, step > 0 ? step - 1 : 0);
    return err_set(e, ERR_DIVERGED,
                   "training diverged: %s (epoch %lld, step %lld, learning rate %.3g)", what,
                   (long long)r->history.epochs + (step > first), (long long)step, rate);
}

bool run_finite(const struct run *r, const struct network_state *s, struct err *e)
{
    const struct model *m = network_model(r->network);
    uint64_t at = not_finite(s->params, m->params);
    char where[160] = "a running statistic of batch_norm", what[200];
    if (at == m->params && not_finite(s->buffers, m->buffers) == m->buffers)
        return true;
    if (at < m->params)
        model_name_weight(m, at, where, sizeof where);
    snprintf(what, sizeof what, "%s is not finite", where);
    return run_diverged(r, s->now.tried, what, e);
}

void run_sound_begin(struct run *r)
{
    if (!machine_in_place(r->machine))
        network_check_finite(r->network);
}

bool run_sound(struct run *r, const struct step *now, struct err *e)
{
    struct network_state s;
    bool finite = false;
    if (!machine_in_place(r->machine) && !network_is_finite(r->network, &finite, e))
        return false;
    if (finite)
        return true;
    bool good = run_map_state(r, false, &s, e); /* finds the value */
    s.now = *now;
    good = good && run_finite(r, &s, e);
    run_unmap_state(r, &s);
    return good;
}

/* --- the best weights --- */

bool run_newer_best(struct run *r, struct network_state *s, struct err *e)
{
    *s = (struct network_state){0};
    if (!r->there.is ||
        (r->best.state.params && r->there.now.tried <= r->best.state.now.tried))
        return true;
    alloc_weights(r, s);
    s->now = r->there.now;
    return network_get_best(r->network, s, e);
}

static bool copy_best(struct run *r, struct err *e)
{
    const struct model *m = network_model(r->network);
    struct network_state end, *best = &r->best.state;
    if (!run_map_state(r, false, &end, e))
        return false;
    if (!best->params)
        alloc_weights(r, best);
    memcpy(best->params, end.params, m->params * sizeof *end.params);
    if (best->buffers)
        memcpy(best->buffers, end.buffers, network_buffers(r->network) * sizeof *end.buffers);
    best->now = end.now;
    return true;
}

static bool bring_best(struct run *r, struct err *e)
{
    struct network_state all = {0};
    alloc_state(r, &all);
    if (!network_get(r->network, &all, e)) {
        run_state_free(&all);
        return false;
    }
    run_state_free(&r->best.state);
    r->best.state = all;
    r->there.brought = clock_now();
    return true;
}

/* Seconds between two copies to the host, which take some milliseconds: the most work that a broken
 * card can cost. */
static const double BRING_EVERY = 1;

bool run_remember(struct run *r, const struct step *now, struct err *e)
{
    if (network_has_best_copy(r->network)) {
        network_save_best(r->network);
        r->there.is = true;
        r->there.now = *now;
        r->there.mark = r->mark;
        if (r->best.state.params && clock_now() - r->there.brought < BRING_EVERY)
            return true;
        if (!bring_best(r, e))
            return false;
    } else if (!copy_best(r, e)) {
        return false;
    }
    r->best.epochs = r->history.epochs;
    r->best.mark = r->mark;
    return true;
}

static void swap_reals(real *a, real *b, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        real kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Swaps the best weights and the last ones: no third copy. */
static void swap_best(struct run *r)
{
    const struct model *m = network_model(r->network);
    struct network_state now;
    network_view(r->network, &now);
    swap_reals(now.params, r->best.state.params, m->params);
    swap_reals(now.buffers, r->best.state.buffers, network_buffers(r->network));
}

bool run_use_best(struct run *r, struct network_state *last, struct err *e)
{
    *last = (struct network_state){0};
    if (!r->best.state.params || (!r->history.metric && !r->broke))
        return true; /* without validation rows the last weights serve */
    if (!run_map_state(r, false, last, e))
        return false;
    if (machine_in_place(r->machine))
        swap_best(r);
    else
        network_restore_best(r->network);
    return true;
}

void run_use_last(struct run *r, const struct network_state *last)
{
    if (last->params && machine_in_place(r->machine))
        swap_best(r);
    else if (last->params)
        network_set(r->network, last);
}
