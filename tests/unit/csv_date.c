/* csv_date.c - the forms of dates and times as a table, every day of 800 years against timegm, and
 * the cyclic parts. */
#include <math.h>
#include <string.h>
#include <time.h>

#include "csv/form/date.h"
#include "seconds.h"

static const struct seconds_case forms[] = {
    {"1970-01-01", 0},
    {"1970-01-02", 86400},
    {"1969-12-31", -86400},
    {"2024-02-29", 1709164800},
    {"2024/02/29", 1709164800},
    {"20240229", 1709164800},
    {"2000-02-29", 951782400},
    {"0001-01-01", -62135596800.0},
    {"9999-12-31", 253402214400.0},
    {"2024-02-29T12:30", 1709209800},
    {"2024-02-29 12:30", 1709209800},
    {"2024-02-29 12:30:15", 1709209815},
    {"2024-02-29 12:30:15.5", 1709209815.5},
    {"20240229T12:30:15", 1709209815},
    {"2024-02-29T12:30:15Z", 1709209815},
    {"2024-02-29T12:30:15+02:00", 1709202615},
    {"2024-02-29 12:30:15 UTC", 1709209815},
    {"2024-02-29 12:30:15.5 UTC", 1709209815.5},
    {"2024-02-29 12:30:15 UT", NAN},
    {"2024-02-29 12:30:15 UTC+1", NAN},
    {"2024-02-29 UTC", NAN},
    {"2024-02-29T12:30:15-0530", 1709229615},
    {"2024-02-29T12:30+02", 1709202600},
    {"2024-02-29T24:00", 1709251200},
    {"2016-12-31T23:59:60Z", 1483228800},
    {"", NAN},
    {"2024", NAN},
    {"2024-02", 1706745600},
    {"2024-13", NAN},
    {"2024-00", NAN},
    {"2024/02", NAN},
    {"202402", NAN},
    {"2024-02T12:30", NAN},
    {"2024-W07", NAN},
    {"2024-045", NAN},
    {"10:30", 37800},
    {"T10:30", 37800},
    {"10:30:15.25", 37815.25},
    {"23:59:59+02:00", 79199},
    {"24:00", 86400},
    {"24:01", NAN},
    {"10:60", NAN},
    {"1:30", 5400},
    {"9:05:33", 32733},
    {"9:5", NAN},
    {"100:30", NAN},
    {"2024-02-29 9:30", 1709199000},
    {"2024-02-29 12:30:15,123", 1709209815.123},
    {"2024-02-29 12:30:15 +0200", 1709202615},
    {"2024-02-29 12:30:15 -05:30", 1709229615},
    {"2024-02-29 12:30:15  +02", NAN},
    {"10:", NAN},
    {"T", NAN},
    {"T1030", NAN},
    {"10:30 pm", NAN},
    {"2024-02-", NAN},
    {"2023-02-29", NAN},
    {"1900-02-29", NAN},
    {"2024-13-01", NAN},
    {"2024-00-01", NAN},
    {"2024-04-31", NAN},
    {"2024-04-00", NAN},
    {"0000-01-01", NAN},
    {"2024-2-29", NAN},
    {"2024-02/29", NAN},
    {"29.02.2024", NAN},
    {"02/29/2024", NAN},
    {"2024-02-29T", NAN},
    {"2024-02-29T12", NAN},
    {"2024-02-29T12:60", NAN},
    {"2024-02-29T25:00", NAN},
    {"2024-02-29T24:00:01", NAN},
    {"2024-02-29T12:30:61", NAN},
    {"2024-02-29T12:30:15.", NAN},
    {"2024-02-29T12:30:15+", NAN},
    {"2024-02-29T12:30:15+2", NAN},
    {"2024-02-29T12:30:15+02:", NAN},
    {"2024-02-29T12:30:15+24:00", NAN},
    {"2024-02-29T12:30:15 CET", NAN},
    {"2024-02-29x", NAN},
    {" 2024-02-29", NAN},
    {"-2024-02-29", NAN},
};

