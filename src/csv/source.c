/* source.c - see source.h. */
#include "csv/source.h"

#include <assert.h>
#include <string.h>

#include "csv/gunzip.h"

bool source_open(struct source_file *s, const char *path, bool early, struct err *e)
{
    *s = (struct source_file){0};
    return (early ? file_open_early : file_open)(&s->file, path, e);
}

/* True if more bytes are needed to know whether the file is packed. */
static bool undecided(const struct source_file *s)
{
    return !s->begun && !s->ended &&
           (s->first_used == 0 || (s->first_used == 1 && gunzip_may(s->first[0])));
}

/* Reads the first bytes, and begins to unpack if they say so. */
static bool begin(struct source_file *s, bool some, char *bytes, size_t room, size_t *got,
                  struct err *e)
{
    size_t used = s->first_used;
    assert(room >= sizeof s->first && room <= GUNZIP_FIRST_MOST);
    memcpy(bytes, s->first, used);
    if (!some && !s->ended) {
        if (!file_read(&s->file, bytes + used, room - used, got, e))
            return false;
        used += *got;
    }
    while (some && !s->ended && (used == 0 || (used == 1 && gunzip_may(*bytes)))) {
        if (!file_read_some(&s->file, bytes + used, room - used, got, e))
            return false;
        used += *got;
        s->ended = *got == 0;
    }
    s->begun = true;
    *got = used;
    if (!gunzip_knows(bytes, used))
        return true;
    s->gunzip = gunzip_open(&s->file, bytes, used, e);
    return s->gunzip != NULL;
}

bool source_read(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e)
{
    if (!s->begun && (!begin(s, false, bytes, room, got, e) || !s->gunzip))
        return e->id == ERR_NONE;
    *got = 0;
    return s->gunzip ? gunzip_read(s->gunzip, bytes, room, got, e)
                     : s->ended || file_read(&s->file, bytes, room, got, e);
}

bool source_read_some(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e)
{
    if (!s->begun && (!begin(s, true, bytes, room, got, e) || !s->gunzip))
        return e->id == ERR_NONE;
    *got = 0;
    return s->gunzip ? gunzip_read_some(s->gunzip, bytes, room, got, e)
                     : s->ended || file_read_some(&s->file, bytes, room, got, e);
}

bool source_ready(struct source_file *s, int milliseconds)
{
    struct err e = {0};
    size_t got;
    while (undecided(s)) {
        if (!file_ready(&s->file, milliseconds))
            return false;
        if (!file_read_some(&s->file, s->first + s->first_used, 1, &got, &e))
            return true; /* the next read fails too */
        s->first_used += got;
        s->ended = got == 0;
    }
    if (!s->begun && gunzip_knows(s->first, s->first_used)) {
        s->gunzip = gunzip_open(&s->file, s->first, s->first_used, &e);
        s->begun = s->gunzip != NULL; /* else the next read fails too */
    }
    if (!s->begun)
        return true;
    return s->gunzip ? gunzip_ready(s->gunzip, milliseconds) : file_ready(&s->file, milliseconds);
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
