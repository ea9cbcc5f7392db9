/* shell.c - see shell.h. */
#include "base/process/shell.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/mem.h"

enum { WORD_MOST = 200, TURNS = 8, COMMAND_MOST = 1000 };

static bool is_bare(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("_./=:@%+-", c));
}

/* $'...': writes control characters and invalid bytes by their numbers. */
static void put_bytes(struct text *out, const char *bytes, size_t length)
{
    text_put(out, "$'");
    for (size_t i = 0, size; i < length; i += size) {
        size = text_visible(bytes + i, length - i);
        if (!size) {
            size = 1;
            text_printf(out, "\\%03o", (unsigned)(unsigned char)bytes[i]);
        } else {
            if (bytes[i] == '\'' || bytes[i] == '\\')
                text_char(out, '\\');
            text_add(out, bytes + i, size);
        }
    }
    text_char(out, '\'');
}

void shell_put(struct text *out, const char *bytes, size_t length)
{
    bool bare = length > 0, shown = true;
    for (size_t i = 0; i < length; i++)
        bare = bare && is_bare(bytes[i]);
    for (size_t i = 0, size; shown && i < length; i += size)
        shown = (size = text_visible(bytes + i, length - i)) > 0;
    if (bare) {
        text_add(out, bytes, length);
    } else if (!shown) {
        put_bytes(out, bytes, length);
    } else {
        text_char(out, '\'');
        for (size_t i = 0; i < length; i++)
            if (bytes[i] == '\'')
                text_put(out, "'\\''");
            else
                text_char(out, bytes[i]);
        text_char(out, '\'');
    }
}

/* Moves the word to a buffer of this thread. */
static const char *keep(struct text *word)
{
    static _Thread_local char rooms[TURNS][WORD_MOST + 1];
    static _Thread_local unsigned turn;
    char *out = rooms[turn++ % TURNS];
    snprintf(out, WORD_MOST + 1, "%s", word->length <= WORD_MOST ? word->data : "'...'");
    text_free(word);
    return out;
}

const char *shell_word(const char *format, ...)
{
    struct text word = {0};
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *plain = mem_zero(length > 0 ? (size_t)length + 1 : 1, 1);
    vsnprintf(plain, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    shell_put(&word, plain, strlen(plain));
    mem_free(plain);
    return keep(&word);
}

const char *shell_file(const char *path)
{
    return shell_word("%s%s", *path == '-' && path[1] ? "./" : "", path);
}

const char *shell_key(const char *name)
{
    struct text word = {0};
    if (strpbrk(name, ".=\""))
        return shell_json(name);
    text_put(&word, name);
    return keep(&word);
}

const char *shell_json(const char *string)
{
    struct json_out json = {0};
    json_put_string(&json, NULL, string);
    return keep(&json.text);
}

/* Length of the path without the ends of names of tables and of packed files. */
static size_t stem_of(const char *path)
{
    static const char *const ends[] = {".gz", ".bz2", ".xz", ".zst", ".zip", ".csv",
                                       ".tsv", ".txt", ".json", ".jsonl", ".db", ".sqlite"};
    const char *slash = strrchr(path, '/');
    const size_t least = slash ? (size_t)(slash - path) + 1 : 0;
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t n = strlen(ends[i]);
        if (length > least + n && memcmp(path + length - n, ends[i], n) == 0) {
            length -= n;
            i = SIZE_MAX; /* once more from the first on */
        }
    }
    return length;
}

const char *shell_remedy(const char *path, const char *end, const char *format, ...)
{
    static _Thread_local char out[COMMAND_MOST + 1];
    static const char word[] = "FILE";
    path = path ? path : "-";
    const bool pipe = strcmp(path, "-") == 0 || strcmp(path, "standard input") == 0;
    char filter[COMMAND_MOST];
    va_list args;
    va_start(args, format);
    vsnprintf(filter, sizeof filter, format, args);
    va_end(args);
    const bool packed = text_ends(path, ".gz") && strncmp(filter, "zcat ", 5) != 0;
    struct text made = {0}, line = {0};
    const char *at = strstr(filter, word);
    size_t before = at ? (size_t)(at - filter) : strlen(filter);
    if (pipe)
        text_put(&line, "put it in front: | ");
    else if (packed)
        text_printf(&line, "zcat %s | ", shell_file(path));
    while ((pipe || packed) && before && strchr(" <", filter[before - 1]))
        before--;
    text_add(&line, filter, before);
    if (!pipe && !packed && at)
        text_put(&line, shell_file(path));
    if (at)
        text_put(&line, at + sizeof word - 1);
    text_add(&made, path, stem_of(path));
    text_put(&made, end);
    if (!pipe)
        text_printf(&line, " > %s", shell_file(made.data));
    snprintf(out, sizeof out, "%s", line.data);
    text_free(&made);
    text_free(&line);
    return out;
}
