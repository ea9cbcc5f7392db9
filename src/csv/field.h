/* field.h - a cell of CSV that dnn writes (RFC 4180): in quotes if it holds the delimiter, a quote
 * or a line end, or begins or ends with a blank, which readers trim. */
#ifndef DNN_CSV_FIELD_H
#define DNN_CSV_FIELD_H

#include "base/text.h"

#define FIELD_BYTES(length) (2 * (length) + 2) /* at most, for a cell of `length` bytes */

/* Returns the end. */
char *field_write(char *to, const char *bytes, size_t length, char delimiter);
/* field_put for files whose delimiter is a comma. */
void field_put(struct text *out, const char *bytes, size_t length);

#endif
