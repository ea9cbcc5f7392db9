/* date.c - counts days from 0000-03-01: the leap day is then the last day of its year, and one rule
 * fits all months. */
#include "csv/form/date.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/text.h"
#include "csv/form/number.h"

#define DAY 86400

/* A position in the text. A function that fails may leave it anywhere. */
struct cursor {
    const char *at, *end;
};

/* Reads `least` to `most` digits. */
static bool read_digits(struct cursor *c, int least, int most, int *value)
{
    int n = 0;
    for (*value = 0; n < most && c->at < c->end && text_is_digit(*c->at); n++)
        *value = *value * 10 + (*c->at++ - '0');
    return n >= least;
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

/* False: there is no such day. */
static bool is_day(int year, int month, int day, int64_t *days)
{
    if (year < 1 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month))
        return false;
    *days = days_from_date(year, month, day);
    return true;
}

bool date_of_day(int year, int month, int day, double *seconds)
{
    int64_t days;
    bool there = is_day(year, month, day, &days);
    if (there)
        *seconds = (double)(days * DAY);
    return there;
}

static bool read_date(struct cursor *c, int64_t *days)
{
    int year, month, day;
    if (!read_digits(c, 4, 4, &year))
        return false;
    char separator = c->at < c->end && (*c->at == '-' || *c->at == '/') ? *c->at : '\0';
    if (separator)
        c->at++;
    if (!read_digits(c, 2, 2, &month))
        return false;
    if (separator == '-' && c->at == c->end) /* a month without a day: its first day */
        day = 1;
    else if ((separator && !parse_char(c, separator)) || !read_digits(c, 2, 2, &day))
        return false;
    return is_day(year, month, day, days);
}

/* (+|-)hh[[:]mm] or Z. */
static bool read_offset(struct cursor *c, int *seconds)
{
    int hour, minute = 0;
    *seconds = 0;
    if (parse_char(c, 'Z') || parse_char(c, 'z'))
        return true;
    int sign = parse_char(c, '+') ? 1 : parse_char(c, '-') ? -1 : 0;
    if (!sign || !read_digits(c, 2, 2, &hour))
        return false;
    bool colon = parse_char(c, ':');
    if ((colon || (c->at < c->end && text_is_digit(*c->at))) && !read_digits(c, 2, 2, &minute))
        return false;
    *seconds = sign * (hour * 3600 + minute * 60);
    return hour <= 23 && minute <= 59;
}

/* The offset at the end of an ISO date, or the end. */
static bool read_zone(struct cursor *c, int *seconds)
{
    *seconds = 0;
    if (c->end - c->at == 4 && memcmp(c->at, " UTC", 4) == 0) /* as databases write it */
        c->at += 4;
    if (c->end - c->at > 1 && *c->at == ' ' && (c->at[1] == '+' || c->at[1] == '-'))
        c->at++; /* as git and Ruby do */
    return c->at == c->end || read_offset(c, seconds);
}

/* Reads digits after a point or a comma. */
static void read_fraction(struct cursor *c, double *fraction)
{
    double place = 0.1;
    for (; c->at < c->end && text_is_digit(*c->at); place /= 10)
        *fraction += (*c->at++ - '0') * place;
}

/* Parses [h]h:mm[:ss[.digits]] and an offset. Seconds of the day in UTC; may be negative or above a
 * day. */
