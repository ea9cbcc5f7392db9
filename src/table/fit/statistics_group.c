/* statistics_group.c - groups of rows with equal keys. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "table/fit/statistics_fit.h"

/* A growing hash table: code to number, in the order of arrival. */
struct meet {
    uint64_t *codes;     /* [count] */
    uint32_t *places, count, mask;
};

static uint32_t slot_of(const struct meet *m, uint64_t code)
{
    uint64_t hash = code * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t at = (uint32_t)(hash >> 32) & m->mask;
    while (m->places[at] != STATISTICS_ABSENT && m->codes[m->places[at]] != code)
        at = (at + 1) & m->mask;
    return at;
}

static void grow(struct meet *m)
{
    m->mask = m->mask ? 2 * m->mask + 1 : 1023;
    mem_free(m->places);
    m->places = mem_alloc((size_t)m->mask + 1, sizeof *m->places);
    memset(m->places, 0xFF, ((size_t)m->mask + 1) * sizeof *m->places);
    m->codes = mem_grow(m->codes, ((size_t)m->mask + 1) / 2, sizeof *m->codes);
    for (uint32_t i = 0; i < m->count; i++)
        m->places[slot_of(m, m->codes[i])] = i;
}

static uint32_t meet(struct meet *m, uint64_t code)
{
    if (2 * (uint64_t)m->count >= m->mask)
        grow(m);
    uint32_t at = slot_of(m, code);
    if (m->places[at] == STATISTICS_ABSENT) {
        m->codes[m->count] = code;
        m->places[at] = m->count++;
    }
    return m->places[at];
}

static int by_code(const void *one, const void *other, const void *context)
{
    const uint64_t *codes = context;
    uint64_t a = codes[*(const uint32_t *)one], b = codes[*(const uint32_t *)other];
    return a < b ? -1 : a > b;
}

static int by_rows(const void *one, const void *other, const void *context)
{
    const uint32_t *rows = context;
    uint32_t a = rows[*(const uint32_t *)one], b = rows[*(const uint32_t *)other];
    return a > b ? -1 : a < b;
}

/* Puts the codes in ascending order, without the rarest of too many. */
static void put_in_order(struct group *g, uint32_t rows)
{
    uint32_t *order = mem_alloc((size_t)g->count + 1, sizeof *order), count = g->count;
    uint32_t *place = mem_alloc((size_t)g->count + 1, sizeof *place);
    uint64_t *codes = mem_alloc((size_t)g->count + 1, sizeof *codes);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    sort_stable(order, count, sizeof *order, by_code, g->codes);
    if (count > STATISTICS_ENTRIES_MOST) {
        uint32_t *met = mem_zero(count, sizeof *met);
        for (uint32_t i = 0; i < rows; i++)
            met[g->of[i]]++;
        sort_stable(order, count, sizeof *order, by_rows, met);
        mem_free(met);
        count = STATISTICS_ENTRIES_MOST;
        sort_stable(order, count, sizeof *order, by_code, g->codes);
    }
    memset(place, 0xFF, ((size_t)g->count + 1) * sizeof *place);
    for (uint32_t i = 0; i < count; i++) {
        codes[i] = g->codes[order[i]];
        place[order[i]] = i;
    }
    for (uint32_t i = 0; i < rows; i++)
        g->of[i] = place[g->of[i]];
    mem_free(order);
    mem_free(place);
    mem_free(g->codes);
    g->codes = codes;
    g->count = count;
}

/* Few codes: a table of all that can be, which are in order at once. */
static void group_direct(struct group *g, const struct statistics_fit *f, uint32_t a, uint32_t b,
                         uint32_t most, uint32_t ids, uint32_t stride)
{
    const uint32_t *one = f->ids[a], *other = b == STATISTICS_ABSENT ? NULL : f->ids[b];
    uint32_t *place = mem_zero((size_t)ids * stride, sizeof *place);
    for (uint32_t i = 0; i < most; i++) {
        uint32_t row = group_row(f, most, i);
        g->of[i] = one[row] * stride + (other ? other[row] : 0);
        place[g->of[i]] = 1;
    }
    for (uint32_t at = 0; at < ids * stride; at++)
        g->count += place[at];
    g->codes = mem_alloc((size_t)g->count + 1, sizeof *g->codes);
    for (uint32_t at = 0, n = 0; at < ids * stride; at++)
        if (place[at]) {
            g->codes[n] = other ? (uint64_t)(at / stride) << 32 | at % stride : at;
            place[at] = n++;
        }
    for (uint32_t i = 0; i < most; i++)
        g->of[i] = place[g->of[i]];
    mem_free(place);
}

struct group group_make(const struct statistics_fit *f, uint32_t a, uint32_t b, uint32_t most,
                        bool ordered)
{
    struct group g = {.of = mem_alloc((size_t)most + 1, sizeof *g.of)};
    const bool pair = b != STATISTICS_ABSENT;
    uint64_t ids = (uint64_t)f->made->keys[a].count + 2;
    uint64_t stride = pair ? (uint64_t)f->made->keys[b].count + 2 : 1;
    if (ids * stride <= STATISTICS_ENTRIES_MOST && ids * stride <= 4 * (uint64_t)most + 1024) {
        group_direct(&g, f, a, b, most, (uint32_t)ids, (uint32_t)stride);
        return g;
    }
    struct meet m = {0};
    for (uint32_t i = 0; i < most; i++) {
        uint32_t row = group_row(f, most, i);
        g.of[i] = meet(&m, pair ? (uint64_t)f->ids[a][row] << 32 | f->ids[b][row] : f->ids[a][row]);
    }
    mem_free(m.places);
    g.codes = m.codes;
    g.count = m.count;
    if (ordered)
        put_in_order(&g, most);
    return g;
}

void group_free(struct group *g)
{
    mem_free(g->of);
    mem_free(g->codes);
}
