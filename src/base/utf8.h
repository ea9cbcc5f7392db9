/* utf8.h - validity (Unicode 15, table 3-7: no overlong forms, no surrogates) and conversion to
 * UTF-8 (iconv). */
#ifndef DNN_BASE_UTF8_H
#define DNN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* == length: all valid. Fast for ASCII. */
size_t utf8_valid_prefix(const char *bytes, size_t length);

/* Converts latin1 or cp1252 to UTF-8, piece by piece. A byte that stands for nothing stays what it
 * is, which is no UTF-8: who reads the text finds it at its place. */
struct convert;
struct convert *convert_open(const char *encoding, struct err *e); /* "latin1", "cp1252" */
void convert_add(struct convert *c, const char *bytes, size_t length, struct text *out);
void convert_close(struct convert *c);

#endif
