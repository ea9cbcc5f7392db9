/* csv_libcsv.c - the reference parser: libcsv in strict mode, fed in pieces so that every error has
 * its place. Each piece ends before a byte that may end a cell. Between pieces the parser's state
 * tells whether the cell is quoted and whether a line end is. After an error csv_fini is not
 * called: it would return half a row. */
#include <csv.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "csv/csv_reader.h"

/* States of libcsv's pstate, in its order. */
enum { ROW_NOT_BEGUN, CELL_NOT_BEGUN, CELL_BEGUN, CELL_MIGHT_HAVE_ENDED };

struct reading {
    const struct csv_dialect *d;
    const struct csv_block *b;
    size_t columns;
    struct csv_cells *out;
    struct csv_parser parser;
    bool quoted; /* the current cell is quoted */
    size_t used; /* of out->unescaped */
    size_t at, record; /* bytes read; start of the record */
    size_t first_cell;
    size_t quote; /* place of the last opening quote */
    int64_t line, record_line, quote_line;
};

static void on_cell(void *text, size_t length, void *context)
{
    struct reading *r = context;
    struct csv_cells *out = r->out;
    if (out->cell_count == out->cell_room) {
        out->cell_room += out->cell_room / 2 + 4096;
        out->cells = mem_grow(out->cells, out->cell_room, sizeof *out->cells);
    }
    char *copy = out->unescaped + r->used;
    if (length)
        memcpy(copy, text, length);
    r->used += length;
    out->cells[out->cell_count++] =
        (struct csv_cell){.text = copy,
                          .length = (uint32_t)length,
                          .quoted = r->quoted,
                          .escaped = r->quoted && memchr(copy, '"', length)};
}

static void on_row(int end, void *context)
{
    struct reading *r = context;
    struct csv_cells *out = r->out;
    (void)end;
    if (out->record_count == out->record_room) {
        out->record_room += out->record_room / 2 + 512;
        out->records = mem_grow(out->records, out->record_room, sizeof *out->records);
    }
    out->records[out->record_count++] =
        (struct csv_record){.first_cell = (uint32_t)r->first_cell,
                            .cells = (uint32_t)(out->cell_count - r->first_cell),
                            .offset = r->record,
                            .bytes = (uint32_t)(r->at - r->record),
                            .line = r->record_line};
    r->first_cell = out->cell_count;
}

/* Handles an empty line, which libcsv does not report. */
static void blank_line(struct reading *r)
{
    if (r->columns != 1) {
        r->out->blank_lines++;
        return;
    }
    r->quoted = false;
    on_cell(NULL, 0, r);
    on_row(0, r);
}

static bool in_quotes(const struct reading *r)
{
    return r->parser.pstate == CELL_BEGUN && r->parser.quoted;
}

static int64_t column_of(const struct reading *r, size_t offset)
{
    char end = r->b->cr ? '\r' : '\n';
    size_t from = offset;
    while (from > 0 && r->b->bytes[from - 1] != end)
        from--;
    return (int64_t)(offset - from) + 1;
}

/* Sets the error of the current record and drops its cells. */
static __attribute__((format(printf, 5, 6))) bool
bad(struct reading *r, enum err_id id, int64_t line, size_t offset, const char *format, ...)
{
    struct csv_cells *out = r->out;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    err_at(&out->error, id, r->b->path, line, column_of(r, offset), "%s", what);
    const char *bytes = r->b->bytes;
    size_t from = offset + 1 - (size_t)out->error.column;
    const char *end = memchr(bytes + from, r->b->cr ? '\r' : '\n', r->b->size - from);
    err_excerpt(&out->error, bytes + from, (end ? (size_t)(end - bytes) : r->b->size) - from);
    out->cell_count = r->first_cell;
    out->has_error = true;
    out->error_offset = r->record;
    return false;
}

/* True if the quote before the place of the error has a backslash in front of it. */
static bool is_backslash(const struct reading *r)
{
    const char *bytes = r->b->bytes;
    size_t at = r->at;
    while (at && bytes[at - 1] != '"' && (bytes[at - 1] == ' ' || bytes[at - 1] == '\t'))
        at--;
    return at > 1 && bytes[at - 1] == '"' && bytes[at - 2] == '\\' && r->d->quote == QUOTE_STRICT;
}

