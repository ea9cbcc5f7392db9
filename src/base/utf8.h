/* utf8.h - validity of UTF-8 (Unicode 15, table 3-7: no overlong forms, no surrogates). */
#ifndef DNN_BASE_UTF8_H
#define DNN_BASE_UTF8_H

#include <stddef.h>

/* == length: all valid. Fast for ASCII. */
size_t utf8_valid_prefix(const char *bytes, size_t length);

#endif
