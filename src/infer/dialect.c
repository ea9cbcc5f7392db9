/* dialect.c - guesses delimiter and header from the first bytes of a file, and the encoding
 * from all bytes. */
#include "infer/survey.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "csv/csv_reader.h"
#include "csv/form/date.h"
#include "csv/form/number.h"

#define UTF8_MARK "\xef\xbb\xbf"

enum { HEAD_BYTES = 1 << 18, HEAD_RECORDS = 300, HEAD_FIELDS = 4096 };

struct head {
    char *bytes;
    size_t size;
    bool whole; /* the file ends here */
    bool quotes; /* they are no characters */
    bool escapes; /* of QUOTE_BACKSLASH */
};

struct field {
    const char *text;
    size_t length;
};

/* Reads the fields of the record at *at; keeps at most `most`, returns their number. A quoted field
 * begins and ends with a quote; its syntax is not checked. *at moves to the next record; *ended:
 * the head ended inside. */
static size_t read_record(const struct head *h, char delimiter, size_t *at, struct field *fields,
                          size_t most, bool *ended)
{
    const char *bytes = h->bytes;
    size_t i = *at, count = 0;
    for (;;) {
        size_t from = i;
        bool quoted = h->quotes && i < h->size && bytes[i] == '"';
        if (quoted) {
            for (i++; i < h->size; i++)
                if (h->escapes && bytes[i] == '\\')
                    i++;
                else if (bytes[i] == '"' && !(i + 1 < h->size && bytes[i + 1] == '"' && ++i))
                    break;
        }
        while (i < h->size && bytes[i] != delimiter && bytes[i] != '\n' && bytes[i] != '\r')
            i++;
        size_t end = i;
        if (quoted && end - from >= 2 && bytes[end - 1] == '"') {
            from++;
            end--;
        } else {
            while (from < end && (bytes[from] == ' ' || bytes[from] == '\t'))
                from++;
            while (from < end && (bytes[end - 1] == ' ' || bytes[end - 1] == '\t'))
                end--;
        }
        if (count < most)
            fields[count] = (struct field){bytes + from, end - from};
        count++;
        if (i >= h->size || bytes[i] != delimiter)
            break;
        i++;
    }
    *ended = i >= h->size;
    if (i < h->size)
        i += bytes[i] == '\r' && i + 1 < h->size && bytes[i + 1] == '\n' ? 2 : 1;
    *at = i;
    return count;
}

static bool is_number(const struct field *f, char delimiter)
{
    double value;
    return number_parse(f->text, f->length, '.', &value) == NUMBER_OK ||
           (delimiter != ',' && number_parse(f->text, f->length, ',', &value) == NUMBER_OK) ||
           (f->length > 7 && date_parse(f->text, f->length, &value)); /* 2024-01 is the name of a
                                                                       * column */
}

/* Rates a delimiter: 0 with one column; else the share of records with the width of the first, then
 * the share of numeric cells (it distinguishes ';' from ',' as a decimal comma), then the width. */
static double score(const struct head *h, char delimiter, struct field *fields)
{
    size_t at = 0, first = 0, records = 0, same = 0, cells = 0, numbers = 0;
    while (at < h->size && records < HEAD_RECORDS) {
        bool ended;
        size_t count = read_record(h, delimiter, &at, fields, HEAD_FIELDS, &ended);
        if (ended && !h->whole && records)
            break;
        if (count == 1 && !fields[0].length)
            continue;
        if (!records++)
            first = count;
        same += count == first;
        for (size_t i = 0; i < count && i < HEAD_FIELDS; i++)
            numbers += is_number(&fields[i], delimiter);
        cells += count;
    }
    if (first < 2)
        return 0;
    size_t width = first < 100 ? first : 100;
    return (double)same / (double)records + 0.1 * (double)numbers / (double)cells +
           0.0001 * (double)width;
}

static char find_delimiter(const struct head *h, struct field *fields)
{
    static const char candidates[] = {',', ';', '\t', '|'};
    char best = ',';
    double most = 0;
    for (size_t i = 0; i < sizeof candidates; i++) {
        double s = score(h, candidates[i], fields);
        if (s > most) {
            most = s;
            best = candidates[i];
        }
    }
    return best;
}

/* --- header --- */

