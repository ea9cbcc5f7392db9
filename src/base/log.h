/* log.h - messages for people, on standard error, one write() a line. Levels: 0 errors and warnings
 * (--quiet), 1 notes and the main lines too (default), 2 verbose, 3 debug. src/cli sets level and
 * format once. Every line is `dnn: ...` or one JSON object {"level","message"}; user text must come
 * quoted. */
#ifndef DNN_BASE_LOG_H
#define DNN_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
    LOG_SILENT = -1, /* no warnings either: work inside a check, which reports them itself */
    LOG_ERROR = 0,
    LOG_WARNING = 0,
    LOG_NOTE = 1,
    LOG_INFO = 2,
    LOG_DEBUG = 3
};

void log_setup(int level, bool json);
int log_level(void);
/* Silences work inside a check, whose report says all, unless --verbose is given. Returns the level
 * of before, for log_setup. */
int log_mute(void);
bool log_json(void);
/* The number of warnings so far (a test makes each one a failure). */
unsigned log_warnings(void);
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Level 1 without "note:". */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A line that a person asked for with a signal: --quiet does not hide it. */
void log_asked(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A finished line without prefix or newline, as src/cli and progress print it; always shown. */
void log_raw(const char *level, const char *line);
/* Writes a finished JSON object with its newline, unchanged, in either format. */
void log_object(const char *line, size_t length);
/* Called with the text of every warning; NULL: no call. */
void log_on_warning(void (*told)(const char *message));
/* Called before any log line is written, to take a progress bar off the terminal; NULL: none. */
void log_on_line(void (*clear)(void));

#endif
