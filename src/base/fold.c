/* fold.c - see fold.h. Simple case folding as in Unicode's CaseFolding.txt, of the letters up to
 * U+052F and of Vietnamese; accents by the canonical decompositions of UnicodeData.txt. */
#include "base/fold.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* Reads a character of up to three bytes. Returns its length; 0: another byte, or a longer one. */
static size_t read_point(const char *text, uint32_t *point)
{
    const unsigned char *t = (const unsigned char *)text;
    *point = t[0];
    if (t[0] < 0x80)
        return 1;
    if ((t[0] & 0xE0) == 0xC0 && (t[1] & 0xC0) == 0x80) {
        *point = (t[0] & 0x1Fu) << 6 | (t[1] & 0x3Fu);
        return 2;
    }
    if ((t[0] & 0xF0) == 0xE0 && (t[1] & 0xC0) == 0x80 && (t[2] & 0xC0) == 0x80) {
        *point = (t[0] & 0x0Fu) << 12 | (t[1] & 0x3Fu) << 6 | (t[2] & 0x3Fu);
        return 3;
    }
    return 0;
}

static void put_point(struct text *out, uint32_t point)
{
    if (point < 0x80) {
        text_char(out, (char)point);
    } else if (point < 0x800) {
        text_char(out, (char)(0xC0 | point >> 6));
        text_char(out, (char)(0x80 | (point & 0x3F)));
    } else {
        text_char(out, (char)(0xE0 | point >> 12));
        text_char(out, (char)(0x80 | (point >> 6 & 0x3F)));
        text_char(out, (char)(0x80 | (point & 0x3F)));
    }
}

static uint32_t small_letter(uint32_t c)
{
    const bool odd_is_capital = (c >= 0x139 && c <= 0x148) || (c >= 0x179 && c <= 0x17E);
    if ((c >= 'A' && c <= 'Z') || (c >= 0xC0 && c <= 0xDE && c != 0xD7) ||
        (c >= 0x391 && c <= 0x3AB) || (c >= 0x410 && c <= 0x42F))
        return c + 32;
    if (c >= 0x400 && c <= 0x40F)
        return c + 80;
    if (c == 0x130) /* a capital I with a dot */
        return 'i';
    if (c == 0x1A0 || c == 0x1AF)
        return c + 1;
    if (c == 0x178)
        return 0xFF;
    if (odd_is_capital)
        return c + (c & 1);
    if ((c >= 0x100 && c <= 0x137) || (c >= 0x14A && c <= 0x177) ||
        (c >= 0x460 && c <= 0x481) || (c >= 0x48A && c <= 0x4BF) ||
        (c >= 0x4D0 && c <= 0x52F) || (c >= 0x1E00 && c <= 0x1E95) ||
        (c >= 0x1EA0 && c <= 0x1EFF))
        return c | 1;
    if (c == 0x386)
        return 0x3AC;
    if (c >= 0x388 && c <= 0x38A)
        return c + 37;
    if (c == 0x38C)
        return 0x3CC;
    return c == 0x38E || c == 0x38F ? c + 63 : c;
}

/* The letter of a small letter with accents; 0: a mark that is left out. */
static uint32_t without_accents(uint32_t c)
{
    /* '?': no letter with an accent */
    static const char latin[] = "aaaaaa?ceeeeiiii?nooooo?ouuuuy?y",
                      more[] = "aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii??jjkk?"
                               "llllllllllnnnnnn???oooooo??rrrrrrssssssssttttttuuuuuuuuuuuu"
                               "wwyyyzzzzzz?",
                      vietnamese[] = "aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeeeeeeeeeeeiiiioooooooooooo"
                                     "oooooooooooouuuuuuuuuuuuuuyyyyyyyy";
    static const uint16_t greek[][2] = {{0x3AC, 0x3B1}, {0x3AD, 0x3B5}, {0x3AE, 0x3B7},
                                        {0x3AF, 0x3B9}, {0x3CC, 0x3BF}, {0x3CD, 0x3C5},
                                        {0x3CE, 0x3C9}, {0x3CA, 0x3B9}, {0x3CB, 0x3C5},
                                        {0x3C2, 0x3C3}};
    char base = '?';
    if (c >= 0x300 && c <= 0x36F)
        return 0;
    if (c >= 0xE0 && c <= 0xFF)
        base = latin[c - 0xE0];
    else if (c >= 0x100 && c <= 0x17F)
        base = more[c - 0x100];
    else if (c == 0x1A1 || c == 0x1B0)
        base = c == 0x1A1 ? 'o' : 'u';
    else if (c >= 0x1EA0 && c <= 0x1EF9)
        base = vietnamese[c - 0x1EA0];
    for (size_t i = 0; i < sizeof greek / sizeof *greek; i++)
        if (c == greek[i][0])
            return greek[i][1];
    return base == '?' ? c : (unsigned char)base;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

char *text_fold(const char *text, bool plain)
{
    struct text out = {0};
    uint32_t c;
    text_put(&out, "");
    while (is_blank(*text))
        text++;
    for (size_t length; *text; text += length ? length : 1) {
        length = read_point(text, &c);
        c = length ? small_letter(c) : c;
        c = length && plain ? without_accents(c) : c;
        if (!length)
            text_char(&out, *text);
        else if (c)
            put_point(&out, c);
    }
    while (out.length && is_blank(out.data[out.length - 1]))
        out.data[--out.length] = '\0';
    return out.data;
}
