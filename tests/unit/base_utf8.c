#include "base/file/convert.h"
#include "base/utf8.h"
#include "tap.h"

/* Every code point and every near miss, against the definition. */
static size_t encode(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, code >>= 6)
        out[i] = (char)(0x80 | (code & 63));
    out[0] = (char)((0xF00 >> n & 0xFF) | code);
    return n;
}

static void converts(const char *encoding, const char *from, size_t length, const char *want,
                     const char *name)
{
    struct err e = {0};
    struct text out = {0};
    struct convert *c = convert_open(encoding, &e);
    ok(c != NULL, "%s", name);
    for (size_t i = 0; c && i < length; i++) /* byte by byte: a piece may end anywhere */
        convert_add(c, from + i, 1, &out);
    is_string(out.data ? out.data : "", want, name);
    convert_close(c);
    text_free(&out);
}

int main(void)
{
    bool all = true, none = true;
    for (unsigned code = 0; code < 0x110000; code++) {
        char c[4];
        size_t n = encode(code, c);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        all = all && (utf8_valid_prefix(c, n) == n) == !surrogate;
        none = none && (n == 1 || utf8_valid_prefix(c, n - 1) == 0);
    }
    ok(all, "every code point is valid, every surrogate is not");
    ok(none, "a character that is cut off is not valid");
    static const char *const bad[] = {"\xc0\x80",
                                      "\xc1\xbf",
                                      "\xe0\x80\x80",
                                      "\xe0\x9f\xbf",
                                      "\xf0\x80\x80\x80",
                                      "\xf0\x8f\xbf\xbf",
                                      "\xf4\x90\x80\x80",
                                      "\xf5\x80\x80\x80",
                                      "\xff",
                                      "\x80",
                                      "\xbf",
                                      "\xc3(",
                                      "\xe2\x82(",
                                      "\xf0\x9f\x98("};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        is_int(utf8_valid_prefix(bad[i], strlen(bad[i])), 0, "overlong, too high, out of place");
    char line[200];
    bool where = true;
    for (size_t at = 0; at < 130; at++) {
        memset(line, 'a', sizeof line);
        line[at] = (char)0xE9;
        where = where && utf8_valid_prefix(line, 150) == at;
        memcpy(line + at, "\xc3\xa9", 2);
        where = where && utf8_valid_prefix(line, 150) == 150;
    }
    ok(where, "the place is found wherever it lies in a run of ASCII");
    is_int(utf8_valid_prefix("", 0), 0, "nothing");

    converts("latin1", "caf\xe9 \x80\xff", 7, "caf\xc3\xa9 \xc2\x80\xc3\xbf", "latin1");
    converts("cp1252", "\x80 \x93x\x94 \xe9", 7, "\xe2\x82\xac \xe2\x80\x9cx\xe2\x80\x9d \xc3\xa9",
             "cp1252");
    struct err e = {0};
    struct text out = {0};
    struct convert *c = convert_open("cp1252", &e);
    char big[20000];
    memset(big, 0xE4, sizeof big);
    convert_add(c, big, sizeof big, &out);
    is_int(out.length, 2 * sizeof big, "more than a piece");
    static const unsigned char undefined[] = {0x81, 0x8d, 0x8f, 0x90, 0x9d};
    for (size_t i = 0; i < sizeof undefined; i++) {
        char text[] = "ab?\xe4?";
        text[2] = text[4] = (char)undefined[i];
        text_clear(&out);
        convert_add(c, text, 5, &out);
        ok(out.length == 6 && utf8_valid_prefix(out.data, out.length) == 2 &&
               memcmp(out.data + 2, &text[2], 1) == 0 && memcmp(out.data + 5, &text[2], 1) == 0,
           "byte %02x stands for nothing in cp1252, and is found in the text", undefined[i]);
    }
    ok(convert_open("utf-7", &e) == NULL && e.id == ERR_CSV_ENCODING, "an unknown encoding");
    convert_close(c);
    convert_close(NULL);
    text_free(&out);
    return done();
}
