/* listing.h - a machine that stands before the CPU as a device would: its memory is not the host's,
 * and what it is given it writes down.
 *
 * An address that it hands out may not be read or written by anybody: who does it dies. Only what
 * goes through the door - transfers, lent memory, the arguments of operations - reaches the memory
 * behind it, which the CPU then works on.
 *
 * Each time a routine is played, the function it was recorded from is called again, and what that
 * issues must be what was recorded, byte for byte: a function that reads what changes is caught.
 * Machine options {.backend = "listing"}, after listing_register. */
#ifndef DNN_LISTING_H
#define DNN_LISTING_H

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "backend/machine.h"
#include "backend/op_list.h"
#include "base/mem.h"

enum { LISTING_ROOM = 256 << 20 };
struct listing {
    struct machine head;
    struct machine *under;
    char *far, *near; /* two ranges of LISTING_ROOM addresses: what is handed out, what is behind */
    size_t used;
    struct op_list *recorded; /* NULL: operations are run */
};
struct listed {
    struct routine head;
    struct routine *under;
    struct op_list list;
};

static uint64_t listing_compared; /* plays whose function issued the same once more */

static struct listing *listing_of(const struct machine *m)
{
    return (struct listing *)(uintptr_t)m;
}
static struct machine *listing_under(const struct machine *m)
{
    return listing_of(m)->under;
}

static void *listing_map(int access)
{
    void *range = mmap(NULL, LISTING_ROOM, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                       0);
    return range == MAP_FAILED ? NULL : range;
}
/* What an address of this machine stands for; others are themselves. */
static void *listing_near(const struct machine *m, const void *address)
{
    const struct listing *l = listing_of(m);
    uintptr_t at = (uintptr_t)address - (uintptr_t)l->far;
    return at < LISTING_ROOM ? l->near + at : (void *)(uintptr_t)address;
}
/* bytes copied, with every address of this machine in them replaced */
static void listing_copy(const struct machine *m, void *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    for (size_t i = 0; i + sizeof(void *) <= bytes; i += sizeof(void *)) {
        void *word;
        memcpy(&word, (const char *)from + i, sizeof word);
        word = listing_near(m, word);
        memcpy((char *)to + i, &word, sizeof word);
    }
}

/* The first failure of the machine under it is this one's. */
static void listing_pass_on(struct machine *m)
{
    struct err e = {0};
    if (!machine_wait(listing_under(m), MACHINE_PATIENCE, &e))
        machine_fail(m, &e);
}

static void list_issue(void *list, struct machine *m)
{
    const struct op_list *l = list;
    for (uint32_t i = 0; i < l->count; i++)
        machine_issue(m, l->ops[i].op, op_list_at(l, i));
}

static struct machine *listing_open(const struct machine_options *o, struct err *e)
{
    struct machine_options under = *o;
    under.backend = "cpu";
    struct machine *cpu = machine_open(&under, e);
    if (!cpu)
        return NULL;
    struct listing *l = mem_zero(1, sizeof *l);
    l->under = cpu;
    l->far = listing_map(PROT_NONE);
    l->near = listing_map(PROT_READ | PROT_WRITE);
    return &l->head;
}
static void listing_close(struct machine *m)
{
    struct listing *l = listing_of(m);
    munmap(l->far, LISTING_ROOM);
    munmap(l->near, LISTING_ROOM);
    machine_close(l->under);
    mem_free(m);
}

/* Nothing is used a second time. */
static void *listing_alloc(struct machine *m, size_t bytes, struct err *e)
{
    struct listing *l = listing_of(m);
    size_t at = (l->used + 63) / 64 * 64;
    if (bytes > LISTING_ROOM - at) {
        err_set(e, ERR_MEMORY, "the listing machine has no %zu bytes", bytes);
        return NULL;
    }
    l->used = at + bytes;
    return l->far + at;
}
static void listing_release(struct machine *m, void *memory)
{
    (void)m;
    (void)memory;
}
static void *listing_host_alloc(struct machine *m, size_t bytes, struct err *e)
{
    return machine_host_alloc(listing_under(m), bytes, e);
}
static void listing_host_release(struct machine *m, void *memory)
{
    machine_host_release(listing_under(m), memory);
}
/* A copy: what the host does to its own afterwards is not seen. */
static const void *listing_map_host(struct machine *m, const void *host, size_t bytes,
                                    struct err *e)
{
    void *copy = listing_alloc(m, bytes, e);
    if (copy)
        memcpy(listing_near(m, copy), host, bytes);
    return copy;
}
static void listing_unmap_host(struct machine *m, const void *mapped)
{
    memset(listing_near(m, mapped), 0xaa, 1); /* who reads on, reads something else */
}
static uint64_t listing_bytes_free(struct machine *m)
{
    return machine_bytes_free(listing_under(m));
}
static void listing_upload(struct machine *m, uint32_t slot, void *to, const void *from,
                           size_t bytes)
{
    (void)slot;
    listing_copy(m, listing_near(m, to), from, bytes);
}
static void listing_download(struct machine *m, uint32_t slot, void *to, const void *from,
                             size_t bytes)
{
    machine_fetch(listing_under(m), slot, to, listing_near(m, from), bytes);
}
static void listing_act_download(struct machine *m, real *to, struct act from, size_t rows,
                                 size_t width, size_t ld)
{
    from.at = listing_near(m, from.at);
    machine_act_download(listing_under(m), to, from, rows, width, ld);
}
static void listing_fence(struct machine *m, uint32_t slot)
{
    machine_fence(listing_under(m), slot);
}
static bool listing_wait(struct machine *m, double seconds)
{
    struct err e = {0};
    if (!machine_wait(listing_under(m), seconds, &e))
        machine_fail(m, &e);
    return e.id == ERR_NONE;
}

