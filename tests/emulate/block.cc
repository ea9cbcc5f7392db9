/* block.cc - who runs when: the lanes of the blocks alive, pass by pass, each until its next
 * collective, which is resolved when all it names have come to the same line. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.cuh"
#include "emulate.h"

struct emulate_state emulate;
struct emulate_place emulate_here;
struct emulate_counts emulate_counts;

/* Kept from launch to launch: stacks are dear. */
static struct lane *lanes_of[BLOCKS];
static struct block blocks[BLOCKS];
static struct block *alive[BLOCKS];
static unsigned alive_count;
static const struct emulate_launch *running;

static const char *const wait_names[] = {
    "nothing", "sync_warp", "shuffle", "shuffle_xor", "shuffle_down", "ballot", "exchange",
    "wgmma", "sync_block", "sync_cluster", "sync_grid", "spin_until"};

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

static void lane_body(void)
{
    fibre_arrived();
    running->call(running->kernel, running->arguments);
    struct lane *l = emulate.lane;
    if (l->pending_count) {
        emulate_find(FIND_EARLY, "block %u lane %u left the kernel with %u copies not waited for",
                     l->block->linear, l->thread, l->pending_count);
        emulate_copy_wait(0);
    }
    products_end();
    l->done = true;
    l->block->left--;
    fibre_leave(&l->fibre);
}

static void run_lane(struct lane *l)
{
    const struct block *b = l->block;
    emulate.lane = l;
    emulate_here = {l->thread, emulate.block_size, {b->x, b->y, b->z},
                    {emulate.grid[0], emulate.grid[1], emulate.grid[2]}};
    fibre_enter(&l->fibre);
    emulate.lane = NULL;
}

/* --- collectives: the lane's side --- */

void lane_waits(enum wait_kind kind, unsigned mask, const char *file, int line)
{
    struct lane *l = emulate.lane;
    l->wait = kind;
    l->mask = mask;
    l->file = file;
    l->line = line;
    emulate_counts.collectives++;
    fibre_leave(&l->fibre);
}

void emulate_sync_warp(unsigned mask, const char *file, int line)
{
    lane_waits(WAIT_WARP, mask, file, line);
}
void emulate_sync_block(const char *file, int line)
{
    lane_waits(WAIT_BLOCK, 0, file, line);
}
void emulate_sync_cluster(const char *file, int line)
{
    lane_waits(WAIT_CLUSTER, 0, file, line);
}
void emulate_sync_grid(const char *file, int line)
{
    lane_waits(WAIT_GRID, 0, file, line);
}

uint64_t emulate_shuffle(enum emulate_shuffle kind, unsigned mask, uint64_t v, int parameter,
                         const char *file, int line)
{
    static const enum wait_kind kinds[] = {WAIT_SHUFFLE, WAIT_XOR, WAIT_DOWN, WAIT_BALLOT};
    struct lane *l = emulate.lane;
    l->value = v;
    l->parameter = parameter;
    lane_waits(kinds[kind], mask, file, line);
    return l->value;
}

void emulate_exchange(const void *mine, size_t bytes, const char *file, int line)
{
    struct lane *l = emulate.lane;
    if (bytes > EXCHANGE_BYTES)
        abort();
    memcpy(l->posted[++l->exchanges & 1], mine, bytes);
    lane_waits(WAIT_EXCHANGE, FULL_WARP, file, line);
}
const void *emulate_exchanged(unsigned lane)
{
    struct lane *l = emulate.lane;
    return l->block->lanes[l->thread / WARP * WARP + lane].posted[l->exchanges & 1];
}

void emulate_publish(uint32_t *flag, uint32_t value)
{
    shadow_publish(flag);
    *flag = value;
}
void emulate_spin_until(const uint32_t *flag, uint32_t value, const char *file, int line)
{
    struct lane *l = emulate.lane;
    l->flag = flag;
    l->value = value;
    lane_waits(WAIT_FLAG, 0, file, line);
    shadow_receive(flag);
}
uint32_t emulate_arrive(uint32_t *counter)
{
    shadow_receive(counter);
    shadow_publish(counter);
    return (*counter)++;
}

