/* csv.h - reads CSV files: files into blocks of whole records, blocks into cells.
 *
 * Two parsers give the same cells. libcsv in strict mode is the reference (csv_libcsv.c). scan.c is
 * faster and parses the blocks it can; it refuses the others, and libcsv parses those. Differential
 * tests and a fuzz target compare the two: same cells or same error for every input.
 *
 *     struct csv *c = csv_open(&dialect, paths, count, &e);
 *     while (csv_next(c, &block, &e)) {
 *         csv_cells_parse(&dialect, &block, columns, &cells, &e);
 *         ...
 *         csv_release(c, &block);
 *     }
 *
 * A block holds at most 256 KiB of a file, with any number of threads; csv_hold_records makes the
 * blocks of wide files larger. It ends at the end of a record; quoted line ends are inside a
 * record. Before scanning, the text is converted to UTF-8 and the byte-order mark removed. Line
 * ends stay as they are. Lines end with LF or CRLF; with CR if the first block of the file has
 * neither.
 *
 * A bad record (a NUL, invalid UTF-8, a stray CR) ends at its closing quote. If a quote is stray or
 * never closes, only the first line is the bad record, and parsing continues at the next line.
 * csv_rest() gives the bytes of a block after a bad record. A record above 16 MiB ends the reading
 * with an error. */
#ifndef DNN_CSV_CSV_H
#define DNN_CSV_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/process/stop.h"
#include "base/text.h"

/* A block with its cells and records fits the second-level cache. */
#define CSV_BLOCK_BYTES ((size_t)256 << 10)
#define CSV_BLOCK_RECORDS 8 /* after csv_hold_records */
#define CSV_MOST_FIELD ((size_t)1 << 20)
#define CSV_MOST_LINE ((size_t)16 << 20)
#define CSV_MOST_COLUMNS 65536
#define CSV_MOST_NAME 4096

enum csv_encoding { ENCODING_UTF8, ENCODING_LATIN1, ENCODING_CP1252 };
extern const char *const csv_encoding_names[]; /* the words of data.encoding; NULL at the end */
/* strict: RFC 4180. lenient: a quote inside a cell that does not begin with one is a character.
 * none: quotes are characters. backslash: as strict, and inside quotes \" is a quote and \\ a
 * backslash; a backslash before another byte is a character. */
enum csv_quote { QUOTE_STRICT, QUOTE_LENIENT, QUOTE_NONE, QUOTE_BACKSLASH };
extern const char *const csv_quote_names[]; /* the words of data.quote; NULL at the end */

/* The origin of the dialect. Error messages name the place that the user must change. */
enum csv_said {
    CSV_SAID_BY_CONFIG, CSV_SAID_BY_MODEL_OR_IO, CSV_SAID_BY_IO, CSV_SAID_BY_MODEL
};

struct csv_dialect {
    char delimiter;     /* , ; \t | */
    bool header;
    int encoding;       /* enum csv_encoding */
    int quote;          /* enum csv_quote */
    bool tsv;           /* --io tsv: as QUOTE_NONE */
    bool libcsv;        /* libcsv parses every block, scan.c none: same cells, slower */
    uint8_t said;       /* enum csv_said */
};

/* True: quotes are characters. */
static inline bool csv_unquoted(const struct csv_dialect *d)
{
    return d->tsv || d->quote == QUOTE_NONE;
}

/* A cell: its bytes without the outer quotes. A pair "" is stored as one quote, and a quoted cell
 * with a quote is `escaped`. Unquoted cells are trimmed of blanks (space, tab), as libcsv does.
 * Not NUL-terminated. */
struct csv_cell {
    const char *text;
    uint32_t length;
    uint8_t quoted, escaped;
};

struct csv_record {
    uint32_t first_cell, cells; /* in csv_cells.cells */
    uint64_t offset;            /* of its first byte, from the start of the block */
    uint32_t bytes;             /* raw length without the line end */
    int64_t line;               /* line number of its first byte in the file, from 1 */
};

struct csv_block {
    const char *bytes;
    size_t size;
    uint64_t index;       /* 0, 1, 2.. across all files */
    const char *path;     /* the file it comes from */
    int64_t first_line;
    uint64_t file_offset; /* of its first byte in the decoded file */
    void *owner;          /* for csv_release */
    bool cr;              /* lines end with a bare CR */
    /* for a file with another column order than the first file: the cell here, by cell of the first
     * file; NULL: the same order */
    const uint32_t *order;
    size_t order_cells;
    size_t valid;         /* bytes already checked: no NUL, valid UTF-8 */
};

/* All records of a block. Zero-initialised by the caller; reused for every block. cells[i].text
 * points into the block or into `unescaped`; it is valid as long as both exist. */
struct csv_cells {
    struct csv_cell *cells;
    size_t cell_count, cell_room;
    struct csv_record *records;
    size_t record_count, record_room;
    uint64_t blank_lines; /* skipped; only in files of several columns */
    char *unescaped;      /* text of cells with escapes, and of all cells parsed by libcsv */
    size_t unescaped_room;
    struct err error;     /* first syntax error of the block; the records before it are valid */
    bool has_error;
    uint64_t error_offset; /* of the record with the error */
    size_t valid;           /* bytes of the block checked as text */
    struct csv_dialect dialect;
    uint64_t resume_offset; /* first byte after the bad record: --on-bad-row continues here */
};

struct csv;
/* Prepares to read `count` files in order; copies the paths. NULL and an error if the encoding is
 * not supported. Caller: csv_close. */
