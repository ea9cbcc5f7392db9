/* csv_sniff.c - detects other file formats by their first bytes, and tells how to convert them to
 * CSV. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/process/shell.h"
#include "csv/csv_reader.h"

static const struct {
    const char *bytes;
    size_t length;
    const char *name, *help;
    const char *filter; /* of shell_remedy: it follows the help; NULL: there is none */
} formats[] = {
    {"\x1f\x8b", 2, "gzip inside gzip",
     "it was packed twice; unpack it: ", "gunzip -c FILE"},
    {"BZh", 3, "bzip2",
     "this is bzip2; unpack it: ", "bzcat FILE"},
    {"\xfd"
     "7zXZ",
     6, "xz",
     "this is xz; unpack it: ", "xzcat FILE"},
    {"\x28\xb5\x2f\xfd", 4, "zstd",
     "this is zstd; unpack it: ", "zstdcat FILE"},
    {"7z\xbc\xaf\x27\x1c", 6, "7z", "this is 7z; unpack it first", NULL},
    {"PK\x03\x04", 4, "zip",
     "this is zip; unpack it: ", "unzip -p FILE"},
    {"PK\x05\x06", 4, "zip", "this is an empty zip file", NULL},
    {"PAR1", 4, "Parquet", "this is Parquet; write it as CSV with the program that made it", NULL},
    {"ARROW1", 6, "Arrow", "this is Arrow; write it as CSV with the program that made it", NULL},
    {"SQLite format 3", 16, "SQLite",
     "this is an SQLite database; of its table TABLE this makes CSV: ",
     "sqlite3 -header -csv FILE 'select * from TABLE'"},
    {"%PDF-", 5, "PDF", "this is a PDF document; save the table in it as CSV", NULL},
    {"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", 8, "Excel (xls)",
     "this is an old workbook or document; save the sheet as CSV", NULL},
    {"\x89HDF", 4, "HDF5", "this is HDF5; write it as CSV with the program that made it", NULL},
    {"\x93NUMPY", 6, "NumPy", "this is a NumPy array; numpy.savetxt writes CSV", NULL},
    {"\x7f"
     "ELF",
     4, "a program", "this is a program, not data", NULL},
    {"\x89PNG", 4, "PNG", "this is a picture, not data", NULL},
    {"\xff\xd8\xff", 3, "JPEG", "this is a picture, not data", NULL},
};

static bool contains(const char *bytes, size_t length, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= length; i++)
        if (memcmp(bytes + i, word, n) == 0)
            return true;
    return false;
}

static bool is_binary(const struct csv *c, const char *path, struct err *e)
{
    static const char model[] = "{\"__metadata__\""; /* after its length, eight bytes */
    if (c->head_used >= 8 + sizeof model && !memcmp(c->head + 8, model, sizeof model - 1)) {
        err_at(e, ERR_CSV_BINARY, path, 0, 0, "is not CSV but a model");
        return !err_help(e, "the data are wanted here: a CSV file");
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        size_t n = formats[i].length;
        if (c->head_used < n || memcmp(c->head, formats[i].bytes, n) != 0)
            continue;
        bool sheet =
            formats[i].bytes[0] == 'P' && (contains(c->head, c->head_used, "[Content_Types].xml") ||
                                           contains(c->head, c->head_used, "xl/"));
        err_at(e, ERR_CSV_BINARY, path, 0, 0, "is not CSV but %s",
               sheet ? "Excel (xlsx)" : formats[i].name);
        if (sheet || !formats[i].filter)
            err_help(e, "%s", sheet ? "this is a workbook; save the sheet as CSV"
                                    : formats[i].help);
        else
            err_help(e, "%s%s", formats[i].help,
                     shell_remedy(path, ".mended.csv", "%s", formats[i].filter));
        return true;
    }
    return false;
}

/* Texts that are no table, by their first bytes; blanks before them do not count. */
static const struct {
    const char *begin, *name, *help;
} texts[] = {
    {"<!doctype html", "HTML",
     "a page, often of a failed download: look at it, and fetch the data"},
    {"<html", "HTML", "a page, often of a failed download: look at it, and fetch the data"},
    {"<?xml", "XML", "write it as CSV with the program that made it"},
    {"version https://git-lfs", "a pointer of git-lfs",
     "fetch the file that it stands for: git lfs pull"},
    {"@relation", "ARFF", "take out its head, and put a line of names in front of the rows"},
};

/* True for text that begins as JSON does: an object or a list in a list; an object in one line, or
 * on lines of its own. A cell may begin with a bracket, too. */
static bool is_json(const char *at, const char *end)
{
    static const char blanks[] = " \t\r\n";
    const char *next = at + 1, *line = memchr(at, '\n', (size_t)(end - at));
    while (next < end && strchr(blanks, *next))
        next++;
    if (next >= end || !strchr("[{", *at))
        return false;
    if (*at == '[')
        return *next == '{' || *next == '[';
    const char *last = line ? line : end;
    while (last > at && strchr(blanks, last[-1]))
        last--;
    return *next == '"' && (next > at + 1 + strspn(at + 1, " ") || last[-1] == '}' || !line);
}

