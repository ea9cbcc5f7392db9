/* number.h - parses a number from text, correctly rounded: bit-equal to strtod in the C locale. The
 * whole cell must be
 *
 *     [+-](digits[.[digits]] | .digits)[(e|E)[+-]digits]
 *
 * With decimal ',' the comma is the decimal sign. No blanks, no hex, no inf, no nan.
 * Method: up to 16 bytes as two words of eight digits; otherwise up to 19 digits in a u64,
 * Clinger's exact path, then Eisel-Lemire (Lemire, "Number parsing at a gigabyte per second",
 * 2021). The rare undecided case uses strtod. */
#ifndef DNN_CSV_NUMBER_H
#define DNN_CSV_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

enum number_result { NUMBER_OK, NUMBER_BAD, NUMBER_RANGE /* rounds to infinity in float32 */ };
/* Parses a number. Sets *value with NUMBER_OK only. An underflow of float32 is NUMBER_OK. */
enum number_result number_parse(const char *text, size_t length, char decimal, double *value);
/* True: digits, E, digits, as in 110E1: a number, and more often a code. Programs that write
 * numbers put a sign after E, or a point before it. */
bool number_is_code(const char *text, size_t length);

#endif
