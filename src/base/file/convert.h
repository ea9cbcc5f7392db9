/* convert.h - conversion of a file's encoding to UTF-8, by iconv. */
#ifndef DNN_BASE_CONVERT_H
#define DNN_BASE_CONVERT_H

#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* Converts latin1 or cp1252 to UTF-8, piece by piece. A byte that the encoding does not define is
 * copied unchanged: it is not valid UTF-8, so the reader of the text reports its place. */
struct convert;
struct convert *convert_open(const char *encoding, struct err *e); /* "latin1", "cp1252" */
void convert_add(struct convert *c, const char *bytes, size_t length, struct text *out);
void convert_close(struct convert *c);

#endif