static const struct {
    const char *format, *text;
    double seconds; /* NaN: not read */
} formats[] = {
    {"%s", "1700000000.0", 1700000000},
    {"%Q", "1700000000123", 1700000000.123},
    {"%q", "1700000000123456", 1700000000.123456},
    {"%N", "1700000000123456789", 1700000000.123456789},
    {"%N", "1700000000", 1.7},
    {"%d.%m.%Y %H:%M:%S", "29.02.2024 12:30:15,5", 1709209815.5},
    {"%d.%m.%Y %H:%M:%S", "29.02.2024 12:30:15.25", 1709209815.25},
    {"%d.%m.%Y %H:%M:%S", "29.02.2024 12:30:15.", NAN},
    {"%s", "1.7e9", 1700000000},
    {"%s", "1.7e", NAN},
    {"%Q", "1.7E+12", 1700000000},
    {"%a %b %d %H:%M:%S %z %Y", "Thu Feb 29 14:30:15 +0200 2024", 1709209815},
    {"%A, %d %b %Y %H:%M:%S GMT", "Thursday, 29 Feb 2024 12:30:15 GMT", 1709209815},
    {"%Y%m%d%H%M%S", "20240229123015", 1709209815},
    {"%H.%M.%S.%d", "12.30.15.02", 131415},
    {"%d.%m.%Y %H:%M:%S %z", "29.02.2024 12:30:15 +0200", 1709202615},
};

static void test_formats(void)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        double seconds = NAN;
        bool good = date_parse_format(formats[i].text, strlen(formats[i].text), formats[i].format,
                                      &seconds);
        ok(good == !isnan(formats[i].seconds) &&
               (!good || fabs(seconds - formats[i].seconds) < 1e-6),
           "\"%s\" as \"%s\" is %.6f", formats[i].text, formats[i].format, seconds);
    }
}

static void test_every_day(void)
{
    bool days = true, week = true, year = true;
    for (time_t at = -11676096000; at < 13569465600; at += 86400) { /* 1600 to 2399 */
        struct tm tm;
        gmtime_r(&at, &tm);
        char text[32];
        strftime(text, sizeof text, "%Y-%m-%d", &tm);
        double seconds = 0, parts[DATE_PARTS];
        if (!date_parse(text, strlen(text), &seconds) || seconds != (double)at)
            days = false;
        date_parts(seconds + 3600, parts);
        int y = tm.tm_year + 1900;
        double of = y % 4 == 0 && (y % 100 || y % 400 == 0) ? 366 : 365;
        double turn = 2 * 3.14159265358979323846;
        if (fabs(parts[3] - sin(turn * ((tm.tm_wday + 6) % 7) / 7)) > 1e-12 ||
            fabs(parts[4] - cos(turn * ((tm.tm_wday + 6) % 7) / 7)) > 1e-12)
            week = false;
        if (fabs(parts[5] - sin(turn * tm.tm_yday / of)) > 1e-12 ||
            fabs(parts[6] - cos(turn * tm.tm_yday / of)) > 1e-12)
            year = false;
    }
    ok(days, "each day from 1600 to 2399 is that of the C library");
    ok(week, "its day of the week goes round in seven");
    ok(year, "its day of the year goes round in 365 or 366");
}

static void test_parts(void)
{
    double parts[DATE_PARTS];
    date_parts(-86400.0 / 4, parts);
    is_near(parts[0], -21600, 0, "the seconds stand first");
    is_near(parts[1], -1, 1e-12, "six in the evening: sine");
    is_near(parts[2], 0, 1e-12, "six in the evening: cosine");
    date_parts(0.0, parts);
    is_near(parts[1], 0, 1e-12, "midnight: sine");
    is_near(parts[2], 1, 1e-12, "midnight: cosine");
    is_near(parts[5], 0, 1e-12, "the first of January: sine");
}

int main(void)
{
    are_seconds(date_parse, forms, sizeof forms / sizeof *forms);
    test_formats();
    test_every_day();
    test_parts();
    return done();
}