static bool stray_quote(struct reading *r)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'}; /* of UTF-8 */
    if (r->b->size - r->record > 3 && memcmp(r->b->bytes + r->record, mark, 3) == 0) {
        bad(r, ERR_CSV_QUOTE, r->line, r->record, "a byte-order mark stands before the cell");
        return err_help(&r->out->error, "files put together with cat have one each: give them one "
                                        "by one, or take the marks out: %s",
                        shell_remedy(r->b->path, ".mended.csv",
                                     "sed 's/^\\xef\\xbb\\xbf//' FILE"));
    }
    bool backslash = r->parser.quoted && is_backslash(r);
    if (r->parser.quoted && r->quote_line < r->line) { /* usually the second quote is the valid
                                                        * one */
        bad(r, ERR_CSV_QUOTE, r->quote_line, r->quote,
            "text follows the closing quote of the cell that opens here, at line %lld, byte %lld",
            (long long)r->line, (long long)column_of(r, r->at));
        err_expected(&r->out->error, "the delimiter or the end of the line behind that quote");
    } else if (r->parser.quoted) {
        bad(r, ERR_CSV_QUOTE, r->line, r->at, "text follows the closing quote of a cell");
        err_expected(&r->out->error, "the delimiter or the end of the line");
    } else {
        bad(r, ERR_CSV_QUOTE, r->line, r->at, "a quote stands inside a cell that is not quoted");
        err_expected(&r->out->error, "quotes around the whole cell, or none");
    }
    if (backslash && r->d->said == CSV_SAID_BY_CONFIG)
        return err_help(&r->out->error, "if \\\" stands for a quote in this file, set data.quote "
                                        "to \"backslash\"");
    if (backslash)
        return err_help(&r->out->error,
                        "if \\\" stands for a quote in this file, give --quote backslash");
    return err_help(&r->out->error, "write the cell in quotes, and a quote inside it twice: \"\"");
}

/* Text has no NUL (csv_cells.c): as the quote it means none. */
static unsigned char quote_of(const struct csv_dialect *d)
{
    return csv_unquoted(d) ? '\0' : '"';
}

/* True for a piece whose quotes are characters: a whole cell that does not begin with one. */
static bool is_raw(const struct reading *r, size_t size)
{
    const char *bytes = r->b->bytes + r->at;
    size_t i = 0;
    if (r->d->quote != QUOTE_LENIENT || r->parser.pstate > CELL_NOT_BEGUN)
        return false;
    while (i < size && (bytes[i] == ' ' || bytes[i] == '\t'))
        i++;
    return i < size && bytes[i] != '"';
}

/* Feeds bytes to libcsv. False and an error if it refuses one. */
static bool feed(struct reading *r, size_t count)
{
    const char *from = r->b->bytes + r->at;
    size_t took = csv_parse(&r->parser, from, count, on_cell, on_row, r);
    r->at += took < count ? took : 0;
    if (took < count)
        return stray_quote(r);
    r->at += count;
    return true;
}

/* Feeds bytes of QUOTE_BACKSLASH: an escape goes to libcsv as it stands in RFC 4180. */
static bool feed_escaped(struct reading *r, size_t count)
{
    const char *bytes = r->b->bytes;
    const size_t end = r->at + count;
    while (r->at < end) {
        const char *slash = memchr(bytes + r->at, '\\', end - r->at);
        const size_t plain = (slash ? (size_t)(slash - bytes) : end) - r->at;
        if (plain && !feed(r, plain))
            return false;
        if (slash && in_quotes(r) && scan_is_escape(r->d, slash, bytes + end)) {
            bool quote = slash[1] == '"';
            csv_parse(&r->parser, quote ? "\"\"" : "\\", quote ? 2 : 1, on_cell, on_row, r);
            r->at += 2;
        } else if (slash && !feed(r, 1)) {
            return false;
        }
    }
    return true;
}

/* Finds the end of the piece: the next byte that may end a cell. */
static bool feed_piece(struct reading *r)
{
    const char *bytes = r->b->bytes;
    size_t end = r->at;
    char delimiter = r->d->delimiter;
    while (end < r->b->size && bytes[end] != delimiter && bytes[end] != '\n' && bytes[end] != '\r')
        end++;
    size_t from = r->at;
    if (end == from)
        return true;
    bool raw = is_raw(r, end - from);
    const char *quote = raw || in_quotes(r) ? NULL : memchr(bytes + from, '"', end - from);
    if (quote) {
        r->quote = (size_t)(quote - bytes);
        r->quote_line = r->line;
    }
    if (raw)
        csv_set_quote(&r->parser, '\0');
    bool good = r->d->quote == QUOTE_BACKSLASH ? feed_escaped(r, end - from)
                                               : feed(r, end - from);
    csv_set_quote(&r->parser, quote_of(r->d));
    if (!good)
        return false;
    if (r->parser.entry_pos > CSV_MOST_FIELD) { /* reported at the field's beginning */
        bool quoted = r->parser.quoted != 0;
        bad(r, ERR_CSV_LIMIT, quoted ? r->quote_line : r->line,
            quoted ? r->quote : r->at - r->parser.entry_pos, "a field is longer than %zu bytes",
            CSV_MOST_FIELD);
        return err_help(&r->out->error, "is a quote missing or the delimiter wrong?");
    }
    return true;
}

