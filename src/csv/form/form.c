/* form.c - see form.h. */
#include "csv/form/form.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "csv/form/duration.h"

/* comma, point, apostrophe, underscore, blank, no-break space, narrow no-break space, thin space,
 * typographic apostrophe */
const char *const form_thousands[] = {
    ",", ".", "'", "_", " ", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89", "\xe2\x80\x99", NULL};

enum { MOST_NUMBER = 128 };

/* The unread rest of a cell. */
struct rest {
    const char *at, *end;
    char sign; /* '\0': none seen */
};

/* Bytes of the blank at the end of the text, or at its front; 0: none. */
static size_t blank(const char *from, const char *end, bool front)
{
    static const char *const blanks[] = {" ", "\t", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};
    const unsigned char byte = from == end ? 'x' : (unsigned char)(front ? *from : end[-1]);
    if (byte > ' ' && byte < 0x80) /* the usual one */
        return 0;
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++) {
        size_t n = strlen(blanks[i]);
        if ((size_t)(end - from) >= n && !memcmp(front ? from : end - n, blanks[i], n))
            return n;
    }
    return 0;
}

void form_trim(const char **from, const char **end)
{
    for (size_t n; (n = blank(*from, *end, true)) > 0;)
        *from += n;
    for (size_t n; (n = blank(*from, *end, false)) > 0;)
        *end -= n;
}

bool form_minus(const char **from, const char **end)
{
    static const char sign[] = "\xe2\x88\x92";
    const size_t width = sizeof sign - 1, size = (size_t)(*end - *from);
    if (size > 2 && **from == '(' && (*end)[-1] == ')') {
        ++*from;
        --*end;
    } else if (size > width && memcmp(*from, sign, width) == 0) {
        *from += width;
    } else if (size > 1 && (*end)[-1] == '-') {
        --*end;
    } else {
        return false;
    }
    form_trim(from, end);
    return true;
}

bool form_is_duration(const struct form *f)
{
    return f && f->format && strcmp(f->format, FORM_DURATION) == 0;
}

static void trim(struct rest *r)
{
    form_trim(&r->at, &r->end);
}

static void take_minus(struct rest *r)
{
    if (!r->sign && form_minus(&r->at, &r->end))
        r->sign = '-';
}

static void take_sign(struct rest *r)
{
    if (!r->sign && r->at < r->end && (*r->at == '-' || *r->at == '+'))
        r->sign = *r->at++;
    trim(r);
}

/* Takes the longest unit that begins, or ends, the rest. */
static void take_unit(const struct form *f, struct rest *r, bool front)
{
    size_t longest = 0, room = (size_t)(r->end - r->at);
    for (size_t i = 0; i < f->unit_count; i++) {
        size_t n = strlen(f->units[i]);
        if (n > longest && n < room && !memcmp(front ? r->at : r->end - n, f->units[i], n))
            longest = n;
    }
    *(front ? &r->at : &r->end) += front ? (ptrdiff_t)longest : -(ptrdiff_t)longest;
    trim(r);
}

static size_t digits(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && text_is_digit(*at))
        at++;
    return (size_t)(at - from);
}

/* Copies the digits of the groups to `out`. *at: after them. False: not three in each, nor two in
 * each but the last (12,34,567: lakh and crore). */
static bool copy_groups(const char *between, const char **at, const char *end, char *out,
                        size_t *used)
{
    size_t n = digits(*at, end), width = strlen(between), inner = 0; /* of groups in the middle */
    const bool small = n <= 2;
    for (bool first = true;; first = false) {
        memcpy(out + *used, *at, n);
        *used += n;
        *at += n;
        if ((size_t)(end - *at) < width || memcmp(*at, between, width) != 0)
            return first || n == 3;
        if (first ? !n || n > 3 : (n != 3 && !(n == 2 && small)) || (inner && n != inner))
            return false;
        inner = first ? 0 : n;
        *at += width;
        n = digits(*at, end);
    }
}

