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

/* --- tiles of an optimiser ---
 *
 * Groups are cut into pieces: of a weight, 16 rows or a multiple, otherwise a run of parameters. A
 * tile is as many neighbouring pieces as make CPU_SUM_TILE parameters. */

struct piece { const struct group *group; uint64_t begin, end; }; /* of the arena */

static uint64_t piece_size(const struct group *g)
{
    if (!g->in || !g->out)
        return CPU_SUM_TILE;
    uint64_t rows = (CPU_SUM_TILE / g->out + LANES / 2) / LANES * LANES;
    return (rows ? rows : LANES) * g->out;
}

/* The piece behind p; from {groups, begin, begin} the first one. False at the end. */
static bool next_piece(const struct grads *from, struct piece *p)
{
    const struct group *last = from->groups + from->group_count;
    while (p->group < last && p->end == p->group->end)
        if (++p->group < last)
            p->end = p->group->begin;
    if (p->group == last)
        return false;
    p->begin = p->end;
    uint64_t left = p->group->end - p->begin, size = piece_size(p->group);
    p->end = p->begin + (left < size ? left : size);
    return true;
}

static struct piece before_all(const struct grads *from)
{
    return (struct piece){from->groups, from->groups->begin, from->groups->begin};
}

/* Goes over the pieces of one tile: true for each, in turn. *filled counts what the tile holds. */
static bool piece_of_tile(const struct grads *from, struct piece *p, uint64_t *filled)
{
    if (*filled >= CPU_SUM_TILE || !next_piece(from, p))
        return false;
    *filled += p->end - p->begin;
    return true;
}

static unsigned param_tiles(const struct grads *from)
{
    struct piece p = before_all(from);
    unsigned tiles = 0;
    for (uint64_t filled = 0; piece_of_tile(from, &p, &filled); filled = 0) {
        while (piece_of_tile(from, &p, &filled))
            ;
        tiles++;
    }
    return tiles;
}

/* Stands before the first piece of the tile. */
static struct piece tile_start(const struct grads *from, uint32_t tile)
{
    struct piece p = before_all(from);
    while (tile--)
        for (uint64_t filled = 0; piece_of_tile(from, &p, &filled);)
            ;
    return p;
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
            if (width == PANEL) /* of fixed size: no call */
                memcpy(to, w + i * g->out + j, PANEL * sizeof *to);
            else
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

static void refresh_piece(const struct vec *vec, void *shadow, const real *p, const struct piece *r)
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
        struct piece r = {&groups[i], groups[i].begin, groups[i].end};
        refresh_piece(m->vec, shadow, p, &r);
    }
}

const void *machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset)
{
    (void)m;
    return shadow ? (const real *)shadow + 2 * offset : NULL;
}

/* --- optimisers --- */

/* The factor that divides by the weight of the step, and clips. */
static real scale_of(const struct grads *from, const struct step *now, double clip)
{
    double weight = weight_of(from), scale = weight > 0 ? 1 / weight : 0;
    if (clip > 0 && now->gnorm > clip)
        scale *= clip / now->gnorm;
    return (real)scale;
}

static struct update update_of(const struct piece *r, const struct grads *from,
                               const struct step *now, real *p, real scale)
{
    return (struct update){.p = p + r->begin, .g = from->g + r->begin, .n = r->end - r->begin,
                           .scale = scale, .lr = (real)(now->lr * r->group->lr),
                           .decay = (real)(now->weight_decay * r->group->weight_decay)};
}

unsigned cpu_sgd_tiles(const struct op_sgd *a)
{
    return param_tiles(&a->from);
}

void cpu_sgd(const struct op_sgd *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    struct piece r = tile_start(&a->from, s->tile);
    real scale = scale_of(&a->from, a->now, a->clip);
    for (uint64_t filled = 0; piece_of_tile(&a->from, &r, &filled);) {
        struct update u = update_of(&r, &a->from, a->now, a->p, scale);
        u.m1 = a->m ? a->m + r.begin : NULL;
        u.beta1 = a->momentum;
        u.flag = a->nesterov != 0;
        s->m->vec->sgd(&u);
        refresh_piece(s->m->vec, a->shadow, a->p, &r);
    }
}

unsigned cpu_rmsprop_tiles(const struct op_rmsprop *a)
{
    return param_tiles(&a->from);
}

void cpu_rmsprop(const struct op_rmsprop *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    struct piece r = tile_start(&a->from, s->tile);
    real scale = scale_of(&a->from, a->now, a->clip);
    for (uint64_t filled = 0; piece_of_tile(&a->from, &r, &filled);) {
        struct update u = update_of(&r, &a->from, a->now, a->p, scale);
        u.m2 = a->v + r.begin;
        u.beta2 = a->decay;
        u.epsilon = (real)a->epsilon;
        s->m->vec->rmsprop(&u);
        refresh_piece(s->m->vec, a->shadow, a->p, &r);
    }
}

unsigned cpu_adam_tiles(const struct op_adam *a)
{
    return param_tiles(&a->from);
}

void cpu_adam(const struct op_adam *a, const struct slice *s)
{
    if (a->now->bad)
        return;
    struct piece r = tile_start(&a->from, s->tile);
    real scale = scale_of(&a->from, a->now, a->clip);
    double t = (double)a->now->applied + 1;
    double bias1 = 1 - pow(a->beta1, t), bias2 = 1 - pow(a->beta2, t);
    for (uint64_t filled = 0; piece_of_tile(&a->from, &r, &filled);) {
        struct update u = update_of(&r, &a->from, a->now, a->p, scale);
        double lr = a->now->lr * r.group->lr;
        u.m1 = a->m1 + r.begin;
        u.m2 = a->m2 + r.begin;
        u.beta1 = a->beta1;
        u.beta2 = a->beta2;
        u.epsilon = (real)a->epsilon;
        u.step = (real)(lr / bias1);
        u.root = (real)(1 / sqrt(bias2));
        u.flag = a->decoupled != 0;
        if (u.flag)
            u.decay = (real)(lr * a->now->weight_decay * r.group->weight_decay);
        s->m->vec->adam(&u);
        refresh_piece(s->m->vec, a->shadow, a->p, &r);
    }
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
