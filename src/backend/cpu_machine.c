/* cpu_machine.c - the CPU as a machine: memory, and routines.
 *
 * A routine is a list of operations and the rounds they make. Neighbouring ROW operations over the
 * same rows are one round: its tiles are the row shards, and each shard is played strip by strip
 * through all of them, forward, loss and back, while the strip is in the cache. An ALL operation is
 * a round of its own tiles, a ONE operation a round of one tile, which the caller does without
 * asking anybody. Everything follows from shapes, so the threads leave no trace in the result. An
 * operation that is issued outside a recording is a routine of one, played at once. */
#include <assert.h>
#include <fenv.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/thread.h"

/* --- the table of operations --- */

enum op_kind { KIND_ROW, KIND_ALL, KIND_ONE };
struct op_entry {
    enum op_kind kind;
    size_t size;
    void (*run)(const void *arguments, const struct slice *s);
    uint32_t (*rows)(const void *arguments);   /* of a ROW */
    unsigned (*tiles)(const void *arguments);  /* of an ALL */
};

#define RUN_OF(name)                                                                               \
    static void run_##name(const void *arguments, const struct slice *s)                           \
    {                                                                                              \
        cpu_##name(arguments, s);                                                                  \
    }
#define ROW(name, text)                                                                            \
    RUN_OF(name)                                                                                   \
    static uint32_t rows_##name(const void *arguments)                                             \
    {                                                                                              \
        const struct op_##name *a = arguments;                                                     \
        return a->rows;                                                                            \
    }
#define ALL(name, text)                                                                            \
    RUN_OF(name)                                                                                   \
    static unsigned tiles_##name(const void *arguments)                                            \
    {                                                                                              \
        return cpu_##name##_tiles(arguments);                                                      \
    }
#define ONE(name, text) RUN_OF(name)
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE

static const struct op_entry entries[OP_COUNT] = {
#define ROW(name, text) {KIND_ROW, sizeof(struct op_##name), run_##name, rows_##name, NULL},
#define ALL(name, text) {KIND_ALL, sizeof(struct op_##name), run_##name, NULL, tiles_##name},
#define ONE(name, text) {KIND_ONE, sizeof(struct op_##name), run_##name, NULL, NULL},
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE
};

/* --- routines --- */

struct taken { enum op_id op; size_t at; }; /* arguments stand at `at` in the bytes */
struct round {
    uint32_t first, count; /* operations */
    enum op_kind kind;
    bool end;              /* the second half of norm2 */
    uint32_t rows;         /* of ROW operations */
    unsigned tiles;
};
struct routine {
    struct machine *machine;
    struct taken *ops;
    uint32_t op_count, op_room;
    unsigned char *bytes;
    size_t byte_count, byte_room;
    struct round *rounds;
    uint32_t round_count, round_room;
};

static const void *arguments_of(const struct routine *r, uint32_t op)
{
    return r->bytes + r->ops[op].at;
}

static void take(struct routine *r, enum op_id op, const void *arguments)
{
    size_t size = (entries[op].size + 15) / 16 * 16;
    if (r->op_count == r->op_room) {
        r->op_room = r->op_room ? 2 * r->op_room : 16;
        r->ops = mem_grow(r->ops, r->op_room, sizeof *r->ops);
    }
    if (r->byte_count + size > r->byte_room) {
        r->byte_room = 2 * (r->byte_count + size);
        r->bytes = mem_grow(r->bytes, r->byte_room, 1);
    }
    memcpy(r->bytes + r->byte_count, arguments, entries[op].size);
    r->ops[r->op_count++] = (struct taken){op, r->byte_count};
    r->byte_count += size;
}

static struct round *add_round(struct routine *r)
{
    if (r->round_count == r->round_room) {
        r->round_room = r->round_room ? 2 * r->round_room : 16;
        r->rounds = mem_grow(r->rounds, r->round_room, sizeof *r->rounds);
    }
    return &r->rounds[r->round_count++];
}

