/* form_dates.c - the format of a column's dates that are not ISO dates: the first cell proposes the
 * order of day, month, year and time, and the others prove it or rule it out. */
#include "csv/form/form_guess.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "csv/form/date.h"

/* A cell that is read from left to right, and the format of the part that is read. */
struct shape {
    const char *at, *end;
    char format[FORM_FORMAT];
    size_t used;
    bool good;
};

static void put(struct shape *s, const char *text, size_t length)
{
    s->good &= s->used + length < sizeof s->format;
    if (!s->good)
        return;
    memcpy(s->format + s->used, text, length);
    s->used += length;
    s->format[s->used] = '\0';
}

/* Takes one of the characters, if it is next; it stands in the format. A row of blanks is one. */
static bool take(struct shape *s, const char *one_of)
{
    if (s->at == s->end || !*s->at || !strchr(one_of, *s->at))
        return false;
    put(s, s->at, 1);
    for (char c = *s->at++; c == ' ' && s->at < s->end && *s->at == ' ';)
        s->at++;
    return true;
}

/* Takes up to four digits, or the letters of a word; returns how many. */
static size_t run_of(struct shape *s, bool (*is)(char))
{
    const char *from = s->at;
    while (s->at < s->end && is(*s->at) && (is == text_is_letter || s->at - from < 4))
        s->at++;
    return (size_t)(s->at - from);
}

/* The three parts of a date: letters d, m, b (a month's name), Y and y of the directives. second:
 * the other reading of two numbers, the month first. False: no date, or no other reading. */
static bool name_parts(const size_t digits[3], bool second, char part[3])
{
    int words = !digits[0] + !digits[1] + !digits[2], year = digits[0] == 4 ? 0 : 2;
    for (int i = 0; i < 3; i++)
        part[i] = !digits[i] ? 'b' : i == year ? (digits[i] == 4 ? 'Y' : 'y') : 'd';
    if (words == 0 && year == 0)
        part[1] = 'm';
    else if (words == 0)
        part[second ? 0 : 1] = 'm';
    bool fits = digits[year] == 2 || digits[year] == 4;
    for (int i = 0; i < 3; i++)
        fits &= i == year || digits[i] <= 2;
    return fits && words < 2 && digits[year] && !(second && (words || year == 0));
}

/* Takes year, month and day, each with its sign after it, as in Chinese, Japanese and Korean; in
 * Korean often with a blank after the sign. */
static bool take_cjk(struct shape *s)
{
    static const char *const signs[2][3] = {{"\xe5\xb9\xb4", "\xe6\x9c\x88", "\xe6\x97\xa5"},
                                            {"\xeb\x85\x84", "\xec\x9b\x94", "\xec\x9d\xbc"}};
    static const char *const parts[] = {"%Y", "%m", "%d"};
    int script = 0;
    for (int i = 0; i < 3; i++) {
        const size_t digits = run_of(s, text_is_digit);
        if (i ? digits < 1 || digits > 2 : digits != 4)
            return false;
        script = i || s->end - s->at < 3 ? script : memcmp(s->at, signs[0][0], 3) != 0;
        if (s->end - s->at < 3 || memcmp(s->at, signs[script][i], 3) != 0)
            return false;
        put(s, parts[i], 2);
        put(s, s->at, 3);
        s->at += 3;
        if (i < 2)
            take(s, " ");
    }
    return true;
}

