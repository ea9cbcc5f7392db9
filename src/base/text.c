/* text.c - growing strings, quoting, numbers to and from text. The program never calls setlocale,
 * so the C locale holds. */
#include "base/text.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"

void text_room(struct text *t, size_t more)
{
    size_t need;
    if (mem_add_overflows(t->length, more, &need) || mem_add_overflows(need, (size_t)1, &need))
        need = SIZE_MAX; /* mem_grow reports it */
    if (need <= t->room)
        return;
    size_t room = t->room < 64 ? 64 : t->room;
    while (room < need && room <= SIZE_MAX / 2)
        room *= 2;
    if (room < need)
        room = need;
    t->data = mem_grow(t->data, room, 1);
    t->room = room;
}

void text_add(struct text *t, const char *bytes, size_t length)
{
    text_room(t, length);
    if (length)
        memcpy(t->data + t->length, bytes, length);
    t->length += length;
    t->data[t->length] = '\0';
}

void text_put(struct text *t, const char *string)
{
    text_add(t, string, strlen(string));
}

void text_char(struct text *t, char c)
{
    text_add(t, &c, 1);
}

void text_printf(struct text *t, const char *format, ...)
{
    char small[256];
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(small, sizeof small, format, args);
    if (length > 0 && (size_t)length < sizeof small) {
        text_add(t, small, (size_t)length);
    } else if (length > 0) {
        text_room(t, (size_t)length);
        vsnprintf(t->data + t->length, (size_t)length + 1, format, again);
        t->length += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

void text_clear(struct text *t)
{
    t->length = 0;
    if (t->data)
        t->data[0] = '\0';
}

void text_free(struct text *t)
{
    mem_free(t->data);
    *t = (struct text){0};
}

/* --- quoting --- */

/* Characters that are valid and yet steer a terminal, reorder a line or cannot be seen: C1
 * controls, line separators, bidirectional marks and overrides, the blank and the joiner without a
 * width, the byte-order mark. */
static bool steers(const unsigned char *c, size_t length)
{
    if (length == 2)
        return c[0] == 0xC2 && c[1] < 0xA0;
    if (length != 3)
        return false;
    unsigned code = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
    return code == 0x200B || code == 0x200E || code == 0x200F ||
           (code >= 0x2028 && code <= 0x202E) || code == 0x2060 ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

/* The length of the valid character at bytes; 0: the bytes are not valid. */
static size_t character(const char *bytes, size_t length)
{
    unsigned char lead = (unsigned char)bytes[0];
    size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return size <= length && utf8_valid_prefix(bytes, size) == size ? size : 0;
}

size_t text_visible(const char *bytes, size_t length)
{
    const unsigned char *c = (const unsigned char *)bytes;
    size_t size = character(bytes, length);
    return *c < 0x20 || *c == 0x7F || steers(c, size) ? 0 : size;
}

/* Writes the escaped text, at most `most` bytes of it and then "..." (so out has room for most +
 * 4). */
static size_t escape(char *out, size_t most, const char *bytes, size_t length, bool quotes)
{
    static const char hex[] = "0123456789abcdef";
    size_t used = 0, i = 0;
    while (i < length) {
        const unsigned char *c = (const unsigned char *)bytes + i;
        size_t size = character(bytes + i, length - i), take = size ? size : 1;
        char piece[20];
        size_t n = 0;
        if (size == 1 && quotes && *c == '"') {
            piece[n++] = '\\';
            piece[n++] = '"';
        } else if (!text_visible(bytes + i, length - i)) {
            for (size_t k = 0; k < take; k++) {
                piece[n++] = '\\';
                piece[n++] = 'x';
                piece[n++] = hex[c[k] >> 4];
                piece[n++] = hex[c[k] & 15];
            }
        } else {
            memcpy(piece, c, size);
            n = size;
        }
        if (used + n > most) {
            memcpy(out + used, "...", 3);
            used += 3;
            break;
        }
        memcpy(out + used, piece, n);
        used += n;
        i += take;
    }
    out[used] = '\0';
    return used;
}

void text_escape(char *out, size_t room, const char *bytes, size_t length)
{
    if (room < 5) {
        if (room)
            out[0] = '\0';
        return;
    }
    escape(out, room - 4, bytes, length, false);
}

#define QUOTE_MOST 80

const char *text_quote(const char *bytes, size_t length)
{
    static _Thread_local char rooms[8][QUOTE_MOST + 4];
    static _Thread_local unsigned turn;
    char *out = rooms[turn++ % 8];
    escape(out, QUOTE_MOST, bytes, length, true);
    return out;
}

const char *text_quote_z(const char *string)
{
    return string ? text_quote(string, strlen(string)) : "";
}

/* --- the nearest word --- */

#define WORD_MOST 64

/* Edits (insert, drop, replace, swap neighbours) between two words of at most WORD_MOST bytes:
 * optimal string alignment, with three rows of its table in memory. */
static unsigned distance(const char *a, size_t la, const char *b, size_t lb)
{
    unsigned rows[3][WORD_MOST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= lb; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= la; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= lb; j++) {
            int x = tolower((unsigned char)a[i - 1]), y = tolower((unsigned char)b[j - 1]);
            unsigned best = last[j - 1] + (x != y);
            if (last[j] + 1 < best)
                best = last[j] + 1;
            if (now[j - 1] + 1 < best)
                best = now[j - 1] + 1;
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                tolower((unsigned char)a[i - 2]) == y && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            now[j] = best;
        }
        unsigned *free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[lb];
}

/* "acc" of accuracy. */
static bool begins(const char *word, size_t length, const char *whole)
{
    return strncmp(whole, word, length) == 0;
}

/* "std" of standard: letters left out, but not the first nor the last. */
static bool shortens(const char *word, size_t length, const char *whole)
{
    size_t at = 0, other = strlen(whole);
    if (other <= length || whole[0] != word[0] || whole[other - 1] != word[length - 1])
        return false;
    for (size_t i = 0; i < other && at < length; i++)
        at += whole[i] == word[at];
    return at == length;
}

/* The only known word that `is` accepts; NULL: none, or several. */
static const char *only(const char *word, size_t length, const char *const *known, size_t count,
                        bool (*is)(const char *, size_t, const char *))
{
    const char *found = NULL;
    for (size_t i = 0; i < count && length >= 3; i++)
        if (is(word, length, known[i])) {
            if (found && strcmp(found, known[i]) != 0)
                return NULL;
            found = known[i];
        }
    return found;
}

const char *text_nearest(const char *word, const char *const *known, size_t count)
{
    size_t length = strlen(word);
    if (length == 0 || length > WORD_MOST)
        return NULL;
    unsigned most = length / 3 > 1 ? (unsigned)(length / 3) : 1;
    const char *best = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(known[i]);
        if (other > WORD_MOST || (other > length ? other - length : length - other) > most)
            continue;
        unsigned d = distance(word, length, known[i], other);
        if (d <= most && d < length && (!best || d < most || d == 0)) { /* a letter is shared */
            best = known[i];
            most = d;
        }
    }
    const char *whole = most == 0 ? NULL : only(word, length, known, count, begins);
    if (whole)
        return whole; /* but not before a word that is the same but for case */
    for (size_t i = 0; i < count && !best && length > 1; i++) /* the beginning of a longer one */
        if (strncmp(known[i], word, length) == 0)
            best = known[i];
    return best ? best : only(word, length, known, count, shortens);
}

/* --- numbers --- */

/* 10^8 <= digits < 10^9, the value digits * 10^(point - 9): written without zeros at the end. */
static size_t put_digits(char *out, uint32_t digits, int point)
{
    char d[9];
    int count = 9;
    size_t n = 0;
    for (int i = 8; i >= 0; i--, digits /= 10)
        d[i] = (char)('0' + digits % 10);
    while (count > 1 && count > point && d[count - 1] == '0')
        count--;
    if (point <= 0) {
        out[n++] = '0';
        out[n++] = '.';
        for (int i = point; i < 0; i++)
            out[n++] = '0';
    }
    for (int i = 0; i < count; i++) {
        if (i == point && i > 0)
            out[n++] = '.';
        out[n++] = d[i];
    }
    return n;
}

/* Writes what "%.9g" gives for a float32 value in [1e-4, 999999999), in integers: value = m * 2^e
 * with m below 2^24, so m * 10^k fits in 128 bits, and shifting it gives nine digits and the exact
 * remainder to round by. */
static size_t put_float(char *out, double value)
{
    static const uint64_t tens[] = {
        1,        10,        100,        1000,        10000,        100000,        1000000,
        10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000, 10000000000000};
    __extension__ typedef unsigned __int128 wide;
    int exponent, point = 9;
    uint32_t m = (uint32_t)(frexp(value, &exponent) * 0x1p24);
    exponent -= 24; /* at most 6, at least -37 */
    double bound = 1e8;
    while (value < bound) { /* powers of ten from 1e8 to 1 are exact; below 1 the digits tell */
        point--;
        if (point == 0)
            break;
        bound /= 10;
    }
    if (point == 0)
        while (point > -3 && (wide)m * tens[1 - point] >> -exponent == 0)
            point--;
    wide scaled = (wide)m * tens[9 - point], digits;
    if (exponent >= 0) {
        digits = scaled << exponent;
    } else {
        wide half = (wide)1 << (-exponent - 1), rest = scaled & (2 * half - 1);
        digits = scaled >> -exponent;
        digits += rest > half || (rest == half && (digits & 1));
    }
    if (digits == 1000000000) {
        digits = 100000000;
        point++;
    }
    return put_digits(out, (uint32_t)digits, point);
}

size_t text_number(char *out, double value)
{
    double size = fabs(value);
    if (size == 0) {
        memcpy(out, "0", 2); /* -0 too */
        return 1;
    }
    if (size >= 1e-4 && size < 999999999 && (double)(float)size == size) {
        size_t sign = value < 0, length;
        out[0] = '-';
        length = sign + put_float(out + sign, size);
        out[length] = '\0';
        return length;
    }
    int length = snprintf(out, 32, "%.9g", value);
    return length > 0 ? (size_t)length : 0;
}

const char *text_figure(double value, int digits)
{
    enum { ROOM = 32 };
    static _Thread_local char rooms[16][ROOM];
    static _Thread_local unsigned turn;
    char *out = rooms[turn++ % 16];
    snprintf(out, ROOM, "%.*g", digits, value);
    if (strchr(out, 'e') && fabs(value) >= 1 && fabs(value) < 1e16)
        snprintf(out, ROOM, "%.0f", value);
    return out;
}

const char *text_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    static _Thread_local char rooms[8][24];
    static _Thread_local unsigned turn;
    char *out = rooms[turn++ % 8];
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= 1023.5 && unit < 6) {
        value /= 1024;
        unit++;
    }
    bool whole = unit == 0 || value >= 99.95 || fabs(value - floor(value + 0.5)) < 0.05;
    snprintf(out, 24, whole ? "%.0f %s" : "%.1f %s", value, units[unit]);
    return out;
}

