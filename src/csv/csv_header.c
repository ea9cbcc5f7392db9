/* csv_header.c - reads and checks the names of columns, and compares the names in later files. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/sort.h"
#include "base/unicode.h"
#include "csv/csv_reader.h"
#include "csv/form/number.h"
#include "csv/scan.h"

static const char delimiters[] = {',', ';', '\t', '|'};

static const char *delimiter_name(char c)
{
    static const char *const names[] = {",", ";", "\\t", "|"};
    for (size_t i = 0; i < sizeof delimiters; i++)
        if (delimiters[i] == c)
            return names[i];
    return "?";
}

/* Counts of other delimiters; `best` 0: none. */
struct others {
    size_t count[sizeof delimiters];
    char best;
};

static void count_other(struct others *o, char own, char c)
{
    for (size_t k = 0; k < sizeof delimiters; k++)
        o->count[k] += c == delimiters[k] && c != own;
}

static void find_best(struct others *o)
{
    size_t most = 0;
    for (size_t k = 0; k < sizeof delimiters; k++)
        if (o->count[k] > most) {
            most = o->count[k];
            o->best = delimiters[k];
        }
}

/* Suggests another delimiter; the reader never guesses one. */
static bool report_delimiter(const struct csv_dialect *d, const char *path, int64_t line, char best,
                             const char *text, size_t length, struct err *e)
{
    err_at(e, ERR_CSV_DELIMITER, path, line, 1, "found 1 column; did you mean delimiter \"%s\"?",
           delimiter_name(best));
    err_excerpt(e, text, length);
    if (d->said == CSV_SAID_BY_CONFIG)
        return err_help(e, "set \"delimiter\": \"%s\" in data", delimiter_name(best));
    return err_help(e, "%sgive --delimiter '%s'",
                    d->said == CSV_SAID_BY_IO ? "leave --io out, and " : "", delimiter_name(best));
}

bool csv_check_delimiter(const struct csv_dialect *d, const struct csv_block *b,
                         const struct csv_record *r, const struct csv_cell *cell, struct err *e)
{
    struct others o = {.best = 0};
    if (r->cells != 1 || cell->quoted)
        return true;
    for (size_t i = 0; i < cell->length; i++)
        count_other(&o, d->delimiter, cell->text[i]);
    find_best(&o);
    return !o.best ||
           report_delimiter(d, b->path, r->line, o.best, cell->text, cell->length, e);
}

/* In a line of quoted cells with another delimiter, text follows the first closing quote. The error
 * of the quote would mislead. If the line has only the other delimiter outside quotes, the error
 * names the delimiter. */
static void check_quoted(const struct csv_dialect *d, const struct csv_block *b, struct err *e)
{
    struct others o = {.best = 0};
    bool quoted = false;
    int64_t line = b->first_line;
    size_t from = 0, at;
    while (from < b->size && (b->bytes[from] == '\n' || b->bytes[from] == '\r'))
        line += b->bytes[from++] == (b->cr ? '\r' : '\n');
    for (at = from; at < b->size; at++) {
        char c = b->bytes[at];
        if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '\n' || c == '\r' || c == d->delimiter))
            break;
        else if (!quoted)
            count_other(&o, d->delimiter, c);
    }
    find_best(&o);
    if (quoted || !o.best || (at < b->size && b->bytes[at] == d->delimiter))
        return;
    err_clear(e);
    report_delimiter(d, b->path, line, o.best, b->bytes + from, at - from, e);
}

/* --- equal names --- */

struct name_order {
    char **names;
    bool folded;
};

/* Compares without case and blanks. */
static int compare_folded(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ')
            a++;
        while (*b == ' ')
            b++;
        const int x = tolower((unsigned char)*a), y = tolower((unsigned char)*b);
        if (x != y || !x)
            return x - y;
    }
}

static int compare_names(const void *a, const void *b, const void *context)
{
    const struct name_order *o = context;
    const char *x = o->names[*(const uint32_t *)a], *y = o->names[*(const uint32_t *)b];
    return o->folded ? compare_folded(x, y) : strcmp(x, y);
}

/* Finds the first column, in file order, whose name is a duplicate. */
static bool find_equal(struct csv *c, bool folded, size_t *first, size_t *second)
{
    struct name_order o = {c->names, folded};
    uint32_t *order = mem_alloc(c->name_count, sizeof *order);
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < c->name_count; i++)
        order[i] = (uint32_t)i;
    sort_stable(order, c->name_count, sizeof *order, compare_names, &o);
    for (size_t i = 1; i < c->name_count; i++)
        if (order[i] < found && compare_names(order + i - 1, order + i, &o) == 0) {
            *first = order[i - 1];
            *second = found = order[i];
        }
    mem_free(order);
    return found != SIZE_MAX;
}

