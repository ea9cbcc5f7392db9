/* date.c - counts days from 0000-03-01: the leap day is then the last day of its year, and one rule
 * fits all months. */
#include "csv/form/date.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define DAY 86400

/* A position in the text. A function that fails may leave it anywhere. */
struct cursor {
    const char *at, *end;
};

static bool read_digits(struct cursor *c, int count, int *value)
{
    if (c->end - c->at < count)
        return false;
    *value = 0;
    for (; count; count--, c->at++) {
        if (*c->at < '0' || *c->at > '9')
            return false;
        *value = *value * 10 + (*c->at - '0');
    }
    return true;
}

static bool parse_char(struct cursor *c, char wanted)
{
    if (c->at == c->end || *c->at != wanted)
        return false;
    c->at++;
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of_month(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

/* Days since 1970-01-01. The first day of month m is (153 m + 2) / 5 days after March 1st; March is
 * 0. */
static int64_t days_from_date(int year, int month, int day)
{
    int64_t y = month > 2 ? year : year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1;
    return days - 719468;
}

bool date_of_day(int year, int month, int day, double *seconds)
{
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *seconds = (double)(days_from_date(year, month, day) * DAY);
    return true;
}

static bool read_date(struct cursor *c, int64_t *days)
{
    int year, month, day;
    if (!read_digits(c, 4, &year))
        return false;
    char separator = c->at < c->end && (*c->at == '-' || *c->at == '/') ? *c->at : '\0';
    if (separator)
        c->at++;
    if (!read_digits(c, 2, &month))
        return false;
    if (separator == '-' && c->at == c->end) /* a month without a day: its first day */
        day = 1;
    else if ((separator && !parse_char(c, separator)) || !read_digits(c, 2, &day))
        return false;
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = days_from_date(year, month, day);
    return true;
}

static bool read_offset(struct cursor *c, int *seconds)
{
    *seconds = 0;
    if (c->end - c->at == 4 && memcmp(c->at, " UTC", 4) == 0) /* as databases write it */
        c->at += 4;
    if (c->end - c->at > 1 && *c->at == ' ' && (c->at[1] == '+' || c->at[1] == '-'))
        c->at++; /* as git and Ruby do */
    if (c->at == c->end || parse_char(c, 'Z') || parse_char(c, 'z'))
        return true;
    int sign = parse_char(c, '+') ? 1 : parse_char(c, '-') ? -1 : 0, hour, minute = 0;
    if (!sign || !read_digits(c, 2, &hour))
        return false;
    bool colon = parse_char(c, ':');
    if ((colon || c->at < c->end) && !read_digits(c, 2, &minute))
        return false;
    if (hour > 23 || minute > 59)
        return false;
    *seconds = sign * (hour * 3600 + minute * 60);
    return true;
}

/* Digits from `at` to the first other character. */
static int run_of_digits(const struct cursor *c)
{
    const char *at = c->at;
    while (at < c->end && *at >= '0' && *at <= '9')
        at++;
    return (int)(at - c->at);
}

/* Parses [h]h:mm[:ss[.digits]] and an offset. Seconds of the day in UTC; may be negative or above a
 * day. */
static bool read_time(struct cursor *c, double *seconds)
{
    int hour, minute, second = 0, offset;
    double fraction = 0, place = 0.1;
    if (!read_digits(c, run_of_digits(c) == 1 ? 1 : 2, &hour) || !parse_char(c, ':') ||
        !read_digits(c, 2, &minute))
        return false;
    if (parse_char(c, ':')) {
        if (!read_digits(c, 2, &second))
            return false;
        if (parse_char(c, '.') || parse_char(c, ',')) {
            const char *from = c->at;
            for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++, place /= 10)
                fraction += (*c->at - '0') * place;
            if (c->at == from)
                return false;
        }
    }
    if (minute > 59 || second > 60 || hour > 24)
        return false;
    if (hour == 24 && (minute || second || fraction > 0))
        return false;
    if (!read_offset(c, &offset))
        return false;
    *seconds = hour * 3600 + minute * 60 + second - offset + fraction;
    return true;
}

bool date_parse(const char *text, size_t length, double *seconds)
{
    struct cursor c = {text, text + length};
    int64_t days;
    double time = 0;
    bool marked = length > 0 && (text[0] == 'T' || text[0] == 't');
    if (marked || (length > 2 && (text[1] == ':' || text[2] == ':'))) { /* a time without a date */
        c.at += marked;
        if (!read_time(&c, seconds) || c.at != c.end)
            return false;
        return true;
    }
    if (!read_date(&c, &days))
        return false;
    if (c.at < c.end) {
        if (!parse_char(&c, 'T') && !parse_char(&c, 't') && !parse_char(&c, ' '))
            return false;
        if (!read_time(&c, &time))
            return false;
    }
    if (c.at != c.end)
        return false;
    *seconds = (double)(days * DAY) + time;
    return true;
}

/* Computes the day of the year from 0, and the days of that year. days: since 1970-01-01. */
static int64_t day_of_year(int64_t days, int64_t *of)
{
    int64_t since = days + 719468; /* from 0000-03-01 */
    int64_t cycle = since / 146097, rest = since % 146097;
    if (rest < 0) {
        cycle--;
        rest += 146097;
    }
    int64_t year = (rest - rest / 1460 + rest / 36524 - rest / 146096) / 365;
    int64_t day = rest - (365 * year + year / 4 - year / 100); /* from March 1st */
    int64_t calendar = cycle * 400 + year + (day >= 306);
    bool leap = is_leap((int)(calendar % 400));
    *of = leap ? 366 : 365;
    return day >= 306 ? day - 306 : day + 59 + leap;
}

static void store_cyclic(double *parts, double turn)
{
    const double two_pi = 6.283185307179586476925;
    parts[0] = sin(two_pi * turn);
    parts[1] = cos(two_pi * turn);
}

void date_parts(double seconds, double parts[DATE_PARTS])
{
    double whole = floor(seconds / DAY), of_day = seconds - whole * DAY;
    int64_t days = (int64_t)whole, of;
    int64_t week = ((days + 3) % 7 + 7) % 7; /* Monday is 0; 1970-01-01 was a Thursday */
    int64_t day = day_of_year(days, &of);
    parts[0] = seconds;
    store_cyclic(parts + 1, of_day / DAY);
    store_cyclic(parts + 3, (double)week / 7);
    store_cyclic(parts + 5, (double)day / (double)of);
}
