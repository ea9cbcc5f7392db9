/* tokens.c - see tokens.h. */
#include "table/schema/tokens.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "table/schema/words.h"

/* --- WORDS_BYTES --- */

enum kind { LETTER, BLANK, ALONE };

/* Ranges of characters from 128 on, in ascending order. A character in none of them is a letter. */
static const struct {
    uint32_t first, last;
    enum kind kind;
} ranges[] = {
    {0x80, 0xa0, BLANK},       {0xa1, 0xa9, ALONE},       {0xab, 0xac, ALONE},
    {0xad, 0xad, BLANK},       {0xae, 0xb1, ALONE},       {0xb4, 0xb4, ALONE},
    {0xb6, 0xb8, ALONE},       {0xbb, 0xbb, ALONE},       {0xbf, 0xbf, ALONE},
    {0xd7, 0xd7, ALONE},       {0xf7, 0xf7, ALONE},       {0x37e, 0x37e, ALONE},
    {0x387, 0x387, ALONE},     {0x589, 0x58a, ALONE},     {0x5be, 0x5be, ALONE},
    {0x60c, 0x60d, ALONE},     {0x61b, 0x61f, ALONE},     {0x66a, 0x66d, ALONE},
    {0x6d4, 0x6d4, ALONE},     {0x964, 0x965, ALONE},     {0xe01, 0xedf, ALONE},
    {0x1000, 0x109f, ALONE},   {0x1680, 0x1680, BLANK},   {0x1780, 0x17ff, ALONE},
    {0x2000, 0x200f, BLANK},   {0x2010, 0x2027, ALONE},   {0x2028, 0x202f, BLANK},
    {0x2030, 0x205e, ALONE},   {0x205f, 0x206f, BLANK},   {0x207a, 0x207e, ALONE},
    {0x208a, 0x208e, ALONE},   {0x20a0, 0x20cf, ALONE},   {0x2190, 0x2bff, ALONE},
    {0x2e00, 0x2fff, ALONE},   {0x3000, 0x3000, BLANK},   {0x3001, 0x312f, ALONE},
    {0x31a0, 0x9fff, ALONE},   {0xf900, 0xfaff, ALONE},   {0xfe00, 0xfe0f, BLANK},
    {0xfe10, 0xfe1f, ALONE},   {0xfe30, 0xfe6f, ALONE},   {0xfeff, 0xfeff, BLANK},
    {0xff01, 0xff0f, ALONE},   {0xff1a, 0xff20, ALONE},   {0xff3b, 0xff40, ALONE},
    {0xff5b, 0xff9f, ALONE},   {0xffe0, 0xffff, ALONE},   {0x1f000, 0x1faff, ALONE},
    {0x20000, 0x3ffff, ALONE},
};

static enum kind kind_of(uint32_t c)
{
    if (c < 128)
        return c <= ' ' || c == 127                                                     ? BLANK
               : (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? LETTER
                                                                                        : ALONE;
    size_t low = 0, high = sizeof ranges / sizeof *ranges;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].last < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low < sizeof ranges / sizeof *ranges && ranges[low].first <= c ? ranges[low].kind
                                                                          : LETTER;
}

/* The lower case, if it has the same number of bytes. */
static uint32_t lower(uint32_t c)
{
    if ((c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
        (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f))
        return c + 32;
    if (c >= 0x400 && c <= 0x40f)
        return c + 80;
    if ((c >= 0x100 && c <= 0x137 && c != 0x130) || (c >= 0x14a && c <= 0x177))
        return c | 1;
    if ((c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17e))
        return c + (c & 1);
    return c;
}

/* Bytes of the character at the beginning of a text; *c: its code, or a letter if it is no
 * UTF-8. */
static size_t character(const unsigned char *s, size_t length, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc0 ? 2 : 0;
    *c = n < 2 ? s[0] : s[0] & (0xffu >> (n + 1));
    bool good = n > 0 && n <= length && s[0] < 0xf8;
    for (size_t i = 1; good && i < n; i++) {
        good = (s[i] & 0xc0) == 0x80;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    if (good && *c >= least[n])
        return n;
    *c = UINT32_MAX;
    return 1;
}

static size_t put(char *to, uint32_t c, const char *as_is, size_t bytes)
{
    if (c < 0x80) {
        to[0] = (char)c;
    } else if (c < 0x800) {
        to[0] = (char)(0xc0 | c >> 6);
        to[1] = (char)(0x80 | (c & 0x3f));
    } else {
        memcpy(to, as_is, bytes);
    }
    return bytes;
}

static size_t cut_bytes(struct terms *t, const char *text, size_t length)
{
    size_t count = 0, n = 0;
    bool inside = false; /* the last character was of a word */
    text_clear(&t->words);
    text_room(&t->words, length);
    for (size_t i = 0, bytes; i < length; i += bytes) {
        uint32_t c;
        bytes = character((const unsigned char *)text + i, length - i, &c);
        enum kind kind = kind_of(c);
        if (kind == ALONE || (kind == LETTER && !inside))
            terms_start(t, count++, n);
        if (kind != BLANK)
            n += put(t->words.data + n, lower(c), text + i, bytes);
        inside = kind == LETTER;
    }
    t->words.length = n;
    return count;
}

size_t tokens_cut(struct terms *t, int rule, const char *text, size_t length)
{
    size_t count = 0;
    if (rule == WORDS_BYTES) {
        count = cut_bytes(t, text, length);
    } else {
        text_clear(&t->words);
        for (struct word_place w = {0}; words_next(&w, text, length, true);) {
            terms_start(t, count++, t->words.length);
            words_fold(&t->words, text, &w);
        }
    }
    terms_start(t, count, t->words.length);
    return count;
}

size_t tokens_make(struct terms *t, int rule, const struct vocab *v, const char *text,
                   size_t length, uint32_t most)
{
    size_t all = tokens_cut(t, rule, text, length);
    t->count = all < most ? (uint32_t)all : most;
    if (t->count > t->item_room) {
        t->item_room = t->count;
        t->items = mem_grow(t->items, t->item_room, sizeof *t->items);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const size_t at = t->starts[i];
        uint32_t found = vocab_find(v, t->words.data + at, t->starts[i + 1] - at);
        t->items[i] = found == UINT32_MAX ? 1 : (int32_t)found + 2;
    }
    return all;
}