/* Operations become rounds. */
static void arrange(struct routine *r)
{
    r->round_count = 0;
    for (uint32_t i = 0; i < r->op_count; i++) {
        const struct op_entry *e = &entries[r->ops[i].op];
        const void *arguments = arguments_of(r, i);
        uint32_t rows = e->kind == KIND_ROW ? e->rows(arguments) : 0;
        struct round *last = r->round_count ? &r->rounds[r->round_count - 1] : NULL;
        if (e->kind == KIND_ROW && last && last->kind == KIND_ROW && last->rows == rows) {
            last->count++;
            continue;
        }
        unsigned tiles = e->kind == KIND_ROW   ? plan_shards(rows)
                         : e->kind == KIND_ALL ? e->tiles(arguments)
                                               : 1;
        *add_round(r) = (struct round){.first = i, .count = 1, .kind = e->kind, .rows = rows,
                                       .tiles = tiles};
        if (r->ops[i].op == OP_norm2)
            *add_round(r) = (struct round){.first = i, .count = 1, .kind = KIND_ONE, .end = true,
                                           .tiles = 1};
    }
}

static void play_shard(const struct routine *r, const struct round *round, struct slice *s)
{
    struct machine *m = r->machine;
    uint32_t begin = cpu_shard_begin(round->rows, round->tiles, s->shard);
    uint32_t end = cpu_shard_begin(round->rows, round->tiles, s->shard + 1);
    uint32_t strip = cpu_strip_rows(end - begin, m->plan.strip ? m->plan.strip : CPU_STRIP);
    s->first = true;
    for (uint32_t row = begin; row < end; row += strip) {
        s->row0 = row;
        s->rows = end - row < strip ? end - row : strip;
        for (uint32_t i = round->first; i < round->first + round->count; i++)
            entries[r->ops[i].op].run(arguments_of(r, i), s);
        s->first = false;
    }
}

static void play_tile(void *context, unsigned number, unsigned tile, unsigned thread)
{
    const struct routine *r = context;
    const struct round *round = &r->rounds[number % r->round_count];
    struct slice s = {.tile = tile, .thread = thread, .m = r->machine,
                      .scratch = r->machine->scratch + (size_t)thread * CPU_SCRATCH};
    if (round->kind == KIND_ROW) {
        s.shard = tile;
        play_shard(r, round, &s);
    } else if (round->end) {
        cpu_norm2_end(arguments_of(r, round->first), &s);
    } else {
        entries[r->ops[round->first].op].run(arguments_of(r, round->first), &s);
    }
}

static unsigned round_tiles(void *context, unsigned number)
{
    const struct routine *r = context;
    return r->rounds[number % r->round_count].tiles;
}

/* The pool may have been started, or started anew, since the machine was opened. */
static void have_scratch(struct machine *m)
{
    unsigned threads = threads_count();
    if (threads <= m->scratch_threads)
        return;
    mem_free(m->scratch);
    m->scratch = mem_alloc(threads, CPU_SCRATCH);
    m->scratch_threads = threads;
}

void machine_play(struct machine *m, struct routine *r, uint32_t times)
{
    assert(r->machine == m && m->taking == NULL);
    if (!r->round_count)
        return;
    have_scratch(m);
    fesetenv(FE_DFL_ENV);
    uint32_t most = UINT32_MAX / r->round_count;
    for (uint32_t left = times, now; left; left -= now) {
        now = left < most ? left : most;
        threads_run_rounds(now * r->round_count, round_tiles, play_tile, r);
    }
}

static struct routine *routine_new(struct machine *m)
{
    struct routine *r = mem_zero(1, sizeof *r);
    r->machine = m;
    return r;
}

static void routine_free(struct routine *r)
{
    if (!r)
        return;
    mem_free(r->ops);
    mem_free(r->bytes);
    mem_free(r->rounds);
    mem_free(r);
}

void routine_drop(struct machine *m, struct routine *r)
{
    (void)m;
    routine_free(r);
}