/* E12 for a text that is no table. */
static bool is_text_format(const struct csv *c, const char *path, struct err *e)
{
    const char *at = c->head, *end = at + c->head_used;
    if (end - at > 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const size_t length = strlen(texts[i].begin);
        if ((size_t)(end - at) < length || strncasecmp(at, texts[i].begin, length) != 0)
            continue;
        err_at(e, ERR_CSV_BINARY, path, 0, 0, "is not CSV but %s", texts[i].name);
        return !err_help(e, "%s", texts[i].help);
    }
    if (at >= end || !is_json(at, end))
        return false;
    err_at(e, ERR_CSV_BINARY, path, 0, 0, "is not CSV but JSON");
    return !err_help(e, "write it as CSV: %s",
                     shell_remedy(path, ".mended.csv",
                                  "python3 -c 'import pandas, sys; pandas.read_json(sys.stdin%s)"
                                  ".to_csv(sys.stdout, index=False)' < FILE",
                                  *at == '{' ? ", lines=True" : ""));
}

/* Detects UTF-16 and UTF-32 by the byte-order mark, or by the places of zero bytes in text
 * with ASCII letters, digits or delimiters. */
static const char *wide_text(const char *bytes, size_t length, bool *marked)
{
    static const struct {
        const char *mark;
        size_t length;
        const char *name;
    } marks[] = {{"\xff\xfe\0\0", 4, "UTF-32LE"},
                 {"\0\0\xfe\xff", 4, "UTF-32BE"},
                 {"\xff\xfe", 2, "UTF-16LE"},
                 {"\xfe\xff", 2, "UTF-16BE"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        *marked = length >= marks[i].length && !memcmp(bytes, marks[i].mark, marks[i].length);
        if (*marked)
            return marks[i].name;
    }
    size_t zeros[4] = {0}, groups = (length < 256 ? length : 256) / 4;
    for (size_t i = 0; i < 4 * groups; i++)
        zeros[i % 4] += bytes[i] == 0;
    /* zeros in their place, of UTF-16 in a part of the letters, none at the place of the others */
    const size_t most = groups - groups / 4, some = groups / 4 > 4 ? groups / 4 : 4;
    if (groups == 0)
        return NULL;
    if (!zeros[0] && zeros[2] >= most && zeros[3] >= most)
        return "UTF-32LE";
    if (!zeros[3] && zeros[0] >= most && zeros[1] >= most)
        return "UTF-32BE";
    if (!zeros[0] && !zeros[2] && zeros[1] + zeros[3] >= some)
        return "UTF-16LE";
    if (!zeros[1] && !zeros[3] && zeros[0] + zeros[2] >= some)
        return "UTF-16BE";
    return NULL;
}

bool csv_encoding_help(const struct csv_dialect *d, const char *others, struct err *e)
{
    if (d->said == CSV_SAID_BY_CONFIG)
        return err_help(e, "set data.encoding to %s if the file was saved so", others);
    return err_help(e, "give --encoding %s if the file was saved so", others);
}

bool csv_sniff(const struct csv *c, const char *path, size_t *skip, struct err *e)
{
    bool marked;
    const char *wide = wide_text(c->head, c->head_used, &marked);
    *skip = 0;
    if (wide) {
        err_at(e, ERR_CSV_UTF16, path, 0, 0, "looks like %s", wide);
        /* iconv takes the mark away if the name says no order of bytes */
        struct text command = {0};
        char name[12];
        snprintf(name, sizeof name, marked ? "%.6s" : "%s", wide);
        code_page_remedy(name, NULL, path, &command);
        err_help(e, "%s", command.data);
        text_free(&command);
        return false;
    }
    if (is_binary(c, path, e) || is_text_format(c, path, e))
        return false;
    if (c->head_used < 3 || memcmp(c->head, "\xef\xbb\xbf", 3) != 0)
        return true;
    if (c->convert) {
        err_at(e, ERR_CSV_ENCODING, path, 1, 1, "begins with the byte-order mark of UTF-8");
        return csv_encoding_help(&c->dialect, "\"utf-8\"", e);
    }
    *skip = 3;
    return true;
}

bool csv_sniff_cr(const struct csv *c, const char *bytes, size_t size, bool *sure)
{
    /* begins: the quote opens a cell, or is the second of a pair */
    bool inside = false, cr = false, begins = true;
    *sure = false;
    for (size_t i = 0; i < size; i++) {
        if (inside && scan_is_escape(&c->dialect, bytes + i, bytes + size))
            i++;
        else if (bytes[i] == '"' && !csv_unquoted(&c->dialect) && (inside || begins)) {
            inside = !inside;
            begins = true;
        } else if (bytes[i] == c->dialect.delimiter || bytes[i] == '\n' || bytes[i] == '\r') {
            begins = true;
        } else if (bytes[i] != ' ' && bytes[i] != '\t') {
            begins = false;
        }
        if (inside)
            continue;
        if (bytes[i] == '\n') {
            *sure = true;
            return false;
        }
        cr |= bytes[i] == '\r' && (i + 1 < size || c->ended);
    }
    return cr;
}
