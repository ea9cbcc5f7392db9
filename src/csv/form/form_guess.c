/* form_guess.c - recognises numbers and dates in forms that dnn does not read. `init` names the
 * form in the reason of a column, and a training in the help of an error. */
#include "csv/form/form_guess.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"

enum { MOST_FORM = 40 }; /* longer cells have no form */

static bool has_digit(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text_is_digit(text[i]))
            return true;
    return false;
}

/* Number of digits from `at` on. */
static size_t digits(const char *text, size_t length, size_t at)
{
    size_t from = at;
    while (at < length && text_is_digit(text[at]))
        at++;
    return at - from;
}

/* The text ends at `at`, or a time may follow. */
static bool ends_date(const char *text, size_t length, size_t at)
{
    if (at == length)
        return true;
    return (text[at] == ' ' || text[at] == 'T') && at + 1 < length && text_is_digit(text[at + 1]);
}

static int number_at(const char *text, size_t at, size_t n)
{
    int number = 0;
    for (size_t i = 0; i < n; i++)
        number = number * 10 + (text[at + i] - '0');
    return number;
}

/* 31.12.2024  12/31/24  1-2-2024  2024-2-1, alone or before a time. */
static bool is_date_of_numbers(const char *text, size_t length)
{
    int part[3] = {0, 0, 0};
    size_t at = 0, n[3];
    char between = '\0';
    for (int i = 0; i < 3; i++) {
        n[i] = digits(text, length, at);
        if (!n[i] || n[i] > 4 || n[i] == 3)
            return false;
        part[i] = number_at(text, at, n[i]);
        at += n[i];
        if (i == 2)
            break;
        if (at == length || !strchr("./-", text[at]) || (between && text[at] != between))
            return false;
        between = text[at++];
    }
    bool first = n[0] == 4; /* the year */
    int day = part[first ? 2 : 0], month = part[1];
    bool days = day >= 1 && month >= 1 && day <= 31 && month <= 31 && (day <= 12 || month <= 12);
    return n[1] <= 2 && (first ? n[2] <= 2 : n[2] != 1) && days &&
           ends_date(text, length, at);
}

/* Bytes of the letters of a month's name, short or whole, in English, German, French, Spanish,
 * Italian, Portuguese or Dutch; 0: another word. */
static size_t month_letters(const char *text, size_t length)
{
    static const char *const names[] = {
        "january", "february", "march", "april", "may", "june", "july", "august", "september",
        "october", "november", "december", "januar", "februar", "m\xc3\xa4rz", "mai", "juni",
        "juli", "oktober", "dezember", "janvier", "f\xc3\xa9vrier", "mars", "avril", "juin",
        "juillet", "ao\xc3\xbbt", "septembre", "octobre", "novembre", "d\xc3\xa9" "cembre",
        "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
        "octubre", "noviembre", "diciembre", "gennaio", "febbraio", "aprile", "maggio", "giugno",
        "luglio", "settembre", "ottobre", "dicembre", "janeiro", "fevereiro", "mar\xc3\xa7o",
        "maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro", "januari",
        "februari", "maart", "mei", "augustus"};
    size_t n = 0;
    while (n < length && (((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z') || (text[n] & 0x80)))
        n++;
    for (size_t i = 0; n >= 3 && i < sizeof names / sizeof *names; i++)
        if (n <= strlen(names[i]) && !strncasecmp(text, names[i], n))
            return n;
    return 0;
}

/* Mar 30, 2019  30-Mar-19  30 March 2019, alone or before a time. */
static bool is_date_of_words(const char *text, size_t length)
{
    size_t at = 0, months = 0;
    for (int i = 0; i < 3; i++) {
        size_t n = month_letters(text + at, length - at);
        months += n > 0;
        if (!n)
            n = digits(text, length, at);
        if (!n || (i == 2 && n != 2 && n != 4))
            return false;
        at += n;
        size_t from = at;
        while (i < 2 && at < length && strchr(" .,/-", text[at]))
            at++;
        if (i < 2 && at == from)
            return false;
    }
    return months == 1 && ends_date(text, length, at);
}

/* A number with units, or with digits in groups. */
static int guess_amount(const char *text, size_t length)
{
    struct form_amounts a = {0};
    form_amounts_add(&a, text, length);
    int form = a.between[0] || a.between[1] ? FORM_GROUPED : FORM_NONE;
    bool known = a.read[0] || a.read[1];
    for (unsigned i = 0; i < a.unit_count; i++) {
        const enum form_unit kind = form_unit(a.units[i], strlen(a.units[i]));
        known &= kind == UNIT_MONEY || kind == UNIT_SHARE;
        form = form == FORM_PERCENT || kind == UNIT_SHARE ? FORM_PERCENT : FORM_CURRENCY;
    }
    return known ? form : FORM_NONE;
}

int form_guess(const char *text, size_t length)
{
    if (length > MOST_FORM || !has_digit(text, length))
        return FORM_NONE;
    if (is_date_of_numbers(text, length) || is_date_of_words(text, length))
        return FORM_DATE;
    return guess_amount(text, length);
}

/* Swaps point and comma in the numbers of a message, for files with a decimal comma. */
static void with_comma(char *text)
{
    for (; *text; text++)
        if ((*text == '.' || *text == ',') && text_is_digit(text[1]))
            *text = *text == '.' ? ',' : '.';
}

const char *form_reason(int form, char decimal, char *out, size_t size)
{
    static const char *const words[FORMS] = {
        [FORM_NONE] = "",
        [FORM_PERCENT] = "numbers with a percent sign, not all in one form: dnn reads 12.3",
        [FORM_COMMA] = "numbers with a decimal comma in a file whose others have points: dnn reads "
                       "1.5, not 1,5",
        [FORM_POINT] = "numbers with a decimal point in a file whose others have commas: dnn reads "
                       "1,5, not 1.5",
        [FORM_GROUPED] = "numbers with thousands separators, not all in one form: dnn reads 1234.5",
        [FORM_CURRENCY] = "amounts with a currency sign, not all in one form: dnn reads 12.34",
        [FORM_DATE] =
            "dates in no one form that init proposes: dnn reads 2024-12-31"};
    snprintf(out, size, "%s", words[form]);
    if (decimal == ',' && (form == FORM_PERCENT || form == FORM_GROUPED || form == FORM_CURRENCY))
        with_comma(out);
    return words[form];
}
