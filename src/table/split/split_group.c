/* split_group.c - method group: all rows of a group go to one part, with parts close to their
 * shares. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "table/split/shares.h"
#include "table/schema/vocab.h"

struct group {
    uint64_t order; /* a hash of key and seed */
    uint32_t id, rows;
};

static int by_order(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct group *a = one, *b = other;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Assigns groups in random order: to validation, then to test, if that brings the part closer to
 * its size. All methods here write part[id]. */
static void fill_parts(const struct shares *s, const struct group *groups, uint32_t count,
                       uint8_t *part)
{
    uint64_t have[PARTS] = {0};
    for (uint32_t g = 0; g < count; g++) {
        uint8_t to = PART_TRAIN;
        for (uint8_t p = PART_VALID; p <= PART_TEST && to == PART_TRAIN; p++)
            if (2 * have[p] + groups[g].rows <= 2 * (uint64_t)s->want[p] && s->want[p])
                to = p;
        part[groups[g].id] = to;
        have[to] += groups[g].rows;
    }
    /* All groups are too large for a part: it gets the smallest one. */
    for (uint8_t p = PART_VALID; p <= PART_TEST; p++) {
        uint32_t smallest = UINT32_MAX, training = 0;
        for (uint32_t g = 0; g < count; g++)
            if (part[groups[g].id] == PART_TRAIN) {
                training++;
                if (smallest == UINT32_MAX || groups[g].rows < groups[smallest].rows)
                    smallest = g;
            }
        if (s->want[p] && !have[p] && training > 1) {
            part[groups[smallest].id] = p;
            have[p] = groups[smallest].rows;
        }
    }
}

static int by_size(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct group *a = one, *b = other;
    return a->rows > b->rows ? -1 : a->rows < b->rows;
}

static double lacking_rows(uint32_t want, uint64_t have)
{
    return (double)want - (double)have;
}

/* d'Hondt quotient: the part with the least of its share comes first. */
static double lacking_share(uint32_t want, uint64_t have)
{
    return (double)want / (double)(have + 1);
}

/* Assigns groups from the largest on to the part with the highest quotient; the last groups go to
 * empty parts. The groups are sorted by size. */
static void deal_groups(const struct shares *s, const struct group *groups, uint32_t count,
                        double (*claim)(uint32_t want, uint64_t have), uint8_t *part)
{
    uint64_t have[PARTS] = {0};
    uint32_t without = parts_wanted(s);
    for (uint32_t g = 0; g < count; g++) {
        int to = -1;
        for (int p = PART_TRAIN; p < PARTS; p++)
            if (s->want[p] && !(have[p] && count - g <= without) &&
                (to < 0 || claim(s->want[p], have[p]) > claim(s->want[to], have[to])))
                to = p;
        part[groups[g].id] = (uint8_t)to;
        without -= !have[to];
        have[to] += groups[g].rows;
    }
}

/* Returns the smallest ratio of assigned to wanted rows of a part; 1 is exact. */
static double least_share(const struct shares *s, const struct group *groups, uint32_t count,
                          const uint8_t *part)
{
    uint64_t have[PARTS] = {0};
    double least = 1;
    for (uint32_t g = 0; g < count; g++)
        have[part[groups[g].id]] += groups[g].rows;
    for (int p = PART_TRAIN; p < PARTS; p++)
        if (s->want[p] && (double)have[p] / s->want[p] < least)
            least = (double)have[p] / s->want[p];
    return least;
}

/* Random assignment, unless a part gets less than half of its rows (few large groups): then by
 * size. If both do, the better one. */
static void deal(const struct shares *s, struct group *groups, uint32_t count, uint8_t *part)
{
    double (*const claims[])(uint32_t want, uint64_t have) = {lacking_rows, lacking_share};
    sort_stable(groups, count, sizeof *groups, by_order, NULL);
    fill_parts(s, groups, count, part);
    double best = least_share(s, groups, count, part);
    if (best >= SPLIT_SHORT || count < parts_wanted(s))
        return;
    uint8_t *other = mem_alloc((size_t)count + 1, 1);
    sort_stable(groups, count, sizeof *groups, by_size, NULL);
    for (size_t i = 0; i < sizeof claims / sizeof *claims && best < SPLIT_SHORT; i++) {
        deal_groups(s, groups, count, claims[i], other);
        double least = least_share(s, groups, count, other);
        if (least > best) {
            best = least;
            memcpy(part, other, count);
        }
    }
    mem_free(other);
}

void split_group(const struct shares *s)
{
    struct vocab *keys = vocab_new();
    uint32_t *id = mem_alloc((size_t)s->count + 1, sizeof *id);
    for (uint32_t i = 0; i < s->count; i++)
        id[i] = vocab_add(keys, (const char *)&s->in->key[s->rows[i]], sizeof *s->in->key);
    uint32_t count = vocab_count(keys);
    struct group *groups = mem_zero((size_t)count + 1, sizeof *groups);
    uint8_t *part = mem_zero((size_t)count + 1, 1);
    for (uint32_t g = 0; g < count; g++)
        groups[g] = (struct group){
            rng_hash(vocab_text(keys, g, NULL), sizeof *s->in->key, s->seed ^ SPLIT_STREAM), g, 0};
    for (uint32_t i = 0; i < s->count; i++)
        groups[id[i]].rows++;
    deal(s, groups, count, part);
    for (uint32_t i = 0; i < s->count; i++)
        s->part[s->rows[i]] = part[id[i]];
    mem_free(id);
    mem_free(groups);
    mem_free(part);
    vocab_free(keys);
}

void split_shared(const struct split_input *in, const uint8_t *part, uint64_t shared[PARTS])
{
    struct vocab *trained = vocab_new();
    for (uint64_t i = 0; i < in->rows; i++)
        if (part[i] == PART_TRAIN)
            vocab_add(trained, (const char *)&in->key[i], sizeof *in->key);
    for (uint64_t i = 0; i < in->rows; i++)
        if (in->fixed && in->fixed[i] && in->key[i])
            shared[part[i]] += vocab_find(trained, (const char *)&in->key[i], sizeof *in->key) !=
                               UINT32_MAX;
    vocab_free(trained);
}