/* 31.12.2024  12/31/24  30-Mar-19  Mar 30, 2019  2024-12-31 */
static bool take_date(struct shape *s, bool second)
{
    struct shape parts = *s; /* lengths first: the year's place names the others */
    size_t digits[3];
    char part[3], name[2] = "%";
    for (int i = 0; i < 3; i++) {
        digits[i] = run_of(&parts, text_is_digit);
        if (!digits[i] && run_of(&parts, text_is_letter) < 3)
            return false;
        while (i < 2 && take(&parts, " .,/-"))
            continue;
    }
    if (!name_parts(digits, second, part))
        return false;
    bool words = !digits[0] || !digits[1] || !digits[2];
    char mark = '\0';
    for (int i = 0; i < 3; i++) {
        run_of(s, digits[i] ? text_is_digit : text_is_letter);
        name[1] = part[i];
        put(s, name, 2);
        if (i == 2)
            break;
        if (i == 1 && !words && (s->at == s->end || *s->at != mark))
            return false;
        mark = s->at < s->end ? *s->at : '\0';
        if (!take(s, words ? " .,/-" : "./-"))
            return false;
        while (words && take(s, " .,/-"))
            continue;
    }
    if (!words && digits[0] != 4 && digits[2] == 2 && mark == '-')
        return false; /* 10-01-24: the year may be the first */
    return true;
}

/* 15:30  15:30:05  15:30:05.25 */
static bool take_clock(struct shape *s)
{
    size_t n = run_of(s, text_is_digit);
    if (n < 1 || n > 2)
        return false;
    put(s, "%H", 2);
    if (!take(s, ":") || run_of(s, text_is_digit) != 2)
        return false;
    put(s, "%M", 2);
    if (s->at < s->end && *s->at == ':') {
        take(s, ":");
        put(s, "%S", 2);
        if (run_of(s, text_is_digit) != 2)
            return false;
        if (s->end - s->at > 1 && strchr(".,", *s->at) && text_is_digit(s->at[1]))
            while (++s->at < s->end && text_is_digit(*s->at))
                continue; /* %S reads the fraction */
    }
    return true;
}

/* GMT or UTC, which say nothing: they stand in the format. */
static void take_universal(struct shape *s)
{
    if (s->end - s->at >= 3 && (!memcmp(s->at, "GMT", 3) || !memcmp(s->at, "UTC", 3))) {
        put(s, s->at, 3);
        s->at += 3;
    }
}

/* Takes a clock, and after it AM, PM, a zone; *half: of 12 hours. */
static bool take_time(struct shape *s, bool *half)
{
    const size_t at = s->used;
    if (!take_clock(s))
        return false;
    take(s, " ");
    *half = s->end - s->at >= 2 && strchr("aApP", *s->at) && (s->at[1] | 32) == 'm';
    if (*half) {
        s->at += 2;
        put(s, "%p", 2);
        if (s->good)
            s->format[at + 1] = 'I';
        take(s, " ");
    }
    if (s->at < s->end && strchr("Zz+-", *s->at)) {
        put(s, "%z", 2);
        s->at = s->end; /* every cell is parsed by the format, this one too */
    }
    take_universal(s);
    return s->at == s->end;
}

/* Mon, ahead of a date. */
static bool take_weekday(struct shape *s)
{
    static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                        "friday", "saturday", "sunday"};
    struct shape t = *s;
    const size_t n = run_of(&t, text_is_letter);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((n != 3 && n != strlen(names[i])) || strncasecmp(s->at, names[i], n) != 0)
            continue;
        put(&t, "%a", 2);
        take(&t, ",");
        if (!take(&t, " "))
            return false;
        *s = t;
        return true;
    }
    return false;
}

/* Mar 2024  12/2024: a month of a year near ours. */
static bool take_month(struct shape *s)
{
    const size_t digits = run_of(s, text_is_digit);
    const size_t letters = digits ? 0 : run_of(s, text_is_letter);
    if (digits > 2 || (!digits && letters < 3))
        return false;
    put(s, digits ? "%m" : "%b", 2);
    if (!take(s, digits ? "/-" : " -/,"))
        return false;
    take(s, " ");
    const char *year = s->at;
    put(s, "%Y", 2);
    return run_of(s, text_is_digit) == 4 && s->at == s->end &&
           (!memcmp(year, "19", 2) || !memcmp(year, "20", 2));
}

