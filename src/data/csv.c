/* csv.c - files one after the other as blocks of whole records. The bytes behind the last whole
 * record of a block are carried over to the next one. */
#include "data/csv.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "data/csv_room.h"
#include "data/scan.h"

#define SOON_MS 2         /* a writer that is at work has its next bytes ready by then */
#define GATHERING_S 0.010 /* but one that never pauses for longer is not waited for, either */

struct csv *csv_open(const struct csv_dialect *d, char *const *paths, size_t count, struct err *e)
{
    static const char *const encodings[] = {NULL, "latin1", "cp1252"};
    struct csv *c = mem_zero(1, sizeof *c);
    c->dialect = *d;
    c->paths = mem_zero(count, sizeof *c->paths);
    c->shown = mem_zero(count, sizeof *c->shown);
    c->path_count = count;
    for (size_t i = 0; i < count; i++)
        c->paths[i] = mem_string(paths[i]);
    const char *encoding = encodings[d->encoding];
    if (encoding && !(c->convert = convert_open(encoding, e))) {
        csv_close(c);
        return NULL;
    }
    return c;
}

/* --- memory of blocks --- */

static void free_buffer(struct csv_buffer *b)
{
    if (b)
        mem_free(b->bytes);
    mem_free(b);
}

static struct csv_buffer *new_buffer(struct csv *c, size_t room)
{
    if (room <= CSV_BLOCK_BYTES) {
        room = CSV_BLOCK_BYTES;
        struct csv_buffer *b = c->spare;
        if (b) {
            c->spare = b->next;
            return b;
        }
    }
    struct csv_buffer *b = mem_alloc(1, sizeof *b);
    *b = (struct csv_buffer){.room = room, .bytes = mem_alloc(room, 1)};
    return b;
}

/* Buffers of the usual size are kept; the large one of a long record is not. */
static void keep_buffer(struct csv *c, struct csv_buffer *b)
{
    if (b && b->room == CSV_BLOCK_BYTES) {
        b->next = c->spare;
        c->spare = b;
    } else {
        free_buffer(b);
    }
}

/* --- bytes --- */

static bool is_live(const struct csv *c)
{
    return c->live.wanted && !c->file.seekable;
}

/* From the file itself. *got < room at its end only; of a live one, *got == 0. */
static bool read_file(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    *got = 0;
    if (c->drained || room == 0)
        return true;
    if (!(is_live(c) ? file_read_some : file_read)(&c->file, to, room, got, e))
        return false;
    c->drained = is_live(c) && *got == 0; /* a terminal would begin anew */
    c->bytes += *got;
    return true;
}

/* Raw bytes of the open file: those looked at first, then the rest. */
static bool read_raw(struct csv *c, char *to, size_t room, size_t *got, struct err *e)
{
    size_t from_head = c->head_used - c->head_at, more = 0;
    from_head = from_head < room ? from_head : room;
    memcpy(to, c->head + c->head_at, from_head);
    c->head_at += from_head;
    if (!(from_head && is_live(c)) && !read_file(c, to + from_head, room - from_head, &more, e))
        return false;
    *got = from_head + more;
    return true;
}

/* A byte without meaning in the encoding: its place, counted over what is pending and converted. */
static bool not_converted(struct csv *c, struct err *why, struct err *e)
{
    int64_t line = c->line, column = 1;
    const struct {
        const char *bytes;
        size_t length;
    } parts[] = {{c->pending->bytes, c->pending_used}, {c->converted.data, c->converted.length}};
    char end = c->cr ? '\r' : '\n';
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < parts[k].length; i++) {
            char b = parts[k].bytes[i];
            column = b == end ? 1 : column + ((b & 0xC0) != 0x80);
            line += b == end;
        }
    err_at(e, why->id, c->shown[c->at], line, column, "%s", why->what);
    err_expected(e, "text in %s, which is what %s says", data_encoding_names[c->dialect.encoding],
                 c->dialect.said == CSV_SAID_BY_CONFIG ? "data.encoding" : "the model");
    return csv_encoding_help(&c->dialect, "\"latin1\" or \"utf-8\"", e);
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

