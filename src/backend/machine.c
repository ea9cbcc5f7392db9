/* machine.c - forwards the calls of a machine to its type, and holds the parts that all types
 * share. */
#include "backend/machine.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/text.h"

uint64_t machine_limit(const struct machine_options *o, uint64_t total)
{
    static const double GIB = 1024.0 * 1024.0 * 1024.0;
    double share = o->memory_fraction > 0 && o->memory_fraction < 1 ? o->memory_fraction : 1;
    double most = (double)total * share, limit = o->memory_limit_gb * GIB;
    return (uint64_t)(limit > 0 && limit < most ? limit : most);
}

void machine_close(struct machine *m)
{
    if (m)
        m->type->close(m);
}

void machine_plan(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
    snprintf(plan->backend, sizeof plan->backend, "%s", m->type->name);
    plan->batch = batch;
    plan->micro = micro;
    plan->shards = plan_shards(batch);
    m->type->plan(m, batch, micro, plan);
}

void machine_set_plan(struct machine *m, const struct plan *plan)
{
    m->type->set_plan(m, plan);
    m->plan = *plan;
}

void machine_work(struct machine *m, const struct machine_work *work)
{
    if (!machine_failed(m) && m->type->work)
        m->type->work(m, work);
}

void machine_describe(const struct machine *m, struct machine_info *info)
{
    *info = (struct machine_info){0};
    if (m->type->describe)
        m->type->describe(m, info);
}

void machine_count(const struct machine *m, struct machine_counts *counts)
{
    *counts = m->counts;
}

/* --- failure --- */

/* One for the process: how it ends if a device does not answer. The handlers are set before any
 * machine is opened; watch threads set abandoned too. */
static struct {
    _Atomic bool abandoned;
    void (*stuck)(const struct err *e);
} process;

/* Lack of memory leaves a device usable; a later fault does not. */
void machine_fail(struct machine *m, const struct err *e)
{
    bool full = m->failure.id == ERR_GPU_MEMORY, fault = e->id != ERR_GPU_MEMORY;
    if (m->failure.id == ERR_NONE || (full && fault))
        m->failure = *e;
    if (!m->type->in_place && fault)
        process.abandoned = true;
}

bool machine_forgive(struct machine *m)
{
    if (m->failure.id == ERR_GPU_MEMORY)
        err_clear(&m->failure);
    return m->failure.id == ERR_NONE;
}

bool machine_failed(const struct machine *m)
{
    return m->failure.id != ERR_NONE;
}

bool machine_abandoned(void)
{
    return process.abandoned;
}

void machine_on_stuck(void (*handler)(const struct err *e))
{
    process.stuck = handler;
}

void machine_stuck(const struct err *e)
{
    process.abandoned = true;
    if (process.stuck)
        process.stuck(e);
}

/* A test hook fails the machine like a fault of a device. */
static bool struck(struct machine *m, enum fault_kind kind)
{
    int error = fault_hit(kind);
    if (!error)
        return false;
    struct err e = {0};
    err_set(&e, ERR_MACHINE_FAULT, "the machine \"%s\" failed: %s", m->type->name, strerror(error));
    machine_fail(m, &e);
    return true;
}

void machine_expect(struct machine *m, double seconds)
{
    if (!machine_failed(m) && m->type->expect)
        m->type->expect(m, seconds);
}

void machine_interrupt(struct machine *m, bool (*stop)(void))
{
    if (m->type->interrupt)
        m->type->interrupt(m, stop);
}

bool machine_broken_off(const struct machine *m)
{
    return m->type->broken_off && m->type->broken_off(m);
}

bool machine_wait(struct machine *m, double seconds, struct err *e)
{
    if (!machine_failed(m) && !m->type->wait(m, seconds)) {
        struct err late = {0};
        err_set(&late, ERR_MACHINE_FAULT, "the machine \"%s\" has not answered for %.0f seconds",
                m->type->name, seconds);
        if (!machine_failed(m)) /* a machine that failed has said why */
            machine_fail(m, &late);
    }
    if (!machine_failed(m))
        return true;
    *e = m->failure;
    return false;
}

