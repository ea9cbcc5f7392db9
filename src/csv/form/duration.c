/* duration.c - see duration.h. */
#include "csv/form/duration.h"

#include <string.h>
#include <strings.h>

#include "base/text.h"

#define DAY 86400.0

static const struct {
    const char *word;
    double seconds;
} units[] = {{"w", 7 * DAY},   {"wk", 7 * DAY},  {"wks", 7 * DAY},    {"week", 7 * DAY},
             {"weeks", 7 * DAY}, {"d", DAY},     {"day", DAY},        {"days", DAY},
             {"tag", DAY},     {"tage", DAY},    {"h", 3600},         {"hr", 3600},
             {"hrs", 3600},    {"hour", 3600},   {"hours", 3600},     {"std", 3600},
             {"m", 60},        {"min", 60},      {"mins", 60},        {"minute", 60},
             {"minutes", 60},  {"s", 1},         {"sec", 1},          {"secs", 1},
             {"second", 1},    {"seconds", 1},   {"sek", 1},          {"ms", 1e-3},
             {"us", 1e-6},     {"\xc2\xb5s", 1e-6}, {"\xce\xbcs", 1e-6}, {"ns", 1e-9}};

/* The unread rest. */
struct rest {
    const char *at, *end;
};

static bool take(struct rest *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_blanks(struct rest *r)
{
    const char *from = r->at;
    while (take(r, ' ') || take(r, '\t'))
        continue;
    return r->at > from;
}

/* Digits, at most 15; returns how many. */
static int take_digits(struct rest *r, double *value)
{
    int n = 0;
    for (*value = 0; r->at < r->end && text_is_digit(*r->at) && n < 15; n++)
        *value = *value * 10 + (*r->at++ - '0');
    return r->at < r->end && text_is_digit(*r->at) ? 0 : n;
}

/* Takes a fraction after a point or a comma, if there is one. */
static void take_fraction(struct rest *r, double *value)
{
    if (r->end - r->at < 2 || (*r->at != '.' && *r->at != ',') || !text_is_digit(r->at[1]))
        return;
    double place = 1, digits = 0;
    for (r->at++; r->at < r->end && text_is_digit(*r->at); r->at++, place *= 10)
        if (place < 1e15)
            digits = digits * 10 + (*r->at - '0');
        else
            place /= 10;
    *value += digits / place;
}

/* h:mm[:ss[.digits]], all of the rest. */
static bool take_clock(struct rest *r, double *seconds)
{
    double hours, minutes, rest = 0;
    if (!take_digits(r, &hours) || !take(r, ':') || take_digits(r, &minutes) != 2)
        return false;
    if (take(r, ':')) {
        if (take_digits(r, &rest) != 2 || rest > 59)
            return false;
        take_fraction(r, &rest);
    }
    *seconds = hours * 3600 + minutes * 60 + rest;
    return minutes <= 59 && r->at == r->end;
}

/* Takes PT1H5M from after the P. */
static bool take_iso(struct rest *r, double *seconds)
{
    static const char letters[] = "WDTHMS";
    static const double each[] = {7 * DAY, DAY, 0, 3600, 60, 1};
    size_t next = 0; /* in `letters` */
    bool any = false, time = false;
    for (*seconds = 0; r->at < r->end;) {
        if (!time && take(r, 'T')) {
            time = true;
            next = 3;
            any = false;
            continue;
        }
        double value;
        if (!take_digits(r, &value))
            return false;
        take_fraction(r, &value);
        const char *found = r->at < r->end ? strchr(letters + next, *r->at) : NULL;
        if (!found || !*found || *found == 'T' || (found - letters > 2) != time)
            return false;
        r->at++;
        next = (size_t)(found - letters) + 1;
        *seconds += value * each[found - letters];
        any = true;
    }
    return any;
}

/* Takes the word of a unit, with or without a point after it: its seconds; 0: another word. */
static double take_unit(struct rest *r)
{
    const char *from = r->at;
    while (r->at < r->end && (((*r->at | 32) >= 'a' && (*r->at | 32) <= 'z') || *r->at & 0x80))
        r->at++;
    const size_t length = (size_t)(r->at - from);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].word) == length && strncasecmp(units[i].word, from, length) == 0) {
            take(r, '.');
            return units[i].seconds;
        }
    return 0;
}

/* The unit of a last number without a word: minutes after hours, seconds after minutes. */
static double unit_below(double unit)
{
    return unit == 3600 ? 60 : unit == 60 ? 1 : 0;
}

/* True: the rest is a sign and a clock, or a clock. */
static bool ends_with_clock(struct rest r, double *seconds)
{
    const bool minus = take(&r, '-');
    if (!minus)
        take(&r, '+');
    if (!take_clock(&r, seconds))
        return false;
    *seconds = minus ? -*seconds : *seconds;
    return true;
}

/* Takes numbers with units; the last may be a clock. sign: the sign of the units. */
static bool take_words(struct rest *r, double sign, double *seconds)
{
    double sum = 0, last = 0, clock;
    while (r->at < r->end) {
        if (last && ends_with_clock(*r, &clock)) {
            *seconds = sign * sum + clock;
            return true;
        }
        double value;
        if (!take_digits(r, &value))
            return false;
        take_fraction(r, &value);
        take_blanks(r);
        const bool bare = r->at == r->end && last;
        const double unit = bare ? unit_below(last) : take_unit(r);
        if (!unit || (last && unit >= last))
            return false;
        sum += value * unit;
        last = unit;
        take_blanks(r);
        take(r, ',');
        take_blanks(r);
        if (r->end - r->at > 4 && strncasecmp(r->at, "and ", 4) == 0)
            r->at += 4;
    }
    *seconds = sign * sum;
    return last > 0;
}

bool duration_parse(const char *text, size_t length, double *seconds)
{
    struct rest r = {text, text + length}, again;
    double days, clock;
    take_blanks(&r);
    while (r.at < r.end && r.end[-1] == ' ')
        r.end--;
    const double sign = take(&r, '-') ? -1 : 1;
    if (sign > 0)
        take(&r, '+');
    if (take(&r, 'P')) {
        if (!take_iso(&r, seconds))
            return false;
        *seconds *= sign;
        return true;
    }
    again = r;
    if (take_clock(&again, &clock)) {
        *seconds = sign * clock;
        return true;
    }
    again = r;
    if (take_digits(&again, &days) && take(&again, '.') && take_clock(&again, &clock) &&
        clock < DAY) {
        *seconds = sign * (days * DAY + clock);
        return true;
    }
    return take_words(&r, sign, seconds);
}
