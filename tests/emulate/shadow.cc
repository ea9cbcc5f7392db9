/* shadow.cc - what happened to each byte: who wrote it and when, who read it last, whether anybody
 * ever wrote it. Kernels are compiled with -fsanitize=thread and call the functions below at every
 * access; the thread sanitizer's own library is not linked.
 *
 * Two accesses are in order when a barrier that both lanes met lies between, or a flag: all events
 * of a launch stand on one clock (emulate.time, which steps at every collective), so that comparing
 * the older access's time with the younger lane's last meeting with that lane is enough. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "device.cuh"
#include "emulate.h"
#include "shadow.h"

#if !defined(EMULATE_SHADOW)

bool shadow_present = false;
void shadow_allow(void *, size_t) {}
void shadow_forbid(void *, size_t) {}
void shadow_written(void *, size_t) {}
bool shadow_is_written(const void *, size_t)
{
    return true;
}
void shadow_copy_issued(void *, const void *, size_t, const void *) {}
void shadow_copy_landed(void *, const void *, size_t) {}
void shadow_publish(const void *) {}
void shadow_receive(const void *) {}
void shadow_meet(struct block *const *, unsigned) {}
void shadow_begin(void) {}
void shadow_product_begins(void *, size_t, const void *) {}
void shadow_product_ends(void *, size_t) {}

#else

bool shadow_present = true;

struct touch { uint32_t lane, time, code; }; /* time 0: never */
/* READING: so many warps have products that read it, and have not waited for them */
enum { VALID = 1, WRITTEN = 2, FLYING = 4, READING = 256 };
struct record { struct touch write, read, other_read; uint32_t flags; };

static struct record *records;

static bool inside(const void *at)
{
    return memory_base && (size_t)((const unsigned char *)at - memory_base) < MEMORY_RANGE;
}
static struct record *record_of(const void *at)
{
    if (!records) {
        void *all = mmap(NULL, MEMORY_RANGE * sizeof(struct record), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (all == MAP_FAILED) {
            perror("emulator: shadow memory");
            abort();
        }
        records = (struct record *)all;
    }
    return records + ((const unsigned char *)at - memory_base);
}

void shadow_allow(void *at, size_t bytes)
{
    struct record *r = record_of(at);
    for (size_t i = 0; i < bytes; i++) {
        r[i] = record{};
        r[i].flags = VALID;
    }
}
void shadow_forbid(void *at, size_t bytes)
{
    struct record *r = record_of(at);
    for (size_t i = 0; i < bytes; i++)
        r[i].flags = 0;
}
void shadow_written(void *at, size_t bytes)
{
    if (!inside(at))
        return;
    struct record *r = record_of(at);
    for (size_t i = 0; i < bytes; i++)
        r[i].flags |= WRITTEN;
}
bool shadow_is_written(const void *at, size_t bytes)
{
    if (!inside(at))
        return true;
    const struct record *r = record_of(at);
    for (size_t i = 0; i < bytes; i++)
        if (!(r[i].flags & WRITTEN))
            return false;
    return true;
}

/* --- flags: what a block, or one lane until its next barrier, knows of the others --- */

/* of each of the first blocks of a grid: everything before `all`, and what `lane` did before `own`.
 * Grids that talk by flags stay below so many blocks in tests. */
enum { TALKING = 256 };
struct received { struct { uint32_t all, lane, own; } of[TALKING]; };
struct flag { const void *at; struct received known; };
static struct flag flags[64];
static unsigned flag_count;

static struct flag *flag_of(const void *at)
{
    for (unsigned i = 0; i < flag_count; i++)
        if (flags[i].at == at)
            return &flags[i];
    if (flag_count == 64) {
        emulate_find(FIND_LAUNCH, "more than 64 flags");
        abort();
    }
    flags[flag_count] = flag{};
    flags[flag_count].at = at;
    return &flags[flag_count++];
}

static void join(struct received *to, const struct received *from)
{
    for (unsigned k = 0; k < TALKING; k++) {
        if (from->of[k].all > to->of[k].all)
            to->of[k].all = from->of[k].all;
        if (from->of[k].own > to->of[k].own) {
            to->of[k].own = from->of[k].own;
            to->of[k].lane = from->of[k].lane;
        }
    }
}

static struct received *make_received(struct received **at)
{
    if (!*at)
        *at = (struct received *)calloc(1, sizeof **at);
    return *at;
}

void shadow_publish(const void *at)
{
    struct lane *l = emulate.lane;
    struct flag *f = flag_of(at);
    unsigned k = l->block->linear % TALKING;
    join(&f->known, make_received(&l->block->received));
    join(&f->known, make_received(&l->received));
    struct received mine = {};
    mine.of[k].all = l->block->block_time;
    mine.of[k].lane = l->index;
    mine.of[k].own = ++emulate.time;
    join(&f->known, &mine);
    shadow_written((void *)at, 4);
}
void shadow_receive(const void *at)
{
    join(make_received(&emulate.lane->received), &flag_of(at)->known);
}
/* What one lane of a block has received, all know after the barrier. */
void shadow_meet(struct block *const *blocks, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < emulate.block_size; i++)
            if (blocks[k]->lanes[i].received)
                for (unsigned j = 0; j < count; j++)
                    join(make_received(&blocks[j]->received), blocks[k]->lanes[i].received);
}
void shadow_begin(void)
{
    flag_count = 0;
}

