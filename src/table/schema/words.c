/* words.c - see words.h. */
#include "table/schema/words.h"

#include "base/unicode.h"

/* Scripts without blanks between words, ascending: Thai and Lao; Burmese; Khmer; radicals; numbers
 * and kana of Chinese and Japanese, Bopomofo; Han; Burmese, extended; Han, kana of half width. */
static const uint32_t syllables[][2] = {
    {0xE01, 0xEDF},   {0x1000, 0x109F}, {0x1780, 0x17FF}, {0x2E80, 0x2FDF}, {0x3005, 0x312F},
    {0x31A0, 0x9FFF}, {0xA9E0, 0xA9FF}, {0xAA60, 0xAA7F}, {0xF900, 0xFAFF}, {0xFF66, 0xFF9F},
    {0x1AFF0, 0x1B16F}, {0x20000, 0x3FFFF}};

static bool is_syllable(uint32_t point)
{
    if (point < syllables[0][0])
        return false;
    for (size_t i = 0; i < sizeof syllables / sizeof *syllables; i++)
        if (point <= syllables[i][1])
            return point >= syllables[i][0];
    return false;
}

static bool is_digit_or_letter(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The kind of the word that a character begins. */
static enum word_kind kind_of(uint32_t point, int class, bool points)
{
    switch (class) {
    case UNICODE_LETTER:
        return is_syllable(point) ? WORD_SYLLABLE : WORD_LETTERS;
    case UNICODE_SIGN:
        return WORD_SIGN;
    case UNICODE_POINT:
        return points ? WORD_POINT : WORD_NONE;
    default:
        return WORD_NONE;
    }
}

/* The class of the character at a byte, and its length. */
static int class_at(const char *text, size_t length, uint32_t *point, size_t *bytes)
{
    const unsigned char c = (unsigned char)*text;
    if (c >= 0x80) {
        *bytes = unicode_read(text, length, point);
        return unicode_class(*point);
    }
    *bytes = 1;
    *point = c;
    return is_digit_or_letter(c) ? UNICODE_LETTER
           : c <= ' ' || c == 127 ? UNICODE_BLANK
                                  : UNICODE_POINT;
}

bool words_next(struct word_place *w, const char *text, size_t length, bool points)
{
    uint32_t point;
    size_t bytes, at = w->to;
    w->kind = WORD_NONE;
    for (; at < length && !w->kind; at += bytes) {
        const int class = class_at(text + at, length - at, &point, &bytes);
        w->kind = kind_of(point, class, points);
        w->from = at;
        w->ascii = point < 0x80;
    }
    for (w->to = at; w->to < length && w->kind; w->to += bytes) {
        const int class = class_at(text + w->to, length - w->to, &point, &bytes);
        const bool goes_on = class == UNICODE_LETTER && w->kind == WORD_LETTERS &&
                             !is_syllable(point);
        if (!goes_on && class != UNICODE_MARK && class != UNICODE_NOTHING)
            break;
        w->ascii = w->ascii && point < 0x80;
    }
    return w->kind != WORD_NONE;
}

size_t words_syllables(const char *text, size_t length)
{
    size_t count = 0;
    for (struct word_place w = {0}; words_next(&w, text, length, false);)
        count += w.kind == WORD_SYLLABLE;
    return count;
}

void words_fold(struct text *out, const char *text, const struct word_place *w)
{
    if (!w->ascii) {
        unicode_map(out, text + w->from, w->to - w->from, UNICODE_CASE | UNICODE_CLEAN);
        return;
    }
    const size_t at = out->length;
    text_add(out, text + w->from, w->to - w->from);
    for (size_t i = at; i < out->length; i++)
        if (out->data[i] >= 'A' && out->data[i] <= 'Z')
            out->data[i] = (char)(out->data[i] + 'a' - 'A');
}