void *emulate_shared(const void *site, const char *name, size_t bytes)
{
    struct block *b = emulate.lane->block;
    for (unsigned i = 0; i < b->site_count; i++)
        if (b->sites[i].key == site)
            return b->sites[i].at;
    size_t used = b->shared_used + (bytes + 15) / 16 * 16;
    if (b->site_count == 32 || used > SHARED_STATIC_MOST) {
        emulate_find(FIND_LAUNCH, "SHARED %s: %zu bytes are more than a block has without asking",
                     name, used);
        abort();
    }
    if (used > running->beside)
        emulate_find(FIND_LAUNCH, "SHARED %s: %zu bytes beside DYNAMIC: not asked for", name, used);
    /* a forbidden gap behind each array, which a device does not have and its limit does not count
     */
    void *at = b->shared + b->shared_used + (size_t)b->site_count * 64;
    b->sites[b->site_count++] = {site, name, at, bytes};
    b->shared_used = used;
    memory_allow(at, bytes);
    return at;
}
void *emulate_dynamic(void)
{
    return emulate.lane->block->dynamic;
}

/* --- resolving --- */

bool lanes_agree(const struct lane *a, const struct lane *b)
{
    return a->wait == b->wait && a->line == b->line && a->mask == b->mask &&
           strcmp(a->file, b->file) == 0;
}

static uint64_t answer_of(const struct lane *l, const struct lane *warp, const uint64_t *posted)
{
    int from = (int)(l->thread % WARP);
    if (l->wait == WAIT_BALLOT) {
        uint64_t bits = 0;
        for (int i = 0; i < WARP; i++)
            if (l->mask >> i & 1 && posted[i])
                bits |= 1u << i;
        return bits;
    }
    if (l->wait == WAIT_SHUFFLE)
        from = l->parameter & 31;
    else if (l->wait == WAIT_XOR)
        from ^= l->parameter & 31;
    else if (l->wait == WAIT_DOWN && from + l->parameter < WARP)
        from += l->parameter;
    if (!(l->mask >> from & 1)) {
        emulate_find(FIND_LAUNCH, "%s:%d: lane %u asks lane %d, which is not in mask %08x",
                     base_name(l->file), l->line, warp[0].thread + l->thread % WARP, from, l->mask);
        return 0xdeadbeefdeadbeefu;
    }
    return posted[from];
}

/* All lanes the mask of `first` names have come: true and they go on. */
static bool resolve_warp(struct lane *warp, struct lane *first)
{
    unsigned mask = first->mask;
    if (!(mask >> first->thread % WARP & 1)) {
        emulate_find(FIND_LAUNCH, "%s:%d: lane %u is not in its own mask %08x",
                     base_name(first->file), first->line, first->thread, mask);
        emulate.broken = true;
        return false;
    }
    for (unsigned i = 0; i < WARP; i++)
        if (mask >> i & 1 && (warp[i].done || !lanes_agree(&warp[i], first)))
            return false;
    uint64_t posted[WARP];
    for (unsigned i = 0; i < WARP; i++)
        posted[i] = warp[i].value;
    emulate.time++;
    for (unsigned i = 0; i < WARP; i++)
        if (mask >> i & 1) {
            if (first->wait != WAIT_WARP && first->wait != WAIT_EXCHANGE)
                warp[i].value = answer_of(&warp[i], warp, posted);
            warp[i].warp_time = emulate.time;
            warp[i].warp_mask = mask;
        }
    for (unsigned i = 0; i < WARP; i++)
        if (mask >> i & 1)
            warp[i].wait = WAIT_NOTHING;
    return true;
}

static bool resolve_warps(struct block *b)
{
    bool moved = false;
    for (unsigned w = 0; w < emulate.block_size; w += WARP)
        for (unsigned i = w; i < w + WARP; i++) {
            struct lane *l = &b->lanes[i];
            if (!l->done && l->wait >= WAIT_WARP && l->wait <= WAIT_EXCHANGE)
                moved |= resolve_warp(&b->lanes[w], l);
            if (emulate.broken)
                return false;
        }
    return moved;
}

/* All lanes of those blocks wait at the same line of that kind: they go on. */
static bool resolve_meeting(struct block *const *who, unsigned count, enum wait_kind kind)
{
    const struct lane *first = &who[0]->lanes[0];
    for (unsigned k = 0; k < count; k++)
        for (unsigned i = 0; i < emulate.block_size; i++) {
            const struct lane *l = &who[k]->lanes[i];
            if (l->done || l->wait != kind || !lanes_agree(l, first))
                return false;
        }
    emulate.time++;
    for (unsigned k = 0; k < count; k++) {
        who[k]->block_time = emulate.time;
        if (kind == WAIT_CLUSTER)
            who[k]->cluster_time = emulate.time;
        if (kind == WAIT_GRID)
            who[k]->grid_time = emulate.time;
        for (unsigned i = 0; i < emulate.block_size; i++) {
            who[k]->lanes[i].wait = WAIT_NOTHING;
            who[k]->lanes[i].ready_known = who[k]->lanes[i].ready_time;
        }
    }
    shadow_meet(who, count);
    return true;
}

