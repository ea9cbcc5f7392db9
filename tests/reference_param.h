/* reference_param.h - references in double for operations on parameters (reference.h). */
#ifndef DNN_TESTS_REFERENCE_PARAM_H
#define DNN_TESTS_REFERENCE_PARAM_H

#include <math.h>

#include "backend/step.h"

static const struct group *ref_group(const struct grads *from, uint64_t i)
{
    const struct group *g = from->groups;
    while (i >= g->end)
        g++;
    return g;
}

static double ref_weight(const struct grads *from)
{
    double weight = 0;
    for (uint32_t s = 0; s < from->shards; s++)
        weight += from->part_weight[s];
    return weight;
}

static double ref_gradient(const struct grads *from, uint64_t i)
{
    double sum = 0;
    for (uint32_t s = 0; s < from->shards && s < ref_group(from, i)->shards; s++)
        sum += (double)from->g[s * from->shard_stride + i];
    return sum / ref_weight(from);
}

static double ref_norm(const struct grads *from)
{
    double square = 0;
    for (uint64_t i = 0; i < from->n; i++)
        square += pow(ref_gradient(from, i), 2);
    return sqrt(square);
}

static void ref_norm2(const struct op_norm2 *a)
{
    a->now->gnorm = ref_norm(&a->from);
    a->now->bad = !isfinite(a->now->gnorm) || (a->halt && a->now->bad_steps > 0);
}

static double ref_clip(const struct grads *from, double clip)
{
    double norm = ref_norm(from);
    return clip > 0 && norm > clip ? clip / norm : 1;
}

static void ref_sgd(const struct op_sgd *a)
{
    double scale = ref_clip(&a->from, a->clip);
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    for (uint64_t i = 0; i < a->from.n && !a->now->bad; i++) {
        const struct group *g = ref_group(&a->from, i);
        double p = (double)a->p[i], d = ref_gradient(&a->from, i) * scale + rates.weight_decay
            * g->weight_decay * p;
        if (a->m) {
            double m = a->momentum * (double)a->m[i] + d;
            a->m[i] = (real)m;
            d = a->nesterov ? d + a->momentum * m : m;
        }
        a->p[i] = (real)(p - rates.lr * g->lr * d);
    }
}

static void ref_rmsprop(const struct op_rmsprop *a)
{
    double scale = ref_clip(&a->from, a->clip);
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    for (uint64_t i = 0; i < a->from.n && !a->now->bad; i++) {
        const struct group *g = ref_group(&a->from, i);
        double p = (double)a->p[i], d = ref_gradient(&a->from, i) * scale + rates.weight_decay
            * g->weight_decay * p;
        double v = a->decay * (double)a->v[i] + (1 - a->decay) * d * d;
        a->v[i] = (real)v;
        a->p[i] = (real)(p - rates.lr * g->lr * d / (sqrt(v) + a->epsilon));
    }
}

static void ref_adam(const struct op_adam *a)
{
    double scale = ref_clip(&a->from, a->clip), t = (double)a->now->applied + 1;
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    for (uint64_t i = 0; i < a->from.n && !a->now->bad; i++) {
        const struct group *g = ref_group(&a->from, i);
        double p = (double)a->p[i], d = ref_gradient(&a->from, i) * scale, lr = rates.lr * g->lr;
        double decay = rates.weight_decay * g->weight_decay;
        if (!a->decoupled)
            d += decay * p;
        double m = a->beta1 * (double)a->m1[i] + (1 - a->beta1) * d,
            v = a->beta2 * (double)a->m2[i] + (1 - a->beta2) * d * d;
        a->m1[i] = (real)m;
        a->m2[i] = (real)v;
        if (a->decoupled)
            p -= lr * decay * p;
        a->p[i] = (real)(p - lr * (m / (1 - pow(a->beta1, t))) / (sqrt(v / (1 - pow(a->beta2, t)))
                + a->epsilon));
    }
}

static void ref_advance(const struct op_advance *a)
{
    struct step *now = a->now;
    now->loss = now->weight = 0;
    for (uint32_t s = 0; s < a->shards; s++) {
        now->loss += a->part_loss[s];
        now->weight += a->part_weight[s];
    }
    for (uint64_t i = 0; i < a->buffer_count && !now->bad; i++)
        a->buffers[i] = a->moved[i];
    now->tried++;
    now->row0 += a->consumed;
    bool skipped = now->bad && now->scale > SCALE_LEAST;
    now->bad_steps += now->bad && !skipped;
    now->skipped += skipped;
    now->applied += !now->bad;
    now->good = now->bad ? 0 : now->good + 1;
    bool due = now->good && now->good % SCALE_STEPS == 0 && now->scale < SCALE_MOST;
    now->scale *= skipped ? 0.5 : due ? 2 : 1;
    if (skipped)
        now->loss = now->gnorm = 0;
    if (!now->bad) {
        now->epoch_loss += now->loss;
        now->epoch_weight += now->weight;
    }
}

#endif
