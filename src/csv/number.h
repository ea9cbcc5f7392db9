/* number.h - text to number, correctly rounded (bit-equal to strtod in the C locale on the grammar
 * below), and fast:
 *
 *     -?digits[.digits][(e|E)[+-]digits]
 *
 * is the whole cell; decimal ',' takes the comma for the point. No blanks, no '+', no hex, no inf,
 * no nan; a point needs digits on both sides.
 * Method: a cell of at most 16 bytes in two words of eight digits; else up to 19 digits to a u64,
 * Clinger's exact path, then Eisel-Lemire (Lemire, "Number parsing at a gigabyte per second",
 * 2021); the rare undecided case goes to strtod. */
#ifndef DNN_CSV_NUMBER_H
#define DNN_CSV_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum number_result { NUMBER_OK, NUMBER_BAD, NUMBER_RANGE /* rounds to infinity in float32 */ };
/* A number but for a '+' in front, or for digits that lack on one side of the point: ".5", "+1",
 * "-.5", "5.". `out` (`room` bytes) gets the text as it should be written. */
bool number_nearly(const char *text, size_t length, char decimal, char *out, size_t room);
/* *value is set with NUMBER_OK only. What underflows float32 is NUMBER_OK. */
enum number_result number_parse(const char *text, size_t length, char decimal, double *value);

#endif