void machine_record(struct machine *m)
{
    assert(m->taking == NULL);
    m->taking = routine_new(m);
}

struct routine *machine_stop(struct machine *m)
{
    struct routine *r = m->taking;
    assert(r);
    m->taking = NULL;
    have_scratch(m);
    arrange(r);
    return r;
}

void machine_issue(struct machine *m, enum op_id op, const void *arguments)
{
    assert((unsigned)op < OP_COUNT);
    if (m->taking) {
        take(m->taking, op, arguments);
        return;
    }
    m->plain->op_count = 0;
    m->plain->byte_count = 0;
    take(m->plain, op, arguments);
    arrange(m->plain);
    machine_play(m, m->plain, 1);
}

/* --- the machine --- */

struct machine *machine_open(const struct machine_options *o, struct err *e)
{
    const struct vec *vec = vec_choose();
    if (!vec) {
        err_set(e, ERR_CPU_CORE,
                "the environment variable DNN_CPU names no vector code of this processor");
        err_expected(e, "c, avx2 or avx512");
        return NULL;
    }
    struct machine *m = mem_zero(1, sizeof *m);
    m->options = *o;
    m->options.backend = "cpu";
    m->vec = vec;
    m->plain = routine_new(m);
    have_scratch(m);
    return m;
}

void machine_close(struct machine *m)
{
    if (!m)
        return;
    routine_free(m->plain);
    routine_free(m->taking);
    mem_free(m->scratch);
    mem_free(m);
}

/* Loading costs milliseconds and memory: only a machine that trains does it, and only where the
 * guest is wanted. */
static const struct blas *guest_of(const struct machine *m)
{
    return m->options.blas && blas_wanted(m->vec) ? blas_load(threads_count(), NULL) : NULL;
}

void machine_plan(struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan)
{
    const struct blas *blas = guest_of(m);
    memset(plan, 0, sizeof *plan);
    snprintf(plan->backend, sizeof plan->backend, "%s", "cpu");
    snprintf(plan->core, sizeof plan->core, "%s", m->vec->name);
    snprintf(plan->blas_core, sizeof plan->blas_core, "%s", blas ? blas->core : "none");
    bool single = sizeof(real) == sizeof(float);
    snprintf(plan->precision, sizeof plan->precision, "%s", single ? "fp32" : "fp64");
    plan->batch = batch;
    plan->micro = micro;
    plan->shards = plan_shards(batch);
    plan->strip = CPU_STRIP;
    plan->version = CPU_VERSION;
}

void machine_obey(struct machine *m, const struct plan *plan)
{
    const struct vec *vec = vec_find(plan->core);
    if (vec)
        m->vec = vec;
    m->blas = strcmp(plan->blas_core, "none") == 0 ? NULL : guest_of(m);
    m->plan = *plan;
}

const char *machine_name(const struct machine *m)
{
    (void)m;
    return "cpu";
}

void *machine_alloc(struct machine *m, size_t bytes, struct err *e)
{
    (void)m;
    (void)e;
    return mem_zero(1, bytes ? bytes : 1);
}

void machine_release(struct machine *m, void *memory)
{
    (void)m;
    mem_free(memory);
}

void machine_upload(struct machine *m, void *to, const void *from, size_t bytes)
{
    (void)m;
    memmove(to, from, bytes);
}

void machine_download(struct machine *m, void *to, const void *from, size_t bytes)
{
    (void)m;
    memmove(to, from, bytes);
}

size_t machine_act_bytes(const struct machine *m)
{
    (void)m;
    return sizeof(real);
}

void machine_act_download(struct machine *m, real *to, const struct act *from, size_t rows,
                          size_t width, size_t ld)
{
    (void)m;
    for (size_t r = 0; r < rows; r++)
        memcpy(to + r * width, act_read(from) + r * ld, width * sizeof *to);
}

bool machine_wait(struct machine *m, struct err *e)
{
    if (m->failure.id == ERR_NONE)
        return true;
    *e = m->failure;
    return false;
}
