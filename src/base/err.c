/* err.c - filling an err, and the table of ids. A text that does not fit is cut at a whole
 * character and ends in "...". */
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

static const struct err_info table[] = {
#define ERROR(number, name, exit_code, summary, page) \
    {(enum err_id)(number), exit_code, #name, summary, page},
#include "base/errors.def"
#undef ERROR
};
#define TABLE_ROWS (sizeof table / sizeof table[0])

const struct err_info *err_info_at(size_t index)
{
    return index < TABLE_ROWS ? &table[index] : NULL;
}

const struct err_info *err_info(int id)
{
    for (size_t i = 0; i < TABLE_ROWS; i++)
        if ((int)table[i].id == id)
            return &table[i];
    return NULL;
}

enum exit_code err_exit(const struct err *e)
{
    if (e->id == ERR_NONE)
        return EXIT_DONE;
    const struct err_info *info = err_info((int)e->id);
    return info ? info->exit : EXIT_BUG;
}

void err_clear(struct err *e)
{
    memset(e, 0, sizeof *e);
}

/* vsnprintf that marks a cut text, and never leaves half a character at its end. */
static void fill(char *out, size_t room, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void fill(char *out, size_t room, const char *format, va_list args)
{
    int length = vsnprintf(out, room, format, args);
    if (length < 0) {
        out[0] = '\0';
    } else if ((size_t)length >= room) {
        size_t keep = utf8_valid_prefix(out, room - 4);
        memcpy(out + keep, "...", 4);
    }
}

static bool set(struct err *e, enum err_id id, const char *file, int64_t line, int64_t column,
                const char *format, va_list args) __attribute__((format(printf, 6, 0)));
static bool set(struct err *e, enum err_id id, const char *file, int64_t line, int64_t column,
                const char *format, va_list args)
{
    if (!e || e->id != ERR_NONE)
        return false;
    err_clear(e);
    e->id = id;
    if (file)
        text_escape(e->file, sizeof e->file, file, strlen(file));
    e->line = line;
    e->column = column;
    fill(e->what, sizeof e->what, format, args);
    return false;
}

bool err_set(struct err *e, enum err_id id, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(e, id, NULL, 0, 0, format, args);
    va_end(args);
    return false;
}

bool err_at(struct err *e, enum err_id id, const char *file, int64_t line, int64_t column,
            const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set(e, id, file, line, column, format, args);
    va_end(args);
    return false;
}

static enum err_id id_of_errno(int errnum, bool writing)
{
    switch (errnum) {
    case EMFILE:
    case ENFILE:
        return ERR_FILE_OPEN_LIMIT;
    case ENOMEM:
        return ERR_MEMORY;
    case EPIPE:
        return ERR_FILE_PIPE;
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENAMETOOLONG:
    case ENXIO:
    case ENODEV:
        return writing ? ERR_FILE_CREATE : ERR_FILE_MISSING;
    case EACCES:
    case EPERM:
        return writing ? ERR_FILE_CREATE : ERR_FILE_PERMISSION;
    case EROFS:
    case EEXIST:
    case ETXTBSY:
        return ERR_FILE_CREATE;
    default:
        return writing ? ERR_FILE_WRITE : ERR_FILE_READ;
    }
}

bool err_errno(struct err *e, const char *file, int errnum, bool writing, const char *doing)
{
    char room[128];
    const char *why = strerror_r(errnum, room, sizeof room);
    return err_at(e, id_of_errno(errnum, writing), file, 0, 0, "%s: %s", doing, why);
}

#define FILLS(name, member)                                                                        \
    bool name(struct err *e, const char *format, ...)                                              \
    {                                                                                              \
        if (!e)                                                                                    \
            return false;                                                                          \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        fill(e->member, sizeof e->member, format, args);                                           \
        va_end(args);                                                                              \
        return false;                                                                              \
    }
FILLS(err_expected, expected)
FILLS(err_help, help)
FILLS(err_key, key)

bool err_words(struct err *e, const char *const *words, size_t count)
{
    struct text all = {0};
    for (size_t i = 0; i < count; i++)
        text_printf(&all, "%s%s", i ? ", " : "", words[i]);
    if (e && count && all.length < sizeof e->expected - 8)
        err_expected(e, count > 1 ? "one of %s" : "%s", all.data);
    text_free(&all);
    return false;
}

bool err_other(struct err *e, const char *key)
{
    if (e)
        snprintf(e->other, sizeof e->other, "%s", key);
    return false;
}

bool err_cause(struct err *e, int cause)
{
    if (e)
        e->cause = cause;
    return false;
}

void err_excerpt(struct err *e, const char *text, size_t length)
{
    if (e)
        text_escape(e->excerpt, sizeof e->excerpt, text, length);
}

void err_more(struct err *e, const char *text)
{
    mem_free(e->more);
    e->more = mem_string(text);
}

bool err_in_file(struct err *e, const char *file)
{
    text_escape(e->file, sizeof e->file, file, strlen(file));
    return false;
}
