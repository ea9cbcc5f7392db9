/* cpu_optim.c - the end of a step: norm of the gradient, optimisers, counters.
 *
 * norm2 sums the shards in order into its scratch, so that the gradient is read once and the
 * optimiser reads one array; the machine sees to it that an optimiser always stands behind a norm2
 * of its gradient (cpu_machine.c), which is also what keeps a step that is not finite away from the
 * weights. Optimisers go over tiles that hold whole rows of a weight, in multiples of 16, so that
 * each refreshes its part of the shadow while it is in the cache. */
#include <math.h>
#include <string.h>

#include "backend/cpu.h"

static size_t sum_tiles(uint64_t n)
{
    return (size_t)((n + CPU_SUM_TILE - 1) / CPU_SUM_TILE);
}

/* scratch: the weight, a partial sum a tile, then, on a line of its own, the summed gradient */
static size_t parts_bytes(uint64_t n)
{
    return ((1 + sum_tiles(n)) * sizeof(double) + 63) / 64 * 64;
}

size_t norm2_scratch(uint64_t n)
{
    return parts_bytes(n) + (size_t)n * sizeof(real);
}

double *cpu_norm2_weight(void *scratch)
{
    return scratch;
}

const real *cpu_norm2_sums(void *scratch, uint64_t n)
{
    return (const real *)(void *)((char *)scratch + parts_bytes(n));
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

static const struct group *group_at(const struct grads *from, uint64_t i)
{
    uint32_t g = 0;
    while (g + 1 < from->group_count && i >= from->groups[g].end)
        g++;
    return &from->groups[g];
}

void cpu_norm2(const struct op_norm2 *a, const struct slice *s)
{
    uint64_t begin = (uint64_t)s->tile * CPU_SUM_TILE;
    uint64_t end = begin + CPU_SUM_TILE < a->from.n ? begin + CPU_SUM_TILE : a->from.n;
    real *sums = act_real((struct act *)(uintptr_t)cpu_norm2_sums(a->scratch, a->from.n));
    double square = 0;
    for (uint64_t i = begin, next; i < end; i = next) {
        const struct group *g = group_at(&a->from, i);
        next = g->end < end && g->end > i ? g->end : end;
        uint32_t shards = g->shards < a->from.shards ? g->shards : a->from.shards;
        square += s->m->vec->sum_shards(sums + i, a->from.g + i, a->from.shard_stride, shards,
                                        (size_t)(next - i));
    }
    cpu_norm2_weight(a->scratch)[1 + s->tile] = square;
}

void cpu_norm2_end(const struct op_norm2 *a, const struct slice *s)
{
    (void)s;
    double weight = weight_of(&a->from), square = 0;
    double *parts = cpu_norm2_weight(a->scratch) + 1;
    for (size_t t = 0; t < sum_tiles(a->from.n); t++)
        square += parts[t];
    parts[-1] = weight;
    a->now->gnorm = weight > 0 ? sqrt(square) / weight : 0;
    a->now->bad = !isfinite(square) || !isfinite(weight);
}

/* --- tiles of an optimiser --- */

struct range { const struct group *group; uint64_t begin, end; }; /* of the arena */

static uint64_t tile_rows(const struct group *g)
{
    uint64_t rows = (CPU_SUM_TILE / g->out + LANES / 2) / LANES * LANES;
    return rows ? rows : LANES;
}

static uint64_t tile_size(const struct group *g)
{
    return g->in && g->out ? tile_rows(g) * g->out : CPU_SUM_TILE;
}

static unsigned param_tiles(const struct grads *from)
{
    uint64_t tiles = 0;
    for (uint32_t i = 0; i < from->group_count; i++) {
        const struct group *g = &from->groups[i];
        tiles += (g->end - g->begin + tile_size(g) - 1) / tile_size(g);
    }
    return (unsigned)tiles;
}

static struct range param_tile(const struct grads *from, uint64_t tile)
{
    const struct group *g = from->groups;
    uint64_t tiles;
    while (tile >= (tiles = (g->end - g->begin + tile_size(g) - 1) / tile_size(g))) {
        tile -= tiles;
        g++;
    }
    struct range r = {g, g->begin + tile * tile_size(g), g->begin + (tile + 1) * tile_size(g)};
    if (r.end > g->end)
        r.end = g->end;
    return r;
}

/* --- the shadow: panels of w, then panels of its transpose (see cpu_dense.c) --- */

static void refresh_rows(const struct vec *vec, real *shadow, const real *p, const struct group *g,
                         uint64_t first, uint64_t rows)
{
    real *panels = shadow + 2 * g->begin, *across = panels + (size_t)g->in * g->out;
    const real *w = p + g->begin;
    for (uint32_t j = 0; j < g->out; j += PANEL) {
        uint32_t width = g->out - j < PANEL ? g->out - j : PANEL;
        real *to = panels + (size_t)j * g->in + first * width;
        for (uint64_t i = first; i < first + rows; i++, to += width)
            memcpy(to, w + i * g->out + j, width * sizeof *to);
    }
    for (uint64_t i = first, next; i < first + rows; i = next) {
        uint64_t panel = i / PANEL * PANEL;
        uint32_t width = g->in - panel < PANEL ? (uint32_t)(g->in - panel) : PANEL;
        next = panel + PANEL < first + rows ? panel + PANEL : first + rows;
        vec->transpose(across + panel * g->out + (i - panel), w + i * g->out, (uint32_t)(next - i),
                       g->out, g->out, width);
    }
}

static void refresh_range(const struct vec *vec, void *shadow, const real *p, const struct range *r)
{
    const struct group *g = r->group;
    if (shadow && g->in && g->out)
        refresh_rows(vec, shadow, p, g, (r->begin - g->begin) / g->out,
                     (r->end - r->begin) / g->out);
}

size_t machine_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                            uint64_t n)
{
    (void)m;
    (void)n;
    uint64_t last = 0;
    for (uint32_t i = 0; i < count; i++)
        if (groups[i].in && groups[i].out)
            last = groups[i].end;
    return (size_t)(2 * last) * sizeof(real);
}

