/* infer_form.c - cells that a person reads as a number or a date and dnn does not: which form, so
 * that `init` can say why a column is set aside. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "csv/date.h"
#include "csv/number.h"
#include "table/infer_parts.h"

enum { MOST_FORM = 40 }; /* bytes of a cell that may have one */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *text, size_t length, size_t at)
{
    size_t from = at;
    while (at < length && is_digit(text[at]))
        at++;
    return at - from;
}

static bool is_infinite(const char *text, size_t length)
{
    static const char *const words[] = {"inf", "infinity", "nan"};
    size_t sign = length && (*text == '-' || *text == '+');
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length - sign && !strncasecmp(text + sign, words[i], length - sign))
            return true;
    return false;
}

static bool is_hex(const char *text, size_t length)
{
    size_t at = length && text[0] == '-';
    if (length < at + 3 || text[at] != '0' || (text[at + 1] | 32) != 'x')
        return false;
    for (at += 2; at < length; at++)
        if (!strchr("0123456789abcdefABCDEF", text[at]))
            return false;
    return true;
}

/* 1,234  1.234,5  12 345.67: groups of three behind the first, all with one sign between them. */
static bool is_grouped(const char *text, size_t length)
{
    size_t at = length && (*text == '-' || *text == '+'), n = digits(text, length, at), groups = 0;
    if (!n || n > 3)
        return false;
    at += n;
    char between = at < length ? text[at] : '\0';
    if (!between || !strchr(",.' ", between))
        return false;
    for (; at < length && text[at] == between && digits(text, length, at + 1) == 3; at += 4)
        groups++;
    if (!groups)
        return false;
    if (at == length)
        return true;
    return text[at] != between && strchr(".,", text[at]) && digits(text, length, at + 1) &&
           at + 1 + digits(text, length, at + 1) == length;
}

static bool is_amount(const char *text, size_t length)
{
    double value;
    char as[64];
    while (length && *text == ' ') {
        text++;
        length--;
    }
    while (length && text[length - 1] == ' ')
        length--;
    return number_parse(text, length, '.', &value) == NUMBER_OK ||
           number_parse(text, length, ',', &value) == NUMBER_OK || is_grouped(text, length) ||
           number_nearly(text, length, '.', as, sizeof as);
}

static bool is_currency(const char *text, size_t length)
{
    static const char *const signs[] = {"$", "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5",
                                        "USD", "EUR", "GBP", "CHF"};
    size_t minus = length && *text == '-';
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        size_t n = strlen(signs[i]);
        if (length <= n + minus)
            continue;
        if (memcmp(text + minus, signs[i], n) == 0 &&
            is_amount(text + minus + n, length - n - minus))
            return true;
        if (memcmp(text + length - n, signs[i], n) == 0 && is_amount(text, length - n))
            return true;
    }
    return false;
}

