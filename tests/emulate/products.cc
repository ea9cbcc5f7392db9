/* products.cc - products of a warpgroup (kernels/product/wgmma.cuh) as sm_90a has them: begun by
 * all 128 lanes at one line, done at a moment drawn between that and their wait, read from where
 * their descriptors say. Until a lane has waited, its sums are not a number. */
#include <stdlib.h>
#include <string.h>

#include "device.cuh"
#include "emulate.h"

enum { GROUP = 128, DEEP = 16, ROWS = 64, MOST_COLUMNS = 256, MOST_SUMS = MOST_COLUMNS / 2,
       JOBS = 64, WARPGROUPS = LANES / GROUP, ADDRESS_OF_DYNAMIC = 1024 + 16 };

/* A product on its way. */
struct job {
    struct emulate_product p;
    unsigned group, left; /* lanes that have not waited for it */
    bool done;
};
struct jobs { struct job job[JOBS]; unsigned count; };

/* What a lane has in flight: sums[0 .. count-1], in groups up to `last`. */
struct flight {
    float *sums, value[MOST_SUMS];
    unsigned count, last;
    bool flying, fenced;
    struct emulate_product posted;
};
struct flights { struct flight of[LANES]; struct jobs jobs[WARPGROUPS]; unsigned group[LANES]; };
static struct flights *flights[BLOCKS];

/* Not a number, and one that arithmetic does not leave as it is. */
static const uint32_t POISON = 0x7fa0dead;

void products_begin(unsigned block)
{
    if (flights[block])
        memset(flights[block], 0, sizeof *flights[block]);
}
static struct flights *flights_of(const struct block *b)
{
    if (!flights[b->number])
        flights[b->number] = (struct flights *)calloc(1, sizeof **flights);
    return flights[b->number];
}
static struct flight *my_flight(void)
{
    return &flights_of(emulate.lane->block)->of[emulate.lane->thread];
}

/* --- addresses --- */

uint32_t emulate_shared_address(const void *at)
{
    const struct block *b = emulate.lane->block;
    size_t offset = (size_t)((const unsigned char *)at - (const unsigned char *)b->dynamic);
    if (offset > b->dynamic_bytes)
        emulate_find(FIND_LAUNCH, "the shared address of something that is not DYNAMIC");
    return (uint32_t)offset + ADDRESS_OF_DYNAMIC;
}
static unsigned char *shared_at(const struct block *b, uint32_t address)
{
    size_t offset = (size_t)address - ADDRESS_OF_DYNAMIC;
    return offset + 2 <= b->dynamic_bytes ? (unsigned char *)b->dynamic + offset : NULL;
}

/* Where element (row, k) of an operand stands, as the PTX ISA's canonical layouts have it: in
 * patterns of eight lines, of 16 << swizzle bytes each (T = 8 numbers are 16 bytes). */
static uint32_t element_address(uint64_t descriptor, bool k_fast, uint32_t row, uint32_t k)
{
    static const uint32_t pieces_of[] = {1, 8, 4, 2}; /* of a line, by swizzling: none 128 64 32 */
    uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4;
    uint32_t leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4;
    uint32_t stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4;
    uint32_t pieces = pieces_of[descriptor >> 62], line = pieces * 16, at = start;
    if (k_fast) {
        at += row % 8 * line + row / 8 * stride + k % 8 * 2;
        at += pieces == 1 ? k / 8 * leading : k / 8 * 16;
    } else {
        uint32_t wide = pieces * 8, far = row / wide, deep = k / 8;
        at += row % wide * 2 + k % 8 * line;
        at += pieces == 1 ? far * stride + deep * leading : far * leading + deep * stride;
    }
    return at ^ (at >> 7 & (pieces - 1)) << 4;
}

/* --- doing --- */

