/* csv.c - reads files in order as blocks of whole records (bytes: csv_bytes.c). Bytes after the
 * last whole record of a block move to the next block. */
#include "csv/csv.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "csv/csv_reader.h"
#include "csv/scan.h"

const char *const csv_encoding_names[] = {"utf-8", "latin1", "cp1252", NULL};
const char *const csv_quote_names[] = {"strict", "lenient", "none", "backslash", NULL};

struct csv *csv_open(const struct csv_dialect *d, char *const *paths, size_t count, struct err *e)
{
    static const char *const encodings[] = {NULL, "latin1", "cp1252"};
    struct csv *c = mem_zero(1, sizeof *c);
    c->dialect = *d;
    c->paths = mem_zero(count, sizeof *c->paths);
    c->shown = mem_zero(count, sizeof *c->shown);
    c->orders = mem_zero(count, sizeof *c->orders);
    c->path_count = count;
    c->block = CSV_BLOCK_BYTES;
    c->longest = CSV_MOST_LINE;
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
    if (room <= c->block) {
        room = c->block;
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

/* Keeps a buffer of the usual size for reuse; frees the large one of a long record. */
static void keep_buffer(struct csv *c, struct csv_buffer *b)
{
    if (b && b->room == c->block) {
        b->next = c->spare;
        c->spare = b;
    } else {
        free_buffer(b);
    }
}

/* --- files --- */

/* Reads the first block; of a live file, enough to detect the line ends. */
static bool read_first(struct csv *c, struct err *e)
{
    for (bool sure;;) {
        if (!csv_fill(c, c->block, e))
            return false;
        c->cr = csv_sniff_cr(c, c->pending->bytes, c->pending_used, &sure);
        if (sure || c->ended || c->pending_used >= c->block)
            return true;
        if (!csv_wait(c, e))
            return false;
    }
}

static bool open_file(struct csv *c, struct err *e)
{
    size_t skip;
    if (!source_open(&c->source, c->paths[c->at], c->stop, e))
        return false;
    c->open = true;
    c->ended = c->drained = false;
    c->head_at = c->head_used = c->converted_at = 0;
    text_clear(&c->converted);
    c->line = 1;
    c->offset = 0;
    if (!c->shown[c->at])
        c->shown[c->at] = mem_string(c->source.file.path);
    if (!csv_head_read(c, e) || !csv_sniff(c, c->shown[c->at], &skip, e))
        return false;
    c->size += source_size(&c->source);
    c->unsized |= !source_size(&c->source);
    c->head_at = skip;
    if (!c->pending)
        c->pending = new_buffer(c, c->block);
    c->pending_used = 0;
    if (!read_first(c, e))
        return false;
    log_debug("%s: opened%s%s, lines end with %s", c->shown[c->at],
              c->source.gunzip ? " (gzip)" : "",
              c->source.file.seekable ? "" : " (not a regular file)",
              c->cr ? "CR" : "LF or CR LF");
    return csv_header_read(c, e);
}

static bool close_file(struct csv *c, struct err *e)
{
    bool same = file_unchanged(&c->source.file, e);
    log_debug("%s: read; %llu bytes and %llu blocks so far", c->shown[c->at],
              (unsigned long long)c->bytes, (unsigned long long)c->index);
    source_close(&c->source);
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
    else if (n->unseen)
        snprintf(out, size,
                 "the name of column %zu, \"%s\", has the character U+%04X, which %s",
                 n->column + 1, n->name, n->unseen,
                 csv_is_blank(n->unseen) ? "is no ordinary blank" : "cannot be seen");
    return n->numbers || n->unnamed || n->first != n->second || n->unseen;
}

/* Sets the error of a record above the limit. Returns false. */
static bool report_too_long(const struct csv *c, struct err *e)
{
    bool lines = memchr(c->pending->bytes, c->cr ? '\r' : '\n', c->pending_used);
    err_at(e, ERR_CSV_LIMIT, c->shown[c->at], c->line, 0, "%s is longer than 16 MiB",
           lines ? "a record, with the lines in its quotes," : "a line");
    return err_help(e, lines ? "is a quote wrong? a cell has at most 1 MiB"
                             : "is this a text file with line ends? a cell has at most 1 MiB");
}

/* Fills the pending bytes until they hold a whole record. *size: end of the block. */
static bool next_cut(struct csv *c, size_t *size, struct err *e)
{
    for (size_t room = c->block;;) {
        if (!csv_fill(c, room, e))
            return false;
        const char *bytes = c->pending->bytes;
        size_t used = c->pending_used;
        *size = (csv_is_live(c) ? cut_reasons : cut_find)(&c->dialect, c->cr, bytes, used, c->block,
                                                      c->ended);
        if (*size || (c->ended && used == 0))
            return true;
        if (used >= c->longest) {
            if (csv_is_live(c))
                *size = cut_find(&c->dialect, c->cr, bytes, used, c->block, false);
            return *size || report_too_long(c, e);
        }
        if (used >= room)
            room = csv_larger(c, room);
        else if (!csv_wait(c, e))
            return false;
    }
}

/* Splits the first `size` pending bytes off into a buffer of their own. */
static struct csv_buffer *detach_pending(struct csv *c, size_t size)
{
    struct csv_buffer *given = c->pending, *other;
    size_t rest = c->pending_used - size;
    c->pending_used = rest;
    c->pending = other = new_buffer(c, rest);
    memcpy(other->bytes, given->bytes + size, rest);
    return given;
}

void csv_hold_records(struct csv *c)
{
    const size_t bytes = CSV_BLOCK_RECORDS * c->name_count * 6;
    c->block = bytes > c->block ? bytes : c->block;
}

size_t csv_block_bytes(const struct csv *c)
{
    return c->block;
}

static bool next_block(struct csv *c, struct csv_block *b, struct err *e)
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
    struct csv_buffer *given = detach_pending(c, size);
    *b = (struct csv_block){.bytes = given->bytes,
                            .size = size,
                            .index = c->index++,
                            .path = c->shown[c->at],
                            .first_line = c->line,
                            .file_offset = c->offset,
                            .owner = given,
                            .order = c->orders[c->at],
                            .order_cells = c->name_count,
                            .cr = c->cr};
    c->line += scan_lines(b->bytes, size, c->cr ? '\r' : '\n');
    c->offset += size;
    return true;
}

bool csv_next(struct csv *c, struct csv_block *b, struct err *e)
{
    while (!c->choice || c->choice->met < c->choice->count) {
        if (!next_block(c, b, e))
            return false;
        if (!c->choice || csv_keep_chosen(c, b))
            return true;
        csv_release(c, b);
    }
    return false;
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
        source_close(&c->source);
    csv_header_free(c);
    csv_cells_free(&c->chosen);
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
        mem_free(c->orders[i]);
    }
    mem_free(c->orders);
    mem_free(c->paths);
    mem_free(c->shown);
    mem_free(c);
}

uint64_t csv_size(const struct csv *c)
{
    return c->at + 1 >= c->path_count && !c->unsized ? c->size : 0;
}

bool csv_waits(const struct csv *c)
{
    return !c->open || !c->source.file.seekable;
}

bool csv_more(const struct csv *c)
{
    return c->open && !(c->ended && c->pending_used == 0);
}

void csv_widths(struct csv *c, size_t least, size_t most)
{
    c->least = least;
    c->most = most;
}

void csv_choose(struct csv *c, struct csv_choice *choice)
{
    c->choice = choice;
}

void csv_set_stop(struct csv *c, const struct stopper *stop)
{
    c->stop = stop;
}

void csv_live(struct csv *c, bool (*idle)(void *context, struct err *e), void *context)
{
    c->live.wanted = true;
    c->live.idle = idle;
    c->live.context = context;
}