enum number_result form_plain(const char *text, size_t length, char decimal, double *value)
{
    const char *from = text, *end = text + length;
    const char first = length ? text[0] : '0', last = length ? end[-1] : '0';
    if (first != ' ' && first != '\t' && last != ' ' && last != '\t') /* these in quotes are bad */
        form_trim(&from, &end);
    return number_parse(from, (size_t)(end - from), decimal, value);
}

enum number_result form_number(const struct form *f, const char *text, size_t length, char decimal,
                               double *value)
{
    char plain[MOST_NUMBER + 1];
    size_t used = 0;
    struct rest r = {text, text + length, '\0'};
    if (length > MOST_NUMBER)
        return NUMBER_BAD;
    if (form_is_duration(f))
        return duration_parse(text, length, value) ? NUMBER_OK : NUMBER_BAD;
    trim(&r);
    take_minus(&r);
    take_sign(&r);
    take_unit(f, &r, true);
    take_sign(&r);
    take_unit(f, &r, false);
    take_minus(&r);
    if (r.sign)
        plain[used++] = r.sign;
    if (r.at < r.end && (*r.at == '-' || *r.at == '+'))
        return NUMBER_BAD;
    if (f->thousands && !copy_groups(f->thousands, &r.at, r.end, plain, &used))
        return NUMBER_BAD;
    memcpy(plain + used, r.at, (size_t)(r.end - r.at));
    used += (size_t)(r.end - r.at);
    return number_parse(plain, used, decimal, value);
}

bool form_check(const struct form *f, bool number, char decimal, const char **key,
                const char **what, const char **expected)
{
    size_t known = 0;
    const char *between = f->thousands, *at;
    while (between && form_thousands[known] && strcmp(form_thousands[known], between) != 0)
        known++;
    *key = "thousands";
    *what = "cannot group digits";
    *expected = "one of , . ' _ or a blank, and not the sign of data.decimal";
    if (between && (!form_thousands[known] || (*between == decimal && !between[1])))
        return false;
    *key = "unit";
    *what = "has a text that cannot stand beside a number";
    *expected = "texts without digits and signs";
    for (size_t i = 0; i < f->unit_count; i++)
        if (!f->units[i][0] || strpbrk(f->units[i], "0123456789+-"))
            return false;
    *key = "format";
    if (number) {
        *what = "is none that numbers have";
        *expected = "\"" FORM_DURATION "\"";
        return !f->format || form_is_duration(f);
    }
    *what = "has no directive, or one that does not exist";
    *expected = "directives of %d %m %Y %y %b %B %a %A %H %I %M %S %p %z %s %Q %q %N "
                "%%, and other characters";
    return !f->format || date_format_valid(f->format, &at);
}

static char *copy_text(const char *text)
{
    return text ? mem_string(text) : NULL;
}

struct form *form_new(const char *thousands, char *const *units, size_t unit_count,
                      const char *format)
{
    struct form *f = mem_zero(1, sizeof *f);
    f->thousands = copy_text(thousands);
    f->format = copy_text(format);
    f->units = mem_zero(unit_count + 1, sizeof *f->units);
    for (; f->unit_count < unit_count; f->unit_count++)
        f->units[f->unit_count] = mem_string(units[f->unit_count]);
    return f;
}

struct form *form_copy(const struct form *f)
{
    return f ? form_new(f->thousands, f->units, f->unit_count, f->format) : NULL;
}

void form_free(struct form *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->unit_count; i++)
        mem_free(f->units[i]);
    mem_free(f->units);
    mem_free(f->thousands);
    mem_free(f->format);
    mem_free(f);
}

static bool text_equal(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool form_same(const struct form *a, const struct form *b)
{
    if (!a || !b)
        return a == b;
    bool same = text_equal(a->thousands, b->thousands) && text_equal(a->format, b->format) &&
                a->unit_count == b->unit_count;
    for (size_t i = 0; same && i < a->unit_count; i++)
        same = strcmp(a->units[i], b->units[i]) == 0;
    return same;
}