/* Bytes in UTF-8: decoded piece by piece. */
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
        if (*got && is_live(c))
            break;
        char piece[16384];
        struct err why = {0};
        text_clear(&c->converted);
        c->converted_at = 0;
        if (!read_raw(c, piece, sizeof piece, &raw, e))
            return false;
        if (raw == 0)
            break;
        if (!c->utf8.broken)
            csv_count_utf8(&c->utf8, piece, raw);
        if (!convert_add(c->convert, piece, raw, &c->converted, &why)) {
            c->pending_used += *got;
            return not_converted(c, &why, e);
        }
    }
    return true;
}

/* Are there bytes, or the end, within that time? */
static bool is_ready(const struct csv *c, int milliseconds)
{
    return c->drained || c->head_at < c->head_used || c->converted_at < c->converted.length ||
           file_ready(&c->file, milliseconds);
}

/* What is there, and what comes soon behind it: fewer and larger blocks. */
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
    if (is_ready(c, 0))
        return true;
    if (c->live.idle && !c->live.idle(c->live.context, e))
        return false;
    is_ready(c, -1);
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
    if (is_live(c))
        return fill_live(c, room, e);
    size_t got, want = room - c->pending_used;
    if (!read_text(c, c->pending->bytes + c->pending_used, want, &got, e))
        return false;
    c->pending_used += got;
    c->ended = got < want;
    /* said before the last block is parsed: a file that was cut ends in half a row, which is not
     * what is wrong with it */
    return !c->ended || file_unchanged(&c->file, e);
}

void csv_drop(struct csv *c, size_t count)
{
    char *bytes = c->pending->bytes;
    c->line += scan_lines(bytes, count, c->cr ? '\r' : '\n');
    c->offset += count;
    c->pending_used -= count;
    memmove(bytes, bytes + count, c->pending_used);
}

/* --- files --- */

/* The first bytes. Of a live file the first line, but all there is room for when there are zero
 * bytes: what that means is not told by a few. */
static bool read_head(struct csv *c, struct err *e)
{
    size_t got;
    do {
        if (is_live(c) && !csv_wait(c, e))
            return false;
        if (!read_file(c, c->head + c->head_used, sizeof c->head - c->head_used, &got, e))
            return false;
        c->head_used += got;
        c->head_at = c->head_used; /* nothing is to be had from it yet */
    } while (is_live(c) && got && c->head_used < sizeof c->head &&
             (!memchr(c->head, '\n', c->head_used) || memchr(c->head, '\0', c->head_used)));
    return true;
}

/* The first block, or as much of a live file as tells how its lines end. */
static bool read_first(struct csv *c, struct err *e)
{
    for (bool sure;;) {
        if (!csv_fill(c, CSV_BLOCK_BYTES, e))
            return false;
        c->cr = csv_sniff_cr(c, c->pending->bytes, c->pending_used, &sure);
        if (sure || c->ended || c->pending_used >= CSV_BLOCK_BYTES)
            return true;
        if (!csv_wait(c, e))
            return false;
    }
}

static bool open_file(struct csv *c, struct err *e)
{
    size_t skip;
    if (!file_open(&c->file, c->paths[c->at], e))
        return false;
    c->open = true;
    c->ended = c->drained = false;
    c->head_at = c->head_used = c->converted_at = 0;
    text_clear(&c->converted);
    c->line = 1;
    c->offset = 0;
    c->size += c->file.size;
    if (!c->shown[c->at])
        c->shown[c->at] = mem_string(c->file.path);
    if (!read_head(c, e) || !csv_sniff(c, c->shown[c->at], &skip, e))
        return false;
    c->head_at = skip;
    if (!c->pending)
        c->pending = new_buffer(c, CSV_BLOCK_BYTES);
    c->pending_used = 0;
    if (!read_first(c, e))
        return false;
    log_debug("%s: opened%s, lines end with %s", c->shown[c->at],
              c->file.seekable ? "" : " (not a regular file)", c->cr ? "CR" : "LF or CR LF");
    return csv_header_read(c, e);
}

static bool close_file(struct csv *c, struct err *e)
{
    bool same = file_unchanged(&c->file, e);
    log_debug("%s: read; %llu bytes and %llu blocks so far", c->shown[c->at],
              (unsigned long long)c->bytes, (unsigned long long)c->index);
    file_close(&c->file);
    c->open = false;
    c->at++;
    return same;
}

