/* dress.c - columns of numbers that stand between letters and signs which no key takes away: 84.9S
 * beside 43.4N, 12KB beside 3MB, 10-20. The cells of such a column have digits and few patterns;
 * texts have many patterns, and codes have letters in front, signs of codes, or digits of one
 * count. */
#include <string.h>

#include "base/text.h"
#include "infer/survey.h"

enum { CELLS_A_PATTERN = 5 };

/* Arabic, Persian, Devanagari, wide. */
size_t infer_foreign_digit(const char *text, size_t length)
{
    static const struct { const char *lead; unsigned char first; } scripts[] = {
        {"\xd9", 0xA0}, {"\xdb", 0xB0}, {"\xe0\xa5", 0xA6}, {"\xef\xbc", 0x90}};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        const size_t n = strlen(scripts[i].lead);
        if (length > n && memcmp(text, scripts[i].lead, n) == 0 &&
            (unsigned)((unsigned char)text[n] - scripts[i].first) < 10)
            return n + 1;
    }
    return 0;
}

/* Writes the pattern of a cell: a number becomes 0. Returns its digits, 0: it has no pattern. */
static unsigned pattern_of(const char *text, size_t length, char out[INFER_PATTERN], bool *cut,
                           bool *foreign)
{
    unsigned digits = 0;
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (used + 1 == INFER_PATTERN)
            return 0;
        const size_t wide = infer_foreign_digit(text + i, length - i);
        if (wide) {
            *foreign = true;
            digits++;
            i += wide - 1;
            if (!used || out[used - 1] != '0')
                out[used++] = '0';
            continue;
        }
        if (!text_is_digit(text[i])) {
            out[used++] = text[i];
            continue;
        }
        bool point = false;
        const bool joined = i && strchr(".,", text[i - 1]); /* 10.0.17.3 has no fraction */
        for (; i < length && (text_is_digit(text[i]) ||
                              (!point && strchr(".,", text[i]) && i + 1 < length &&
                               text_is_digit(text[i + 1])));
             i++) {
            point |= !text_is_digit(text[i]);
            digits += text_is_digit(text[i]);
        }
        *cut |= point && !joined && (i == length || !strchr(".,", text[i]));
        i--;
        out[used++] = '0';
    }
    out[used] = '\0';
    return digits;
}

void infer_dressed(struct infer_dress *d, const char *text, size_t length, int64_t line)
{
    char pattern[INFER_PATTERN];
    bool cut = false, foreign = false;
    const bool looked = !d->more && length <= FORM_CELL;
    const unsigned digits = looked ? pattern_of(text, length, pattern, &cut, &foreign) : 0;
    unsigned at = 0;
    if (!digits) {
        d->more = true;
        return;
    }
    while (at < d->count && strcmp(d->pattern[at], pattern) != 0)
        at++;
    if (at == INFER_PATTERNS) {
        d->more = true;
        return;
    }
    if (at == d->count) {
        memcpy(d->pattern[d->count++], pattern, sizeof pattern);
        memcpy(d->first[at], text, length);
        d->first[at][length] = '\0';
        d->line[at] = line;
    }
    d->fewest = !d->cells || digits < d->fewest ? digits : d->fewest;
    d->most = digits > d->most ? digits : d->most;
    d->cut += cut;
    d->foreign |= foreign;
    d->cells++;
}

/* C0, INV-0-0, No 0, but not CHF 0.-: letters glued to a number, or the only ones before it. */
static bool is_word_first(const char *pattern)
{
    const char *blank = strchr(pattern, ' ');
    return text_is_letter(*pattern) &&
           (!blank || strchr(pattern, '0') < blank || strcmp(blank, " 0") == 0);
}

/* C1000, INV-2024-17, #52, No. 7, 12-A, 555-1234, 10.0.17.3: no measure, without fractions and with
 * digits of one count, or with a letter or a sign of codes. B91.7, 21E: with one of several
 * letters. */
static bool are_codes(const struct infer_dress *d)
{
    enum { LETTERS = 3 };
    unsigned marked = 0, led = 0, ended = 0;
    if (d->foreign)
        return false;
    for (unsigned i = 0; i < d->count; i++) {
        const char *p = d->pattern[i], *dash = strchr(p, '-');
        const size_t length = strlen(p);
        marked += strstr(p, "0.0") || /* addresses, versions */
                  (*p == '+' && strchr(p, ' ')) || /* numbers of phones */
                  is_word_first(p) || strpbrk(p, "#@_[") || strstr(p, "\xc2\xa7") ||
                  (dash && text_is_letter(dash[1]));
        led += text_is_letter(p[0]) && p[1] == '0';
        ended += length == 2 && p[0] == '0' && text_is_letter(p[1]);
    }
    if (d->count >= LETTERS && (led == d->count || (ended == d->count && !d->cut)))
        return true;
    return !d->cut && (marked || d->fewest == d->most);
}

bool infer_has_patterns(const struct column_profile *w, bool letters)
{
    const struct infer_dress *d = &w->dress;
    bool lettered = false;
    for (unsigned i = 0; i < d->count; i++)
        for (const char *p = d->pattern[i]; *p; p++)
            lettered |= text_is_letter(*p) || (*p & 0x80);
    for (unsigned i = 0; i < d->count && lettered; i++)
        letters &= !strchr(d->pattern[i], ' '); /* words */
    return !d->more && d->cells && d->cells == w->others &&
           d->cells >= (uint64_t)d->count * CELLS_A_PATTERN && (letters || !lettered);
}

bool infer_is_dressed(const struct column_profile *w, uint64_t present, struct infer_column *c)
{
    const struct infer_dress *d = &w->dress;
    if (d->more || w->words_only.more || !d->cells ||
        d->cells + w->words_only.cells != w->others ||
        d->cells < (uint64_t)d->count * CELLS_A_PATTERN || are_codes(d) ||
        (d->cells + infer_all_numbers(w)) * 2 < present)
        return false;
    infer_set(c, COLUMN_IGNORE,
              "numbers in a form that no key reads, such as \"%.40s\" (line %lld)",
              text_quote_z(d->first[0]), (long long)d->line[0]);
    if (d->count > 1)
        infer_more(c->reason, sizeof c->reason, " and \"%.40s\" (line %lld)",
                   text_quote_z(d->first[1]), (long long)d->line[1]);
    infer_more(c->reason, sizeof c->reason,
               ": write plain numbers, of one unit and with a minus where one is meant");
    c->unread = true;
    return true;
}
