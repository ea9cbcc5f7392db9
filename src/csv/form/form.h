/* form.h - how the cells of a column are written: the mark between groups of digits, the units
 * beside a number, the format of its dates. */
#ifndef DNN_CSV_FORM_H
#define DNN_CSV_FORM_H

#include <stdbool.h>

#include "csv/form/date.h"
#include "csv/form/number.h"

struct form {
    char *thousands; /* one character in UTF-8; NULL: none */
    char **units;
    size_t unit_count;
    char *format;    /* of dates, see date.h; NULL: ISO; of numbers: FORM_DURATION or NULL */
};
#define FORM_DURATION "duration" /* seconds, by duration_parse */
bool form_is_duration(const struct form *f);
/* Parses a plain number with blanks around it, no-break ones too. */
enum number_result form_plain(const char *text, size_t length, char decimal, double *value);
/* Parses a number: blanks and one unit on each side, a sign before or after the first unit,
 * brackets around it, a minus after it or U+2212 before it for a negative one, digits in groups of
 * three, in groups of two before the last three (3,04,025), or without groups. Otherwise as
 * number_parse. A column of durations: seconds. */
enum number_result form_number(const struct form *f, const char *text, size_t length, char decimal,
                               double *value);
/* Parse a number, or a date, as a column of that form writes them; f NULL: plain numbers, ISO
 * dates. */
static inline enum number_result form_read_number(const struct form *f, const char *text,
                                                  size_t length, char decimal, double *value)
{
    if (f)
        return form_number(f, text, length, decimal, value);
    const enum number_result result = number_parse(text, length, decimal, value);
    return result == NUMBER_BAD ? form_plain(text, length, decimal, value) : result;
}
static inline bool form_read_date(const struct form *f, const char *text, size_t length,
                                  double *seconds)
{
    return f && f->format ? date_parse_format(text, length, f->format, seconds)
                          : date_parse(text, length, seconds);
}
/* True if both write their cells alike; NULL: plain. */
bool form_same(const struct form *a, const struct form *b);
/* Leaves out blanks, tabs and no-break blanks at both ends. */
void form_trim(const char **from, const char **end);
/* Leaves out what makes the rest negative: brackets around it, a minus after it, the minus U+2212
 * before it; and blanks beside them. False: there is none. */
bool form_minus(const char **from, const char **end);
/* Copies the texts; `units` may be NULL. Caller: form_free. */
struct form *form_new(const char *thousands, char *const *units, size_t unit_count,
                      const char *format);
struct form *form_copy(const struct form *f); /* NULL gives NULL */
void form_free(struct form *f);
/* The words of `thousands`; NULL at the end. */
extern const char *const form_thousands[];
/* number: of a numeric column, not of dates. False: a text is not allowed. Sets the key of the
 * column, the fault and the expected form. */
bool form_check(const struct form *f, bool number, char decimal, const char **key,
                const char **what, const char **expected);

#endif
