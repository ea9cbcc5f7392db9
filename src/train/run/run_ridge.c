/* run_ridge.c - see run_path.h: preset rocket. */
#include "train/run/run_path.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "model/solve/ridge.h"

enum { STEEPS = 40, TRIED = 4, ROWS_LEAST = 256 };
#define RATE 2e9  /* least operations of a thread in a second: for the first penalty */
#define SHARE 0.5 /* of the time that is left, for inputs and for the first penalty */
enum { FIRST = 2, LEAST = -6, MOST = 14 }; /* penalties: a column's share times 10^(-i / 2) */
#define EPSILON 1e-5                       /* of batch_norm, by default */
#define STEEP_LOW -2.0                     /* logarithms of the scale of answers */
#define STEEP_HIGH 6.0

/* The training rows that are used: inputs, weights and targets. */
struct known {
    uint32_t count, outputs;
    real *x; /* [count][columns] */
    double *weight, *target;
};
/* The best penalty so far. */
struct best {
    int at;
    double penalty, loss, steep;
    double *dual;
};

/* The number of the first layer after the features. */
static uint32_t layer_after_features(const struct model *m)
{
    uint32_t i = 0;
    while (!m->layers[i]->type->ends_steps)
        i++;
    return i + 1;
}

static uint32_t features_of(const struct run *r)
{
    const struct model *m = network_model(r->network);
    return m->layers[layer_after_features(m)]->in;
}

uint64_t run_ridge_bytes(const struct run *r)
{
    const uint64_t rows = r->list[PART_TRAIN].count;
    return rows * features_of(r) * sizeof(real) +
           ridge_bytes(rows, features_of(r), r->classes ? r->classes : 1);
}

/* Operations for this number of penalties. */
static double work(double rows, double features, int penalties)
{
    return rows * rows * (features + penalties * 2.0 / 3 * rows);
}

double run_ridge_work(const struct run *r)
{
    const double rows = (double)r->list[PART_TRAIN].count;
    return run_is_ridge(r) ? work(rows, features_of(r), TRIED) : 0;
}

/* --- time --- */

/* Signals end all; the time limit ends the inputs (best NULL), and what is begun after the first
 * penalty. */
struct ends {
    const struct run *r;
    const struct best *best;
    double until; /* seconds of the training; 0: no limit */
};

static bool ends_now(const void *ends)
{
    const struct ends *t = ends;
    return stop_wanted() || (t->until > 0 && (!t->best || t->best->dual) &&
                             run_seconds(t->r) >= t->until);
}

/* The rows of these that can be solved for in the time that is left. */
static uint64_t affordable(const struct run *r, uint64_t rows)
{
    const double limit = r->config->train.time_limit_s;
    const double most = SHARE * fmax(limit - run_seconds(r), 0) * RATE * threads_hands();
    uint64_t count = rows;
    while (limit > 0 && count > ROWS_LEAST && work((double)count, features_of(r), 1) > most)
        count -= (count + 15) / 16;
    return count < ROWS_LEAST && rows > ROWS_LEAST ? ROWS_LEAST : count;
}

/* --- rows --- */

/* Takes training row i as row k->count. False: it counts for nothing. */
static bool know_row(const struct run *r, uint64_t i, struct known *k)
{
    const double even = r->loss.label_smoothing;
    double *target = k->target + (size_t)k->count * k->outputs;
    struct run_row is;
    if (!run_row(r, r->list[PART_TRAIN].index[i], &is))
        return false;
    k->weight[k->count] = is.weight;
    for (uint32_t c = 0; c < k->outputs; c++)
        target[c] = !r->classes ? is.target
                                : even / r->classes + (c == (uint32_t)is.label ? 1 - even : 0);
    return true;
}

static void known_free(struct known *k)
{
    mem_free(k->x);
    mem_free(k->weight);
    mem_free(k->target);
}

