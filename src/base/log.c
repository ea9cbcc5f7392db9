/* log.c - a line is put together in one buffer and leaves with one write, so that two threads never
 * mix. Nothing is allocated here: a warning about memory can still be given. */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_MOST 4096

static _Atomic int level_now = LOG_NOTE;
static _Atomic bool as_json;
static _Atomic unsigned warnings;
static void (*_Atomic clear_bar)(void);
static void (*_Atomic told_warning)(const char *message);

void log_setup(int level, bool json)
{
    atomic_store(&level_now, level);
    atomic_store(&as_json, json);
}

int log_level(void)
{
    return atomic_load(&level_now);
}

int log_mute(void)
{
    const int level = log_level();
    atomic_store(&level_now, level > LOG_NOTE ? level : LOG_SILENT);
    return level;
}

bool log_json(void)
{
    return atomic_load(&as_json);
}

unsigned log_warnings(void)
{
    return atomic_load(&warnings);
}

void log_on_line(void (*clear)(void))
{
    atomic_store(&clear_bar, clear);
}

void log_on_warning(void (*told)(const char *message))
{
    atomic_store(&told_warning, told);
}

static void put_out(const char *bytes, size_t length)
{
    void (*clear)(void) = atomic_load(&clear_bar);
    int saved = errno;
    if (clear)
        clear();
    while (length) {
        ssize_t n = write(STDERR_FILENO, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break; /* nobody listens: not a reason to fail */
        bytes += n;
        length -= (size_t)n;
    }
    errno = saved;
}

/* A JSON string's inside. Bytes from 0x80 on pass: messages are UTF-8. Returns the length; out has
 * room for 6 times text. */
static size_t json_escape(char *out, const char *text)
{
    static const char hex[] = "0123456789abcdef";
    size_t n = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20 || c == 0x7F) {
            memcpy(out + n, "\\u00", 4);
            out[n + 4] = hex[c >> 4];
            out[n + 5] = hex[c & 15];
            n += 6;
        } else {
            out[n++] = (char)c;
        }
    }
    return n;
}

static void emit(const char *level, const char *prefix, const char *message)
{
    char line[6 * MESSAGE_MOST + 128];
    size_t n;
    if (atomic_load(&as_json)) {
        n = (size_t)snprintf(line, 96, "{\"level\":\"%.24s\",\"message\":\"", level);
        n += json_escape(line + n, message);
        memcpy(line + n, "\"}\n", 3);
        n += 3;
    } else {
        size_t p = strlen(prefix), m = strlen(message);
        memcpy(line, prefix, p);
        memcpy(line + p, message, m);
        n = p + m;
        line[n++] = '\n';
    }
    put_out(line, n);
}

static void speak(int least, const char *level, const char *prefix, const char *format,
                  va_list args) __attribute__((format(printf, 4, 0)));
static void speak(int least, const char *level, const char *prefix, const char *format,
                  va_list args)
{
    void (*told)(const char *) = least == LOG_WARNING ? atomic_load(&told_warning) : NULL;
    if (atomic_load(&level_now) < least)
        return;
    char message[MESSAGE_MOST];
    int length = vsnprintf(message, sizeof message, format, args);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof message)
        memcpy(message + sizeof message - 4, "...", 4);
    for (char *c = message; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' '; /* one message, one line */
    emit(level, prefix, message);
    if (told)
        told(message);
}

void log_warning(const char *format, ...)
{
    atomic_fetch_add(&warnings, 1);
    va_list args;
    va_start(args, format);
    speak(LOG_WARNING, "warning", "dnn: warning: ", format, args);
    va_end(args);
}

#define SPEAKS(name, least, level, prefix)                                                        \
    void name(const char *format, ...)                                                             \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        speak(least, level, prefix, format, args);                                                 \
        va_end(args);                                                                              \
    }
SPEAKS(log_note, LOG_NOTE, "note", "dnn: note: ")
SPEAKS(log_line, LOG_NOTE, "info", "dnn: ")
SPEAKS(log_asked, LOG_SILENT, "info", "dnn: ")
SPEAKS(log_info, LOG_INFO, "info", "dnn: ")
SPEAKS(log_debug, LOG_DEBUG, "debug", "dnn: ")

void log_raw(const char *level, const char *line)
{
    size_t length = strlen(line);
    if (length < MESSAGE_MOST) {
        emit(level, "", line);
        return;
    }
    char cut[MESSAGE_MOST];
    memcpy(cut, line, sizeof cut - 4);
    memcpy(cut + sizeof cut - 4, "...", 4);
    emit(level, "", cut);
}

void log_object(const char *line, size_t length)
{
    put_out(line, length);
}
