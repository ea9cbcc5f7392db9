/* date.h - ISO 8601 dates and times into calendar and cyclic parts. Forms: YYYY-MM-DD, YYYY-MM-DD[T ]hh:mm[:ss[.fff]][Z|+-hh[:mm]],
 * YYYY/MM/DD, YYYYMMDD. Proleptic Gregorian calendar; no time zones other than the offset written (converted to UTC). */
#ifndef DNN_DATA_DATE_H
#define DNN_DATA_DATE_H

#include <stdbool.h>
#include <stddef.h>

/* seconds since 1970-01-01T00:00:00 (UTC when an offset is written). */
bool date_parse(const char *text, size_t length, double *seconds);
/* The numbers a datetime column gives, in this order: seconds (scaled like a numeric column), then
 * sin and cos of the time of day, the day of the week, the day of the year. */
#define DATE_PARTS 7
void date_parts(double seconds, double parts[DATE_PARTS]); /* parts[0] = seconds */

#endif