/* The rows that the time allows. False without an error: a signal. */
static bool know(const struct run *r, uint32_t layer, struct known *k, struct err *e)
{
    const uint64_t rows = r->list[PART_TRAIN].count;
    const double limit = r->config->train.time_limit_s, now = run_seconds(r);
    const struct ends ends = {.r = r, .until = limit > 0 ? now + SHARE * fmax(limit - now, 0) : 0};
    const struct stopper stop = {ends_now, &ends};
    uint64_t done;
    const size_t columns = network_model(r->network)->layers[layer]->in;
    double sum = 0;
    *k = (struct known){.outputs = r->classes ? r->classes : 1,
                        .x = mem_alloc(rows * columns + 1, sizeof *k->x)};
    k->weight = mem_alloc(rows + 1, sizeof *k->weight);
    k->target = mem_alloc(rows * k->outputs + 1, sizeof *k->target);
    if (!network_layer_input(r->network, &r->source, layer, k->x, &stop, &done, e) || stop_wanted())
        return false;
    const uint64_t used = affordable(r, done);
    if (used < rows)
        log_warning("rocket: the time limit leaves time to solve for %llu of %llu training rows",
                    (unsigned long long)used, (unsigned long long)rows);
    for (uint64_t n = 0, i; n < used; n++) { /* evenly spaced */
        i = n * done / used;
        if (know_row(r, i, k))
            memmove(k->x + k->count++ * columns, k->x + i * columns, columns * sizeof *k->x);
    }
    if (!k->count)
        return err_set(e, ERR_WEIGHT_SUM, "no training row has a weight above 0");
    for (uint32_t i = 0; i < k->count; i++)
        sum += k->weight[i];
    for (uint32_t i = 0; i < k->count; i++)
        k->weight[i] *= k->count / sum;
    return true;
}

/* --- the penalty --- */

/* Cross-entropy of the answers times exp(steep). One more row counts, with equal shares of all
 * labels: without it the best `steep` would be infinite if all answers are right. */
static double entropy(const struct ridge *s, double steep)
{
    const double by = exp(steep), wrong = 1.0 / (s->rows + 1.0) / s->outputs;
    double sum = 0;
    for (uint32_t i = 0; i < s->rows; i++) {
        const double *p = s->without + (size_t)i * s->outputs,
                     *t = s->target + (size_t)i * s->outputs;
        double most = p[0], grown = 0, right = 0;
        for (uint32_t k = 1; k < s->outputs; k++)
            most = fmax(most, p[k]);
        for (uint32_t k = 0; k < s->outputs; k++) {
            grown += exp(by * (p[k] - most));
            right += (wrong + (1 - s->outputs * wrong) * t[k]) * by * (p[k] - most);
        }
        sum += s->weight[i] * (log(grown) - right);
    }
    return sum / s->rows;
}

/* Returns the `steep` with the least cross-entropy, which has one minimum: golden section. */
static double find_steep(const struct ridge *s)
{
    const double part = 0.61803398874989485;
    double low = STEEP_LOW, high = STEEP_HIGH;
    double a = high - part * (high - low), b = low + part * (high - low);
    double at_a = entropy(s, a), at_b = entropy(s, b);
    for (int i = 0; i < STEEPS; i++) {
        bool left = at_a < at_b;
        *(left ? &high : &low) = left ? b : a;
        *(left ? &b : &a) = left ? a : b;
        *(left ? &at_b : &at_a) = left ? at_a : at_b;
        if (left)
            at_a = entropy(s, a = high - part * (high - low));
        else
            at_b = entropy(s, b = low + part * (high - low));
    }
    return (low + high) / 2;
}

static double squares(const struct ridge *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->rows; i++)
        sum += s->weight[i] * (s->target[i] - s->without[i]) * (s->target[i] - s->without[i]);
    return sum / s->rows;
}

/* The mean diagonal of K. */
static double share_of(const struct ridge *s)
{
    double sum = 0;
    for (uint32_t f = 0; f < s->columns; f++)
        sum += s->variance[f] / (s->variance[f] + EPSILON);
    return sum > 0 ? sum : 1;
}

