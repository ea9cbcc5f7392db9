/* csv_cells.c - parses a block: checks that its bytes are text, then scan.c, then libcsv. Also
 * finds places for messages. */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "csv/csv_reader.h"
#include "csv/scan.h"

/* Finds the first byte that is a NUL or invalid UTF-8; size: none. */
static size_t first_foreign(const struct csv_block *b)
{
    size_t from = b->valid < b->size ? b->valid : b->size;
    from += scan_ascii(b->bytes + from, b->size - from);
    size_t end = from + utf8_valid_prefix(b->bytes + from, b->size - from);
    const char *nul = memchr(b->bytes + from, '\0', end - from);
    return nul ? (size_t)(nul - b->bytes) : end;
}

static bool parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                  struct csv_cells *out)
{
    struct err e = {0};
    return (!d->libcsv && scan_parse(d, b, columns, out) == SCAN_DONE) ||
           libcsv_parse(d, b, columns, out, &e);
}

/* Returns the start of the line after `at`. */
static size_t line_end(const struct csv_block *b, size_t at)
{
    const char *p = memchr(b->bytes + at, b->cr ? '\r' : '\n', b->size - at);
    return p ? (size_t)(p - b->bytes) + 1 : b->size;
}

/* Finds the place to continue after an error. A wrong quote makes the first line of its record
 * bad; other errors make the whole record bad, up to its end outside quotes. cut.c uses the same
 * rule. */
static size_t resume_at(const struct csv_dialect *d, const struct csv_block *b,
                        const struct csv_cells *c)
{
    size_t from = (size_t)c->error_offset;
    if (c->error.id == ERR_CSV_QUOTE || c->error.id == ERR_CSV_UNTERMINATED)
        return line_end(b, from);
    return from + cut_find(d, b->cr, b->bytes + from, b->size - from, 1, true);
}

/* Helps if the letters of the block belong to a code page that csv does not read. */
static bool page_help(const struct csv_block *b, struct err *e)
{
    struct code_page page = {0};
    struct text command = {0};
    const char *other, *name;
    code_page_count(&page, b->bytes, b->size);
    name = code_page_likely(&page, &other);
    if (name) {
        code_page_remedy(name, other, b->path, &command);
        err_help(e, "its letters look like %s%s%s; %s", name, other ? " or " : "",
                 other ? other : "", command.data);
    }
    text_free(&command);
    return name != NULL;
}

/* Sets the error of a byte that is invalid in the encoding. */
static void report_encoding(const struct csv_dialect *d, unsigned byte, const struct csv_block *b,
                            int64_t line, int64_t column, struct err *e)
{
    const char *name = csv_encoding_names[d->encoding];
    const char *who = d->said == CSV_SAID_BY_CONFIG ? "data.encoding" : "the model or --encoding";
    if (d->encoding == ENCODING_UTF8) {
        err_at(e, ERR_CSV_ENCODING, b->path, line, column, "the byte \\x%02x is not valid UTF-8",
               byte);
        err_expected(e, "UTF-8, which is what %s says", who);
        if (!page_help(b, e))
            csv_encoding_help(d, "\"latin1\" or \"cp1252\"", e);
    } else {
        err_at(e, ERR_CSV_ENCODING, b->path, line, column,
               "the byte %02x (hexadecimal) stands for nothing in %s", byte, name);
        err_expected(e, "text in %s, which is what %s says", name, who);
        csv_encoding_help(d, "\"latin1\" or \"utf-8\"", e);
    }
}

/* Sets the error of a bad byte in the record that begins at `record`. */
static void report_foreign(const struct csv_block *b, size_t record, size_t at,
                           struct csv_cells *out)
{
    struct err *e = &out->error;
    char end = b->cr ? '\r' : '\n';
    int64_t line = b->first_line, column = 1;
    for (size_t i = 0; i < at; i++) {
        bool counts = out->dialect.encoding == ENCODING_UTF8 || (b->bytes[i] & 0xC0) != 0x80;
        column = b->bytes[i] == end ? 1 : column + counts; /* counted in the file's bytes */
        line += b->bytes[i] == end;
    }
    unsigned byte = (unsigned char)b->bytes[at];
    unsigned long long where = b->file_offset + at;
    err_clear(e);
    if (byte == 0) {
        err_at(e, ERR_CSV_NUL, b->path, line, column, "a NUL byte (byte %llu of the text)", where);
        err_help(e, "the file is damaged or is not text; remove the byte: tr -d '\\000'");
    } else {
        report_encoding(&out->dialect, byte, b, line, column, e);
    }
    size_t stop = line_end(b, at);
    while (stop > at && (b->bytes[stop - 1] == '\n' || b->bytes[stop - 1] == '\r'))
        stop--;
    err_excerpt(e, b->bytes + record, stop - record);
    out->has_error = true;
    out->error_offset = record;
}

