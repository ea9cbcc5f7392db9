/* grad.h - gradients against central differences, in double precision: one whole recorded step
 * through the public door, so that gather, encoders, layers, loss, shards, accumulation and
 * optimiser are all in it.
 *
 * A step of sgd without momentum at rate 1 moves the weights by exactly the gradient; a step at
 * rate 0 gives the loss and moves nothing. State, counters and random streams are put back before
 * every step, so dropout draws the same values. */
#ifndef DNN_GRAD_H
#define DNN_GRAD_H

#include "netcase.h"
#include "tap.h"

#ifndef DNN_DOUBLE
#error "gradient tests need REAL=double"
#endif

#define GRAD_H 1e-5
#define GRAD_GATE 1e-6
/* Gradients below this share of the largest one are compared with it: their own digits are lost in
 * the loss's. */
#define GRAD_FLOOR 1e-3

static inline double grad_step(struct netcase *c, const real *params, double lr)
{
    struct network_state s = c->state;
    s.params = (real *)(uintptr_t)params; /* only read */
    network_set(c->network, &s);
    if (!network_epoch(c->network, 0, &(struct hyper){lr, 0, 0}, 1, &c->e) ||
        !case_steps(c, 1))
        ok(false, "a step: %s", c->e.what);
    struct step now;
    network_step(c->network, &now);
    if (!(now.weight > 0) || now.bad)
        ok(false, "a step has weight and a finite gradient");
    return now.loss / now.weight;
}

/* Divides each movement by the factor that the layer puts on its learning rate (plan_rates). */
static inline void grad_unrate(const struct netcase *c, real *moved)
{
    const struct model *m = network_model(c->network);
    struct group *groups = optim_groups(&c->optim_options, m);
    for (uint32_t g = 0; g < m->groups.count; g++)
        for (uint64_t i = groups[g].begin; i < groups[g].end; i++)
            moved[i] /= groups[g].lr;
    mem_free(groups);
}

/* The worst of |numeric - analytic| over the larger of both; wrong: a factor on one analytic
 * gradient. */
static inline double grad_worst(struct netcase *c, double wrong, uint64_t *at)
{
    const struct model *m = network_model(c->network);
    uint64_t n = m->params;
    real *p = mem_alloc(n, sizeof *p), *moved = mem_alloc(n, sizeof *moved);
    memcpy(p, c->state.params, n * sizeof *p);
    grad_step(c, p, 1);
    struct network_state after = {.params = moved};
    network_get(c->network, &after, &c->e);
    double largest = 0, worst = 0;
    uint64_t largest_at = 0;
    for (uint64_t i = 0; i < n; i++)
        moved[i] = p[i] - moved[i];
    grad_unrate(c, moved);
    for (uint64_t i = 0; i < n; i++) {
        if (fabs(moved[i]) > largest) {
            largest = fabs(moved[i]);
            largest_at = i;
        }
    }
    moved[largest_at] *= wrong;
    for (uint64_t i = 0; i < n; i++) {
        real old = p[i];
        p[i] = old + GRAD_H;
        double up = grad_step(c, p, 0);
        p[i] = old - GRAD_H;
        double down = grad_step(c, p, 0);
        p[i] = old;
        double numeric = (up - down) / (2 * GRAD_H), size = fmax(fabs(numeric), fabs(moved[i]));
        double difference = fabs(numeric - moved[i]) / fmax(size, GRAD_FLOOR * largest);
        if (!(difference <= worst)) {
            worst = difference;
            *at = i;
        }
    }
    if (largest <= 0)
        worst = INFINITY; /* nothing was learned: nothing was tested */
    mem_free(p);
    mem_free(moved);
    return worst;
}

/* Random weights everywhere, so that no bias, norm or output stands at a special point. */
static inline void grad_shake(struct netcase *c)
{
    const struct model *m = network_model(c->network);
    for (uint32_t g = 0; g < m->groups.count; g++)
        for (uint64_t i = m->groups.items[g].begin; i < m->groups.items[g].end; i++)
            c->state.params[i] += 0.3 * rng_normal(c->seed, i, 9, 0, RNG_TEST);
}

static inline void grad_check(struct netcase c, const char *name)
{
    if (!c.optim)
        c.optim =
            "{\"type\": \"sgd\", \"momentum\": 0, \"groups\": {\"bias\": {\"learning_rate\": 1}}}";
    if (!case_ready(&c)) {
        ok(false, "%s: %s", name, c.e.what);
        return;
    }
    grad_shake(&c);
    uint64_t at = 0;
    double worst = grad_worst(&c, 1, &at);
    ok(worst <= GRAD_GATE, "%s: %llu parameters, worst %.1e", name,
       (unsigned long long)network_model(c.network)->trained, worst);
    if (!(worst <= GRAD_GATE))
        printf("#   at parameter %llu\n", (unsigned long long)at);
    case_close(&c);
}

#endif