bool csv_header(struct csv *c, const char *const **names, size_t *count, struct err *e)
{
    if (!c->names && !open_file(c, e))
        return false;
    *names = (const char *const *)c->names;
    *count = c->name_count;
    return true;
}

struct csv_notes csv_notes(const struct csv *c)
{
    return c->notes;
}

bool csv_notes_text(const struct csv_notes *n, char *out, size_t size)
{
    if (n->numbers)
        snprintf(out, size,
                 "the first line holds numbers only and is read as a header; if it is none, set "
                 "data.header to false");
    else if (n->unnamed)
        snprintf(out, size, "the first column has no name in the header: it is called \"c1\"");
    else if (n->first != n->second)
        snprintf(out, size,
                 "the names of columns %zu and %zu differ only by upper and lower case or blanks",
                 n->first + 1, n->second + 1);
    return n->numbers || n->unnamed || n->first != n->second;
}

/* The pending bytes with at least one whole record in front; *size: where the block ends. */
static bool next_cut(struct csv *c, size_t *size, struct err *e)
{
    for (size_t room = CSV_BLOCK_BYTES;;) {
        if (!csv_fill(c, room, e))
            return false;
        bool full = c->pending_used == CSV_MOST_LINE;
        *size = (is_live(c) ? cut_reasons : cut_find)(&c->dialect, c->cr, c->pending->bytes,
                                                      c->pending_used, CSV_BLOCK_BYTES, c->ended,
                                                      full);
        if (*size || (c->ended && c->pending_used == 0))
            return true;
        if (full) {
            err_at(e, ERR_CSV_LIMIT, c->shown[c->at], c->line, 0, "a line is longer than 16 MiB");
            return err_help(e, "is this a text file with line ends?");
        }
        if (c->pending_used >= room)
            room = csv_larger(room);
        else if (!csv_wait(c, e))
            return false;
    }
}

bool csv_next(struct csv *c, struct csv_block *b, struct err *e)
{
    size_t size;
    for (;;) {
        if (!c->open && (c->at == c->path_count || !open_file(c, e)))
            return false;
        if (!next_cut(c, &size, e))
            return false;
        if (size)
            break;
        if (!close_file(c, e))
            return false;
    }
    size_t rest = c->pending_used - size;
    struct csv_buffer *given = c->pending;
    c->pending = new_buffer(c, rest);
    memcpy(c->pending->bytes, given->bytes + size, rest);
    c->pending_used = rest;
    *b = (struct csv_block){.bytes = given->bytes,
                            .size = size,
                            .index = c->index++,
                            .path = c->shown[c->at],
                            .first_line = c->line,
                            .file_offset = c->offset,
                            .owner = given,
                            .cr = c->cr};
    c->line += scan_lines(b->bytes, size, c->cr ? '\r' : '\n');
    c->offset += size;
    return true;
}

void csv_release(struct csv *c, struct csv_block *b)
{
    keep_buffer(c, b->owner);
    *b = (struct csv_block){0};
}

void csv_close(struct csv *c)
{
    if (!c)
        return;
    if (c->open)
        file_close(&c->file);
    csv_header_free(c);
    convert_close(c->convert);
    text_free(&c->converted);
    free_buffer(c->pending);
    while (c->spare) {
        struct csv_buffer *b = c->spare;
        c->spare = b->next;
        free_buffer(b);
    }
    for (size_t i = 0; i < c->path_count; i++) {
        mem_free(c->paths[i]);
        mem_free(c->shown[i]);
    }
    mem_free(c->paths);
    mem_free(c->shown);
    mem_free(c);
}

uint64_t csv_size(const struct csv *c)
{
    return c->at + 1 >= c->path_count ? c->size : 0;
}

bool csv_looks_utf8(const struct csv *c)
{
    return c->utf8.sequences && !c->utf8.broken && !c->utf8.expected;
}

bool csv_waits(const struct csv *c)
{
    return !c->open || !c->file.seekable;
}

bool csv_more(const struct csv *c)
{
    return c->open && !(c->ended && c->pending_used == 0);
}

void csv_live(struct csv *c, bool (*idle)(void *context, struct err *e), void *context)
{
    c->live.wanted = true;
    c->live.idle = idle;
    c->live.context = context;
}