static bool resolve(void)
{
    bool moved = false;
    for (unsigned k = 0; k < alive_count && !emulate.broken; k++) {
        struct block *b = alive[k];
        moved |= resolve_warps(b);
        moved |= products_resolve(b);
        moved |= resolve_meeting(&alive[k], 1, WAIT_BLOCK);
        for (unsigned i = 0; i < emulate.block_size; i++)
            if (b->lanes[i].wait == WAIT_FLAG && *b->lanes[i].flag >= b->lanes[i].value) {
                b->lanes[i].wait = WAIT_NOTHING;
                moved = true;
            }
    }
    unsigned cluster = running->cluster ? running->cluster : 1;
    for (unsigned k = 0; k + cluster <= alive_count; k += cluster)
        moved |= resolve_meeting(&alive[k], cluster, WAIT_CLUSTER);
    if (running->together)
        moved |= resolve_meeting(alive, alive_count, WAIT_GRID);
    return moved;
}

/* Nobody can go on: says which two lanes disagree. */
static void explain(void)
{
    const struct lane *stuck = NULL, *other = NULL;
    for (unsigned k = 0; k < alive_count && !stuck; k++)
        for (unsigned i = 0; i < emulate.block_size && !stuck; i++)
            if (!alive[k]->lanes[i].done && alive[k]->lanes[i].wait != WAIT_FLAG)
                stuck = &alive[k]->lanes[i];
    for (unsigned k = 0; k < alive_count && !stuck; k++)
        for (unsigned i = 0; i < emulate.block_size && !stuck; i++)
            if (!alive[k]->lanes[i].done)
                stuck = &alive[k]->lanes[i];
    if (!stuck)
        return;
    bool warp = stuck->wait <= WAIT_EXCHANGE;
    bool block = stuck->wait == WAIT_BLOCK || stuck->wait == WAIT_WARPGROUP;
    for (unsigned k = 0; k < alive_count && !other; k++)
        for (unsigned i = 0; i < emulate.block_size && !other; i++) {
            const struct lane *l = &alive[k]->lanes[i];
            bool named = warp ? l->block == stuck->block && l->thread / WARP == stuck->thread / WARP
                                    && (stuck->mask >> l->thread % WARP & 1)
                         : block ? l->block == stuck->block : true;
            if (named && (l->done || !lanes_agree(l, stuck)))
                other = l;
        }
    char end[160] = "nobody else is left";
    if (other && other->done)
        snprintf(end, sizeof end, "block %u lane %u has left the kernel", other->block->linear,
                 other->thread);
    else if (other)
        snprintf(end, sizeof end, "block %u lane %u waits at %s %s:%d", other->block->linear,
                 other->thread, wait_names[other->wait], base_name(other->file), other->line);
    emulate_find(FIND_DIVERGED, "block %u lane %u waits at %s %s:%d, %s", stuck->block->linear,
                 stuck->thread, wait_names[stuck->wait], base_name(stuck->file), stuck->line, end);
}

/* --- running --- */

/* 0 .. count-1 in this order's turn. */
static void order_of(unsigned *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        list[i] = emulate.order == ORDER_DOWN ? count - 1 - i : i;
    if (emulate.order < ORDER_SEEDED)
        return;
    for (unsigned i = count; i > 1; i--) {
        unsigned j = emulate_draw() % i, t = list[j];
        list[j] = list[i - 1];
        list[i - 1] = t;
    }
}

static bool run_alive(void)
{
    static unsigned turn[BLOCKS * LANES];
    unsigned total = alive_count * emulate.block_size;
    order_of(turn, total);
    for (;;) {
        bool moved = false, left = false;
        for (unsigned i = 0; i < total && !emulate.broken; i++) {
            struct lane *l =
                &alive[turn[i] / emulate.block_size]->lanes[turn[i] % emulate.block_size];
            if (l->done)
                continue;
            left = true;
            /* in the seeded orders some lanes fall behind for a pass */
            if (l->wait != WAIT_NOTHING)
                continue;
            if (emulate.order >= ORDER_SEEDED && emulate_draw() % 8 == 0) {
                moved = true;
                continue;
            }
            run_lane(l);
            moved = true;
        }
        if (!left)
            return true;
        moved |= resolve();
        if (!moved)
            explain();
        if (emulate.broken || !moved)
            return false;
    }
}