/* --- memory --- */

static bool refused(const struct machine *m, struct err *e)
{
    if (machine_failed(m))
        *e = m->failure;
    return machine_failed(m);
}

void *machine_alloc_for(struct machine *m, enum memory_kind kind, size_t bytes, struct err *e)
{
    if (refused(m, e))
        return NULL;
    m->counts.allocations++;
    m->kind = kind;
    return m->type->alloc(m, bytes ? bytes : 1, e);
}

void *machine_alloc(struct machine *m, size_t bytes, struct err *e)
{
    return machine_alloc_for(m, MEMORY_ACTIVATIONS, bytes, e);
}

bool machine_reserve(struct machine *m, uint64_t scratch, struct err *e)
{
    return !refused(m, e) && (!m->type->reserve || m->type->reserve(m, scratch, e));
}

void machine_release(struct machine *m, void *memory)
{
    if (memory)
        m->type->release(m, memory);
}

void *machine_host_alloc(struct machine *m, size_t bytes, struct err *e)
{
    if (refused(m, e))
        return NULL;
    m->counts.allocations++;
    return m->type->host_alloc(m, bytes ? bytes : 1, e);
}

void machine_host_release(struct machine *m, void *memory)
{
    if (memory)
        m->type->host_release(m, memory);
}

const void *machine_map_host(struct machine *m, const void *host, size_t bytes, struct err *e)
{
    if (refused(m, e) || !host)
        return NULL;
    m->kind = MEMORY_DATA;
    return m->type->map_host(m, host, bytes, e);
}

void machine_unmap_host(struct machine *m, const void *mapped)
{
    if (mapped)
        m->type->unmap_host(m, mapped);
}

bool machine_in_place(const struct machine *m)
{
    return m->type->in_place;
}

uint64_t machine_bytes_free(struct machine *m)
{
    return machine_failed(m) ? 0 : m->type->bytes_free(m);
}

/* --- transfers --- */

void machine_send(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes)
{
    assert(slot < MACHINE_SLOTS);
    if (!machine_failed(m) && bytes)
        m->type->upload(m, slot, to, from, bytes);
}

void machine_fetch(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes)
{
    assert(slot < MACHINE_SLOTS);
    if (machine_failed(m) || struck(m, FAULT_FETCH))
        memset(to, 0, bytes);
    else if (bytes)
        m->type->download(m, slot, to, from, bytes);
}

void machine_fence(struct machine *m, uint32_t slot)
{
    assert(slot < MACHINE_SLOTS);
    if (!machine_failed(m))
        m->type->fence(m, slot);
}

void machine_join(struct machine *m, uint32_t slot)
{
    assert(slot < MACHINE_SLOTS);
    if (!machine_failed(m))
        (m->type->join ? m->type->join : m->type->fence)(m, slot);
}

void machine_upload(struct machine *m, void *to, const void *from, size_t bytes)
{
    machine_send(m, 0, to, from, bytes);
    machine_fence(m, 0);
}

void machine_download(struct machine *m, void *to, const void *from, size_t bytes)
{
    machine_fetch(m, 0, to, from, bytes);
    machine_fence(m, 0);
}

void machine_act_download(struct machine *m, real *to, struct act from, size_t rows,
                          size_t width, size_t ld)
{
    if (machine_failed(m))
        memset(to, 0, rows * width * sizeof *to);
    else
        m->type->act_download(m, to, from, rows, width, ld);
}

size_t machine_act_bytes(const struct machine *m)
{
    return m->type->act_bytes(m);
}

uint32_t machine_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back)
{
    return m->type->act_form ? m->type->act_form(m, rows, width, back) : FORM_REAL;
}

bool machine_rounds(const struct machine *m, const struct group *groups, uint32_t count)
{
    return m->type->rounds && m->type->rounds(m, groups, count);
}

size_t machine_shadow_bytes(const struct machine *m, const struct group *groups, uint32_t count,
                            uint64_t n)
{
    return m->type->shadow_bytes(m, groups, count, n);
}

