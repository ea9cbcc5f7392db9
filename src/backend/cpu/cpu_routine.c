/* cpu_routine.c - routines of the CPU machine. A routine is a list of operations, grouped into
 * rounds. Neighbouring ROW operations over the same rows are one round: its tiles are the row
 * shards, and each shard runs strip by strip through all of them, forward, loss and backward, while
 * the strip is in cache. An ALL operation is a round of its own tiles; a ONE operation is a round
 * of one tile, done by the caller. A track (machine_track) is one tile: a thread does its rounds
 * one after the other. All of it follows from shapes, so results do not depend on threads. An
 * operation outside a recording is a routine of one operation, played at once. */
#include <assert.h>
#include <fenv.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/op_list.h"
#include "base/mem.h"
#include "base/process/thread.h"

/* --- the table of operations --- */

enum op_kind { KIND_ROW, KIND_ALL, KIND_ONE };
struct op_code {
    enum op_kind kind;
    void (*run)(const void *arguments, const struct slice *s);
    unsigned (*tiles)(const void *arguments);  /* of an ALL */
};

#define RUN_OF(name)                                                                               \
    static void run_##name(const void *arguments, const struct slice *s)                           \
    {                                                                                              \
        cpu_##name(arguments, s);                                                                  \
    }
#define ROW(name, text)                                                                            \
    RUN_OF(name)
#define ALL(name, text)                                                                            \
    RUN_OF(name)                                                                                   \
    static unsigned tiles_##name(const void *arguments)                                            \
    {                                                                                              \
        return cpu_##name##_tiles(arguments);                                                      \
    }
#define ONE(name, text) RUN_OF(name)
#include "backend/ops.def"

static const struct op_code entries[OP_COUNT] = {
#define ROW(name, text) {KIND_ROW, run_##name, NULL},
#define ALL(name, text) {KIND_ALL, run_##name, tiles_##name},
#define ONE(name, text) {KIND_ONE, run_##name, NULL},
#include "backend/ops.def"
};

/* The end of an ALL operation, after its tiles: a round of one tile. */
static void end_norm2(const void *arguments, const struct slice *s)
{
    cpu_norm2_end(arguments, s);
}
static void (*const ends[OP_COUNT])(const void *arguments, const struct slice *s) = {
    [OP_norm2] = end_norm2,
};

/* Operations that end a step: from the first of them on, it is not interrupted. */
static const bool ends_step[OP_COUNT] = {[OP_norm2] = true,
                                         [OP_sgd] = true,
                                         [OP_rmsprop] = true,
                                         [OP_adam] = true,
                                         [OP_advance] = true};

typedef void need_of(const void *arguments, struct need *n);
#define ROW(name, text)
#define NEED(name)                                                                                 \
    static void need_##name(const void *arguments, struct need *n)                                 \
    {                                                                                              \
        cpu_##name##_need(arguments, n);                                                           \
    }
#include "backend/ops.def"
static need_of *const needs[OP_COUNT] = {
#define ROW(name, text)
#define NEED(name) [OP_##name] = need_##name,
#include "backend/ops.def"
};

void cpu_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n)
{
    (void)m;
    if (needs[op])
        needs[op](arguments, n);
}

/* --- routines --- */

struct round {
    uint32_t first, count; /* operations */
    enum op_kind kind;
    bool end;              /* of an operation: its ends[] */
    bool whole;            /* of ends_step */
    bool loss;             /* has one */
    uint32_t rows;         /* of ROW operations */
    unsigned tiles;
    uint32_t track;        /* 0: no track */
    uint64_t weights;      /* numbers of weights, and of their gradients, that a strip passes */
};
/* The work of threads between two barriers: a round, or the rounds of `tracks` tracks. */
struct stage {
    uint32_t first, count; /* rounds */
    uint32_t tracks;       /* 0: a round */
};
/* More weights than stay in the second-level cache, beside the rows, from strip to strip. */
enum { MANY_WEIGHTS = 1 << 16 };
struct cpu_routine {
    struct routine head;
    struct cpu *m;
    uint64_t shared;       /* the largest scratch of its operations */
    struct op_list list;
    struct round *rounds;
    struct stage *stages;
    uint32_t round_count, stage_count;
    uint32_t track;        /* of the operations that come */
};

static struct round *add_round(struct cpu_routine *r)
{
    r->rounds = mem_more(r->rounds, r->round_count, sizeof *r->rounds);
    return &r->rounds[r->round_count++];
}

