/* shell.h - words of the commands that messages show, so that they run when they are pasted. */
#ifndef DNN_BASE_SHELL_H
#define DNN_BASE_SHELL_H

#include <stddef.h>

#include "base/text.h"

/* Appends one word of a POSIX shell: unquoted if every character is a letter, a digit or one of
 * _./=:@%+-; else in single quotes; as $'...' (bash, zsh, ksh, busybox) if it has line ends, other
 * characters that steer a terminal, or bytes that are not UTF-8. */
void shell_put(struct text *out, const char *bytes, size_t length);
/* The formatted text as one word. Returns one of 8 rotating thread-local buffers. A word of more
 * than 200 bytes is not cut, as a part of it would be another word: '...' stands for it. */
const char *shell_word(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A file's name as an argument: "./" goes before a name that begins with "-". As shell_word. */
const char *shell_file(const char *path);
/* The name as a step of the key of a --set: in JSON quotes if it has a dot, an equals sign or a
 * quote. As shell_word. */
const char *shell_key(const char *name);
/* The bytes as a JSON string with its quotes, for a word that holds JSON. As shell_word. */
const char *shell_json(const char *string);
/* The command of the format, in which FILE stands for the input, made to run as it stands: it reads
 * `path` (through zcat, if that ends in .gz) and writes a file beside it, whose name has `end` in
 * place of .csv and the like, so it is never the input. Of NULL, "-" or "standard
 * input": a part of a pipe. Returns a thread-local buffer that the next call overwrites. */
const char *shell_remedy(const char *path, const char *end, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
