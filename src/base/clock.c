/* clock.c - see clock.h. The calls cannot fail on Linux. */
#include "base/clock.h"

#include <stdlib.h>
#include <time.h>

#include "base/text.h"

double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double clock_thread(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct clock_day clock_today(void)
{
    struct clock_day day = {""};
    const char *given = getenv("SOURCE_DATE_EPOCH");
    int64_t seconds;
    const bool set = given && text_to_int(given, &seconds);
    const time_t now = set ? (time_t)seconds : time(NULL);
    struct tm tm;
    if (set ? gmtime_r(&now, &tm) : localtime_r(&now, &tm))
        strftime(day.text, sizeof day.text, "%Y-%m-%d", &tm);
    return day;
}
