/* convert.c - one-byte encodings to UTF-8 by iconv. Every byte is a character, so a piece may end
 * anywhere. */
#include "base/file/convert.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>

#include "base/mem.h"

static const struct {
    const char *ours, *iconvs;
} encodings[] = {{"latin1", "ISO-8859-1"}, {"cp1252", "CP1252"}};
#define ENCODINGS (sizeof encodings / sizeof encodings[0])

struct convert {
    iconv_t to_utf8;
};

struct convert *convert_open(const char *encoding, struct err *e)
{
    size_t i = 0;
    while (i < ENCODINGS && strcmp(encodings[i].ours, encoding) != 0)
        i++;
    if (i == ENCODINGS) {
        err_set(e, ERR_CSV_ENCODING, "the encoding \"%s\" is not known", text_quote_z(encoding));
        err_expected(e, "utf-8, latin1 or cp1252");
        return NULL;
    }
    iconv_t to_utf8 = iconv_open("UTF-8", encodings[i].iconvs);
    if (to_utf8 == (iconv_t)-1) {
        err_set(e, ERR_ENCODING_MISSING, "this system cannot convert %s to UTF-8",
                encodings[i].ours);
        err_help(e,
                 "install the C library's conversion tables (gconv modules), or convert the file");
        return NULL;
    }
    struct convert *c = mem_alloc(1, sizeof *c);
    *c = (struct convert){to_utf8};
    return c;
}

void convert_add(struct convert *c, const char *bytes, size_t length, struct text *out)
{
    char piece[4096];
    const char *at = bytes;
    while (length) {
        char *from = (char *)(uintptr_t)at, *to = piece; /* iconv does not write here */
        size_t left = length, room = sizeof piece;
        size_t rc = iconv(c->to_utf8, &from, &left, &to, &room);
        int error = errno;
        text_add(out, piece, (size_t)(to - piece));
        at += length - left;
        length = left;
        if (rc == (size_t)-1 && error != E2BIG) {
            text_char(out, *at++);
            length--;
        }
    }
}

void convert_close(struct convert *c)
{
    if (!c)
        return;
    iconv_close(c->to_utf8);
    mem_free(c);
}
