/* json_strict.c - reads the text once, by recursive descent no deeper than JSON_MOST_DEPTH. It
 * decodes nothing: cJSON does, and may then be trusted because nothing but RFC 8259 reaches it. */
#include "base/json/json_strict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

void json_line_column(const char *text, size_t length, size_t offset, int64_t *line,
                      int64_t *column)
{
    size_t start = 0;
    *line = 1;
    for (size_t i = 0; i < offset && i < length; i++) {
        bool lone_cr = text[i] == '\r' && !(i + 1 < length && text[i + 1] == '\n');
        if (text[i] == '\n' || lone_cr) {
            ++*line;
            start = i + 1;
        }
    }
    *column = (int64_t)(offset - start) + 1;
}

size_t json_bom(const char *text, size_t length)
{
    return length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

bool json_scan_fail(struct json_scanner *s, enum err_id id, size_t offset, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int64_t line, column;
    json_line_column(s->text, s->length, offset, &line, &column);
    err_at(s->e, id, s->name, line, column, "%s", what);
    size_t from = offset - (size_t)(column - 1), to = offset;
    if (offset - from > 48)
        from = offset - 32;
    while (to < s->length && to < from + 76 && s->text[to] != '\n' && s->text[to] != '\r')
        to++;
    while (from < to && (s->text[from] == ' ' || s->text[from] == '\t'))
        from++;
    if (to > from)
        err_excerpt(s->e, s->text + from, to - from);
    return false;
}

int64_t json_scan_line(const struct json_scanner *s, size_t offset)
{
    int64_t line, column;
    json_line_column(s->text, s->length, offset, &line, &column);
    return line;
}

static bool ended(const struct json_scanner *s)
{
    return s->at >= s->length;
}

static bool fail_end(struct json_scanner *s)
{
    if (s->depth == 0)
        return json_scan_fail(s, ERR_JSON_SYNTAX, s->length,
                              s->started ? "the text ends too early" : "the text holds no value");
    size_t opened = s->opened[s->depth - 1];
    return json_scan_fail(
        s, ERR_JSON_SYNTAX, s->length, "the text ends inside the %s opened at line %lld",
        s->text[opened] == '{' ? "object" : "list", (long long)json_scan_line(s, opened));
}

/* The byte at the fault, or the whole character if it is valid. */
const char *json_scan_culprit(const struct json_scanner *s)
{
    size_t left = s->length - s->at, most = left < 4 ? left : 4, n = 1;
    for (size_t i = 2; i <= most && (unsigned char)s->text[s->at] >= 0xc0; i++)
        if (utf8_valid_prefix(s->text + s->at, i) == i) {
            n = i;
            break;
        }
    return text_quote(s->text + s->at, n);
}

static bool fail_here(struct json_scanner *s, const char *wanted)
{
    if (ended(s))
        return fail_end(s);
    json_scan_fail(s, ERR_JSON_SYNTAX, s->at, "unexpected \"%s\"", json_scan_culprit(s));
    return err_expected(s->e, "%s", wanted);
}

static void skip_blanks(struct json_scanner *s)
{
    while (!ended(s) && (s->text[s->at] == ' ' || s->text[s->at] == '\t' ||
                         s->text[s->at] == '\n' || s->text[s->at] == '\r'))
        s->at++;
}

static bool digit_at(const struct json_scanner *s, size_t at)
{
    return at < s->length && s->text[at] >= '0' && s->text[at] <= '9';
}

/* --- numbers and words --- */

static bool overflows(const struct json_scanner *s, size_t start)
{
    char small[512], *copy = small;
    size_t n = s->at - start;
    if (n >= sizeof small)
        copy = mem_string_n(s->text + start, n);
    else {
        memcpy(small, s->text + start, n);
        small[n] = '\0';
    }
    double value = 0;
    bool finite = text_to_double(copy, &value) && isfinite(value);
    if (copy != small)
        mem_free(copy);
    return !finite;
}

static bool number(struct json_scanner *s)
{
    size_t start = s->at;
    bool exponent = false;
    if (s->text[s->at] == '-')
        s->at++;
    size_t first = s->at;
    if (!digit_at(s, first))
        return fail_here(s, "a digit after the minus sign");
    while (digit_at(s, s->at))
        s->at++;
    size_t digits = s->at - first;
    if (s->text[first] == '0' && digits > 1) {
        json_scan_fail(s, ERR_JSON_SYNTAX, first + 1, "a number cannot begin with a zero");
        return err_help(s->e, "leave the zero out, or write the text as a string in double quotes");
    }
    if (!ended(s) && s->text[s->at] == '.') {
        s->at++;
        if (!digit_at(s, s->at))
            return fail_here(s, "a digit after the decimal point");
        while (digit_at(s, s->at))
            s->at++;
    }
    if (!ended(s) && (s->text[s->at] == 'e' || s->text[s->at] == 'E')) {
        exponent = true;
        s->at++;
        if (!ended(s) && (s->text[s->at] == '+' || s->text[s->at] == '-'))
            s->at++;
        if (!digit_at(s, s->at))
            return fail_here(s, "a digit in the exponent");
        while (digit_at(s, s->at))
            s->at++;
    }
    /* without an exponent, 300 digits are below the largest double */
    if ((exponent || digits > 300) && overflows(s, start)) {
        json_scan_fail(s, ERR_JSON_NUMBER, start, "the number %s is too large",
                       text_quote(s->text + start, s->at - start));
        return err_expected(s->e, "at most 1.7976931348623157e308");
    }
    return true;
}

static bool word(struct json_scanner *s)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if (s->length - s->at >= n && memcmp(s->text + s->at, words[i], n) == 0) {
            s->at += n;
            return true;
        }
    }
    char c = s->text[s->at];
    fail_here(s, "a string, a number, an object, a list, true, false or null");
    if (c == '\'')
        return err_help(s->e, "strings are written in double quotes");
    if (c == '/' || c == '#')
        return err_help(s->e, "JSON has no comments");
    if (c == '+' || c == '.')
        return err_help(s->e, "a number begins with a digit or a minus sign");
    if (c == ']' || c == '}')
        return err_help(s->e, "no comma may stand before the closing bracket");
    if (c == 'T' || c == 'F' || c == 'N' || c == 'I')
        return err_help(s->e, "true, false and null are lower case; NaN and Infinity are not JSON");
    return err_help(s->e, "text is written in double quotes");
}