void machine_refresh(struct machine *m, void *shadow, const real *p, const struct group *groups,
                     uint32_t count)
{
    if (!machine_failed(m) && shadow)
        m->type->refresh(m, shadow, p, groups, count);
}

struct act machine_shadow_of(const struct machine *m, const void *shadow, uint64_t offset)
{
    return m->type->shadow_of(m, shadow, offset);
}

/* --- operations and routines --- */

void machine_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n)
{
    *n = (struct need){0};
    m->type->need(m, op, arguments, n);
}

static void measure(struct machine *m, enum op_id op, const void *arguments)
{
    struct need n;
    machine_need(m, op, arguments, &n);
    if (n.scratch > m->measured.scratch)
        m->measured.scratch = n.scratch;
    m->measured.kept += n.kept;
}

void machine_measure(struct machine *m, machine_issuer *issuer, void *context, struct need *n)
{
    assert(!m->recording && !m->measuring);
    m->measured = (struct need){0};
    m->measuring = true;
    issuer(context, m);
    m->measuring = false;
    *n = m->measured;
}

void machine_issue(struct machine *m, enum op_id op, const void *arguments)
{
    assert((unsigned)op < OP_COUNT);
    union op_arguments own;
    memcpy(&own, arguments, op_size(op));
    struct dims *d = op_dims(op, &own);
    assert(!d || (d->shards > 0 && d->steps > 0 &&
                  (d->steps == 1 || op_shape(op) != SHAPE_TABLE)));
    if (d && d->steps > 1 && op_shape(op) == SHAPE_STEPS) { /* each step is a row to the machine */
        assert(d->rows <= UINT32_MAX / d->steps);
        d->rows *= d->steps;
        d->steps = 1;
        arguments = &own;
    }
    if (m->measuring) {
        measure(m, op, arguments);
        return;
    }
    if (machine_failed(m) || (!m->recording && struck(m, FAULT_PLAY)))
        return;
    m->counts.operations += !m->recording;
    bool traced = m->traced && !m->recording && m->traced_count < MACHINE_MARKS / 2;
    if (traced)
        machine_mark(m, 2 * m->traced_count);
    m->type->issue(m, op, arguments);
    if (!traced)
        return;
    machine_mark(m, 2 * m->traced_count + 1);
    m->traced[m->traced_count++] = (struct traced){op, m->owner};
}

void machine_mark(struct machine *m, uint32_t i)
{
    assert(i < MACHINE_MARKS);
    if (machine_failed(m))
        return;
    if (m->type->mark)
        m->type->mark(m, i);
    else
        m->marks[i] = clock_now();
}

double machine_marked(struct machine *m, uint32_t i)
{
    if (machine_failed(m))
        return 0;
    return m->type->marked ? m->type->marked(m, i) : m->marks[i] - m->marks[0];
}

const void *machine_owner(struct machine *m, const void *owner)
{
    const void *before = m->owner;
    m->owner = owner;
    return before;
}

uint32_t machine_trace(struct machine *m, struct traced *trace)
{
    uint32_t count = m->traced_count;
    m->traced = trace;
    m->traced_count = 0;
    return count;
}

struct routine *machine_record(struct machine *m, machine_issuer *issuer, void *context)
{
    assert(!m->recording && !m->measuring);
    if (machine_failed(m))
        return NULL;
    m->recording = true;
    m->type->record(m);
    issuer(context, m);
    struct routine *r = m->type->stop(m);
    m->recording = false;
    if (r) {
        r->machine = m;
        r->issuer = issuer;
        r->context = context;
        m->counts.routines++;
    }
    return r;
}

void machine_play(struct machine *m, struct routine *r, uint32_t times)
{
    assert(!m->recording && !m->measuring && (!r || r->machine == m));
    if (!r || !times || machine_failed(m) || struck(m, FAULT_PLAY))
        return;
    m->counts.plays++;
    m->type->play(m, r, times);
}

bool machine_path_of(const struct routine *r, struct machine_path *path)
{
    *path = (struct machine_path){.name = "plain"};
    return r->machine->type->path && r->machine->type->path(r, path);
}

void routine_drop(struct machine *m, struct routine *r)
{
    if (r)
        m->type->drop(m, r);
}