/* Nothing, or what may be a time, follows. */
static bool ends_date(const char *text, size_t length, size_t at)
{
    if (at == length)
        return true;
    return (text[at] == ' ' || text[at] == 'T') && at + 1 < length && is_digit(text[at + 1]);
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

/* 20241231T073713  2024-366 (the day of the year) */
static bool is_date_of_digits(const char *text, size_t length)
{
    double seconds;
    size_t n = digits(text, length, 0);
    if (n == 8)
        return length > 8 && date_parse(text, 8, &seconds) && ends_date(text, length, 8);
    if (n != 4 || length != 8 || text[4] != '-' || digits(text, length, 5) != 3)
        return false;
    int year = number_at(text, 0, 4), day = number_at(text, 5, 3);
    return year >= 1900 && year <= 2100 && day >= 1 && day <= 366;
}

/* Letters of a month's English name, cut or whole; 0: none. */
static size_t month_letters(const char *text, size_t length)
{
    static const char *const names[] = {"january", "february", "march",     "april",
                                        "may",     "june",     "july",      "august",
                                        "september", "october", "november", "december"};
    size_t n = 0;
    while (n < length && ((text[n] | 32) >= 'a' && (text[n] | 32) <= 'z'))
        n++;
    for (size_t i = 0; n >= 3 && i < sizeof names / sizeof *names; i++)
        if (n <= strlen(names[i]) && !strncasecmp(text, names[i], n))
            return n;
    return 0;
}

/* Mar 30, 2019  30-Mar-19  30 March 2019, alone or before a time. */
static bool is_date_of_words(const char *text, size_t length)
{
    size_t at = 0;
    bool month = false, day = false;
    for (int i = 0; i < 3; i++) {
        size_t n = month ? 0 : month_letters(text + at, length - at), number = 0;
        if (n)
            month = true;
        else
            number = n = digits(text, length, at);
        if (!n || (number && !day && (n > 2 || number_at(text, at, n) > 31)) ||
            (i == 2 && (!month || !number || (n != 2 && n != 4))))
            return false;
        day |= number > 0;
        at += n;
        size_t from = at;
        while (i < 2 && at < length && strchr(" .,/-", text[at]))
            at++;
        if (i < 2 && at == from)
            return false;
    }
    return ends_date(text, length, at);
}

static bool is_date(const char *text, size_t length)
{
    return is_date_of_numbers(text, length) || is_date_of_digits(text, length) ||
           is_date_of_words(text, length);
}

/* The text with every blank of Unicode as ' ' and every minus as '-'; its length. */
static size_t plainly(const char *text, size_t length, char *out, bool *minus)
{
    static const struct {
        const char *bytes;
        char as;
    } signs[] = {{"\xc2\xa0", ' '},     {"\xe2\x80\xaf", ' '}, {"\xe2\x80\x89", ' '}, {"\t", ' '},
                 {"\xe2\x88\x92", '-'}, {"\xe2\x80\x93", '-'}};
    size_t n = 0;
    for (size_t i = 0; i < length;) {
        size_t k = 0, most = sizeof signs / sizeof *signs;
        while (k < most && strncmp(text + i, signs[k].bytes, strlen(signs[k].bytes)) != 0)
            k++;
        *minus |= k < most && signs[k].as == '-';
        out[n++] = k < most ? signs[k].as : text[i];
        i += k < most ? strlen(signs[k].bytes) : 1;
    }
    return n;
}

int infer_form(const char *cell, size_t length)
{
    double value;
    char as[64], text[MOST_FORM + 1] = "";
    bool minus = false;
    size_t at = 0;
    while (at < length && !is_digit(cell[at]))
        at++;
    if (at == length) /* most words */
        return is_infinite(cell, length) ? FORM_INFINITE : FORM_NONE;
    if (number_nearly(cell, length, '.', as, sizeof as) ||
        number_nearly(cell, length, ',', as, sizeof as))
        return FORM_NEARLY;
    if (number_parse(cell, length, '.', &value) == NUMBER_RANGE)
        return FORM_BEYOND;
    if (length > MOST_FORM)
        return FORM_NONE;
    memcpy(text, cell, length);
    char plain[MOST_FORM + 1] = "";
    length = plainly(text, length, plain, &minus);
    memcpy(text, plain, sizeof text);
    if (is_amount(text, length) && !is_grouped(text, length))
        return minus ? FORM_MINUS : FORM_BLANK;
    if (text[length - 1] == '%' && is_amount(text, length - 1))
        return FORM_PERCENT;
    if (is_date(text, length))
        return FORM_DATE;
    if (is_grouped(text, length))
        return FORM_GROUPED;
    if (is_currency(text, length))
        return FORM_CURRENCY;
    return is_hex(text, length) ? FORM_HEX : FORM_NONE;
}

/* An example is told in the file's own writing: of its numbers point and comma change places. */
static void with_comma(char *text)
{
    for (; *text; text++)
        if ((*text == '.' || *text == ',') && is_digit(text[1]))
            *text = *text == '.' ? ',' : '.';
}

const char *infer_form_reason(int form, const char *cell, char decimal, char *out, size_t size)
{
    static const char *const words[FORMS] = {
        [FORM_NONE] = "",
        [FORM_INFINITE] = "inf and nan are no numbers: list the text under data.missing if it "
                          "stands for no value",
        [FORM_BEYOND] = "a number beyond what 32-bit floats hold (3.4e38)",
        [FORM_PERCENT] = "numbers with a percent sign: dnn reads 12.3, not 12.3%",
        [FORM_BLANK] = "numbers with blanks around them inside the cell: dnn reads 484, not \" "
                       "484\"",
        [FORM_MINUS] = "numbers with a minus sign that is not the one of the keyboard: dnn reads "
                       "-1 with '-'",
        [FORM_COMMA] = "numbers with a decimal comma in a file whose others have points: dnn reads "
                       "1.5, not 1,5",
        [FORM_POINT] = "numbers with a decimal point in a file whose others have commas: dnn reads "
                       "1,5, not 1.5",
        [FORM_GROUPED] = "numbers with thousands separators: dnn reads 1234.5, not 1,234.5",
        [FORM_CURRENCY] = "amounts with a currency sign: dnn reads 12.34, not $12.34",
        [FORM_HEX] = "numbers in hexadecimal digits: dnn reads decimal ones",
        [FORM_DATE] =
            "dates in a form that dnn does not read: it reads 2024-12-31, not 12/31/2024"};
    char as[64] = "0.5";
    if (form == FORM_NEARLY) {
        if (cell && !number_nearly(cell, strlen(cell), '.', as, sizeof as))
            number_nearly(cell, strlen(cell), ',', as, sizeof as);
        snprintf(out, size, cell && cell[0] == '+'
                 ? "numbers with a plus sign: dnn reads %s, not %s"
                 : "numbers without a digit before or behind the point: dnn reads %s, not %s", as,
                 cell ? cell : ".5");
        return "nearly";
    }
    snprintf(out, size, "%s", words[form]);
    if (decimal == ',' && (form == FORM_PERCENT || form == FORM_GROUPED || form == FORM_CURRENCY))
        with_comma(out);
    return words[form];
}
