/* data_periods.c - see data_sample.h: dates in periods of the calendar. */
#include <math.h>
#include <time.h>

#include "check/data_sample.h"
#include "csv/form/date.h"

#define DAY 86400.0
enum { DAYS_MOST = 60 };

/* months 0: a day */
static const struct {
    int months;
    const char *name;
} periods[] = {{0, "day"}, {1, "month"}, {3, "quarter"}, {12, "year"}, {120, "decade"},
               {1200, "century"}};

/* Months from the beginning of year 0. */
static long month_of(double date)
{
    const time_t at = (time_t)date;
    struct tm tm;
    return gmtime_r(&at, &tm) ? (tm.tm_year + 1900L) * 12 + tm.tm_mon : 1970 * 12;
}

/* Month 0 of year 1 to the end of year 9999: what is beyond is cut. */
static double date_of_month(long month)
{
    double seconds = 0;
    month = month < 12 ? 12 : month > 9999 * 12 + 11 ? 9999 * 12 + 11 : month;
    date_of_day((int)(month / 12), (int)(month % 12) + 1, 1, &seconds);
    return seconds;
}

void look_periods(struct look_column *c, const double *sorted, uint64_t n)
{
    const double low = sorted[(uint64_t)(0.01 * (double)(n - 1))],
                 high = sorted[(uint64_t)(0.99 * (double)(n - 1) + 0.5)];
    /* A date far from all others would leave one bar. */
    c->central = sorted[n - 1] - sorted[0] > 2 * (high - low) + 31 * DAY;
    const double from = c->central ? low : sorted[0], to = c->central ? high : sorted[n - 1];
    size_t kind = 0;
    long first = month_of(from), last = month_of(to);
    if (to - from >= DAYS_MOST * DAY - DAY)
        for (kind = 1; kind + 1 < sizeof periods / sizeof *periods &&
                       last / periods[kind].months - first / periods[kind].months >= LOOK_PERIODS;)
            kind++;
    c->period = periods[kind].name;
    const long months = periods[kind].months;
    c->bars = 0;
    for (;;) {
        const double edge = months ? date_of_month((first / months + c->bars) * months)
                                   : (floor(from / DAY) + c->bars) * DAY;
        c->edge[c->bars] = edge;
        if (c->bars && (edge > to || c->bars == LOOK_PERIODS))
            return;
        c->bars++;
    }
}
