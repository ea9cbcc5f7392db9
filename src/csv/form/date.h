/* date.h - parses ISO 8601 dates and times. Forms:
 *
 *     YYYY-MM-DD  YYYY/MM/DD  YYYYMMDD
 *
 * alone, or followed by a T or a blank and [h]h:mm[:ss[.digits]][Z| UTC|(+|-)hh[[:]mm]]; a month
 * YYYY-MM; a time of day [h]h:mm[:ss[.digits]]. A comma may stand for the point, and a blank before
 * the sign of the offset.
 *
 * Proleptic Gregorian calendar, years 0001 to 9999. A time without offset is used unchanged. A time
 * with an offset is converted to UTC. 24:00:00 and leap seconds (:60) are the next second, as in
 * POSIX time. */
#ifndef DNN_CSV_DATE_H
#define DNN_CSV_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* Parses a date into seconds since 1970-01-01T00:00:00. False: another form, or a day that does not
 * exist. */
bool date_parse(const char *text, size_t length, double *seconds);
/* Seconds from 1970-01-01 to a day of the years 1 to 9999. False: no such day. */
bool date_of_day(int year, int month, int day, double *seconds);
/* Computes the inputs of a datetime column: seconds (scaled like a number), then sin and cos of the
 * time of day, of the day of the week, of the day of the year. */
#define DATE_PARTS 7
void date_parts(double seconds, double parts[DATE_PARTS]); /* parts[0] = seconds */

#endif
