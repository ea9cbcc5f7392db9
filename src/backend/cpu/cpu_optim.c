/* cpu_optim.c - the end of a step: norm of the gradient, optimisers, counters.
 *
 * norm2 sums the shards in order, so that the gradient is read once and the optimiser reads one
 * array; a gradient of one shard stays where it is. Both go over the same tiles, so that a thread
 * meets its own part again. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/step.h"

enum { SUM_TILE = 2048 };

static size_t sum_tiles(uint64_t n)
{
    return (size_t)((n + SUM_TILE - 1) / SUM_TILE);
}

/* The result of norm2: the sum of the shards' weights, and on the next cache line the summed
 * gradient. Its scratch: a partial sum a tile. */
enum { SUMS_AT = 64 };

void cpu_norm2_need(const struct op_norm2 *a, struct need *n)
{
    n->scratch = sum_tiles(a->from.n) * sizeof(double);
    n->kept = SUMS_AT + a->from.n * sizeof(real);
}

static double weight_of(const struct grads *from)
{
    double weight = 0;
    for (uint32_t s = 0; s < from->shards; s++)
        weight += from->part_weight[s];
    return weight;
}

unsigned cpu_norm2_tiles(const struct op_norm2 *a)
{
    return (unsigned)sum_tiles(a->from.n);
}

/* A run of parameters in one tile and one group. */
struct piece { const struct group *group; uint64_t begin, end; };

static uint64_t tile_end(const struct grads *from, uint32_t tile)
{
    uint64_t end = ((uint64_t)tile + 1) * SUM_TILE;
    return end < from->n ? end : from->n;
}

static struct piece first_piece(uint32_t tile)
{
    return (struct piece){.end = (uint64_t)tile * SUM_TILE};
}

/* The next piece after p; false at the end of the tile. */
static bool next_piece(const struct grads *from, uint64_t tile_end, struct piece *p)
{
    if (p->end == tile_end)
        return false;
    p->begin = p->end;
    if (!p->group)
        p->group = from->groups;
    while (p->begin >= p->group->end)
        p->group++;
    p->end = p->group->end < tile_end ? p->group->end : tile_end;
    return true;
}

static uint32_t shards_of(const struct grads *from, const struct group *group)
{
    return group->shards < from->shards ? group->shards : from->shards;
}

void cpu_norm2(const struct op_norm2 *a, const struct slice *s)
{
    uint64_t end = tile_end(&a->from, s->tile);
    real *g = (real *)(void *)((char *)a->sums + SUMS_AT);
    double square = 0, *parts = s->shared;
    for (struct piece p = first_piece(s->tile); next_piece(&a->from, end, &p);) {
        square += s->m->vec->sum_shards(g + p.begin, a->from.g + p.begin, a->from.shard_stride,
                                        shards_of(&a->from, p.group), (size_t)(p.end - p.begin));
    }
    parts[s->tile] = square;
}

void cpu_norm2_end(const struct op_norm2 *a, const struct slice *s)
{
    double weight = weight_of(&a->from), square = 0;
    const double *parts = s->shared;
    for (size_t t = 0; t < sum_tiles(a->from.n); t++)
        square += parts[t];
    *(double *)a->sums = weight;
    a->now->gnorm = weight > 0 ? sqrt(square) / weight : 0;
    a->now->bad = !isfinite(square) || !isfinite(weight) || (a->halt && a->now->bad_steps > 0);
}

/* --- optimisers --- */

/* One shard is its own sum, and is not copied. */
static const real *gradient_of(const struct grads *from, const void *sums, const struct piece *r)
{
    if (shards_of(from, r->group) == 1)
        return from->g + r->begin;
    return (const real *)(const void *)((const char *)sums + SUMS_AT) + r->begin;
}

/* The factor for the weight of the step and for clipping. */
static real scale_of(const void *sums, const struct step *now, double clip)
{
    double weight = *(const double *)sums, scale = weight > 0 ? 1 / weight : 0;
    if (clip > 0 && now->gnorm > clip)
        scale *= clip / now->gnorm;
    return (real)scale;
}