/* True for a CR or LF outside quotes that does not end a line. */
static bool stray_cr(struct reading *r)
{
    if (r->b->cr) {
        bad(r, ERR_CSV_CR, r->line, r->at, "a line feed stands in a file whose lines end with CR");
        return err_help(&r->out->error, "give all lines the same end, or quote the cell");
    }
    bad(r, ERR_CSV_CR, r->line, r->at,
        "a carriage return (CR) stands alone, without its line feed");
    return err_help(&r->out->error, "remove it, or quote the cell that it belongs to");
}

/* Feeds the byte that may end a cell: the delimiter or a line end (CRLF as one). */
static bool feed_end(struct reading *r)
{
    const char *bytes = r->b->bytes;
    char c = bytes[r->at], end = r->b->cr ? '\r' : '\n';
    bool inside = in_quotes(r);
    r->quoted = r->parser.quoted != 0;
    if (inside || c == r->d->delimiter) {
        r->line += c == end;
        if (!feed(r, 1))
            return false;
        if (r->out->cell_count - r->first_cell < CSV_MOST_COLUMNS)
            return true;
        bad(r, ERR_CSV_LIMIT, r->line, r->at - 1, "a record has more than %d columns",
            CSV_MOST_COLUMNS);
        return err_help(&r->out->error, "is the delimiter right?");
    }
    bool crlf = c == '\r' && end == '\n' && r->at + 1 < r->b->size && bytes[r->at + 1] == '\n';
    if (c != end && !crlf)
        return stray_cr(r);
    if (r->parser.pstate == ROW_NOT_BEGUN) {
        blank_line(r);
    } else if (csv_parse(&r->parser, bytes + r->at, 1, on_cell, on_row, r) != 1) {
        return stray_quote(r);
    }
    r->at += crlf ? 2 : 1;
    r->line++;
    r->record = r->at;
    r->record_line = r->line;
    return true;
}

static bool finish(struct reading *r)
{
    if (in_quotes(r)) {
        bad(r, ERR_CSV_UNTERMINATED, r->quote_line, r->quote,
            "the cell that opens here with a quote does not end");
        err_expected(&r->out->error, "a closing quote before the end of the %s",
                     "file, or of the 16 MiB that a record may have");
        return err_help(&r->out->error,
                        "close the quote, or write it twice if it is part of the text");
    }
    r->quoted = r->parser.quoted != 0;
    if (r->parser.pstate == ROW_NOT_BEGUN) {
        if (r->record < r->at) /* blanks only, no line end */
            blank_line(r);
        return true;
    }
    csv_fini(&r->parser, on_cell, on_row, r);
    return true;
}

static void *grow(void *old, size_t bytes)
{
    return mem_grow(old, bytes, 1);
}

bool libcsv_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                  struct csv_cells *out, struct err *e)
{
    struct reading r = {.d = d,
                        .b = b,
                        .columns = columns,
                        .out = out,
                        .line = b->first_line,
                        .record_line = b->first_line,
                        .quote_line = b->first_line};
    out->cell_count = out->record_count = 0;
    out->blank_lines = 0;
    out->has_error = false;
    err_clear(&out->error);
    if (out->unescaped_room < b->size) {
        mem_free(out->unescaped);
        out->unescaped = mem_alloc(b->size, 1);
        out->unescaped_room = b->size;
    }
    csv_init(&r.parser, CSV_STRICT | CSV_STRICT_FINI);
    csv_set_delim(&r.parser, (unsigned char)d->delimiter);
    csv_set_quote(&r.parser, quote_of(d));
    csv_set_realloc_func(&r.parser, grow);
    csv_set_free_func(&r.parser, mem_free);
    csv_set_blk_size(&r.parser, 65536);
    bool good = true;
    while (good && r.at < b->size)
        good = feed_piece(&r) && (r.at == b->size || feed_end(&r));
    good = good && finish(&r);
    csv_free(&r.parser);
    if (!good)
        *e = out->error;
    return good;
}
