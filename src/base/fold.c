/* fold.c - see fold.h. */
#include "base/fold.h"

#include <string.h>

#include "base/unicode.h"

char *text_fold(const char *text, bool plain)
{
    struct text mapped = {0}, out = {0};
    unicode_map(&mapped, text, strlen(text),
                UNICODE_CASE | UNICODE_CLEAN | (plain ? UNICODE_PLAIN : 0));
    text_put(&out, "");
    bool blank = false;
    for (size_t at = 0, n; at < mapped.length; at += n) {
        uint32_t point;
        n = unicode_read(mapped.data + at, mapped.length - at, &point);
        if (unicode_class(point) == UNICODE_BLANK) {
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
