/* source.c - see source.h. */
#include "csv/source.h"

#include <string.h>

#include "csv/gunzip.h"

bool source_open(struct source_file *s, const char *path, bool early, struct err *e)
{
    *s = (struct source_file){0};
    return (early ? file_open_early : file_open)(&s->file, path, e);
}

/* Reads the first bytes until they tell whether the file is packed. False: they have not come
 * within the time (< 0: it is waited for them), or an error. */
static bool begin(struct source_file *s, int milliseconds, struct err *e)
{
    size_t got;
    while (!s->begun && !s->ended &&
           (s->first_used == 0 || (s->first_used == 1 && gunzip_may(s->first[0])))) {
        if (milliseconds >= 0 && !file_ready(&s->file, milliseconds))
            return false;
        if (!file_read_some(&s->file, s->first + s->first_used, 1, &got, e))
            return false;
        s->first_used += got;
        s->ended = got == 0;
    }
    if (!s->begun && gunzip_knows(s->first, s->first_used))
        s->gunzip = gunzip_open(&s->file, s->first, s->first_used, e);
    s->begun = e->id == ERR_NONE;
    return s->begun;
}

bool source_read_some(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e)
{
    *got = 0;
    if (!begin(s, -1, e))
        return false;
    if (s->gunzip)
        return gunzip_read_some(s->gunzip, bytes, room, got, e);
    if (s->first_at == s->first_used)
        return s->ended || file_read_some(&s->file, bytes, room, got, e);
    *got = s->first_used - s->first_at < room ? s->first_used - s->first_at : room;
    memcpy(bytes, s->first + s->first_at, *got);
    s->first_at += *got;
    return true;
}

bool source_read(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e)
{
    *got = 0;
    for (size_t more = 1; more && *got < room; *got += more)
        if (!source_read_some(s, (char *)bytes + *got, room - *got, &more, e))
            return false;
    return true;
}

bool source_ready(struct source_file *s, int milliseconds)
{
    struct err e = {0};
    if (!begin(s, milliseconds, &e))
        return e.id != ERR_NONE; /* the next read fails too */
    if (s->gunzip)
        return gunzip_ready(s->gunzip, milliseconds);
    return s->first_at < s->first_used || s->ended || file_ready(&s->file, milliseconds);
}

uint64_t source_size(const struct source_file *s)
{
    return s->gunzip ? 0 : s->file.size;
}

void source_close(struct source_file *s)
{
    gunzip_close(s->gunzip);
    file_close(&s->file);
    *s = (struct source_file){.file = s->file};
}