bool text_to_int(const char *string, int64_t *value)
{
    bool negative = *string == '-';
    const char *c = string + negative;
    if (*c < '0' || *c > '9')
        return false;
    int64_t v = 0;
    for (; *c; c++) {
        if (*c < '0' || *c > '9' || mem_mul_overflows(v, (int64_t)10, &v))
            return false;
        int64_t digit = *c - '0';
        if (mem_add_overflows(v, negative ? -digit : digit, &v))
            return false;
    }
    *value = v;
    return true;
}

bool text_to_seconds(const char *string, double *value)
{
    static const struct { const char *name; double seconds; } units[] = {
        {"d", 86400}, {"h", 3600}, {"min", 60}, {"m", 60}, {"ms", 1e-3}, {"sec", 1}, {"s", 1}};
    double all = 0, least = 1e30, v;
    if (text_to_double(string, value))
        return true;
    while (*string) {
        size_t digits = strspn(string, "0123456789."), u = 0;
        size_t letters = strcspn(string + digits, "0123456789.");
        char number[32];
        if (!digits || digits >= sizeof number)
            return false;
        memcpy(number, string, digits);
        number[digits] = '\0';
        while (u < sizeof units / sizeof *units &&
               !(strlen(units[u].name) == letters &&
                 strncasecmp(units[u].name, string + digits, letters) == 0))
            u++;
        if (u == sizeof units / sizeof *units || units[u].seconds >= least ||
            !text_to_double(number, &v))
            return false;
        all += v * units[u].seconds;
        least = units[u].seconds;
        string += digits + letters;
    }
    *value = all;
    return least < 1e30;
}

static const char *skip_digits(const char *c)
{
    while (*c >= '0' && *c <= '9')
        c++;
    return c;
}

bool text_to_double(const char *string, double *value)
{
    const char *c = string + (*string == '-' || *string == '+'), *from = c;
    c = skip_digits(from);
    bool digits = c > from;
    if (*c == '.') {
        from = c + 1;
        c = skip_digits(from);
        digits |= c > from;
    }
    if (!digits)
        return false;
    if (*c == 'e' || *c == 'E') {
        from = c + 1 + (c[1] == '+' || c[1] == '-');
        c = skip_digits(from);
        if (c == from)
            return false;
    }
    if (*c)
        return false;
    double v = strtod(string, NULL);
    if (!isfinite(v))
        return false;
    *value = v;
    return true;
}

bool text_same(const char *a, const char *b)
{
    return strcasecmp(a, b) == 0;
}

bool text_ends(const char *string, const char *ending)
{
    size_t a = strlen(string), b = strlen(ending);
    return a >= b && memcmp(string + a - b, ending, b) == 0;
}