static void count_weights(struct round *round, enum op_id op, const void *arguments)
{
    const struct op_dense *dense = arguments;
    const struct op_dense_back *back = arguments;
    round->loss = round->loss || op == OP_loss_class || op == OP_loss_value;
    if (op == OP_dense)
        round->weights += (uint64_t)dense->in * dense->out;
    else if (op == OP_dense_back)
        round->weights += 2 * (uint64_t)back->in * back->out;
}

/* Rounds become stages. Tracks have numbers from 1 on, without a gap. */
static void put_stages(struct cpu_routine *r)
{
    r->stage_count = 0;
    r->stages = mem_grow(r->stages, (size_t)r->round_count + 1, sizeof *r->stages);
    for (uint32_t i = 0; i < r->round_count; i++) {
        uint32_t track = r->rounds[i].track;
        struct stage *last = r->stage_count ? &r->stages[r->stage_count - 1] : NULL;
        if (!track || !last || !last->tracks) {
            r->stages[r->stage_count++] = (struct stage){i, 1, track};
        } else {
            last->count++;
            last->tracks = track;
        }
    }
}

/* Operations become rounds. */
static void arrange(struct cpu_routine *r)
{
    r->round_count = 0;
    r->shared = 0;
    for (uint32_t i = 0; i < r->list.count; i++) {
        const struct op_code *e = &entries[r->list.ops[i].op];
        uint32_t track = r->list.ops[i].track;
        void *arguments = op_list_at(&r->list, i);
        struct need need = {0};
        cpu_need(&r->m->head, r->list.ops[i].op, arguments, &need);
        if (need.scratch > r->shared)
            r->shared = need.scratch;
        struct dims none = {0}, *dims = e->kind == KIND_ROW ? op_dims(r->list.ops[i].op, arguments)
                                                            : &none;
        struct round *last = r->round_count ? &r->rounds[r->round_count - 1] : NULL;
        if (e->kind == KIND_ROW && last && last->kind == KIND_ROW && last->rows == dims->rows &&
            last->tiles == dims->shards && last->track == track) {
            last->count++;
            count_weights(last, r->list.ops[i].op, arguments);
            continue;
        }
        unsigned tiles = e->kind == KIND_ROW   ? dims->shards
                         : e->kind == KIND_ALL ? e->tiles(arguments)
                                               : 1;
        bool whole = ends_step[r->list.ops[i].op];
        *add_round(r) = (struct round){.first = i, .count = 1, .kind = e->kind, .whole = whole,
                                       .rows = dims->rows, .tiles = tiles, .track = track};
        count_weights(&r->rounds[r->round_count - 1], r->list.ops[i].op, arguments);
        if (ends[r->list.ops[i].op])
            *add_round(r) = (struct round){.first = i, .count = 1, .kind = KIND_ONE, .end = true,
                                           .whole = whole, .tiles = 1, .track = track};
    }
    put_stages(r);
}

/* The answer changes only in stages that may be interrupted. Stages follow each other, and the end
 * of a step is one of its own: all its threads see the same. */
static bool broken_off(const struct cpu_routine *r, const struct round *round)
{
    struct cpu *m = r->m;
    if (!m->stop)
        return false;
    if (!m->broken_off && !round->whole && m->stop())
        m->broken_off = true;
    return m->broken_off;
}

static void play_shard(const struct cpu_routine *r, const struct round *round, struct slice *s)
{
    uint32_t begin = cpu_shard_begin(round->rows, round->tiles, s->shard);
    uint32_t end = cpu_shard_begin(round->rows, round->tiles, s->shard + 1);
    bool wide = round->weights >= MANY_WEIGHTS && end - begin >= 2 * CPU_STRIP_WIDE;
    uint32_t strip = cpu_strip_rows(end - begin,
                                    wide && !round->loss ? CPU_STRIP_WIDE : CPU_STRIP);
    s->first = true;
    for (uint32_t row = begin; row < end && !broken_off(r, round); row += strip) {
        s->row0 = row;
        s->rows = end - row < strip ? end - row : strip;
        for (uint32_t i = round->first; i < round->first + round->count; i++)
            entries[r->list.ops[i].op].run(op_list_at(&r->list, i), s);
        s->first = false;
    }
}

static void play_round(const struct cpu_routine *r, const struct round *round, unsigned tile,
                       unsigned thread)
{
    struct slice s = {.tile = tile, .thread = thread, .m = r->m,
                      .scratch = r->m->scratch[thread],
                      .shared = r->m->shared};
    if (round->kind == KIND_ROW) {
        s.shard = tile;
        play_shard(r, round, &s);
    } else if (broken_off(r, round)) {
        return;
    } else if (round->end) {
        ends[r->list.ops[round->first].op](op_list_at(&r->list, round->first), &s);
    } else {
        entries[r->list.ops[round->first].op].run(op_list_at(&r->list, round->first), &s);
    }
}

