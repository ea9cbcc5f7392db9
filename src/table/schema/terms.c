/* terms.c - see terms.h. */
#include "table/schema/terms.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/rowfmt.h"
#include "table/schema/words.h"

const char *const word_rule_names[] = {"bytes", "unicode", NULL};

static bool in_word(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c > 127;
}

void terms_start(struct terms *t, size_t at, size_t start)
{
    if (at == t->start_room) {
        t->start_room = 2 * t->start_room + 64;
        t->starts = mem_grow(t->starts, t->start_room, sizeof *t->starts);
    }
    t->starts[at] = start;
}

/* --- words, joined; without the blanks if there is no word. Return how many there are. --- */

static bool is_ascii(const char *text, size_t length)
{
    uint64_t all = 0, word;
    size_t i = 0;
    for (; i + sizeof word <= length; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        all |= word;
    }
    for (; i < length; i++)
        all |= (uint64_t)(unsigned char)text[i];
    return !(all & UINT64_C(0x8080808080808080));
}

/* Words of bytes. */
static size_t join_bytes(struct terms *t, const char *text, size_t length)
{
    size_t n = 0, count = 0;
    text_clear(&t->words);
    text_room(&t->words, 2 * length + 2);
    char *to = t->words.data;
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (!in_word(c))
            continue;
        if (i == 0 || !in_word((unsigned char)text[i - 1])) {
            to[n++] = ' ';
            terms_start(t, count++, n);
        }
        to[n++] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    if (n)
        to[n++] = ' ';
    t->words.length = n;
    return count;
}

static size_t join_words(struct terms *t, const char *text, size_t length)
{
    struct word_place w = {0}, before = {0};
    size_t count = 0;
    text_clear(&t->words);
    while (words_next(&w, text, length, false)) {
        const bool joined = count && before.to == w.from && before.kind != WORD_LETTERS &&
                            w.kind != WORD_LETTERS;
        if (!joined)
            text_char(&t->words, ' ');
        terms_start(t, count++, t->words.length);
        words_fold(&t->words, text, &w);
        before = w;
    }
    if (count)
        text_char(&t->words, ' ');
    return count;
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

/* Terms of low to high neighbours among `count` starts. Words end before a blank. */
static void add_runs(struct terms *t, const struct text_options *o, const uint32_t runs[2],
                     size_t count, uint64_t kind, uint32_t most)
{
    const char *bytes = t->words.data;
    for (size_t i = 0; runs[0] && i < count; i++)
        for (size_t n = runs[0]; n <= runs[1] && i + n <= count; n++) {
            size_t behind = i + n < count ? t->starts[i + n] : t->words.length;
            behind -= kind == 0 && bytes[behind - 1] == ' ';
            add_term(t, o->buckets, bytes + t->starts[i], behind - t->starts[i], kind, most);
        }
}

void terms_make(struct terms *t, const struct text_options *o, const char *text, size_t length,
                uint32_t most)
{
    for (uint32_t i = 0; i < t->count; i++) /* in reverse of their coming, so that each is found */
        t->table[place_of(t, TERM_BUCKET(t->items[t->count - 1 - i]))] = 0;
    t->count = 0;
    /* for ASCII both rules agree, and bytes is the faster one */
    size_t count = o->rule == WORDS_BYTES || is_ascii(text, length) ? join_bytes(t, text, length)
                                                                    : join_words(t, text, length);
    if (!count)
        return;
    add_runs(t, o, o->words, count, 0, most);
    count = 0;
    for (size_t i = 0; i < t->words.length && o->chars[0]; i++)
        if (((unsigned char)t->words.data[i] & 0xc0) != 0x80)
            terms_start(t, count++, i);
    add_runs(t, o, o->chars, count, 1, most);
}

void terms_free(struct terms *t)
{
    mem_free(t->items);
    mem_free(t->table);
    text_free(&t->words);
    mem_free(t->starts);
    *t = (struct terms){0};
}
