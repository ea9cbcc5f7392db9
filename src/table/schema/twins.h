/* twins.h - values that differ in the way they are written alone: "NYC" and "nyc ", an accent
 * composed and apart, a blank of another kind or a character without a width; "1", "1.0" and
 * "True". */
#ifndef DNN_TABLE_TWINS_H
#define DNN_TABLE_TWINS_H

#include <stdbool.h>

#include "base/text.h"
#include "table/schema/vocab.h"

/* The most values of a column that are compared. */
#define TWINS_MOST 4096u
/* Adds `"NYC" and "nyc" (case), ...` to `out`: the first pairs of twins, and how many more there
 * are. Returns how many pairs. */
unsigned twins_list(const struct vocab *values, struct text *out);
/* The first value that is a twin of a text, which is none of them; UINT32_MAX: none. */
uint32_t twins_find(const struct vocab *values, const char *text, size_t length);
/* Finds two values that are equal as numbers, one of them a code (number_is_code); false: none. */
bool twins_codes(const struct vocab *values, uint32_t *one, uint32_t *other);

#endif
