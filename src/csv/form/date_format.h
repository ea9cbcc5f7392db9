/* date_format.h - parses dates by a format of directives, as strptime (POSIX) has them:
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
 * are those of 1970-01-01T00:00:00. A time without %z is used unchanged. */
#ifndef DNN_CSV_DATE_FORMAT_H
#define DNN_CSV_DATE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

/* Parses a date into seconds since 1970-01-01T00:00:00. False: another form, or no such day. */
bool date_parse_format(const char *text, size_t length, const char *format, double *seconds);
/* False: a directive that does not exist, at *at; or none at all, *at is NULL. */
bool date_format_valid(const char *format, const char **at);

#endif