/* Finds the start of the record in which the parsed bytes end. Drops an unfinished record and a
 * blank line. */
static size_t broken_record(const struct csv_block *b, size_t size, size_t columns,
                            struct csv_cells *out)
{
    char end = b->cr ? '\r' : '\n';
    if (size == 0 || b->bytes[size - 1] == end) {
        /* not a quoted line end: the parser would have reported it */
        return size;
    }
    if (out->record_count) {
        const struct csv_record *r = out->records + out->record_count - 1;
        if (r->offset + r->bytes == size) {
            out->record_count--;
            out->cell_count = r->first_cell;
            return r->offset;
        }
    }
    const char *line = memrchr(b->bytes, end, size);
    if (columns != 1)
        out->blank_lines--;
    return line ? (size_t)(line - b->bytes) + 1 : 0;
}

/* Puts the cells of each record into the order of the first file. Other records are ragged. */
static void put_in_order(const struct csv_block *b, struct csv_cells *out)
{
    struct csv_cell *own = mem_alloc(b->order_cells, sizeof *own);
    for (size_t i = 0; i < out->record_count; i++) {
        struct csv_cell *cells = out->cells + out->records[i].first_cell;
        if (out->records[i].cells != b->order_cells)
            continue;
        memcpy(own, cells, b->order_cells * sizeof *own);
        for (size_t k = 0; k < b->order_cells; k++)
            cells[k] = own[b->order[k]];
    }
    mem_free(own);
}

bool csv_cells_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                     struct csv_cells *out, struct err *e)
{
    size_t foreign = first_foreign(b);
    struct csv_block before = *b;
    before.size = foreign;
    out->valid = foreign;
    out->dialect = *d;
    bool good = parse(d, &before, columns, out);
    if (foreign < b->size && (good || out->error.id == ERR_CSV_UNTERMINATED)) {
        /* an open quote may close after the bad byte */
        size_t record = good ? broken_record(b, foreign, columns, out) : (size_t)out->error_offset;
        report_foreign(b, record, foreign, out);
        good = false;
    }
    if (b->order)
        put_in_order(b, out);
    if (good)
        return true;
    out->resume_offset = resume_at(d, b, out);
    *e = out->error;
    return false;
}

bool csv_rest(const struct csv_block *b, const struct csv_cells *c, struct csv_block *rest)
{
    if (!c->has_error || c->resume_offset >= b->size)
        return false;
    size_t skip = (size_t)c->resume_offset;
    const int64_t lines = scan_lines(b->bytes, skip, b->cr ? '\r' : '\n');
    *rest = *b; /* maybe the same block */
    rest->bytes += skip;
    rest->size -= skip;
    rest->file_offset += skip;
    rest->first_line += lines;
    rest->valid = c->valid > skip ? c->valid - skip : 0;
    rest->owner = NULL;
    return true;
}

void csv_place(const struct csv_block *b, const struct csv_record *r, const struct csv_cells *all,
               uint32_t cell, int64_t *line, int64_t *column)
{
    const char *at = b->bytes + r->offset, *stop = at + r->bytes;
    char end = b->cr ? '\r' : '\n', delimiter = all->dialect.delimiter;
    bool inside = false, begins = true; /* begins: only blanks of the cell came before */
    bool strict = all->dialect.quote == QUOTE_STRICT || all->dialect.quote == QUOTE_BACKSLASH;
    *line = r->line;
    if (b->order && r->cells == b->order_cells)
        cell = b->order[cell];
    for (; cell && at < stop; at++) {
        if (inside && scan_is_escape(&all->dialect, at, stop)) {
            at++;
            continue;
        }
        if (*at == '"' && !csv_unquoted(&all->dialect) && (strict || inside || begins))
            inside = !inside;
        *line += *at == end;
        cell -= *at == delimiter && !inside;
        begins = (*at == delimiter && !inside) || (begins && (*at == ' ' || *at == '\t')) ||
                 (*at == '"' && !inside);
    }
    while (at < stop && (*at == ' ' || *at == '\t') && *at != delimiter)
        at++;
    const char *before = memrchr(b->bytes, end, (size_t)(at - b->bytes));
    *column = at - (before ? before + 1 : b->bytes) + 1;
}

void csv_cells_free(struct csv_cells *c)
{
    mem_free(c->cells);
    mem_free(c->records);
    mem_free(c->unescaped);
    *c = (struct csv_cells){0};
}
