/* file_begin.h - how a file begins, and whether this program may replace it. */
#ifndef DNN_BASE_FILE_BEGIN_H
#define DNN_BASE_FILE_BEGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* The first bytes of a regular file without its blanks, as a string of at most room - 1 bytes; a
 * NUL becomes '?'. Empty when there is no file or it is empty. False: it cannot be read. */
bool file_first_words(const char *path, char *words, size_t room, struct err *e);
/* True when the regular file at path is empty, is not there, or begins with `begins`; blanks do
 * not count. Else FILE_CREATE (73): it is not `what`.
 * A path that is not a regular file, and one that is open already ("-", "/dev/stdout"), passes. */
bool file_is_ours(const char *path, const char *begins, const char *what, const char *help,
                  struct err *e);
/* Fills e: the file at path is not `what` and is not replaced. False. */
bool file_not_ours(const char *path, const char *what, const char *help, struct err *e);

#endif
