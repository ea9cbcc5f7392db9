/* fold.c - see fold.h. */
#include "base/fold.h"

#include <string.h>

#include "base/unicode.h"

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
