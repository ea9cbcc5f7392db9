/* file_begin.c - see file_begin.h. */
#include "base/file/file_begin.h"

#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"

bool file_not_ours(const char *path, const char *what, const char *help, struct err *e)
{
    err_at(e, ERR_FILE_CREATE, path, 0, 0, "there is a file that is not %s: it is not replaced",
           what);
    return err_help(e, "%s, or remove the file", help);
}

bool file_first_words(const char *path, char *words, size_t room, struct err *e)
{
    struct file f;
    char bytes[4096];
    size_t got, length = 0;
    *words = '\0';
    if (!file_open_regular(&f, path, e))
        return e->id == ERR_FILE_MISSING && (err_clear(e), true);
    bool good;
    do {
        good = file_read(&f, bytes, sizeof bytes, &got, e);
        for (size_t i = 0; good && i < got && length + 1 < room; i++)
            if (!bytes[i] || !strchr(" \t\r\n", bytes[i]))
                words[length++] = bytes[i] ? bytes[i] : '?'; /* a NUL is a word, and ends none */
    } while (good && got && length + 1 < room);
    words[length] = '\0';
    file_close(&f);
    return good;
}

bool file_is_ours(const char *path, const char *begins, const char *what, const char *help,
                    struct err *e)
{
    if (file_descriptor(path) >= 0)
        return true; /* the process that opened it chose the bytes before */
    size_t length = 0;
    char *words = mem_alloc(strlen(begins) + 1, 1);
    bool good = file_first_words(path, words, strlen(begins) + 1, e), same = true;
    /* an empty file, or a line that was cut, too */
    for (const char *at = begins; good && same && *at && words[length]; at++)
        same = strchr(" \t\r\n", *at) || *at == words[length++];
    mem_free(words);
    return good && (same || file_not_ours(path, what, help, e));
}