static void begin_block(unsigned number, const unsigned at[3], unsigned linear, size_t bytes)
{
    struct block *b = &blocks[number];
    if (!lanes_of[number])
        lanes_of[number] = (struct lane *)calloc(LANES, sizeof(struct lane));
    struct received *received = b->received;
    for (unsigned i = 0; i < b->site_count; i++)
        memory_forbid(b->sites[i].at, b->sites[i].bytes);
    if (b->dynamic)
        memory_forbid(b->dynamic, b->dynamic_bytes);
    *b = block{};
    b->received = received;
    b->x = at[0];
    b->y = at[1];
    b->z = at[2];
    b->number = number;
    b->linear = linear;
    b->lanes = lanes_of[number];
    b->left = emulate.block_size;
    b->shared = memory_shared(number);
    if (bytes) {
        b->dynamic = b->shared + SHARED_STATIC_MOST + 64 * 32;
        b->dynamic_bytes = bytes;
        memory_allow(b->dynamic, bytes);
    }
    for (unsigned i = 0; i < emulate.block_size; i++) {
        struct lane *l = &b->lanes[i];
        struct fibre kept = l->fibre;
        struct received *heard = l->received;
        memset(l, 0, offsetof(struct lane, posted));
        l->exchanges = l->pending_count = l->open_group = l->products_waited = 0;
        l->ready_time = l->ready_known = 0;
        l->fibre = kept;
        l->received = heard;
        l->block = b;
        l->thread = i;
        l->index = linear * emulate.block_size + i;
        fibre_begin(&l->fibre, lane_body);
    }
    products_begin(number);
    alive[alive_count++] = b;
}

/* A lane that ran into its guard page, a host that touched hidden memory: says so, and dies of it
 * as before. */
static void on_bad_address(int number, siginfo_t *info, void *)
{
    const char *text = NULL;
    if (emulate.lane && fibre_guard_hit(&emulate.lane->fibre, info->si_addr))
        text = "emulator: a lane's stack overflowed\n";
    else if (!emulate.lane && memory_is_hidden(info->si_addr))
        text = "emulator: the host touched device memory\n";
    if (text && write(2, text, strlen(text)) < 0)
        _exit(3);
    signal(number, SIG_DFL);
}
void emulate_watch(void)
{
#if !defined(__SANITIZE_ADDRESS__) /* which says it itself */
    static char room[16384];
    static bool watching;
    if (watching)
        return;
    watching = true;
    stack_t stack = {};
    stack.ss_sp = room;
    stack.ss_size = sizeof room;
    struct sigaction action = {};
    action.sa_sigaction = on_bad_address;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
#else
    (void)on_bad_address;
#endif
}

static unsigned some; /* 0: all */
void emulate_some(unsigned count)
{
    some = count;
}

bool emulate_run(const struct emulate_launch *l)
{
    uint64_t all = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    unsigned count = (unsigned)all, group = l->together ? count : l->cluster ? l->cluster : 1;
    bool fits = all && all == count && l->grid[0] <= INT32_MAX && l->grid[1] <= GRID_MOST &&
                l->grid[2] <= GRID_MOST;
    if (!fits || group > BLOCKS || l->block[1] != 1 || l->block[2] != 1 || l->block[0] % WARP ||
        l->block[0] > LANES || count % group) {
        emulate_find(FIND_LAUNCH, "%s: %u x %u x %u blocks of %u lanes, %u alive together", l->name,
                     l->grid[0], l->grid[1], l->grid[2], l->block[0], group);
        return false;
    }
    emulate_watch();
    running = l;
    emulate.kernel = l->name;
    emulate.block_size = l->block[0];
    emulate.cluster = l->cluster;
    memcpy(emulate.grid, l->grid, sizeof emulate.grid);
    emulate.begin = ++emulate.time;
    emulate.broken = false;
    emulate_counts.launches++;
    shadow_begin();
    memory_open();
    unsigned groups = count / group, left_out = 0;
    if (some && groups > 2 * some) { /* the last of them stand where they would */
        left_out = groups - 2 * some;
        groups = 2 * some;
    }
    unsigned *turn = (unsigned *)malloc(groups * sizeof *turn);
    order_of(turn, groups);
    bool whole = true;
    for (unsigned g = 0; g < groups && whole; g++) {
        turn[g] += turn[g] >= some ? left_out : 0;
        alive_count = 0;
        for (unsigned k = 0; k < group; k++) {
            unsigned linear = turn[g] * group + k;
            const unsigned at[3] = {linear % l->grid[0], linear / l->grid[0] % l->grid[1],
                                    linear / l->grid[0] / l->grid[1]};
            begin_block(k, at, linear, l->bytes);
        }
        whole = run_alive();
    }
    free(turn);
    memory_close();
    emulate.kernel = NULL;
    emulate.lane = NULL;
    return whole;
}