struct csv *csv_open(const struct csv_dialect *d, char *const *paths, size_t count, struct err *e);
/* Reads pipes and terminals without waiting for full blocks. Call it before csv_header. csv_next
 * then returns the whole records that have arrived. While it waits for more it calls idle every 50
 * ms; an error of idle ends the reading. The blocks of regular files do not change. Line ends of CR
 * are recognised in the first block or at the end of the file. */
void csv_live(struct csv *c, bool (*idle)(void *context, struct err *e), void *context);
/* Polls `stop` while it waits for a pipe. Call it before csv_header. If stop returns true, csv_next
 * returns false without an error. */
void csv_set_stop(struct csv *c, const struct stopper *stop);
/* The name of column i, from 0, in files without header: c1, c2, ... */
struct csv_name { char text[24]; };
struct csv_name csv_numbered(size_t i);
/* Sets the number of cells of a row for files without header: `most`, or `least`. Call it before
 * csv_header. The first row is then data like any other. The number of columns is the cell count of
 * the first row with `least` or `most` cells. */
void csv_widths(struct csv *c, size_t least, size_t most);
/* The records that csv_next returns, numbered from 0 through all files in their order. A record
 * that is not CSV counts too. */
struct csv_choice {
    const uint8_t *wanted; /* [(count + 7) / 8] bits by record, the lowest first; NULL: all */
    uint64_t count;        /* no record from this one on; the reading ends there */
    uint64_t met;          /* records so far: set by the reader, 0 at the beginning */
    uint64_t blanked;      /* blank lines in the place of records, likewise */
};
/* csv_next returns no other records. Between two records of a block, the lines of the others are
 * left as blank lines: csv_record.line is that of the file. In files of one column, where a blank
 * line is a record, they are taken out. Borrowed, and counted on by a later reader of the same
 * choice. Call it before csv_next. */
void csv_choose(struct csv *c, struct csv_choice *choice);
/* Reads the header of the first file (without one: c1, c2, .. from its first record). The other
 * files must have the same columns; csv_cells_parse gives their cells in the order of the first. c
 * owns the names. csv_next does not return the header's record.
 * May be called again: same names. csv_next calls it if the caller did not. E12 for a duplicate,
 * empty or overlong name. */
bool csv_header(struct csv *c, const char *const **names, size_t *count, struct err *e);
/* Makes a block large enough for CSV_BLOCK_RECORDS records, at six bytes a cell. Call it after
 * csv_header, before csv_next. Use it if the rows of a block are answered together. */
void csv_hold_records(struct csv *c);
/* The largest block, except one with a single longer record. */
size_t csv_block_bytes(const struct csv *c);
/* Reads the next block. False at the end (e->id == ERR_NONE) or on an error. Other threads may
 * parse other blocks meanwhile. */
bool csv_next(struct csv *c, struct csv_block *b, struct err *e);
/* Returns the memory of a block to the reader. */
void csv_release(struct csv *c, struct csv_block *b);
void csv_close(struct csv *c);
/* Notes about the header for init and check; valid after csv_header:
 * numbers: the header looks like data. first != second: two names differ only by case (positions
 * from 0). unnamed: the first column had no name and got one. unseen: a character in the name of
 * `column` is invisible or looks like a blank (0: none); `name` is that name, quoted. */
struct csv_notes {
    bool numbers, unnamed;
    size_t first, second, column;
    unsigned unseen;
    char name[96];
};
struct csv_notes csv_notes(const struct csv *c);
/* Writes the notes as one sentence. False if there is none. */
bool csv_notes_text(const struct csv_notes *n, char *out, size_t size);
uint64_t csv_size(const struct csv *c);        /* bytes of all files; 0: not known (a pipe, gzip) */
/* True if the data read so far, in a one-byte encoding, contain characters beyond ASCII and all of
 * them are valid UTF-8. */
bool csv_looks_utf8(const struct csv *c);
/* True if the data read so far, in a one-byte encoding, look like text in another one, which is not
 * read. Adds that as a sentence with the command that converts the first file. */
bool csv_looks_foreign(const struct csv *c, struct text *out);
bool csv_waits(const struct csv *c); /* false: a regular file is open */
bool csv_more(const struct csv *c);  /* true: the open file may have more bytes to return */

/* Parses a block into cells. `columns`: expected cells of a record. Above 1, blank lines are
 * skipped and counted; 1: a blank line is a record with one empty cell; 0: not known, blank lines
 * are skipped. Records with a wrong number of cells are not an error here. False on a syntax error
 * or limit, also in out->error; the records before it are valid. Thread-safe for different `out`.
 * (libcsv has a csv_parse of its own.) */
bool csv_cells_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                     struct csv_cells *out, struct err *e);
/* Sets `rest` to the bytes after the bad record of b. False if there are none. `rest` needs no
 * csv_release. */
bool csv_rest(const struct csv_block *b, const struct csv_cells *c, struct csv_block *rest);
/* Finds line and byte column of a cell of a record, from 1, for messages. */
void csv_place(const struct csv_block *b, const struct csv_record *r, const struct csv_cells *all,
               uint32_t cell, int64_t *line, int64_t *column);
/* Checks the delimiter of a record of one cell. False, E1215, if that cell contains another
 * delimiter. */
bool csv_check_delimiter(const struct csv_dialect *d, const struct csv_block *b,
                         const struct csv_record *r, const struct csv_cell *cell, struct err *e);
void csv_cells_free(struct csv_cells *c);

#endif