static bool is_number(const char *name)
{
    double v;
    size_t n = strlen(name);
    return number_parse(name, n, '.', &v) != NUMBER_BAD ||
           number_parse(name, n, ',', &v) != NUMBER_BAD;
}

static bool looks_like_data(const struct csv *c)
{
    for (size_t i = 0; i < c->name_count; i++)
        if (!is_number(c->names[i]))
            return false;
    return true;
}

static bool header_help(const struct csv *c, bool data, struct err *e, const char *otherwise)
{
    if (!data)
        return err_help(e, "%s", otherwise);
    if (c->dialect.said == CSV_SAID_BY_CONFIG)
        return err_help(e, "if the file has no header line, set \"header\": false in data "
                           "(predict: --no-header)");
    return err_help(e, "if the file has no header line, %s",
                    c->dialect.said == CSV_SAID_BY_MODEL ? "put one in front of it"
                                                         : "give --no-header and --columns a,b,c");
}

/* True for the column of row numbers that some programs write first, without a name. It gets the
 * name c1. */
static bool is_index(const struct csv_cells *cells, uint32_t i)
{
    return i == 0 && !cells->cells[0].length && cells->records[0].cells > 1 &&
           cells->cells[1].length;
}

/* True for the line "sep=;" of spreadsheets. The delimiter may be the reader's own. */
static bool is_sep_line(const struct csv_cells *cells)
{
    const struct csv_cell *first = cells->cells;
    uint32_t count = cells->records[0].cells;
    return first->length >= 4 && memcmp(first->text, "sep=", 4) == 0 &&
           ((count == 1 && first->length == 5) ||
            (count == 2 && first->length == 4 && cells->cells[1].length == 0));
}

/* --- invisible characters in names --- */

bool csv_is_blank(unsigned character)
{
    return character == 0xA0 || character == 0x1680 ||
           (character >= 0x2000 && character <= 0x200A) || character == 0x202F ||
           character == 0x205F || character == 0x3000;
}

/* Joiners and marks of other scripts are visible: words use them. */
static bool is_unseen(unsigned character)
{
    return character == 0xAD || character == 0x200B || character == 0x2028 ||
           character == 0x2029 || (character >= 0x202A && character <= 0x202E) ||
           (character >= 0x2060 && character <= 0x2069) || character == 0x180E ||
           character == 0x3164 || character == 0xFEFF;
}

/* Finds the first invisible character of a name in valid UTF-8, two or three bytes long; 0:
 * none. */
static unsigned unseen_in(const char *name)
{
    for (const unsigned char *at = (const unsigned char *)name; *at; at++) {
        unsigned character = 0;
        if ((at[0] & 0xE0) == 0xC0)
            character = (at[0] & 0x1Fu) << 6 | (at[1] & 0x3Fu);
        else if ((at[0] & 0xF0) == 0xE0 && at[1])
            character = (at[0] & 0x0Fu) << 12 | (at[1] & 0x3Fu) << 6 | (at[2] & 0x3Fu);
        if (csv_is_blank(character) || is_unseen(character))
            return character;
    }
    return 0;
}

static void note_unseen(struct csv *c)
{
    struct csv_notes *n = &c->notes;
    for (size_t i = 0; i < c->name_count && !n->unseen; i++)
        if ((n->unseen = unseen_in(c->names[i])) != 0) {
            n->column = i;
            snprintf(n->name, sizeof n->name, "%s", text_quote_z(c->names[i]));
        }
}

