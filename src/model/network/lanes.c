/* lanes.c - see lanes.h. */
#include "model/network/lanes.h"

#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"

/* The windows of one sequence. */
struct chain {
    uint64_t first, count;
    uint64_t key; /* drawn: the order in a lane, and of equal ones */
    uint32_t lane;
};

uint64_t lanes_chains(const uint32_t *begins, uint64_t count)
{
    uint64_t chains = 0;
    for (uint64_t i = 0; i < count; i++)
        chains += !i || begins[i];
    return chains;
}

uint32_t lanes_most(const uint32_t *begins, uint64_t count)
{
    uint64_t longest = 0, now = 0, chains = lanes_chains(begins, count);
    for (uint64_t i = 0; i < count; i++) {
        now = begins[i] ? 1 : now + 1;
        longest = now > longest ? now : longest;
    }
    uint64_t most = longest ? 2 * ((count + longest - 1) / longest) : 0;
    most = most < chains ? most : chains;
    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}

static struct chain *find_chains(const struct source *from, uint64_t row0, uint64_t rows,
                                 uint64_t count)
{
    struct chain *list = mem_zero(count + 1, sizeof *list);
    uint64_t chains = 0;
    for (uint64_t i = 0; i < rows; i++) {
        if (!i || from->begins[row0 + i]) {
            list[chains] = (struct chain){.first = row0 + i, .key = chains};
            chains++;
        }
        list[chains - 1].count++;
    }
    return list;
}

static int by_key(const void *one, const void *other, const void *context)
{
    const struct chain *a = one, *b = other;
    (void)context;
    return a->key < b->key ? -1 : a->key > b->key;
}
static int by_count(const void *one, const void *other, const void *context)
{
    const struct chain *a = one, *b = other;
    (void)context;
    return a->count > b->count ? -1 : a->count < b->count;
}

/* Deals each sequence to the lane with the fewest windows; load [lanes]: windows of each lane. */
static void deal(struct chain *list, uint64_t count, uint64_t *load, uint32_t lanes)
{
    sort_stable(list, (size_t)count, sizeof *list, by_count, NULL);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t least = 0;
        for (uint32_t k = 1; k < lanes; k++)
            least = load[k] < load[least] ? k : least;
        list[i].lane = least;
        load[least] += list[i].count;
    }
    sort_stable(list, (size_t)count, sizeof *list, by_key, NULL);
}

/* Makes the batches of dealt chains; frees both. */
static void fill(struct lanes *l, const struct source *from, struct chain *list, uint64_t chains,
                 uint64_t *load)
{
    const uint32_t steps = from->steps;
    l->batches = 0;
    for (uint32_t k = 0; k < l->count; k++)
        l->batches = load[k] > l->batches ? load[k] : l->batches;
    const uint64_t slots = l->batches * l->count;
    l->index = mem_alloc(slots * steps + 1, sizeof *l->index);
    l->begins = mem_alloc(slots + 1, sizeof *l->begins);
    l->from = mem_alloc(slots + 1, sizeof *l->from);
    for (uint64_t i = 0; i < slots; i++) {
        l->from[i] = UINT64_MAX;
        l->begins[i] = i < l->count; /* an ended lane keeps its state */
    }
    for (uint64_t i = 0; i < slots * steps; i++)
        l->index[i] = SOURCE_NONE;
    memset(load, 0, l->count * sizeof *load);
    for (uint64_t i = 0; i < chains; i++)
        for (uint64_t k = 0; k < list[i].count; k++) {
            uint64_t slot = load[list[i].lane]++ * l->count + list[i].lane, w = list[i].first + k;
            memcpy(l->index + slot * steps, from->index + w * steps, steps * sizeof *l->index);
            l->begins[slot] = from->begins[w];
            l->from[slot] = w;
        }
    mem_free(list);
    mem_free(load);
}

void lanes_train(struct lanes *l, const struct source *from, uint32_t count, uint64_t seed,
                 uint32_t epoch)
{
    const uint64_t chains = lanes_chains(from->begins, from->count);
    struct chain *list = find_chains(from, 0, from->count, chains);
    uint64_t *load = mem_zero(count, sizeof *load);
    *l = (struct lanes){.count = count};
    for (uint64_t i = 0; i < chains; i++)
        list[i].key = rng_permute(seed, epoch, 0, (uint32_t)chains, (uint32_t)i);
    sort_stable(list, (size_t)chains, sizeof *list, by_key, NULL);
    deal(list, chains, load, count);
    fill(l, from, list, chains, load);
}

void lanes_answer(struct lanes *l, const struct source *from, uint64_t row0, uint64_t rows,
                  uint32_t count)
{
    const uint64_t chains = lanes_chains(from->begins + row0, rows);
    struct chain *list = find_chains(from, row0, rows, chains);
    uint64_t *load = mem_zero(count, sizeof *load);
    *l = (struct lanes){.count = count};
    load[0] = list[0].count + (chains > 1 ? list[chains - 1].count : 0);
    if (chains > 2)
        deal(list + 1, chains - 2, load, count);
    fill(l, from, list, chains, load);
}

void lanes_free(struct lanes *l)
{
    mem_free(l->index);
    mem_free(l->begins);
    mem_free(l->from);
    *l = (struct lanes){.count = 0};
}