/* True: penalty number `at` is better than the best so far, and becomes it. */
static bool try_penalty(const struct run *r, struct ridge *s, int at, struct best *best)
{
    double penalty = share_of(s) * pow(10, -at / 2.0);
    if (at < LEAST || at > MOST || !ridge_solve(s, penalty))
        return false;
    double steep = r->classes ? find_steep(s) : 0;
    double loss = r->classes ? entropy(s, steep) : squares(s);
    if (best->dual && !(loss < best->loss))
        return false;
    size_t bytes = (size_t)s->rows * s->outputs * sizeof *s->dual;
    mem_free(best->dual);
    *best = (struct best){at, penalty, loss, steep, mem_copy(s->dual, bytes)};
    return true;
}

/* From a usual penalty down, or up, as long as it gets better. False: a signal. */
static bool search(const struct run *r, struct ridge *s, const struct ends *ends, struct best *best)
{
    try_penalty(r, s, FIRST, best);
    for (int step = 1; step >= -1; step -= 2)
        if (step > 0 || best->at == FIRST)
            for (int at = FIRST + step; !ends_now(ends); at += step)
                if (!try_penalty(r, s, at, best))
                    break;
    return best->dual && !stop_wanted();
}

/* --- the weights --- */

static const struct param *find(const struct model *m, uint32_t layer, const char *name)
{
    char whole[64];
    snprintf(whole, sizeof whole, "layers.%u.%s", layer, name);
    return param_find(&m->list, whole);
}

static bool set_weights(struct run *r, uint32_t layer, struct ridge *s, const struct best *best,
                        struct err *e)
{
    const struct model *m = network_model(r->network);
    const uint32_t last = m->layer_count - 1;
    const double by = exp(best->steep);
    struct network_state state = {.params = mem_alloc(m->params, sizeof *state.params),
                                  .buffers = mem_alloc(m->buffers + 1, sizeof *state.buffers)};
    bool good = network_get(r->network, &state, e);
    network_step(r->network, &state.now);
    double *b = mem_alloc((size_t)s->columns * s->outputs, sizeof *b);
    memcpy(s->dual, best->dual, (size_t)s->rows * s->outputs * sizeof *s->dual);
    ridge_weights(s, b);
    real *weight = state.params + find(m, last, "weight")->at,
         *bias = state.params + find(m, last, "bias")->at,
         *mean = state.buffers + find(m, layer, "running_mean")->at,
         *variance = state.buffers + find(m, layer, "running_var")->at;
    for (size_t i = 0; i < (size_t)s->columns * s->outputs; i++)
        weight[i] = (real)(by * b[i]);
    for (uint32_t k = 0; k < s->outputs; k++)
        bias[k] = (real)(by * s->center[k]);
    for (uint32_t f = 0; f < s->columns; f++) {
        mean[f] = (real)s->mean[f];
        variance[f] = (real)s->variance[f];
    }
    if (good)
        network_set(r->network, &state);
    mem_free(b);
    run_state_free(&state);
    return good;
}

bool run_ridge(struct run *r, double *loss, struct err *e)
{
    const uint32_t layer = layer_after_features(network_model(r->network));
    struct known k;
    struct ridge *s = NULL;
    struct best best = {0};
    const bool limited = r->config->train.time_limit_s > 0;
    const struct ends ends = {
        .r = r, .best = &best, .until = limited ? run_judge_from(r, r->history.metric) : 0};
    const struct stopper stop = {ends_now, &ends};
    bool good = know(r, layer, &k, e);
    if (good) {
        s = ridge_new(k.x, k.count, network_model(r->network)->layers[layer]->in, k.weight,
                      k.target, k.outputs, EPSILON, &stop);
        good = search(r, s, &ends, &best) && set_weights(r, layer, s, &best, e);
    }
    if (good && !r->quiet)
        log_line("rocket: %u features of %u rows, penalty %.3g; loss by leave-one-out %.4g",
                 s->columns, s->rows, best.penalty, best.loss);
    if (good && !r->quiet && !r->config->data.valid.count && r->list[PART_VALID].count)
        log_note("rocket uses validation rows for their metrics alone: with data.split.valid 0 it "
                 "learns from these %llu too", (unsigned long long)r->list[PART_VALID].count);
    *loss = best.loss;
    ridge_free(s);
    known_free(&k);
    mem_free(best.dual);
    return good;
}
