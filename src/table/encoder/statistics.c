/* statistics.c - see statistics.h: ids of values, and the entries of keys. */
#include "table/encoder/statistics.h"

#include <string.h>

#include "base/mem.h"
#include "table/schema/record.h"

enum {
    BLOCK = 256,         /* records looked up together */
    DIRECT_MOST = 65536, /* codes of a table without hashing */
};

struct statistics *statistics_new(uint32_t keys, uint32_t tables)
{
    struct statistics *s = mem_zero(1, sizeof *s);
    s->keys = mem_zero((size_t)keys + 1, sizeof *s->keys);
    s->tables = mem_zero((size_t)tables + 1, sizeof *s->tables);
    s->key_count = keys;
    s->table_count = tables;
    return s;
}

void statistics_free(struct statistics *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->key_count; i++)
        mem_free(s->keys[i].values);
    for (uint32_t i = 0; i < s->table_count; i++) {
        mem_free(s->tables[i].codes);
        mem_free(s->tables[i].values);
        mem_free(s->tables[i].places);
    }
    mem_free(s->keys);
    mem_free(s->tables);
    mem_free(s);
}

void statistics_layout(struct statistics *s)
{
    s->numbers = 0;
    for (uint32_t i = 0; i < s->table_count; i++) {
        s->tables[i].first = s->numbers;
        s->numbers += statistic_width(&s->tables[i]);
    }
}

/* --- from codes to entries --- */

static uint32_t hash_of(uint64_t code)
{
    code *= UINT64_C(0x9E3779B97F4A7C15);
    return (uint32_t)(code >> 32) ^ (uint32_t)(code >> 11);
}

static uint32_t entry_of(const struct statistic_table *t, uint32_t a, uint32_t b)
{
    if (!t->mask)
        return t->places[a * t->stride + b];
    const uint64_t code = (uint64_t)a << 32 | b;
    for (uint32_t at = hash_of(code) & t->mask;; at = (at + 1) & t->mask)
        if (t->places[at] == STATISTICS_ABSENT || t->codes[t->places[at]] == code)
            return t->places[at];
}

static void index_table(const struct statistics *s, struct statistic_table *t)
{
    bool pair = t->keys[1] != STATISTICS_ABSENT;
    uint64_t ids = (uint64_t)s->keys[t->keys[0]].count + 2;
    t->stride = pair ? s->keys[t->keys[1]].count + 2 : 1;
    uint64_t codes = ids * t->stride, room = 4;
    bool direct = !pair || codes <= DIRECT_MOST;
    while (!direct && room < 2 * (uint64_t)t->count)
        room *= 2;
    room = direct ? codes : room;
    t->mask = direct ? 0 : (uint32_t)room - 1;
    mem_free(t->places);
    t->places = mem_alloc(room, sizeof *t->places);
    memset(t->places, 0xFF, room * sizeof *t->places);
    for (uint32_t i = 0; i < t->count; i++) {
        uint64_t code = t->codes[i];
        uint32_t at = direct ? pair ? (uint32_t)(code >> 32) * t->stride + (uint32_t)code
                                    : (uint32_t)code
                             : hash_of(code) & t->mask;
        while (!direct && t->places[at] != STATISTICS_ABSENT)
            at = (at + 1) & t->mask;
        t->places[at] = i;
    }
}

void statistics_index(struct statistics *s)
{
    for (uint32_t i = 0; i < s->table_count; i++)
        index_table(s, &s->tables[i]);
}

/* --- records --- */

uint32_t statistic_id(const struct statistic_key *k, float v)
{
    const float *from = k->values;
    if (v != v)
        return 0;
    for (uint32_t left = k->count; left > 1;) {
        uint32_t half = left / 2;
        from = from[half] <= v ? from + half : from;
        left -= half;
    }
    return k->count && !(*from < v) && !(*from > v) ? (uint32_t)(from - k->values) + 2 : 1;
}

static void read_ids(const struct statistic_key *k, const struct rowfmt *f,
                     const unsigned char *records, size_t count, uint32_t *ids)
{
    const unsigned char *at = records + (k->number ? 0 : f->at_category) + 4 * (size_t)k->slot;
    for (size_t i = 0; i < count; i++, at += f->stride) {
        float v;
        memcpy(&ids[i], at, sizeof *ids);
        memcpy(&v, at, sizeof v);
        ids[i] = k->number ? statistic_id(k, v) : ids[i] < k->count + 2 ? ids[i] : 1;
    }
}

static void fill(const struct statistics *s, const struct statistic_table *t, size_t stride,
                 const uint32_t *a, const uint32_t *b, unsigned char *records, size_t count)
{
    const size_t width = statistic_width(t);
    unsigned char *at = records + 4 * ((size_t)s->first + t->first);
    for (size_t i = 0; i < count; i++, at += stride) {
        uint32_t entry = t->stride == 1 && !t->mask ? t->places[a[i]] : entry_of(t, a[i], b[i]);
        if (entry == STATISTICS_ABSENT)
            memset(at, 0, width * sizeof(float));
        else
            memcpy(at, t->values + entry * width, width * sizeof(float));
    }
}

void statistics_apply(const struct statistics *s, const struct rowfmt *f, unsigned char *records,
                      size_t count)
{
    uint32_t *ids = mem_alloc((size_t)s->key_count * BLOCK + 1, sizeof *ids);
    for (size_t done = 0; done < count; done += BLOCK) {
        size_t rows = count - done < BLOCK ? count - done : BLOCK;
        unsigned char *block = records + done * f->stride;
        for (uint32_t k = 0; k < s->key_count; k++)
            read_ids(&s->keys[k], f, block, rows, ids + (size_t)k * BLOCK);
        for (uint32_t i = 0; i < s->table_count; i++) {
            const struct statistic_table *t = &s->tables[i];
            const uint32_t *a = ids + (size_t)t->keys[0] * BLOCK;
            const uint32_t *b = t->keys[1] == STATISTICS_ABSENT ? a
                                                                : ids + (size_t)t->keys[1] * BLOCK;
            fill(s, t, f->stride, a, b, block, rows);
        }
    }
    mem_free(ids);
}