static bool same_field(const struct field *a, const struct field *b)
{
    return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static bool names_target(const struct field *fields, size_t count, const char *target)
{
    struct field t = {target, strlen(target)};
    for (size_t i = 0; i < count; i++)
        if (same_field(&fields[i], &t))
            return true;
    return false;
}

/* True for "c1", "c2", ..: names of columns without a header. */
static bool is_own_name(const char *target)
{
    return target[0] == 'c' && target[1] >= '1' && target[1] <= '9' &&
           target[1 + strspn(target + 1, "0123456789")] == '\0';
}

/* A first record of words is a header, unless one of its words repeats in its own column and no
 * column continues with numbers. A first record with a number is not a header. */
static bool find_header(const struct head *h, char delimiter, const char *target,
                        struct field *first, struct field *other)
{
    size_t at = 0, count, next, records = 0, again = 0, turns = 0;
    bool ended;
    do
        count = read_record(h, delimiter, &at, first, HEAD_FIELDS, &ended);
    while (count == 1 && !first[0].length && at < h->size);
    count = count < HEAD_FIELDS ? count : HEAD_FIELDS;
    if (target && names_target(first, count, target))
        return true;
    if (target && is_own_name(target))
        return false;
    for (size_t i = 0; i < count; i++)
        if (is_number(&first[i], delimiter))
            return false;
    while (at < h->size && records++ < HEAD_RECORDS) {
        next = read_record(h, delimiter, &at, other, HEAD_FIELDS, &ended);
        for (size_t i = 0; i < count && i < next; i++) {
            turns += is_number(&other[i], delimiter);
            again += first[i].length && same_field(&first[i], &other[i]);
        }
    }
    return turns || !again;
}

/* --- the file --- */

static bool read_head(const char *path, struct head *h, struct err *e)
{
    struct source_file f;
    if (!source_open(&f, path, false, e))
        return false;
    bool good = f.file.seekable && strcmp(path, "-") != 0;
    if (!good) {
        err_at(e, ERR_INFER_PIPE, f.file.path, 0, 0, "cannot be read a second time");
        err_help(e, "the data are looked at more than once: give a file");
    }
    h->bytes = mem_alloc(HEAD_BYTES, 1);
    good = good && source_read(&f, h->bytes, HEAD_BYTES, &h->size, e);
    h->whole = h->size < HEAD_BYTES;
    source_close(&f);
    if (good && h->size >= 3 && memcmp(h->bytes, UTF8_MARK, 3) == 0) {
        h->size -= 3;
        memmove(h->bytes, h->bytes + 3, h->size);
    }
    return good;
}

bool infer_dialect(const struct infer_request *r, struct csv_dialect *d, struct err *e)
{
    struct head h = {0};
    bool good = read_head(r->path, &h, e);
    if (good) {
        struct field *first = mem_alloc(HEAD_FIELDS, sizeof *first);
        struct field *other = mem_alloc(HEAD_FIELDS, sizeof *other);
        *d = (struct csv_dialect){.delimiter = r->delimiter,
                                  .header = r->header != 0,
                                  .quote = r->quote < 0 ? QUOTE_STRICT : r->quote};
        h.quotes = !csv_unquoted(d);
        h.escapes = d->quote == QUOTE_BACKSLASH;
        if (r->encoding >= 0)
            d->encoding = r->encoding;
        if (!d->delimiter)
            d->delimiter = find_delimiter(&h, first);
        if (r->header < 0)
            d->header = find_header(&h, d->delimiter, r->target, first, other);
        mem_free(first);
        mem_free(other);
    }
    mem_free(h.bytes);
    return good;
}

/* Counts the bytes of a file. *latin1: some are undefined in cp1252. */
static bool look_at_bytes(const char *path, struct csv_utf8 *utf8, bool *latin1, bool *marked,
                          struct err *e)
{
    struct source_file f;
    size_t got = 1;
    char *bytes = mem_alloc(HEAD_BYTES, 1);
    bool good = source_open(&f, path, false, e);
    if (good) {
        for (bool first = true; got && (good = source_read(&f, bytes, HEAD_BYTES, &got, e));
             first = false) {
            *marked |= first && got >= 3 && memcmp(bytes, UTF8_MARK, 3) == 0;
            csv_count_utf8(utf8, bytes, got);
            for (size_t i = 0; i < got && !*latin1; i++)
                *latin1 = memchr("\x81\x8d\x8f\x90\x9d", bytes[i], 5);
        }
        source_close(&f);
    }
    mem_free(bytes);
    utf8->broken += utf8->expected > 0;
    utf8->expected = 0;
    return good;
}

bool infer_encoding(const struct infer_request *r, int *encoding, struct err *e)
{
    struct csv_utf8 utf8 = {0};
    bool latin1 = false, marked = false;
    bool good = look_at_bytes(r->path, &utf8, &latin1, &marked, e);
    for (size_t i = 0; good && i < r->more_count; i++)
        good = look_at_bytes(r->more[i], &utf8, &latin1, &marked, e);
    /* In a one-byte encoding two letters rarely form a valid UTF-8 sequence. ASCII text proves
     * nothing. */
    bool damaged = marked || (utf8.sequences && utf8.sequences >= utf8.broken);
    *encoding = damaged ? ENCODING_UTF8 : latin1 ? ENCODING_LATIN1 : ENCODING_CP1252;
    return good;
}

void infer_quoted_cells(struct survey *s, const struct csv_cells *cells)
{
    for (size_t i = 0; i < cells->cell_count; i++) {
        const struct csv_cell *c = &cells->cells[i];
        bool opens = c->length > 1 && c->text[0] == '"';
        s->opened += opens;
        s->closed += opens && c->text[c->length - 1] == '"';
    }
}

void infer_primes(const struct infer_request *r, const struct survey *s, struct infer *i)
{
    enum { LEAST = 5, NAMED = 5 };
    struct text names = {0};
    size_t found = 0;
    const char *first = "";
    for (size_t c = 0; c < s->count; c++) {
        const struct column_profile *w = &s->profiles[c];
        if (w->primed < LEAST || w->primed < w->others)
            continue;
        first = found ? first : w->other.text;
        if (found++ < NAMED)
            text_printf(&names, "%s\"%.30s\"", found > 1 ? ", " : "", text_quote_z(s->names[c]));
    }
    if (found > NAMED)
        text_printf(&names, " and %zu more", found - NAMED);
    if (found)
        snprintf(i->prime_note, sizeof i->prime_note,
                 "column%s %s: single quotes stand around the cells, as in %.40s, and are read as "
                 "characters: CSV knows double ones; %s makes them, then run init again",
                 found == 1 ? "" : "s", names.data, text_quote_z(first),
                 shell_remedy(r->path, ".mended.csv", "tr \"'\" '\"' < FILE"));
    text_free(&names);
}
