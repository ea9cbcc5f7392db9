/* utf8.h - checks UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates) and converts
 * other encodings to it. */
#ifndef DNN_BASE_UTF8_H
#define DNN_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/text.h"

/* The length of the valid prefix; `length`: all is valid. Fast for ASCII. */
size_t utf8_valid_prefix(const char *bytes, size_t length);

/* Converts latin1 or cp1252 to UTF-8, piece by piece. A byte without a character is copied as it
 * is: it is invalid UTF-8, so the reader of the text reports its place. */
struct convert;
struct convert *convert_open(const char *encoding, struct err *e); /* "latin1", "cp1252" */
void convert_add(struct convert *c, const char *bytes, size_t length, struct text *out);
void convert_close(struct convert *c);

#endif