static float number_at(const struct block *b, const struct emulate_product *p, bool of_a,
                       uint32_t row, uint32_t k)
{
    uint32_t address = element_address(of_a ? p->a : p->b, of_a ? p->a_fast : p->b_fast, row, k);
    const unsigned char *at = shared_at(b, address);
    uint16_t bits = 0xffff;
    if (at)
        memcpy(&bits, at, sizeof bits);
    return p->bf16 ? to_float(bf16{bits}) : to_float(fp16{bits});
}

static void run_job(const struct block *b, unsigned warpgroup, struct job *j)
{
    static float x[ROWS][DEEP], y[MOST_COLUMNS][DEEP];
    if (j->done)
        return;
    j->done = true;
    for (uint32_t k = 0; k < DEEP; k++) {
        for (uint32_t row = 0; row < ROWS; row++)
            x[row][k] = number_at(b, &j->p, true, row, k);
        for (uint32_t col = 0; col < j->p.columns; col++)
            y[col][k] = number_at(b, &j->p, false, col, k);
    }
    struct flight *all = &flights[b->number]->of[warpgroup * GROUP];
    for (uint32_t t = 0; t < GROUP; t++)
        for (uint32_t i = 0; i < j->p.columns / 2; i++) {
            uint32_t row = t / WARP * 16 + t % WARP / 4 + i / 2 % 2 * 8;
            uint32_t col = i / 4 * 8 + t % 4 * 2 + i % 2;
            for (uint32_t k = 0; k < DEEP; k++)
                all[t].value[i] = fmaf(x[row][k], y[col][k], all[t].value[i]);
        }
}

/* All lanes of the warpgroup have come: it begins, and may be done at once. */
static void meet(struct block *b, unsigned first)
{
    struct flights *f = flights_of(b);
    struct jobs *jobs = &f->jobs[first / GROUP];
    struct job *j = &jobs->job[jobs->count];
    if (jobs->count == JOBS) {
        emulate_find(FIND_LAUNCH, "more than %d products of a warpgroup on their way", JOBS);
        emulate.broken = true;
        return;
    }
    for (unsigned i = first; i < first + GROUP; i++)
        if (memcmp(&f->of[i].posted, &f->of[first].posted, sizeof f->of[i].posted) != 0 ||
            f->group[i] != f->group[first])
            emulate_find(FIND_DIVERGED, "block %u lanes %u and %u begin different products",
                         b->linear, first, i);
    *j = {f->of[first].posted, f->group[first], GROUP, false};
    jobs->count++;
    if (emulate_draw() % 2)
        for (unsigned i = 0; i < jobs->count; i++)
            run_job(b, first / GROUP, &jobs->job[i]);
}

bool products_resolve(struct block *b)
{
    bool moved = false;
    for (unsigned first = 0; first + GROUP <= emulate.block_size; first += GROUP) {
        struct lane *l = &b->lanes[first];
        unsigned here = 0;
        for (unsigned i = 0; i < GROUP; i++)
            here += !l[i].done && l[i].wait == WAIT_WARPGROUP && lanes_agree(&l[i], l);
        if (here < GROUP)
            continue;
        meet(b, first);
        for (unsigned i = 0; i < GROUP; i++)
            l[i].wait = WAIT_NOTHING;
        moved = true;
    }
    return moved;
}

/* --- a lane's side --- */

/* What one product reads: told to the shadow by the first lane of each warp. */
static void each_piece(const struct emulate_product *p, bool begins, const void *code)
{
    const struct lane *l = emulate.lane;
    const uint32_t rows[2] = {ROWS, p->columns};
    if (l->thread % WARP != 0)
        return;
    for (int of_b = 0; of_b < 2; of_b++) {
        bool k_fast = of_b ? p->b_fast : p->a_fast;
        for (uint32_t i = 0; i < rows[of_b] * DEEP; i += 8) {
            uint32_t row = k_fast ? i / DEEP : i % rows[of_b];
            uint32_t k = k_fast ? i % DEEP : i / rows[of_b];
            uint32_t address = element_address(of_b ? p->b : p->a, k_fast, row, k);
            void *at = shared_at(l->block, address), *end = shared_at(l->block, address + 14);
            if (at && end && begins)
                shadow_product_begins(at, 16, code);
            else if (at && end)
                shadow_product_ends(at, 16);
            else if (begins)
                emulate_find(FIND_BOUNDS, "a product reads shared address %u, of %zu bytes DYNAMIC",
                             address, l->block->dynamic_bytes);
        }
    }
}