static void play_tile(void *context, unsigned number, unsigned tile, unsigned thread)
{
    const struct cpu_routine *r = context;
    const struct stage *stage = &r->stages[number % r->stage_count];
    const struct round *rounds = &r->rounds[stage->first];
    if (!stage->tracks)
        play_round(r, rounds, tile, thread);
    for (uint32_t i = 0; i < stage->count && stage->tracks; i++)
        for (unsigned t = 0; t < rounds[i].tiles && rounds[i].track == tile + 1; t++)
            play_round(r, &rounds[i], t, thread);
}

static unsigned stage_tiles(void *context, unsigned number)
{
    const struct cpu_routine *r = context;
    const struct stage *stage = &r->stages[number % r->stage_count];
    return stage->tracks ? stage->tracks : r->rounds[stage->first].tiles;
}

/* The pool may have been restarted since the machine was opened. */
void cpu_reserve(struct cpu *m, uint64_t shared)
{
    unsigned threads = threads_count();
    if (threads > m->scratch_threads) {
        m->scratch = mem_grow(m->scratch, threads, sizeof *m->scratch);
        while (m->scratch_threads < threads)
            m->scratch[m->scratch_threads++] = mem_alloc(1, CPU_SCRATCH);
    }
    if (shared > m->shared_bytes) {
        mem_free(m->shared);
        m->shared = mem_alloc((size_t)shared, 1);
        m->shared_bytes = shared;
    }
}

static void play(struct cpu_routine *r, uint32_t times)
{
    if (!r->stage_count)
        return;
    cpu_reserve(r->m, r->shared);
    fesetenv(FE_DFL_ENV);
    uint32_t most = UINT32_MAX / r->stage_count;
    for (uint32_t left = times, now; left; left -= now) {
        now = left < most ? left : most;
        threads_run_rounds(now * r->stage_count, stage_tiles, play_tile, r);
    }
}

void cpu_play(struct machine *m, struct routine *r, uint32_t times)
{
    assert(!((struct cpu *)m)->recorded);
    play((struct cpu_routine *)r, times);
}

struct cpu_routine *cpu_routine_new(struct cpu *m)
{
    struct cpu_routine *r = mem_zero(1, sizeof *r);
    r->m = m;
    return r;
}

void cpu_routine_free(struct cpu_routine *r)
{
    if (!r)
        return;
    op_list_free(&r->list);
    mem_free(r->rounds);
    mem_free(r->stages);
    mem_free(r);
}

bool cpu_path(const struct routine *routine, struct machine_path *path)
{
    const struct cpu_routine *r = (const struct cpu_routine *)routine;
    path->operations = r->list.count;
    for (uint32_t i = 0; i < r->round_count; i++) {
        const struct round *round = &r->rounds[i];
        path->pieces += !round->end;
        path->longest = round->count > path->longest ? round->count : path->longest;
    }
    path->name = path->longest > 1 ? "strips" : "plain";
    return true;
}

void cpu_drop(struct machine *m, struct routine *r)
{
    (void)m;
    cpu_routine_free((struct cpu_routine *)r);
}

void cpu_record(struct machine *m)
{
    struct cpu *cpu = (struct cpu *)m;
    cpu->recorded = cpu_routine_new(cpu);
}

struct routine *cpu_stop(struct machine *m)
{
    struct cpu *cpu = (struct cpu *)m;
    struct cpu_routine *r = cpu->recorded;
    cpu->recorded = NULL;
    arrange(r);
    cpu_reserve(cpu, r->shared);
    return &r->head;
}

void cpu_track(struct machine *m, uint32_t track)
{
    ((struct cpu *)m)->recorded->track = track;
}

void cpu_issue(struct machine *m, enum op_id op, const void *arguments)
{
    struct cpu *cpu = (struct cpu *)m;
    if (cpu->recorded) {
        struct op_list *list = &cpu->recorded->list;
        op_list_add(list, op, arguments);
        list->ops[list->count - 1].track = cpu->recorded->track;
        return;
    }
    op_list_clear(&cpu->plain->list);
    op_list_add(&cpu->plain->list, op, arguments);
    arrange(cpu->plain);
    play(cpu->plain, 1);
}
