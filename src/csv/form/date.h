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

#include "base/text.h"

/* Parses a date into seconds since 1970-01-01T00:00:00. False: another form, or a day that does not
 * exist. */
bool date_parse(const char *text, size_t length, double *seconds);
/* Parses dates by a format of directives, as strptime (POSIX) has them:
 *
 *     %d %m     day, month: one or two digits          %b %B   month's English name, whole or three
 *     %Y        year: four digits                              letters
 *     %y        two digits: 69 to 99 are 19xx          %H %I   hour of 24, of 12
 *     %M        minute                                 %p      AM or PM
 *     %S        second, with or without a fraction     %s %Q   seconds, milliseconds,
 *               after a point or a comma               %q %N   microseconds, nanoseconds since
 *     %z        Z or (+|-)hh[[:]mm]                            1970: a number
 *     %a %A     day of the week: English, whole or     %%      %
 *               three letters; it says nothing
 *
 * A blank stands for one blank or more, any other character for itself. Parts that the format lacks
 * are those of 1970-01-01T00:00:00. A time without %z is used unchanged.
 *
 * False: another form, or no such day. */
bool date_parse_format(const char *text, size_t length, const char *format, double *seconds);
/* False: a directive that does not exist, at *at; or none at all, *at is NULL. */
bool date_format_valid(const char *format, const char **at);
/* Adds a date to a text, with hours and minutes if there are any: 2024-05-01, 2024-05-01T10:30.
 * False: no such date. */
bool date_put(double seconds, struct text *out);
/* Seconds from 1970-01-01 to a day of the years 1 to 9999. False: no such day. */
bool date_of_day(int year, int month, int day, double *seconds);
/* Computes the inputs of a datetime column: seconds (scaled like a number), then sin and cos of the
 * time of day, of the day of the week, of the day of the year. */
#define DATE_PARTS 7
void date_parts(double seconds, double parts[DATE_PARTS]); /* parts[0] = seconds */

#endif