static struct update update_of(const struct piece *r, const struct grads *from, const void *sums,
                               const struct hyper *rates, real *p, real scale)
{
    return (struct update){.p = p + r->begin, .g = gradient_of(from, sums, r),
                           .n = r->end - r->begin, .scale = scale,
                           .lr = (real)(rates->lr * r->group->lr),
                           .decay = (real)(rates->weight_decay * r->group->weight_decay)};
}

unsigned cpu_sgd_tiles(const struct op_sgd *a)
{
    return (unsigned)sum_tiles(a->from.n);
}

void cpu_sgd(const struct op_sgd *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    uint64_t end = tile_end(&a->from, s->tile);
    real scale = scale_of(a->sums, a->now, a->clip);
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    for (struct piece r = first_piece(s->tile); next_piece(&a->from, end, &r);) {
        struct update u = update_of(&r, &a->from, a->sums, &rates, a->p, scale);
        u.m1 = a->m ? a->m + r.begin : NULL;
        u.beta1 = a->momentum;
        u.flag = a->nesterov != 0;
        s->m->vec->sgd(&u);
    }
}

unsigned cpu_rmsprop_tiles(const struct op_rmsprop *a)
{
    return (unsigned)sum_tiles(a->from.n);
}

void cpu_rmsprop(const struct op_rmsprop *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    uint64_t end = tile_end(&a->from, s->tile);
    real scale = scale_of(a->sums, a->now, a->clip);
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    for (struct piece r = first_piece(s->tile); next_piece(&a->from, end, &r);) {
        struct update u = update_of(&r, &a->from, a->sums, &rates, a->p, scale);
        u.m2 = a->v + r.begin;
        u.beta2 = a->decay;
        u.epsilon = (real)a->epsilon;
        s->m->vec->rmsprop(&u);
    }
}

unsigned cpu_adam_tiles(const struct op_adam *a)
{
    return (unsigned)sum_tiles(a->from.n);
}

void cpu_adam(const struct op_adam *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    uint64_t end = tile_end(&a->from, s->tile);
    real scale = scale_of(a->sums, a->now, a->clip);
    const struct hyper rates = step_rates(&a->schedule, a->now->tried);
    double t = (double)a->now->applied + 1;
    double bias1 = 1 - pow(a->beta1, t), bias2 = 1 - pow(a->beta2, t);
    for (struct piece r = first_piece(s->tile); next_piece(&a->from, end, &r);) {
        struct update u = update_of(&r, &a->from, a->sums, &rates, a->p, scale);
        double lr = rates.lr * r.group->lr;
        u.m1 = a->m1 + r.begin;
        u.m2 = a->m2 + r.begin;
        u.beta1 = a->beta1;
        u.beta2 = a->beta2;
        u.epsilon = (real)a->epsilon;
        u.step = (real)(lr / bias1);
        u.root = (real)(1 / sqrt(bias2));
        u.flag = a->decoupled != 0;
        if (u.flag)
            u.decay = (real)(lr * rates.weight_decay * r.group->weight_decay);
        s->m->vec->adam(&u);
    }
}

void cpu_advance(const struct op_advance *a, const struct slice *s)
{
    (void)s;
    double loss = 0, weight = 0;
    for (uint32_t i = 0; i < a->shards; i++) {
        loss += a->part_loss[i];
        weight += a->part_weight[i];
    }
    if (!a->now->bad && a->buffer_count)
        memcpy(a->buffers, a->moved, a->buffer_count * sizeof *a->buffers);
    step_end(a->now, loss, weight, a->consumed);
}

/* --- a copy --- */

unsigned cpu_keep_tiles(const struct op_keep *a)
{
    (void)a;
    return KEEP_PARTS;
}

void cpu_keep(const struct op_keep *a, const struct slice *s)
{
    uint64_t begin = KEEP_BEGIN(a->n, s->tile), end = KEEP_BEGIN(a->n, s->tile + 1);
    int32_t bad = 0;
    for (uint64_t i = begin; i < end; i++)
        bad |= !isfinite(a->from[i]);
    a->bad[s->tile] = bad;
    if (a->to && end > begin)
        memcpy(a->to + begin, a->from + begin, (size_t)(end - begin) * sizeof *a->to);
}
