/* date_format.c - see date_format.h. */
#include "csv/form/date_format.h"

#include <string.h>
#include <strings.h>

#include "csv/form/date.h"
#include "csv/form/number.h"

static const char directives[] = "dmYybBaAHIMSpzsQqN%";

/* The numbers that were read, and the place in the text. */
struct reading {
    const char *at, *end;
    int year, month, day, hour, minute, second, offset; /* offset: seconds */
    bool half, afternoon; /* %I was read; PM */
    bool counted;         /* %s or %Q was read */
    double count, fraction; /* seconds */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads `least` to `most` digits. */
static bool read_digits(struct reading *r, int least, int most, int *value)
{
    int n = 0;
    for (*value = 0; n < most && r->at < r->end && is_digit(*r->at); n++)
        *value = *value * 10 + (*r->at++ - '0');
    return n >= least;
}

static bool read_within(struct reading *r, int low, int high, int *value)
{
    return read_digits(r, 1, 2, value) && *value >= low && *value <= high;
}

/* Reads one of the names, whole or its first three letters; returns its number from 1, 0: none. */
static int read_name(struct reading *r, const char *const *names, int count)
{
    size_t room = (size_t)(r->end - r->at);
    for (int i = 0; i < count; i++) {
        size_t n = strlen(names[i]);
        bool whole = room >= n && strncasecmp(r->at, names[i], n) == 0;
        if (!whole && !(room >= 3 && strncasecmp(r->at, names[i], 3) == 0))
            continue;
        r->at += whole ? n : 3;
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
    if (r->end - r->at < 2 || (r->at[1] | 32) != 'm' ||
        ((r->at[0] | 32) != 'a' && (r->at[0] | 32) != 'p'))
        return false;
    r->afternoon = (r->at[0] | 32) == 'p';
    r->at += 2;
    return true;
}

static bool read_offset(struct reading *r)
{
    int hour, minute = 0;
    if (r->at < r->end && (*r->at == 'Z' || *r->at == 'z')) {
        r->at++;
        return true;
    }
    if (r->at == r->end || (*r->at != '+' && *r->at != '-'))
        return false;
    int sign = *r->at++ == '+' ? 1 : -1;
    if (!read_digits(r, 2, 2, &hour))
        return false;
    bool colon = r->at < r->end && *r->at == ':';
    r->at += colon;
    if ((colon || (r->at < r->end && is_digit(*r->at))) && !read_digits(r, 2, 2, &minute))
        return false;
    r->offset = sign * (hour * 3600 + minute * 60);
    return hour <= 23 && minute <= 59;
}

static bool read_count(struct reading *r, double unit)
{
    const char *from = r->at;
    r->at += r->at < r->end && *r->at == '-';
    while (r->at < r->end && (is_digit(*r->at) || *r->at == '.'))
        r->at++;
    const char *power = r->at + 1;
    power += r->end - power > 1 && (*power == '+' || *power == '-');
    if (r->end - power > 0 && (*r->at | 32) == 'e' && is_digit(*power))
        for (r->at = power; r->at < r->end && is_digit(*r->at);)
            r->at++;
    r->counted = number_parse(from, (size_t)(r->at - from), '.', &r->count) == NUMBER_OK;
    r->count /= unit;
    return r->counted && r->count > -62135596801.0 && r->count < 253402300800.0; /* years 1..9999 */
}

/* Reads a fraction after the seconds, unless the format has that sign there. */
static void read_fraction(struct reading *r, char next)
{
    if (r->end - r->at < 2 || (*r->at != '.' && *r->at != ',') || *r->at == next ||
        !is_digit(r->at[1]))
        return;
    double place = 0.1;
    for (r->at++; r->at < r->end && is_digit(*r->at); place /= 10)
        r->fraction += (*r->at++ - '0') * place;
}

/* next: the format's character after it. */
static bool read_directive(struct reading *r, char c, char next)
{
    switch (c) {
    case 'd': return read_within(r, 1, 31, &r->day);
    case 'm': return read_within(r, 1, 12, &r->month);
    case 'Y': return read_digits(r, 4, 4, &r->year) && r->year >= 1;
    case 'y':
        if (!read_digits(r, 2, 2, &r->year))
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
        read_fraction(r, next);
        return true;
    case 'p': return read_half(r);
    case 'z': return read_offset(r);
    case 's': return read_count(r, 1);
    case 'Q': return read_count(r, 1e3);
    case 'q': return read_count(r, 1e6);
    case 'N': return read_count(r, 1e9);
    default: return r->at < r->end && *r->at++ == c;
    }
}

static bool read_blanks(struct reading *r)
{
    const char *from = r->at;
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
        r->at++;
    return r->at > from;
}

bool date_parse_format(const char *text, size_t length, const char *format, double *seconds)
{
    struct reading r = {.at = text, .end = text + length, .year = 1970, .month = 1, .day = 1};
    double days;
    for (const char *f = format; *f; f++) {
        bool good = *f == '%' && f[1] ? read_directive(&r, f[1], f[2])
                    : *f == ' '       ? read_blanks(&r)
                                      : r.at < r.end && *r.at++ == *f;
        f += *f == '%' && f[1];
        if (!good)
            return false;
    }
    if (r.at != r.end || !date_of_day(r.year, r.month, r.day, &days))
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
