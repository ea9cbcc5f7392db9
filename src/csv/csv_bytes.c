/* csv_bytes.c - reads the bytes of the open file: the head before decoding, then text in UTF-8. A
 * live file returns the bytes that have arrived. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "csv/csv_reader.h"
#include "csv/scan.h"

#define SOON_MS 2         /* an active writer has its next bytes ready by then */
#define AGAIN_MS 50       /* interval of polls while waiting */
#define GATHERING_S 0.010 /* longest time of collecting from an active writer */

/* Fills `room` from a pipe, and polls c->stop while it waits. False without an error: stopped. */
static bool read_polling(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    for (size_t more = 1; more && *got < room; *got += more) {
        while (!source_ready(&c->source, AGAIN_MS))
            if (stopper_asked(c->stop))
                return false;
        if (!source_read_some(&c->source, to + *got, room - *got, &more, e))
            return false;
    }
    return true;
}

/* Reads from the file. *got < room only at its end; of a live file the end is *got == 0. */
static bool read_file(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    *got = 0;
    if (c->drained || room == 0)
        return true;
    bool polls = c->stop && !c->source.file.seekable && !csv_is_live(c);
    if (polls ? !read_polling(c, to, room, got, e)
             : !(csv_is_live(c) ? source_read_some : source_read)(&c->source, to, room, got, e))
        return false;
    c->drained = csv_is_live(c) && *got == 0; /* a terminal would begin again */
    c->bytes += *got;
    return true;
}

/* Reads raw bytes: first the bytes in c->head, then the file. */
static bool read_raw(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    size_t from_head = c->head_used - c->head_at, more = 0;
    from_head = from_head < room ? from_head : room;
    memcpy(to, c->head + c->head_at, from_head);
    c->head_at += from_head;
    if (!(from_head && csv_is_live(c)) && !read_file(c, to + from_head, room - from_head, &more, e))
        return false;
    *got = from_head + more;
    return true;
}

void csv_count_utf8(struct csv_utf8 *u, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char b = (unsigned char)bytes[i];
        if (u->expected && (b & 0xC0) == 0x80) {
            u->sequences += --u->expected == 0;
            continue;
        }
        bool foreign = b >= 0x80 && (b < 0xC2 || b > 0xF4);
        u->broken += (uint64_t)(u->expected > 0) + (uint64_t)foreign;
        u->expected = b < 0x80 || foreign ? 0 : b < 0xE0 ? 1 : b < 0xF0 ? 2 : 3;
    }
}

bool csv_looks_utf8(const struct csv *c)
{
    return c->utf8.sequences && !c->utf8.broken && !c->utf8.expected;
}

bool csv_looks_foreign(const struct csv *c, struct text *out)
{
    const char *other, *name = code_page_likely(&c->page, &other);
    if (!c->convert || !name || csv_looks_utf8(c))
        return false;
    text_printf(out, "the letters beyond ASCII look like %s%s%s, which is not read; as %s they "
                "become other letters: ", name, other ? " or " : "", other ? other : "",
                csv_encoding_names[c->dialect.encoding]);
    code_page_remedy(name, other, c->paths[0], out);
    return true;
}

/* Reads text in UTF-8, decoded piece by piece. */
static bool read_text(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    if (!c->convert)
        return read_raw(c, to, room, got, e);
    *got = 0;
    while (*got < room) {
        size_t left = c->converted.length - c->converted_at, raw;
        if (left) {
            left = left < room - *got ? left : room - *got;
            memcpy(to + *got, c->converted.data + c->converted_at, left);
            c->converted_at += left;
            *got += left;
            continue;
        }
        if (*got && csv_is_live(c))
            break;
        char piece[16384];
        text_clear(&c->converted);
        c->converted_at = 0;
        if (!read_raw(c, piece, sizeof piece, &raw, e))
            return false;
        if (raw == 0)
            break;
        if (!c->utf8.broken)
            csv_count_utf8(&c->utf8, piece, raw);
        code_page_count(&c->page, piece, raw);
        convert_add(c->convert, piece, raw, &c->converted);
    }
    return true;
}

/* True if bytes or the end arrive within the time. */
static bool is_ready(struct csv *c, int milliseconds)
{
    return c->drained || c->head_at < c->head_used || c->converted_at < c->converted.length ||
           source_ready(&c->source, milliseconds);
}

/* Reads the bytes that have arrived, and bytes that follow soon: fewer and larger blocks. */
static bool fill_live(struct csv *c, size_t room, struct err *e)
{
    double until = clock_now() + GATHERING_S;
    for (int patience = 0; !c->ended && c->pending_used < room && is_ready(c, patience);) {
        size_t got;
        if (!read_text(c, c->pending->bytes + c->pending_used, room - c->pending_used, &got, e))
            return false;
        c->pending_used += got;
        c->ended = got == 0;
        patience = clock_now() < until ? SOON_MS : 0;
    }
    return true;
}

bool csv_wait(struct csv *c, struct err *e)
{
    int patience = 0;
    while (!is_ready(c, patience)) {
        if (c->live.idle && !c->live.idle(c->live.context, e))
            return false;
        patience = c->live.idle ? AGAIN_MS : -1;
    }
    return true;
}

bool csv_fill(struct csv *c, size_t room, struct err *e)
{
    if (c->pending->room < room) {
        c->pending->bytes = mem_grow(c->pending->bytes, room, 1);
        c->pending->room = room;
    }
    if (c->ended || c->pending_used >= room)
        return true;
    if (csv_is_live(c))
        return fill_live(c, room, e);
    size_t got, want = room - c->pending_used;
    if (!read_text(c, c->pending->bytes + c->pending_used, want, &got, e))
        return false;
    c->pending_used += got;
    c->ended = got < want;
    /* check before the last block is parsed: a truncated file ends in half a row, and the row is
     * not the error */
    return !c->ended || file_unchanged(&c->source.file, e);
}

void csv_drop(struct csv *c, size_t count)
{
    char *bytes = c->pending->bytes;
    c->line += scan_lines(bytes, count, c->cr ? '\r' : '\n');
    c->offset += count;
    c->pending_used -= count;
    memmove(bytes, bytes + count, c->pending_used);
}

bool csv_head_read(struct csv *c, struct err *e)
{
    size_t got;
    do {
        if (csv_is_live(c) && !csv_wait(c, e))
            return false;
        if (!read_file(c, c->head + c->head_used, sizeof c->head - c->head_used, &got, e))
            return false;
        c->head_used += got;
        c->head_at = c->head_used; /* no bytes to read from it yet */
    } while (csv_is_live(c) && got && c->head_used < sizeof c->head &&
             (!memchr(c->head, '\n', c->head_used) || memchr(c->head, '\0', c->head_used)));
    return true;
}
