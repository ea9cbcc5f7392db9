/* duration.h - parses a length of time. Forms, with a sign before them:
 *
 *     [h..]h:mm[:ss[.digits]]              27:05  0:46:08.5    hours of one digit or more
 *     P[nW][nD][T[nH][nM][nS]]             PT1H5M              ISO 8601 without years and months
 *     n UNIT [n UNIT ..]                   1h 20m  90 min  2 days, 3 hours  9h05  5m30
 *     n UNIT .. [+-]h:mm:ss                0 days 00:00:01  1 day, 2:03:04  -1 days +23:59:59
 *     d.hh:mm:ss                           1.02:03:04          as .NET writes it
 *
 * Units fall from one to the next, from weeks to nanoseconds; a last number without one has the
 * unit below that of the number before it. A number may have a fraction after a point or a comma.
 * Capitals and small letters are equal, but in ISO 8601. A sign holds for all, but not for h:mm:ss
 * after words, which has its own. */
#ifndef DNN_CSV_DURATION_H
#define DNN_CSV_DURATION_H

#include <stdbool.h>
#include <stddef.h>

/* False: another form. */
bool duration_parse(const char *text, size_t length, double *seconds);

#endif