static bool read_time(struct cursor *c, double *seconds)
{
    int hour, minute, second = 0, offset;
    double fraction = 0;
    if (!read_digits(c, 1, 2, &hour) || !parse_char(c, ':') || !read_digits(c, 2, 2, &minute))
        return false;
    if (parse_char(c, ':')) {
        if (!read_digits(c, 2, 2, &second))
            return false;
        if (parse_char(c, '.') || parse_char(c, ',')) {
            if (c->at == c->end || !text_is_digit(*c->at))
                return false;
            read_fraction(c, &fraction);
        }
    }
    if (minute > 59 || second > 60 || hour > 24)
        return false;
    if (hour == 24 && (minute || second || fraction > 0))
        return false;
    if (!read_zone(c, &offset))
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
        return read_time(&c, seconds) && c.at == c.end;
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

/* --- by a format --- */

static const char directives[] = "dmYybBaAHIMSpzsQqN%";

/* The numbers that were read, and the place in the text. */
struct reading {
    struct cursor c;
    int year, month, day, hour, minute, second, offset; /* offset: seconds */
    bool half, afternoon; /* %I was read; PM */
    bool counted;         /* %s or %Q was read */
    double count, fraction; /* seconds */
};

static bool read_within(struct reading *r, int low, int high, int *value)
{
    return read_digits(&r->c, 1, 2, value) && *value >= low && *value <= high;
}

/* Reads one of the names, whole or its first three letters; returns its number from 1, 0: none. */
static int read_name(struct reading *r, const char *const *names, int count)
{
    size_t room = (size_t)(r->c.end - r->c.at);
    for (int i = 0; i < count; i++) {
        size_t n = strlen(names[i]);
        bool whole = room >= n && strncasecmp(r->c.at, names[i], n) == 0;
        if (!whole && !(room >= 3 && strncasecmp(r->c.at, names[i], 3) == 0))
            continue;
        r->c.at += whole ? n : 3;
        return i + 1;
    }
    return 0;
}

static bool read_month(struct reading *r)
{
    static const char *const names[] = {"january", "february", "march",     "april",
                                        "may",     "june",     "july",      "august",
                                        "september", "october", "november", "december"};
    r->month = read_name(r, names, 12);
    return r->month > 0;
}

static bool read_weekday(struct reading *r)
{
    static const char *const names[] = {"monday", "tuesday",  "wednesday", "thursday",
                                        "friday", "saturday", "sunday"};
    return read_name(r, names, 7) > 0;
}

static bool read_half(struct reading *r)
{
    if (r->c.end - r->c.at < 2 || (r->c.at[1] | 32) != 'm' ||
        ((r->c.at[0] | 32) != 'a' && (r->c.at[0] | 32) != 'p'))
        return false;
    r->afternoon = (r->c.at[0] | 32) == 'p';
    r->c.at += 2;
    return true;
}

static bool read_count(struct reading *r, double unit)
{
    const char *from = r->c.at;
    r->c.at += r->c.at < r->c.end && *r->c.at == '-';
    while (r->c.at < r->c.end && (text_is_digit(*r->c.at) || *r->c.at == '.'))
        r->c.at++;
    const char *power = r->c.at + 1;
    power += r->c.end - power > 1 && (*power == '+' || *power == '-');
    if (r->c.end - power > 0 && (*r->c.at | 32) == 'e' && text_is_digit(*power))
        for (r->c.at = power; r->c.at < r->c.end && text_is_digit(*r->c.at);)
            r->c.at++;
    r->counted = number_parse(from, (size_t)(r->c.at - from), '.', &r->count) == NUMBER_OK;
    r->count /= unit;
    return r->counted && r->count > -62135596801.0 && r->count < 253402300800.0; /* years 1..9999 */
}

/* Reads a fraction after the seconds, unless the format has that sign there. */
static void read_fraction_before(struct reading *r, char next)
{
    if (r->c.end - r->c.at < 2 || (*r->c.at != '.' && *r->c.at != ',') || *r->c.at == next ||
        !text_is_digit(r->c.at[1]))
        return;
    r->c.at++;
    read_fraction(&r->c, &r->fraction);
}

/* next: the format's character after it. */
static bool read_directive(struct reading *r, char c, char next)
{
    switch (c) {
    case 'd': return read_within(r, 1, 31, &r->day);
    case 'm': return read_within(r, 1, 12, &r->month);
    case 'Y': return read_digits(&r->c, 4, 4, &r->year) && r->year >= 1;
    case 'y':
        if (!read_digits(&r->c, 2, 2, &r->year))
            return false;
        r->year += r->year < 69 ? 2000 : 1900;
        return true;
    case 'b':
    case 'B': return read_month(r);
    case 'a':
    case 'A': return read_weekday(r);
    case 'H': return read_within(r, 0, 23, &r->hour);
    case 'I':
        r->half = true;
        return read_within(r, 1, 12, &r->hour);
    case 'M': return read_within(r, 0, 59, &r->minute);
    case 'S':
        if (!read_within(r, 0, 60, &r->second))
            return false;
        read_fraction_before(r, next);
        return true;
    case 'p': return read_half(r);
    case 'z': return read_offset(&r->c, &r->offset);
    case 's': return read_count(r, 1);
    case 'Q': return read_count(r, 1e3);
    case 'q': return read_count(r, 1e6);
    case 'N': return read_count(r, 1e9);
    default: return r->c.at < r->c.end && *r->c.at++ == c;
    }
}

static bool read_blanks(struct reading *r)
{
    const char *from = r->c.at;
    while (r->c.at < r->c.end && (*r->c.at == ' ' || *r->c.at == '\t'))
        r->c.at++;
    return r->c.at > from;
}

bool date_parse_format(const char *text, size_t length, const char *format, double *seconds)
{
    struct reading r = {.c = {text, text + length}, .year = 1970, .month = 1, .day = 1};
    double days;
    for (const char *f = format; *f; f++) {
        bool good = *f == '%' && f[1] ? read_directive(&r, f[1], f[2])
                    : *f == ' '       ? read_blanks(&r)
                                      : r.c.at < r.c.end && *r.c.at++ == *f;
        f += *f == '%' && f[1];
        if (!good)
            return false;
    }
    if (r.c.at != r.c.end || !date_of_day(r.year, r.month, r.day, &days))
        return false;
    if (r.half)
        r.hour = r.hour % 12 + (r.afternoon ? 12 : 0);
    *seconds = r.counted ? r.count
                         : days + r.hour * 3600 + r.minute * 60 + r.second + r.fraction -
                               r.offset;
    return true;
}

bool date_format_valid(const char *format, const char **at)
{
    bool any = false;
    for (const char *f = format; *f; f++) {
        if (*f != '%')
            continue;
        *at = f++;
        if (!*f || !strchr(directives, *f))
            return false;
        any |= *f != '%';
    }
    *at = NULL;
    return any;
}

/* --- the inputs of a column --- */

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

bool date_put(double seconds, struct text *out)
{
    const time_t at = (time_t)seconds;
    struct tm tm;
    char date[40];
    if (!gmtime_r(&at, &tm) ||
        !strftime(date, sizeof date, tm.tm_hour || tm.tm_min ? "%Y-%m-%dT%H:%M" : "%Y-%m-%d", &tm))
        return false;
    text_put(out, date);
    return true;
}