void machine_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                     uint32_t count)
{
    for (uint32_t i = 0; shadow && i < count; i++) {
        struct range r = {&groups[i], groups[i].begin, groups[i].end};
        refresh_range(m->vec, shadow, p, &r);
    }
}

const void *machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset)
{
    (void)m;
    return shadow ? (const real *)shadow + 2 * offset : NULL;
}

/* --- optimisers --- */

/* False when the tile is to be left alone: the step is a bad one. */
static bool update_of(struct update *u, struct range *r, const struct grads *from,
                      const struct step *now, real *p, double clip, const struct slice *s)
{
    *r = param_tile(from, s->tile);
    if (now->bad)
        return false;
    double weight = weight_of(from), scale = weight > 0 ? 1 / weight : 0;
    if (clip > 0 && now->gnorm > clip)
        scale *= clip / now->gnorm;
    *u = (struct update){.p = p + r->begin, .g = from->g + r->begin,
                         .n = (size_t)(r->end - r->begin), .scale = (real)scale,
                         .lr = (real)(now->lr * r->group->lr),
                         .decay = (real)(now->weight_decay * r->group->weight_decay)};
    return true;
}

unsigned cpu_sgd_tiles(const struct op_sgd *a)
{
    return param_tiles(&a->from);
}

void cpu_sgd(const struct op_sgd *a, const struct slice *s)
{
    struct update u;
    struct range r;
    if (!update_of(&u, &r, &a->from, a->now, a->p, a->clip, s))
        return;
    u.m1 = a->m ? a->m + r.begin : NULL;
    u.beta1 = a->momentum;
    u.flag = a->nesterov != 0;
    s->m->vec->sgd(&u);
    refresh_range(s->m->vec, a->shadow, a->p, &r);
}

unsigned cpu_rmsprop_tiles(const struct op_rmsprop *a)
{
    return param_tiles(&a->from);
}

void cpu_rmsprop(const struct op_rmsprop *a, const struct slice *s)
{
    struct update u;
    struct range r;
    if (!update_of(&u, &r, &a->from, a->now, a->p, a->clip, s))
        return;
    u.m2 = a->v + r.begin;
    u.beta2 = a->decay;
    u.epsilon = (real)a->epsilon;
    s->m->vec->rmsprop(&u);
    refresh_range(s->m->vec, a->shadow, a->p, &r);
}

unsigned cpu_adam_tiles(const struct op_adam *a)
{
    return param_tiles(&a->from);
}

void cpu_adam(const struct op_adam *a, const struct slice *s)
{
    struct update u;
    struct range r;
    if (!update_of(&u, &r, &a->from, a->now, a->p, a->clip, s))
        return;
    double t = (double)a->now->applied + 1, lr = a->now->lr * r.group->lr;
    u.m1 = a->m1 + r.begin;
    u.m2 = a->m2 + r.begin;
    u.beta1 = a->beta1;
    u.beta2 = a->beta2;
    u.epsilon = (real)a->epsilon;
    u.step = (real)(lr / (1 - pow(a->beta1, t)));
    u.root = (real)(1 / sqrt(1 - pow(a->beta2, t)));
    u.flag = a->decoupled != 0;
    if (u.flag)
        u.decay = (real)(lr * a->now->weight_decay * r.group->weight_decay);
    s->m->vec->adam(&u);
    refresh_range(s->m->vec, a->shadow, a->p, &r);
}

void cpu_advance(const struct op_advance *a, const struct slice *s)
{
    (void)s;
    struct step *now = a->now;
    double loss = 0, weight = 0;
    for (uint32_t i = 0; i < a->shards; i++) {
        loss += a->part_loss[i];
        weight += a->part_weight[i];
    }
    now->loss = loss;
    now->weight = weight;
    now->tried++;
    now->row0 += a->consumed;
    if (now->bad) {
        now->bad_steps++;
        now->good = 0;
    } else {
        now->epoch_loss += loss;
        now->epoch_weight += weight;
        now->applied++;
        now->good++;
    }
    if (a->table && a->first) {
        int64_t at = now->tried - *a->first;
        if (at >= 0 && at < (int64_t)a->table_count) {
            now->lr = a->table[at].lr;
            now->weight_decay = a->table[at].weight_decay;
        }
    }
}
