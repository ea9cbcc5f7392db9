/* utf8.c - the valid prefix by table 3-7 of the Unicode standard: ASCII eight bytes at a time, the
 * rest character by character. */
#include "base/utf8.h"

#include <stdint.h>
#include <string.h>

/* The length of the character at c; 0: malformed or cut off. c[0] >= 0x80. */
static size_t sequence(const unsigned char *c, size_t left)
{
    unsigned char lead = c[0], low = 0x80, high = 0xBF;
    size_t size;
    if (lead >= 0xC2 && lead <= 0xDF) {
        size = 2;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
        size = 3;
        if (lead == 0xE0)
            low = 0xA0; /* below: overlong */
        else if (lead == 0xED)
            high = 0x9F; /* above: surrogates */
    } else if (lead >= 0xF0 && lead <= 0xF4) {
        size = 4;
        if (lead == 0xF0)
            low = 0x90;
        else if (lead == 0xF4)
            high = 0x8F; /* beyond U+10FFFF */
    } else {
        return 0;
    }
    if (left < size || c[1] < low || c[1] > high)
        return 0;
    for (size_t i = 2; i < size; i++)
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    return size;
}

size_t utf8_valid_prefix(const char *bytes, size_t length)
{
    const unsigned char *c = (const unsigned char *)bytes;
    const uint64_t high_bits = 0x8080808080808080u;
    size_t i = 0;
    while (i < length) {
        while (length - i >= 32) {
            uint64_t w[4];
            memcpy(w, c + i, sizeof w);
            if ((w[0] | w[1] | w[2] | w[3]) & high_bits)
                break;
            i += 32;
        }
        size_t stop = length - i < 32 ? length : i + 32;
        while (i < stop) {
            size_t size = c[i] < 0x80 ? 1 : sequence(c + i, length - i);
            if (!size)
                return i;
            i += size;
        }
    }
    return i;
}
