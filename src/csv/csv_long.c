/* csv_long.c - a record that does not end within 16 MiB. Its quotes say where it ends, as those of
 * any other, and it is one bad record; with a quote that stands wrong or that nothing closes, its
 * first line is one, and what follows is read afresh. Which of both is told by reading ahead, up to
 * where it shows, in a file that can be read again; what comes through a pipe cannot. */
#include <string.h>

#include "base/mem.h"
#include "csv/csv_room.h"

#define AHEAD_BYTES ((size_t)256 << 10)

/* How the record ends whose walk has passed over all that is pending. Quotes, delimiters and line
 * ends are the same bytes before the file is decoded. */
static bool look_ahead(struct csv *c, struct record_walk *w, enum record_end *how, struct err *e)
{
    uint64_t offset;
    size_t got = c->converted.length - c->converted_at, used;
    *how = RECORD_GOES_ON;
    if (got)
        *how = record_walk(w, &c->dialect, c->cr, c->converted.data + c->converted_at, got, &used);
    if (*how == RECORD_GOES_ON)
        *how = record_walk(w, &c->dialect, c->cr, c->head + c->head_at, c->head_used - c->head_at,
                           &used);
    if (!file_position(&c->file, &offset, e))
        return false;
    char *bytes = mem_alloc(AHEAD_BYTES, 1);
    bool good = true;
    while (*how == RECORD_GOES_ON && good) {
        good = file_read_at(&c->file, bytes, AHEAD_BYTES, offset, &got, e);
        if (good)
            *how = got ? record_walk(w, &c->dialect, c->cr, bytes, got, &used) : record_last(w);
        offset += got;
    }
    mem_free(bytes);
    return good;
}

static bool say_unknown(const struct csv *c, struct err *e)
{
    err_at(e, ERR_CSV_LIMIT, c->shown[c->at], c->line, 0,
           "a record in quotes is longer than 16 MiB, or a quote of it is a stray one: what comes "
           "through a pipe cannot be read twice to tell");
    return err_help(e,
                    "give the file by its name, or as < FILE: then the record is one bad row, or "
                    "its first line is");
}

bool csv_long_cut(struct csv *c, size_t *size, struct err *e)
{
    const char *bytes = c->pending->bytes;
    size_t used;
    c->walk = (struct record_walk){0};
    c->in_long = CSV_LONG_LINE;
    enum record_end how =
        record_walk(&c->walk, &c->dialect, c->cr, bytes, c->pending_used, &used);
    if (how == RECORD_GOES_ON && c->file.seekable) {
        if (!look_ahead(c, &c->walk, &how, e))
            return false;
        c->in_long = how == RECORD_ENDS && c->walk.lines ? CSV_LONG_RECORD : CSV_LONG_LINE;
    } else if (how == RECORD_GOES_ON) {
        c->in_long = CSV_LONG_UNKNOWN;
        if (c->walk.lines)
            return say_unknown(c, e);
    }
    const char *end = memchr(bytes, c->cr ? '\r' : '\n', c->pending_used);
    if (how == RECORD_BAD && end) { /* the line ends inside quotes: by itself it is bad */
        *size = (size_t)(end - bytes) + 1;
        c->in_long = CSV_LONG_NOT;
        return true;
    }
    *size = c->longest < CSV_MOST_PART ? c->longest : CSV_MOST_PART;
    c->walk = (struct record_walk){0};
    record_walk(&c->walk, &c->dialect, c->cr, bytes, *size, &used);
    return true;
}

/* Takes what is pending off, or the part of it that belongs to the record. */
static bool skip_pending(struct csv *c, struct err *e)
{
    const char *bytes = c->pending->bytes;
    size_t used = c->pending_used;
    if (c->in_long == CSV_LONG_LINE) {
        const char *end = memchr(bytes, c->cr ? '\r' : '\n', used);
        used = end ? (size_t)(end - bytes) + 1 : used;
        c->in_long = end ? CSV_LONG_NOT : c->in_long;
    } else {
        bool unknown = c->in_long == CSV_LONG_UNKNOWN;
        enum record_end how = record_walk(&c->walk, &c->dialect, c->cr, bytes, used, &used);
        if (unknown && c->walk.lines)
            return say_unknown(c, e);
        if (how != RECORD_GOES_ON)
            c->in_long = how == RECORD_ENDS ? CSV_LONG_NOT : CSV_LONG_LINE;
    }
    csv_drop(c, used);
    return true;
}

bool csv_long_skip(struct csv *c, struct err *e)
{
    while (c->in_long) {
        if (!csv_fill(c, c->block, e) || !skip_pending(c, e))
            return false;
        if (c->ended && c->pending_used == 0)
            c->in_long = CSV_LONG_NOT;
        if (c->in_long && csv_is_live(c) && !csv_wait(c, e))
            return false;
    }
    return true;
}