static bool by_flag(const struct received *known, const struct touch *t, unsigned linear)
{
    return known && linear < TALKING &&
           (t->time < known->of[linear].all ||
            (t->lane == known->of[linear].lane && t->time < known->of[linear].own));
}

static bool in_order(const struct touch *t, const struct lane *l)
{
    if (t->time < emulate.begin || t->lane == l->index)
        return true;
    unsigned linear = t->lane / emulate.block_size, thread = t->lane % emulate.block_size;
    const struct block *b = l->block;
    if (linear == b->linear)
        return t->time < b->block_time ||
               (thread / WARP == l->thread / WARP && t->time < l->warp_time &&
                (l->warp_mask >> thread % WARP & 1));
    if (t->time < b->grid_time)
        return true;
    unsigned cluster = emulate.cluster;
    if (cluster && linear / cluster == b->linear / cluster && t->time < b->cluster_time)
        return true;
    return by_flag(b->received, t, linear) || by_flag(l->received, t, linear);
}

/* --- reports --- */

static const void *code_of(uint32_t offset)
{
    extern const char __executable_start[];
    return __executable_start + offset;
}

static unsigned told; /* of this launch: the first few are worth an addr2line */
static uint32_t told_launch;

static bool worth_telling(void)
{
    if (told_launch != emulate.begin) {
        told_launch = emulate.begin;
        told = 0;
    }
    return ++told <= 6;
}

static void name_byte(char *text, size_t room, const void *at)
{
    const struct lane *l = emulate.lane;
    const unsigned char *p = (const unsigned char *)at;
    const struct memory_block *m = memory_find(at);
    if (m) {
        snprintf(text, room, "byte %zu of %zu on the device", (size_t)(p - m->at), m->bytes);
        return;
    }
    snprintf(text, room, "an address outside all memory");
    for (unsigned i = 0; i < l->block->site_count; i++) {
        const unsigned char *from = (const unsigned char *)l->block->sites[i].at;
        if (p >= from && p < from + l->block->sites[i].bytes)
            snprintf(text, room, "byte %zu of SHARED %s", (size_t)(p - from),
                     l->block->sites[i].name);
    }
    const unsigned char *from = (const unsigned char *)l->block->dynamic;
    if (from && p >= from && p < from + l->block->dynamic_bytes)
        snprintf(text, room, "byte %zu of DYNAMIC", (size_t)(p - from));
}

static void tell(enum finding kind, const char *what, const void *at, const void *code,
                 const struct touch *other, const char *other_did)
{
    const struct lane *l = emulate.lane;
    if (!worth_telling()) {
        emulate_find_again(kind);
        return;
    }
    char place[96], where[256], rest[400] = "";
    name_byte(place, sizeof place, at);
    snprintf(where, sizeof where, "%s", emulate_where(code));
    if (other)
        snprintf(rest, sizeof rest, "; block %u lane %u %s it at %s, no barrier between",
                 other->lane / emulate.block_size, other->lane % emulate.block_size, other_did,
                 emulate_where(code_of(other->code)));
    emulate_find(kind, "block %u lane %u %s %s at %s%s", l->block->linear, l->thread, what, place,
                 where, rest);
}