/* Takes what follows the day of the week in C's form: Aug 27 13:08:45 +0000 2008. */
static bool take_ctime(struct shape *s)
{
    if (run_of(s, text_is_letter) != 3)
        return false;
    put(s, "%b", 2);
    const bool day = take(s, " ") && run_of(s, text_is_digit);
    put(s, "%d", 2);
    if (!day || !take(s, " ") || !take_clock(s) || !take(s, " "))
        return false;
    if (s->at < s->end && strchr("+-", *s->at)) {
        for (s->at++; s->at < s->end && *s->at != ' '; s->at++)
            continue;
        put(s, "%z", 2);
        take(s, " ");
    }
    take_universal(s);
    take(s, " ");
    put(s, "%Y", 2);
    return run_of(s, text_is_digit) == 4 && s->at == s->end;
}

/* Sets the format of a cell; "": it is no date. */
static void find_format(const char *text, size_t length, bool second, char out[FORM_FORMAT])
{
    struct shape date = {.at = text, .end = text + length, .good = true}, time = date, day;
    const bool weekday = take_weekday(&date);
    day = date;
    bool half = false, found = weekday && !second && take_ctime(&date);
    if (!found) {
        date = day;
        found = !second && take_cjk(&date);
        if (!found) {
            date = day;
            found = take_date(&date, second);
        }
        if (found && date.at < date.end)
            found = (take(&date, ",") ? take(&date, " ") : take(&date, " T:")) &&
                    take_time(&date, &half);
    }
    if (!found && !second) {
        date = (struct shape){.at = text, .end = text + length, .good = true};
        found = take_month(&date);
    }
    bool alone = !found && !second && take_time(&time, &half) && half;
    const struct shape *s = found ? &date : &time;
    out[0] = '\0';
    if ((found || alone) && s->good)
        memcpy(out, s->format, sizeof s->format);
}

/* True if the first word is a month that a format reads: Mai is none. */
static bool has_month(const char *text, size_t length)
{
    char day[FORM_CELL + 16];
    double seconds;
    size_t from = 0, to;
    while (from < length && !text_is_letter(text[from]))
        from++;
    for (to = from; to < length && (text_is_letter(text[to]) || (text[to] & 0x80)); to++)
        continue;
    const int n = snprintf(day, sizeof day, "1 %.*s 2000", (int)(to - from), text + from);
    return date_parse_format(day, (size_t)n, "%d %b %Y", &seconds);
}

/* True: it has the form of a date, of a day or an hour that does not exist. */
static bool is_unreal(const char *text, size_t length)
{
    char format[FORM_FORMAT];
    double seconds;
    for (int second = 0; second < 2; second++) {
        find_format(text, length, second == 1, format);
        if (!format[0])
            return second == 1;
        if (date_parse_format(text, length, format, &seconds) ||
            (strstr(format, "%b") && !has_month(text, length)))
            return false;
    }
    return true;
}

void form_dates_add(struct form_dates *d, const char *text, size_t length)
{
    double seconds;
    bool first = !d->cells++, read = false;
    if (length > FORM_CELL)
        return;
    for (int i = 0; i < 2; i++) {
        if (first)
            find_format(text, length, i == 1, d->format[i]);
        bool one = d->format[i][0] && date_parse_format(text, length, d->format[i], &seconds);
        d->read[i] += one;
        read |= one;
    }
    d->either += read;
    if (!read && d->format[0][0] && is_unreal(text, length) && !d->unreal++) {
        memcpy(d->unreal_day, text, length);
        d->unreal_day[length] = '\0';
    }
}

const char *form_dates_format(const struct form_dates *d, const char **other)
{
    bool good[2];
    for (int i = 0; i < 2; i++)
        good[i] = d->format[i][0] && d->read[i] == d->cells;
    *other = good[0] && good[1] ? d->format[1] : NULL;
    return good[0] ? d->format[0] : good[1] ? d->format[1] : NULL;
}