static bool check_names(struct csv *c, const struct csv_block *b, const struct csv_cells *cells,
                        struct err *e)
{
    const struct csv_record *r = cells->records;
    int64_t line, column;
    if (is_sep_line(cells)) {
        err_at(e, ERR_CSV_HEADER_NAME, b->path, r->line, 1,
               "the first line tells a spreadsheet its "
               "delimiter and names no column");
        err_excerpt(e, b->bytes + r->offset, r->bytes);
        return err_help(e, "remove that line: %s",
                        shell_remedy(b->path, ".mended.csv", "tail -n +%lld FILE",
                                     (long long)r->line + 1));
    }
    for (uint32_t i = 0; i < r->cells; i++) {
        size_t length = cells->cells[i].length;
        if ((length && length <= CSV_MOST_NAME) || is_index(cells, i))
            continue;
        csv_place(b, r, cells, i, &line, &column);
        if (length) {
            err_at(e, ERR_CSV_HEADER_NAME, b->path, line, column,
                   "the name of column %u has %zu bytes, more than %d", i + 1, length,
                   CSV_MOST_NAME);
            return header_help(c, looks_like_data(c), e, "is the delimiter right?");
        }
        err_at(e, ERR_CSV_HEADER_NAME, b->path, line, column, "column %u has no name", i + 1);
        if (i + 1 == r->cells && i > 0)
            return header_help(c, looks_like_data(c), e,
                               "the line ends with a delimiter: remove it from every line, or "
                               "name the column");
        return header_help(c, looks_like_data(c), e, "give the column a name");
    }
    size_t first, second;
    if (find_equal(c, false, &first, &second)) {
        csv_place(b, r, cells, (uint32_t)second, &line, &column);
        err_at(e, ERR_CSV_HEADER_DUPLICATE, b->path, line, column,
               "columns %zu and %zu have the same name \"%s\"", first + 1, second + 1,
               text_quote_z(c->names[first]));
        return header_help(c, is_number(c->names[first]), e,
                           "give one of them another name; if this line is no header, set "
                           "\"header\": false in data (predict: --no-header)");
    }
    c->notes.unnamed = is_index(cells, 0);
    c->notes.numbers = looks_like_data(c);
    if (find_equal(c, true, &first, &second)) {
        c->notes.first = first;
        c->notes.second = second;
    }
    note_unseen(c);
    return true;
}

/* The name's place among the cells of a record; the number of cells: no such name. */
static uint32_t find_name(const struct csv_cells *cells, const char *name)
{
    const uint32_t count = cells->records[0].cells;
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < 2 * count; i++) { /* as it stands, then composed */
        const struct csv_cell *cell = cells->cells + i % count;
        if ((cell->length == length && memcmp(cell->text, name, length) == 0) ||
            (i >= count && unicode_same(cell->text, cell->length, name, length)) ||
            (is_index(cells, i % count) && strcmp(name, "c1") == 0))
            return i % count;
    }
    return count;
}

/* Finds the columns of the first file by name in a later one, in another order. False: one is
 * missing. */
static bool find_order(struct csv *c, const struct csv_cells *cells)
{
    uint32_t *order = mem_alloc(c->name_count, sizeof *order), at = 0;
    bool found = true;
    for (size_t i = 0; i < c->name_count && found; i++) {
        order[i] = at = find_name(cells, c->names[i]);
        found = at < cells->records[0].cells;
    }
    if (found)
        c->orders[c->at] = order;
    else
        mem_free(order);
    return found;
}

/* Checks that a later file has the columns of the first. */
static bool same_names(struct csv *c, const struct csv_block *b, const struct csv_cells *cells,
                       struct err *e)
{
    const struct csv_record *r = cells->records;
    if (r->cells != c->name_count) {
        err_at(e, ERR_CSV_COLUMNS, b->path, r->line, 1, "has %u columns, \"%s\" has %zu", r->cells,
               text_quote_z(c->shown[0]), c->name_count);
        return err_help(e, "files of one list need the same columns, in any order, and the same "
                           "delimiter, \"%s\"",
                        c->dialect.delimiter == '\t' ? "\\t" : (char[]){c->dialect.delimiter, 0});
    }
    for (uint32_t i = 0; c->dialect.header && i < r->cells; i++) {
        const struct csv_cell *cell = cells->cells + i;
        if (strlen(c->names[i]) == cell->length && !memcmp(c->names[i], cell->text, cell->length))
            continue;
        if (is_index(cells, i) && strcmp(c->names[0], "c1") == 0)
            continue;
        if (find_order(c, cells))
            return true;
        int64_t line, column;
        csv_place(b, r, cells, i, &line, &column);
        err_at(e, ERR_CSV_COLUMNS, b->path, line, column,
               "column %u is \"%s\", in \"%s\" it is \"%s\"", i + 1,
               text_quote(cell->text, cell->length), text_quote_z(c->shown[0]),
               text_quote_z(c->names[i]));
        return err_help(e, "files of one list need the same columns, in any order");
    }
    return true;
}

struct csv_name csv_numbered(size_t i)
{
    struct csv_name name;
    snprintf(name.text, sizeof name.text, "c%zu", i + 1);
    return name;
}

/* Sets the names: those of the cells, c1, c2, .. where there are none. */
static void name_columns(struct csv *c, size_t count, const struct csv_cells *cells)
{
    c->names = mem_zero(count, sizeof *c->names);
    c->name_count = count;
    for (uint32_t i = 0; i < count; i++)
        c->names[i] = cells && !is_index(cells, i)
                          ? mem_string_n(cells->cells[i].text, cells->cells[i].length)
                          : mem_string(csv_numbered(i).text);
}