/* --- accesses --- */

static bool is_shared(const void *at)
{
    return (size_t)((const unsigned char *)at - memory_base) < MEMORY_SHARED;
}
static void count_bytes(const void *at, size_t bytes, bool writes)
{
    *(is_shared(at) ? (writes ? &emulate_counts.shared_written : &emulate_counts.shared_read)
             : (writes ? &emulate_counts.device_written : &emulate_counts.device_read)) += bytes;
}

/* In this launch, and by this block. */
static bool fresh(const struct touch *t)
{
    return t->time >= emulate.begin;
}
static bool ours(const struct touch *t, const struct lane *l)
{
    return fresh(t) && t->lane / emulate.block_size == l->block->linear;
}
/* Blocks run one after another, so the newest touches tell of this one. */
static void count_traffic(const struct record *r, const struct lane *l, bool writes)
{
    const struct touch *w = &r->write, *a = &r->read, *b = &r->other_read;
    if (writes) {
        emulate_counts.stored += !ours(w, l);
        emulate_counts.least_written += !fresh(w);
    } else {
        emulate_counts.fetched += !ours(w, l) && !ours(a, l) && !ours(b, l);
        emulate_counts.least_read += !fresh(w) && !fresh(a) && !fresh(b);
    }
}

static void note_read(struct record *r, const struct touch *now)
{
    if (r->read.lane != now->lane)
        r->other_read = r->read;
    r->read = *now;
}

/* The first wrong byte of an access is told, all are noted. */
static void access_bytes(const void *at, size_t bytes, bool writes, const void *code)
{
    extern const char __executable_start[];
    if (!emulate.lane || !inside(at))
        return;
    struct lane *l = emulate.lane;
    struct touch now = {l->index, emulate.time,
                        (uint32_t)((const char *)code - __executable_start)};
    bool silent = false;
    count_bytes(at, bytes, writes);
    emulate_counts.accesses++;
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char *byte = (const unsigned char *)at + i;
        struct record *r = record_of(byte);
        enum finding kind = FIND_COUNT;
        const char *what = writes ? "writes" : "reads", *did = NULL;
        const struct touch *other = NULL;
        if (!(r->flags & VALID)) {
            kind = FIND_BOUNDS;
        } else if (r->flags & FLYING) {
            kind = FIND_EARLY;
            what = writes ? "overwrites, before copy_wait," : "reads, before copy_wait,";
        } else if (writes && r->flags / READING) {
            kind = FIND_EARLY;
            what = "overwrites, before wgmma_wait,";
        } else if (!in_order(&r->write, l)) {
            kind = FIND_RACE;
            other = &r->write;
            did = "wrote";
        } else if (writes && (!in_order(&r->read, l) || !in_order(&r->other_read, l))) {
            kind = FIND_RACE;
            other = in_order(&r->read, l) ? &r->other_read : &r->read;
            did = "read";
        } else if (!writes && !(r->flags & WRITTEN)) {
            kind = FIND_UNINITIALISED;
            what = "reads, never written,";
        }
        if (kind != FIND_COUNT && !silent) {
            tell(kind, what, byte, code, other, did);
            silent = true;
        }
        if (kind == FIND_BOUNDS)
            return;
        if (!is_shared(byte))
            count_traffic(r, l, writes);
        if (writes) {
            r->write = now;
            r->flags |= WRITTEN;
        } else {
            note_read(r, &now);
        }
    }
    if (writes)
        for (unsigned i = 0; i < l->pending_count && !silent; i++) {
            const struct pending_copy *p = &l->pending[i];
            const char *from = (const char *)p->from, *to = (const char *)at;
            if (to < from + p->bytes && from < to + bytes) {
                tell(FIND_EARLY, "overwrites, before copy_wait, the source of a copy,", at, code,
                     NULL, NULL);
                silent = true;
            }
        }
}

