/* unicode.c - see unicode.h. Sources: Unicode Standard Annex 15 (composition), chapter 3.13 of the
 * Unicode standard (case folding). */
#include "base/unicode.h"

#include <string.h>
#include <utf8proc.h>

#include "base/mem.h"

/* The class of each utf8proc category; categories not named are signs. */
static const unsigned char classes[] = {
    [UTF8PROC_CATEGORY_LU] = UNICODE_LETTER, [UTF8PROC_CATEGORY_LL] = UNICODE_LETTER,
    [UTF8PROC_CATEGORY_LT] = UNICODE_LETTER, [UTF8PROC_CATEGORY_LM] = UNICODE_LETTER,
    [UTF8PROC_CATEGORY_LO] = UNICODE_LETTER, [UTF8PROC_CATEGORY_ND] = UNICODE_LETTER,
    [UTF8PROC_CATEGORY_NL] = UNICODE_LETTER, [UTF8PROC_CATEGORY_NO] = UNICODE_LETTER,
    [UTF8PROC_CATEGORY_MN] = UNICODE_MARK,   [UTF8PROC_CATEGORY_MC] = UNICODE_MARK,
    [UTF8PROC_CATEGORY_ME] = UNICODE_MARK,   [UTF8PROC_CATEGORY_ZS] = UNICODE_BLANK,
    [UTF8PROC_CATEGORY_ZL] = UNICODE_BLANK,  [UTF8PROC_CATEGORY_ZP] = UNICODE_BLANK,
    [UTF8PROC_CATEGORY_CC] = UNICODE_BLANK,  [UTF8PROC_CATEGORY_PC] = UNICODE_POINT,
    [UTF8PROC_CATEGORY_PD] = UNICODE_POINT,  [UTF8PROC_CATEGORY_PS] = UNICODE_POINT,
    [UTF8PROC_CATEGORY_PE] = UNICODE_POINT,  [UTF8PROC_CATEGORY_PI] = UNICODE_POINT,
    [UTF8PROC_CATEGORY_PF] = UNICODE_POINT,  [UTF8PROC_CATEGORY_PO] = UNICODE_POINT,
    [UTF8PROC_CATEGORY_SK] = UNICODE_POINT,  [UTF8PROC_CATEGORY_CF] = UNICODE_NOTHING};

int unicode_class(uint32_t point)
{
    if ((point >= 0xFE00 && point <= 0xFE0F) || (point >= 0xE0100 && point <= 0xE01EF))
        return UNICODE_NOTHING;
    if (point == 0x200B)
        return UNICODE_BLANK;
    if (point > 0x10FFFF)
        return UNICODE_LETTER;
    const size_t category = (size_t)utf8proc_category((int32_t)point);
    const int class = category < sizeof classes ? classes[category] : UNICODE_SIGN;
    return class == UNICODE_SIGN && point < 0x80 ? UNICODE_POINT : class;
}

size_t unicode_read(const char *text, size_t length, uint32_t *point)
{
    int32_t read;
    const utf8proc_ssize_t n =
        utf8proc_iterate((const uint8_t *)text, (utf8proc_ssize_t)length, &read);
    *point = n > 0 ? (uint32_t)read : UINT32_MAX;
    return n > 0 ? (size_t)n : 1;
}

/* --- mapping --- */

enum { POINTS = 128, GROWTH = 8 }; /* on the stack; of a character by decomposition, at most */
/* A byte that is no UTF-8, as a half of a surrogate pair, which is no character. */
enum { RAW_BYTE = 0xDC00 };

static bool is_mark_of_accent(int32_t point)
{
    return point >= 0x300 && point <= 0x36F;
}

/* Letters with a bar or without a dot, which Unicode does not decompose. */
static int32_t without_bar(int32_t point)
{
    static const char bars[][2] = {{0x11, 'd'}, {0x27, 'h'}, {0x31, 'i'}, {0x42, 'l'}, {0x67, 't'}};
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        if (point == 0x100 + bars[i][0])
            return bars[i][1];
    return point;
}

static size_t decompose(const char *text, size_t length, unsigned how, int32_t *to, size_t room)
{
    const utf8proc_option_t options =
        UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (how & UNICODE_CASE ? UTF8PROC_CASEFOLD : 0);
    size_t count = 0;
    for (size_t at = 0, n; at < length; at += n) {
        uint32_t point;
        int bound = 0;
        n = unicode_read(text + at, length - at, &point);
        if (point == UINT32_MAX)
            to[count++] = RAW_BYTE | (unsigned char)text[at];
        else if (!(how & UNICODE_CLEAN) || unicode_class(point) != UNICODE_NOTHING)
            count += (size_t)utf8proc_decompose_char((int32_t)point, to + count,
                                                     (utf8proc_ssize_t)(room - count), options,
                                                     &bound);
    }
    return count;
}