static void listing_issue(struct machine *m, enum op_id op, const void *arguments)
{
    struct listing *l = listing_of(m);
    struct op_list one = {0}, *list = l->recorded ? l->recorded : &one;
    void *copy = op_list_add(list, op, arguments);
    listing_copy(m, copy, arguments, op_size(op));
    if (!l->recorded)
        list_issue(&one, l->under);
    op_list_free(&one);
}
static void listing_record(struct machine *m)
{
    struct listed *r = mem_zero(1, sizeof *r);
    r->head.machine = m;
    listing_of(m)->recorded = &r->list;
}
static struct routine *listing_stop(struct machine *m)
{
    struct listing *l = listing_of(m);
    struct listed *r =
        (struct listed *)(void *)((char *)l->recorded - offsetof(struct listed, list));
    l->recorded = NULL;
    r->under = machine_record(l->under, list_issue, &r->list);
    return &r->head;
}
static void listing_play(struct machine *m, struct routine *routine, uint32_t times)
{
    struct listing *l = listing_of(m);
    struct listed *r = (struct listed *)routine;
    struct op_list again = {0};
    l->recorded = &again;
    m->recording = true; /* nothing is run */
    routine->issuer(routine->context, m);
    m->recording = false;
    l->recorded = NULL;
    uint32_t at = op_list_differs(&r->list, &again);
    bool same = at == r->list.count && at == again.count;
    if (!same) {
        struct err e = {0};
        err_set(&e, ERR_BUG, "operation %u of a routine (%s) is not what was recorded", at + 1,
                at < r->list.count ? op_name(r->list.ops[at].op) : "one too many");
        machine_fail(m, &e);
    }
    op_list_free(&again);
    listing_compared += same;
    if (same)
        machine_play(l->under, r->under, times);
    listing_pass_on(m);
}
static void listing_drop(struct machine *m, struct routine *routine)
{
    struct listed *r = (struct listed *)routine;
    routine_drop(listing_under(m), r->under);
    op_list_free(&r->list);
    mem_free(r);
}
static void listing_need(const struct machine *m, enum op_id op, const void *arguments,
                         struct need *n)
{
    machine_need(listing_under(m), op, arguments, n);
}
static void listing_plan(const struct machine *m, uint32_t batch, uint32_t micro, struct plan *plan)
{
    machine_plan(listing_under(m), batch, micro, plan);
}
static void listing_set_plan(struct machine *m, const struct plan *plan)
{
    machine_set_plan(listing_under(m), plan);
}
static size_t listing_act_bytes(const struct machine *m)
{
    return machine_act_bytes(listing_under(m));
}
static uint32_t listing_act_form(const struct machine *m, uint32_t rows, uint32_t width, bool back)
{
    return machine_act_form(listing_under(m), rows, width, back);
}
static bool listing_rounds(const struct machine *m, const struct group *groups, uint32_t count)
{
    return machine_rounds(listing_under(m), groups, count);
}
static size_t listing_shadow_bytes(const struct machine *m, const struct group *groups,
                                   uint32_t count, uint64_t n)
{
    return machine_shadow_bytes(listing_under(m), groups, count, n);
}
static void listing_refresh(struct machine *m, void *shadow, const real *p,
                            const struct group *groups, uint32_t count)
{
    machine_refresh(listing_under(m), listing_near(m, shadow), listing_near(m, p), groups, count);
}
static struct act listing_shadow_of(const struct machine *m, const void *shadow, uint64_t offset)
{
    return machine_shadow_of(listing_under(m), shadow, offset);
}

static const struct machine_type machine_listing = {
    .name = "listing",
    .open = listing_open,
    .close = listing_close,
    .alloc = listing_alloc,
    .release = listing_release,
    .host_alloc = listing_host_alloc,
    .host_release = listing_host_release,
    .map_host = listing_map_host,
    .unmap_host = listing_unmap_host,
    .bytes_free = listing_bytes_free,
    .upload = listing_upload,
    .download = listing_download,
    .act_download = listing_act_download,
    .fence = listing_fence,
    .wait = listing_wait,
    .issue = listing_issue,
    .record = listing_record,
    .stop = listing_stop,
    .play = listing_play,
    .drop = listing_drop,
    .need = listing_need,
    .plan = listing_plan,
    .set_plan = listing_set_plan,
    .act_bytes = listing_act_bytes,
    .act_form = listing_act_form,
    .rounds = listing_rounds,
    .shadow_bytes = listing_shadow_bytes,
    .refresh = listing_refresh,
    .shadow_of = listing_shadow_of,
};

static inline void listing_register(void)
{
    machine_register(&machine_listing);
}

#endif