/* Sets the names from the first record; checks them if it is a header. */
static bool set_names(struct csv *c, const struct csv_block *b, const struct csv_cells *cells,
                      struct err *e)
{
    const struct csv_record *r = cells->records;
    if (!is_sep_line(cells) && !csv_check_delimiter(&c->dialect, b, r, cells->cells, e))
        return false;
    name_columns(c, r->cells, c->dialect.header ? cells : NULL);
    if (!c->dialect.header || check_names(c, b, cells, e))
        return true;
    csv_header_free(c);
    return false;
}

static bool empty(const struct csv *c, struct err *e)
{
    bool nothing = c->pending_used == 0 && c->offset == 0;
    return err_at(e, ERR_CSV_EMPTY, c->shown[c->at], 0, 0, "%s, expected a %s",
                  nothing ? "empty" : "blank lines only",
                  c->dialect.header ? "header line" : "row");
}

/* Finds the next record that is not blank, with the blank lines before it. `from`: in the pending
 * bytes. *size 0: it is too long, or there is none. */
static bool next_record(struct csv *c, size_t from, size_t *size, struct err *e)
{
    for (size_t room = c->block;;) {
        if (!csv_fill(c, room, e))
            return false;
        size_t left = c->pending_used - from;
        *size = cut_first(&c->dialect, c->cr, c->pending->bytes + from, left);
        if (*size || c->ended) {
            *size = *size ? *size : left;
            return true;
        }
        if (c->pending_used < room) {
            if (!csv_wait(c, e))
                return false;
        } else if (room == c->longest) {
            return true;
        } else {
            room = csv_larger(c, room);
        }
    }
}

static bool first_record(struct csv *c, size_t *size, struct err *e)
{
    if (!next_record(c, 0, size, e))
        return false; /* c->stop may have ended it: no error */
    if (*size || c->ended)
        return true;
    /* the parser reports an open quote at its place */
    if (memchr(c->pending->bytes, '"', c->pending_used) && !csv_unquoted(&c->dialect) &&
        memchr(c->pending->bytes, c->cr ? '\r' : '\n', c->pending_used)) {
        *size = c->pending_used;
        return true;
    }
    err_at(e, ERR_CSV_LIMIT, c->shown[c->at], c->line, 0, "a line is longer than 16 MiB");
    return err_help(e, "is this a text file with line ends? The first line tells how many "
                       "columns there are, so it is no bad row to leave out");
}

/* Finds the width of the first row with a valid number of cells; `most` if there is none. */
static bool find_width(struct csv *c, size_t *width, struct err *e)
{
    struct csv_cells cells = {0};
    size_t size;
    bool any = false, read = true;
    *width = 0;
    for (size_t from = 0; !*width; from += size) {
        read = next_record(c, from, &size, e);
        if (!read)
            break;
        struct err unread = {0}; /* reported when the record is read */
        struct csv_block b = {.bytes = c->pending->bytes + from, .size = size, .cr = c->cr};
        bool good = csv_cells_parse(&c->dialect, &b, 0, &cells, &unread);
        any = any || !good || cells.record_count || (size == 0 && !c->ended);
        for (size_t i = 0; i < cells.record_count && !*width; i++)
            if (cells.records[i].cells == c->least || cells.records[i].cells == c->most)
                *width = cells.records[i].cells;
        if (!*width && (size == 0 || (any && c->least == c->most)))
            *width = c->most;
    }
    csv_cells_free(&cells);
    return read && (any || empty(c, e));
}

static bool set_width(struct csv *c, struct err *e)
{
    size_t width;
    if (!find_width(c, &width, e))
        return false;
    name_columns(c, width, NULL);
    return true;
}

bool csv_header_read(struct csv *c, struct err *e)
{
    struct csv_cells cells = {0};
    size_t size;
    if (c->most) /* rows of later files are checked one by one, too */
        return c->names || set_width(c, e);
    if (!first_record(c, &size, e))
        return false;
    struct csv_block b = {.bytes = c->pending->bytes,
                          .size = size,
                          .path = c->shown[c->at],
                          .first_line = c->line,
                          .cr = c->cr};
    bool good = csv_cells_parse(&c->dialect, &b, 0, &cells, e);
    if (!good && e->id == ERR_CSV_QUOTE && !c->names)
        check_quoted(&c->dialect, &b, e);
    if (good && cells.record_count == 0)
        good = empty(c, e);
    if (good)
        good = c->names ? same_names(c, &b, &cells, e) : set_names(c, &b, &cells, e);
    if (good && c->dialect.header)
        csv_drop(c, size);
    csv_cells_free(&cells);
    return good;
}

void csv_header_free(struct csv *c)
{
    for (size_t i = 0; i < c->name_count; i++)
        mem_free(c->names[i]);
    mem_free(c->names);
    c->names = NULL;
    c->name_count = 0;
}
