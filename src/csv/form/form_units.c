/* form_units.c - texts beside a number: which may differ from cell to cell, and which speak of
 * another scale. */
#include "csv/form/form_guess.h"

#include <string.h>

/* Words of currencies, in capitals, as people write them. Words with one name are one currency. */
static const struct {
    const char *word, *name;
} currencies[] = {
    {"USD", "$"}, {"US$", "$"}, {"EUR", "\xe2\x82\xac"}, {"GBP", "\xc2\xa3"},
    {"INR", "\xe2\x82\xb9"}, {"Rs", "\xe2\x82\xb9"}, {"Rs.", "\xe2\x82\xb9"}, {"BRL", "R$"},
    {"AUD", "A$"}, {"CAD", "C$"}, {"JPY", "\xc2\xa5"}, {"CHF", "CHF"}, {"Fr.", "CHF"},
    {"SFr.", "CHF"}, {"kr", "kr"}, {"kr.", "kr"}, {"SEK", "kr"}, {"NOK", "kr"}, {"DKK", "kr"},
    {"PLN", "z\xc5\x82"}, {"z\xc5\x82", "z\xc5\x82"}, {"CZK", "K\xc4\x8d"},
    {"K\xc4\x8d", "K\xc4\x8d"}, {"HUF", "Ft"}, {"Ft", "Ft"}, {"RON", "lei"}, {"lei", "lei"},
    {"RUB", "\xe2\x82\xbd"}, {"TRY", "\xe2\x82\xba"}, {"TL", "\xe2\x82\xba"}, {"CNY", "\xc2\xa5"},
    {"KRW", "\xe2\x82\xa9"}, {"MXN", "MX$"}, {"ZAR", "ZAR"}, {"NZD", "NZ$"}, {"HKD", "HK$"},
    {"SGD", "S$"}, {"THB", "\xe0\xb8\xbf"}, {"IDR", "Rp"}, {"Rp", "Rp"}, {"MYR", "RM"},
    {"RM", "RM"}, {"PHP", "\xe2\x82\xb1"}, {"VND", "\xe2\x82\xab"}, {"AED", "AED"},
    {"SAR", "SAR"}, {"ILS", "\xe2\x82\xaa"}, {"NGN", "\xe2\x82\xa6"}, {"ARS", "AR$"},
    {"CLP", "CLP"}, {"COP", "COP"}, {"PKR", "PKR"}, {"BDT", "BDT"}, {"LKR", "LKR"},
    {"EGP", "EGP"}, {"KES", "KES"}};

/* Marks that do not change the number: about, a cell that Excel shall take as text; and marks of a
 * limit. */
static const char *const marks[] = {"~",      "\xe2\x89\x88", "ca.", "ca", "approx.",
                                    "approx", "=\"",          "\"",  "=",  "'",
                                    "*",      "\xc2\xb1"};
static const char *const limits[] = {"<", ">", "<=", ">=", "\xe2\x89\xa4", "\xe2\x89\xa5"};

#define LONGEST_KNOWN (sizeof "approx." - 1) /* of all these; a sign with its letters is shorter */

static bool equal(const char *word, const char *text, size_t length)
{
    return length && *word == *text && strlen(word) == length && memcmp(word, text, length) == 0;
}

static bool is_capital(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* Bytes of a sign of a currency: $, or of U+00A2 to U+00A5, U+20A0 to U+20CF, U+0E3F; 0: none. */
static size_t sign(const char *text, size_t length)
{
    const unsigned char *u = (const unsigned char *)text;
    if (length && *text == '$')
        return 1;
    if (length >= 2 && u[0] == 0xC2 && u[1] >= 0xA2 && u[1] <= 0xA5)
        return 2;
    if (length < 3)
        return 0;
    const bool block = u[0] == 0xE2 && ((u[1] == 0x82 && u[2] >= 0xA0) ||
                                        (u[1] == 0x83 && u[2] <= 0x8F));
    return block || memcmp(text, "\xe0\xb8\xbf", 3) == 0 ? 3 : 0;
}

/* $  €  R$  A$  NZ$ */
static bool has_sign(const char *text, size_t length)
{
    size_t letters = 0;
    while (letters < length && letters < 3 && is_capital(text[letters]))
        letters++;
    return letters < 3 && letters + sign(text + letters, length - letters) == length &&
           letters < length;
}

enum form_unit form_unit(const char *text, size_t length)
{
    if (length > LONGEST_KNOWN)
        return UNIT_WORD;
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++)
        if (equal(currencies[i].word, text, length))
            return UNIT_MONEY;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (equal(marks[i], text, length))
            return UNIT_MARK;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (equal(limits[i], text, length))
            return UNIT_LIMIT;
    return has_sign(text, length) ? UNIT_MONEY : equal("%", text, length) ? UNIT_SHARE : UNIT_WORD;
}

/* The currency of a text of kind UNIT_MONEY; another text is itself. */
static const char *currency(const char *text)
{
    for (size_t i = 0; i < sizeof currencies / sizeof *currencies; i++)
        if (strcmp(currencies[i].word, text) == 0)
            return currencies[i].name;
    return text;
}

bool form_units_differ(const struct form_amounts *a)
{
    const char *first = NULL;
    for (unsigned i = 0; i < a->unit_count; i++) {
        const int kind = form_unit(a->units[i], strlen(a->units[i]));
        if (kind == UNIT_MARK || kind == UNIT_LIMIT ||
            (kind == UNIT_WORD && a->with_words == a->cells)) /* $5 million */
            continue;
        const char *name = kind == UNIT_MONEY ? currency(a->units[i]) : a->units[i];
        if (first && strcmp(first, name) != 0)
            return true;
        first = name;
    }
    return false;
}
