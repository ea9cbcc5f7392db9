/* terms.c - see terms.h. */
#include "table/terms.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/rowfmt.h"

static bool in_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c > 127;
}

static void add_start(struct terms *t, size_t *count, size_t at)
{
    if (*count == t->start_room) {
        t->start_room = 2 * t->start_room + 64;
        t->starts = mem_grow(t->starts, t->start_room, sizeof *t->starts);
    }
    t->starts[(*count)++] = at;
}

/* Writes " word word ... " to bytes, without the blanks if there is no word. Returns its length. */
static size_t join_words(struct terms *t, const char *text, size_t length)
{
    size_t n = 0;
    if (2 * length + 2 > t->byte_room) {
        t->byte_room = 2 * length + 2;
        t->bytes = mem_grow(t->bytes, t->byte_room, 1);
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!in_word(c))
            continue;
        if (i == 0 || !in_word((unsigned char)text[i - 1]))
            t->bytes[n++] = ' ';
        t->bytes[n++] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    if (n)
        t->bytes[n++] = ' ';
    return n;
}

/* The place of a bucket in the table: its own, or the free one for it. */
static uint32_t place_of(const struct terms *t, uint32_t bucket)
{
    uint32_t mask = t->table_room - 1, at = bucket * 0x9E3779B1u & mask;
    while (t->table[at] && TERM_BUCKET(t->items[t->table[at] - 1]) != bucket)
        at = (at + 1) & mask;
    return at;
}

static void grow(struct terms *t)
{
    t->item_room = 2 * t->item_room + 64;
    t->items = mem_grow(t->items, t->item_room, sizeof *t->items);
    t->table_room = t->table_room ? 4 * t->table_room : 256;
    mem_free(t->table);
    t->table = mem_zero(t->table_room, sizeof *t->table);
    for (uint32_t i = 0; i < t->count; i++)
        t->table[place_of(t, TERM_BUCKET(t->items[i]))] = i + 1;
}

static void add_term(struct terms *t, uint32_t buckets, const char *bytes, size_t length,
                     uint64_t kind, uint32_t most)
{
    uint64_t hash = rng_hash(bytes, length, kind);
    uint32_t bucket = (uint32_t)((hash >> 1) % buckets);
    int32_t sign = hash & 1 ? -1 : 1;
    if (t->count == t->item_room)
        grow(t);
    uint32_t at = place_of(t, bucket);
    if (t->table[at]) {
        int32_t *item = &t->items[t->table[at] - 1], count = TERM_COUNT(*item) + sign;
        if (count <= TERM_COUNT_MOST && count >= -TERM_COUNT_MOST)
            *item = term_make(bucket, count);
    } else if (t->count < most) {
        t->items[t->count++] = term_make(bucket, sign);
        t->table[at] = t->count;
    }
}

/* Terms of low to high neighbours among `count` starts; the last one ends at `end`. A word ends a
 * byte before the next start. */
static void add_runs(struct terms *t, const struct text_options *o, const uint32_t runs[2],
                     size_t count, size_t end, uint64_t kind, uint32_t most)
{
    size_t gap = kind == 0;
    for (size_t i = 0; runs[0] && i < count; i++)
        for (size_t n = runs[0]; n <= runs[1] && i + n <= count; n++) {
            size_t behind = i + n < count ? t->starts[i + n] - gap : end;
            add_term(t, o->buckets, t->bytes + t->starts[i], behind - t->starts[i], kind, most);
        }
}

void terms_make(struct terms *t, const struct text_options *o, const char *text, size_t length,
                uint32_t most)
{
    for (uint32_t i = 0; i < t->count; i++) /* in reverse of their coming, so that each is found */
        t->table[place_of(t, TERM_BUCKET(t->items[t->count - 1 - i]))] = 0;
    t->count = 0;
    size_t bytes = join_words(t, text, length), count = 0;
    if (!bytes)
        return;
    for (size_t i = 1; i + 1 < bytes; i++)
        if (t->bytes[i - 1] == ' ')
            add_start(t, &count, i);
    add_runs(t, o, o->words, count, bytes - 1, 0, most);
    count = 0;
    for (size_t i = 0; i < bytes && o->chars[0]; i++)
        if (((unsigned char)t->bytes[i] & 0xc0) != 0x80)
            add_start(t, &count, i);
    add_runs(t, o, o->chars, count, bytes, 1, most);
}

void terms_free(struct terms *t)
{
    mem_free(t->items);
    mem_free(t->table);
    mem_free(t->bytes);
    mem_free(t->starts);
    *t = (struct terms){0};
}
