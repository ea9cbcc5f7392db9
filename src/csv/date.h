/* date.h - ISO 8601 dates and times into calendar and cyclic parts. Forms:
 *
 *     YYYY-MM-DD  YYYY/MM/DD  YYYYMMDD
 *
 * alone or followed by a T or a blank and hh:mm[:ss[.digits]][Z|(+|-)hh[[:]mm]]; a month YYYY-MM;
 * a time of day hh:mm[:ss[.digits]].
 *
 * Proleptic Gregorian calendar, years 0001 to 9999. A time without an offset is taken as it stands,
 * one with an offset is converted to UTC; no other time zones. 24:00:00 and leap seconds (:60) are
 * the next second, as in POSIX time. */
#ifndef DNN_CSV_DATE_H
#define DNN_CSV_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Seconds since 1970-01-01T00:00:00. False: none of the forms, or no such day. */
bool date_parse(const char *text, size_t length, double *seconds);
/* The numbers a datetime column gives, in this order: seconds (scaled like a numeric column), then
 * sin and cos of the time of day, the day of the week, the day of the year. */
#define DATE_PARTS 7
void date_parts(double seconds, double parts[DATE_PARTS]); /* parts[0] = seconds */

#endif