static void check_descriptor(uint64_t descriptor)
{
    if (descriptor & 0x3fffc000c000c000u)
        emulate_find(FIND_LAUNCH, "a descriptor with bits that have no meaning: %016llx",
                     (unsigned long long)descriptor);
}

void emulate_product_begin(float *sums, const struct emulate_product *p, const char *file, int line)
{
    struct flight *f = my_flight();
    const void *code = __builtin_return_address(0);
    check_descriptor(p->a);
    check_descriptor(p->b);
    if (emulate.block_size % GROUP || p->columns % 8 || p->columns > MOST_COLUMNS) {
        emulate_find(FIND_LAUNCH, "a product of %u columns in a block of %u lanes", p->columns,
                     emulate.block_size);
        return;
    }
    if (!f->flying) {
        if (!f->fenced)
            emulate_find(FIND_EARLY, "block %u lane %u begins a product without wgmma_fence",
                         emulate.lane->block->linear, emulate.lane->thread);
        f->flying = true;
        f->sums = sums;
        f->count = p->columns / 2;
        memcpy(f->value, sums, f->count * sizeof *sums);
        for (unsigned i = 0; i < f->count; i++)
            memcpy(&sums[i], &POISON, sizeof POISON);
    } else if (f->sums != sums || f->count != p->columns / 2) {
        emulate_find(FIND_LAUNCH, "one lane has two sets of sums on their way");
    }
    f->last = flights_of(emulate.lane->block)->group[emulate.lane->thread];
    f->posted = *p;
    each_piece(p, true, code);
    lane_waits(WAIT_WARPGROUP, 0, file, line);
}

void emulate_product_ready(void)
{
    emulate.lane->ready_time = ++emulate.time;
}
void emulate_product_fence(void)
{
    my_flight()->fenced = true;
}
void emulate_product_commit(void)
{
    flights_of(emulate.lane->block)->group[emulate.lane->thread]++;
}

/* The sums are the lane's again: nobody may have touched them meanwhile. */
static void land(struct flight *f)
{
    bool touched = false;
    for (unsigned i = 0; i < f->count; i++)
        touched |= memcmp(&f->sums[i], &POISON, sizeof POISON) != 0;
    if (touched)
        emulate_find(FIND_EARLY, "block %u lane %u touched its sums before wgmma_wait",
                     emulate.lane->block->linear, emulate.lane->thread);
    memcpy(f->sums, f->value, f->count * sizeof *f->sums);
    f->flying = f->fenced = false;
}

void emulate_product_wait(unsigned left)
{
    struct lane *l = emulate.lane;
    struct flights *f = flights_of(l->block);
    struct jobs *jobs = &f->jobs[l->thread / GROUP];
    unsigned kept = 0, open = f->group[l->thread];
    for (unsigned i = 0; i < jobs->count; i++) {
        struct job *j = &jobs->job[i];
        /* those of before are not waited for twice */
        bool complete = j->group + left < open && j->group >= l->products_waited;
        if (complete) {
            run_job(l->block, l->thread / GROUP, j);
            each_piece(&j->p, false, NULL);
            j->left--;
        }
        if (j->left)
            jobs->job[kept++] = *j;
    }
    jobs->count = kept;
    if (open >= left && l->products_waited < open - left)
        l->products_waited = open - left;
    struct flight *mine = &f->of[l->thread];
    if (mine->flying && mine->last + left < open)
        land(mine);
}

void products_end(void)
{
    const struct lane *l = emulate.lane;
    const struct flights *f = flights[l->block->number];
    if (f && f->of[l->thread].flying)
        emulate_find(FIND_EARLY, "block %u lane %u left the kernel before wgmma_wait",
                     l->block->linear, l->thread);
}