void shadow_copy_issued(void *to, const void *from, size_t bytes, const void *code)
{
    access_bytes(from, bytes, false, code);
    access_bytes(to, bytes, true, code);
    if (!inside(to))
        return;
    for (size_t i = 0; i < bytes; i++)
        record_of((char *)to + i)->flags |= FLYING;
}
void shadow_copy_landed(void *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (inside(to)) {
            struct record *r = record_of((char *)to + i);
            r->flags &= ~(uint32_t)FLYING;
            r->write.time = emulate.time;
        }
        if (inside(from)) {
            struct record *r = record_of((const char *)from + i);
            struct touch now = {emulate.lane->index, emulate.time, r->read.code};
            note_read(r, &now);
        }
    }
}

/* Tensor cores see what was written only once its lane has said so, and met the others since. */
void shadow_product_begins(void *at, size_t bytes, const void *code)
{
    const struct lane *l = emulate.lane;
    bool reported = false;
    access_bytes(at, bytes, false, code);
    for (size_t i = 0; i < bytes && inside(at); i++) {
        struct record *r = record_of((char *)at + i);
        const struct lane *wrote = &l->block->lanes[r->write.lane % emulate.block_size];
        if (!reported && r->write.time >= wrote->ready_known && r->flags & WRITTEN) {
            tell(FIND_EARLY, "multiplies, without wgmma_ready behind its write,", (char *)at + i,
                 code, NULL, NULL);
            reported = true;
        }
        r->flags += READING;
    }
}
void shadow_product_ends(void *at, size_t bytes)
{
    for (size_t i = 0; i < bytes && inside(at); i++) {
        struct record *r = record_of((char *)at + i);
        struct touch now = {emulate.lane->index, emulate.time, r->read.code};
        if (r->flags / READING)
            r->flags -= READING;
        note_read(r, &now);
    }
}

#define HOOKS(size)                                                                                \
    extern "C" void __tsan_read##size(void *at);                                                   \
    extern "C" void __tsan_read##size(void *at)                                                    \
    {                                                                                              \
        access_bytes(at, size, false, __builtin_return_address(0));                                \
    }                                                                                              \
    extern "C" void __tsan_write##size(void *at);                                                  \
    extern "C" void __tsan_write##size(void *at)                                                   \
    {                                                                                              \
        access_bytes(at, size, true, __builtin_return_address(0));                                 \
    }                                                                                              \
    extern "C" void __tsan_unaligned_read##size(void *at)                                          \
        __attribute__((alias("__tsan_read" #size)));                                               \
    extern "C" void __tsan_unaligned_write##size(void *at)                                         \
        __attribute__((alias("__tsan_write" #size)));                                              \
    extern "C" void __tsan_volatile_read##size(void *at)                                           \
        __attribute__((alias("__tsan_read" #size)));                                               \
    extern "C" void __tsan_volatile_write##size(void *at)                                          \
        __attribute__((alias("__tsan_write" #size)))
HOOKS(1);
HOOKS(2);
HOOKS(4);
HOOKS(8);
HOOKS(16);
extern "C" void __tsan_read_range(void *at, size_t bytes);
extern "C" void __tsan_read_range(void *at, size_t bytes)
{
    access_bytes(at, bytes, false, __builtin_return_address(0));
}
extern "C" void __tsan_write_range(void *at, size_t bytes);
extern "C" void __tsan_write_range(void *at, size_t bytes)
{
    access_bytes(at, bytes, true, __builtin_return_address(0));
}
extern "C" void __tsan_vptr_update(void **, void *);
extern "C" void __tsan_vptr_update(void **, void *) {}
extern "C" void __tsan_vptr_read(void **);
extern "C" void __tsan_vptr_read(void **) {}
extern "C" void __tsan_init(void);
extern "C" void __tsan_init(void) {}
extern "C" void __tsan_func_entry(void *);
extern "C" void __tsan_func_entry(void *) {}
extern "C" void __tsan_func_exit(void);
extern "C" void __tsan_func_exit(void) {}

#endif