/* --- values --- */

static bool value(struct json_scanner *s, uint32_t key);

static bool member(struct json_scanner *s)
{
    skip_blanks(s);
    if (ended(s) || s->text[s->at] != '"') {
        bool comma = !ended(s) && s->text[s->at] == '}';
        fail_here(s, "a key in double quotes");
        return comma ? err_help(s->e, "no comma may stand before the closing bracket") : false;
    }
    size_t offset = s->at;
    if (!json_scan_string(s))
        return false;
    if (s->keys++ == s->key_most)
        return json_scan_fail(s, ERR_JSON_LIMIT, offset, "the text has more than %zu keys",
                              s->key_most);
    skip_blanks(s);
    if (ended(s) || s->text[s->at] != ':')
        return fail_here(s, "\":\" after the key");
    s->at++;
    return value(s, (uint32_t)offset);
}

static bool container(struct json_scanner *s, char closing)
{
    if (s->depth == JSON_MOST_DEPTH)
        return json_scan_fail(s, ERR_JSON_LIMIT, s->at,
                              "objects and lists are nested more than %d deep", JSON_MOST_DEPTH);
    s->opened[s->depth++] = s->at++;
    skip_blanks(s);
    bool more = ended(s) || s->text[s->at] != closing;
    if (!more)
        s->at++;
    while (more) {
        if (!(closing == '}' ? member(s) : value(s, JSON_NO_KEY)))
            return false;
        skip_blanks(s);
        if (ended(s) || (s->text[s->at] != ',' && s->text[s->at] != closing))
            return fail_here(s, closing == '}' ? "\",\" or \"}\"" : "\",\" or \"]\"");
        more = s->text[s->at++] == ',';
    }
    s->depth--;
    return true;
}

static struct json_spot *spot_new(struct json_scanner *s, uint32_t key)
{
    struct json_index *index = s->index;
    index->spots = mem_more(index->spots, index->count, sizeof *index->spots);
    struct json_spot *spot = &index->spots[index->count++];
    *spot = (struct json_spot){.value = (uint32_t)s->at, .end = 0, .key = key};
    return spot;
}

static bool value(struct json_scanner *s, uint32_t key)
{
    skip_blanks(s);
    if (ended(s))
        return fail_end(s);
    s->started = true;
    struct json_spot *spot = spot_new(s, key);
    switch (s->text[s->at]) {
    case '{': return container(s, '}');
    case '[': return container(s, ']');
    case '"': return json_scan_string(s);
    case '-':
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9':
        if (!number(s))
            return false;
        spot->end = (uint32_t)s->at;
        return true;
    default: return word(s);
    }
}

bool json_scan(const char *text, size_t length, const char *name, bool own,
               struct json_index *index, struct err *e)
{
    size_t bom = json_bom(text, length), most = own ? JSON_OWN_BYTES : JSON_MOST_BYTES;
    struct json_scanner s = {.text = text + bom,
                             .length = length - bom,
                             .name = name,
                             .key_most = own ? JSON_OWN_KEYS : JSON_MOST_KEYS,
                             .index = index,
                             .e = e};
    bool good;
    if (length > most) {
        err_at(e, ERR_JSON_LIMIT, name, 0, 0, "the text has %zu bytes", length);
        good = err_expected(e, "at most %zu bytes", most);
    } else {
        good = value(&s, JSON_NO_KEY);
        skip_blanks(&s);
        if (good && !ended(&s)) {
            json_scan_fail(&s, ERR_JSON_SYNTAX, s.at,
                           "unexpected \"%s\" after the end of the value", json_scan_culprit(&s));
            good = err_help(e, "a file holds one value");
        }
    }
    return good;
}
