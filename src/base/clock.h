/* clock.h - CLOCK_MONOTONIC in seconds, and the day. Nothing but a report, which people read, asks
 * for the day: no model and no answer depends on it. */
#ifndef DNN_BASE_CLOCK_H
#define DNN_BASE_CLOCK_H

double clock_now(void);
/* Processor seconds of this thread; waiting and other threads do not count. */
double clock_thread(void);
/* "2026-11-29" in local time; the day of SOURCE_DATE_EPOCH (seconds since 1970, UTC) if it is
 * set. */
struct clock_day { char text[16]; };
struct clock_day clock_today(void);

#endif
