/* json_strict_string.c - the validator's strings: escapes, control bytes, UTF-8. */
#include <stdint.h>
#include <string.h>

#include "base/json/json_strict.h"
#include "base/utf8.h"

/* \uXXXX at `at`; false when four hexadecimal digits do not follow, and at the first byte that is
 * none. */
static bool hex4(const struct json_scanner *s, size_t at, uint32_t *code, size_t *wrong)
{
    *code = 0;
    for (size_t i = at + 2; i < at + 6; i++) {
        char c = i < s->length ? s->text[i] : '\0';
        uint32_t digit;
        if (c >= '0' && c <= '9')
            digit = (uint32_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (uint32_t)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (uint32_t)(c - 'A') + 10;
        else {
            *wrong = i;
            return false;
        }
        *code = *code * 16 + digit;
    }
    return true;
}

static bool unicode_escape(struct json_scanner *s, size_t opening)
{
    uint32_t code, low;
    size_t wrong;
    if (!hex4(s, s->at, &code, &wrong)) {
        if (wrong >= s->length)
            return json_scan_fail(s, ERR_JSON_SYNTAX, s->length,
                                  "the text ends inside the string opened at line %lld",
                                  (long long)json_scan_line(s, opening));
        json_scan_fail(s, ERR_JSON_SYNTAX, wrong,
                       "\\u must be followed by four hexadecimal digits");
        return false;
    }
    if (code == 0)
        return json_scan_fail(s, ERR_JSON_STRING, s->at, "\\u0000 cannot stand in a string here");
    size_t start = s->at;
    s->at += 6;
    if (code >= 0xdc00 && code <= 0xdfff)
        return json_scan_fail(s, ERR_JSON_STRING, start,
                              "\\u%04x is the second half of a pair without a first", code);
    if (code >= 0xd800 && code <= 0xdbff) {
        bool pair = s->at + 1 < s->length && s->text[s->at] == '\\' && s->text[s->at + 1] == 'u' &&
                    hex4(s, s->at, &low, &wrong) && low >= 0xdc00 && low <= 0xdfff;
        if (!pair)
            return json_scan_fail(s, ERR_JSON_STRING, start,
                                  "\\u%04x is the first half of a pair without a second", code);
        s->at += 6;
    }
    return true;
}

static bool escape(struct json_scanner *s, size_t opening)
{
    char c = s->at + 1 < s->length ? s->text[s->at + 1] : '\0';
    if (c == 'u')
        return unicode_escape(s, opening);
    if (!c || !strchr("\"\\/bfnrt", c)) {
        if (s->at + 1 >= s->length)
            return json_scan_fail(s, ERR_JSON_SYNTAX, s->length,
                                  "the text ends inside the string opened at line %lld",
                                  (long long)json_scan_line(s, opening));
        s->at++;
        json_scan_fail(s, ERR_JSON_SYNTAX, s->at, "\\%s is not an escape of JSON",
                       json_scan_culprit(s));
        return err_help(s->e, "a backslash itself is written \\\\");
    }
    s->at += 2;
    return true;
}

bool json_scan_string(struct json_scanner *s)
{
    size_t opening = s->at++;
    while (s->at < s->length && s->text[s->at] != '"') {
        size_t start = s->at;
        unsigned char c = (unsigned char)s->text[s->at];
        if (c == '\\') {
            if (!escape(s, opening))
                return false;
            continue;
        }
        if (c < 0x20) {
            json_scan_fail(s, ERR_JSON_STRING, s->at, "a control byte (0x%02x) stands in a string",
                           c);
            return c == '\n' || c == '\r'
                       ? err_help(s->e,
                                  "the string was opened at line %lld; a line break inside a "
                                  "string is written \\n",
                                  (long long)json_scan_line(s, opening))
                       : err_help(s->e, "write it as \\u%04x", c);
        }
        bool wide = c >= 0x80;
        while (s->at < s->length && ((unsigned char)s->text[s->at] >= 0x80) == wide &&
               s->text[s->at] != '"' && s->text[s->at] != '\\' &&
               (unsigned char)s->text[s->at] >= 0x20)
            s->at++;
        size_t valid = wide ? utf8_valid_prefix(s->text + start, s->at - start) : s->at - start;
        if (valid != s->at - start)
            return json_scan_fail(s, ERR_JSON_STRING, start + valid,
                                  "the string is not valid UTF-8");
    }
    if (s->at >= s->length)
        return json_scan_fail(s, ERR_JSON_SYNTAX, s->length,
                              "the text ends inside the string opened at line %lld",
                              (long long)json_scan_line(s, opening));
    s->at++;
    return true;
}