/* Marks in the order of their classes, which composition expects. */
static void order_marks(int32_t *points, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const int32_t point = points[i];
        const int class = utf8proc_get_property(point)->combining_class;
        size_t to = i;
        for (; class && to && utf8proc_get_property(points[to - 1])->combining_class > class; to--)
            points[to] = points[to - 1];
        points[to] = point;
    }
}

static size_t remove_accents(int32_t *points, size_t count)
{
    size_t kept = 0;
    int32_t base = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_mark_of_accent(points[i]))
            base = points[i] = without_bar(points[i]);
        else if (base < 0x400) /* Cyrillic letters keep theirs */
            continue;
        points[kept++] = points[i];
    }
    return kept;
}

/* True for composed characters that only a mark after them changes. */
static bool is_stable(uint32_t point)
{
    return point < 0x300 || (point >= 0x400 && point < 0x900) ||
           (point >= 0x1E00 && point < 0x1F00) || (point >= 0x3041 && point < 0xD7A4);
}

/* The fast way for letters without marks after them: one character becomes one. False: the text is
 * another one, and nothing is added. */
static bool map_letters(struct text *out, const char *text, size_t length, unsigned how)
{
    const size_t before = out->length;
    text_room(out, 2 * length); /* a letter grows by half at most */
    uint8_t *to = (uint8_t *)out->data + before;
    for (size_t at = 0, n; at < length; at += n) {
        uint32_t point;
        int32_t folded[4];
        int bound = 0;
        n = unicode_read(text + at, length - at, &point);
        if (!is_stable(point) || unicode_class(point) != UNICODE_LETTER)
            return false;
        folded[0] = (int32_t)point;
        if ((how & UNICODE_CASE) &&
            utf8proc_decompose_char((int32_t)point, folded, 4, UTF8PROC_CASEFOLD, &bound) != 1)
            return false;
        to += utf8proc_encode_char(folded[0], to);
    }
    out->length = (size_t)(to - (uint8_t *)out->data);
    out->data[out->length] = '\0';
    return true;
}

void unicode_map(struct text *out, const char *text, size_t length, unsigned how)
{
    int32_t few[POINTS], *points = few;
    const size_t room = GROWTH * length;
    if (!(how & UNICODE_PLAIN) && map_letters(out, text, length, how))
        return;
    if (room > POINTS)
        points = mem_alloc(room, sizeof *points);
    size_t count = decompose(text, length, how, points, room);
    order_marks(points, count);
    if (how & UNICODE_PLAIN)
        count = remove_accents(points, count);
    count = (size_t)utf8proc_normalize_utf32(points, (utf8proc_ssize_t)count,
                                             UTF8PROC_COMPOSE | UTF8PROC_STABLE);
    for (size_t i = 0; i < count; i++) {
        char bytes[4] = {(char)(points[i] & 0xFF)};
        const bool raw = points[i] > RAW_BYTE && points[i] <= RAW_BYTE + 0xFF;
        text_add(out, bytes,
                 raw ? 1 : (size_t)utf8proc_encode_char(points[i], (uint8_t *)bytes));
    }
    if (points != few)
        mem_free(points);
}

const char *unicode_library(void)
{
    return utf8proc_version();
}

static bool is_ascii(const char *text, size_t length)
{
    while (length && !(text[length - 1] & 0x80))
        length--;
    return !length;
}

bool unicode_same(const char *one, size_t length, const char *other, size_t other_length)
{
    if (length == other_length && memcmp(one, other, length) == 0)
        return true;
    if (is_ascii(one, length) || is_ascii(other, other_length))
        return false;
    struct text a = {0}, b = {0};
    unicode_map(&a, one, length, 0);
    unicode_map(&b, other, other_length, 0);
    const bool same = a.length == b.length && memcmp(a.data, b.data, a.length) == 0;
    text_free(&a);
    text_free(&b);
    return same;
}

/* ASCII without case; of another text nothing. */
static bool map_ascii(struct text *out, const char *text, size_t length)
{
    text_room(out, length);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c >= 0x80)
            return false;
        out->data[i] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    out->length = length;
    return true;
}

char *text_fold(const char *text, bool plain)
{
    struct text mapped = {0}, out = {0};
    const size_t length = strlen(text);
    if (!map_ascii(&mapped, text, length)) /* the usual text, and the same answer faster */
        unicode_map(&mapped, text, length,
                    UNICODE_CASE | UNICODE_CLEAN | (plain ? UNICODE_PLAIN : 0));
    text_put(&out, "");
    bool blank = false;
    for (size_t at = 0, n; at < mapped.length; at += n) {
        uint32_t point = (unsigned char)mapped.data[at];
        n = point < 0x80 ? 1 : unicode_read(mapped.data + at, mapped.length - at, &point);
        if (point < 0x80 ? point <= ' ' || point == 127 : unicode_class(point) == UNICODE_BLANK) {
            blank = out.length > 0;
            continue;
        }
        if (blank)
            text_char(&out, ' ');
        blank = false;
        text_add(&out, mapped.data + at, n);
    }
    text_free(&mapped);
    return out.data;
}
