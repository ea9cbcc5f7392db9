/* csv.h - from files to blocks of whole records, and from a block to cells.
 *
 * Two readers, one answer: libcsv in strict mode is the parser and the referee (csv_libcsv.c);
 * scan.c is a faster scanner that serves the blocks it can (it refuses what it does not like, and
 * the block goes to libcsv). Differential tests and a fuzz target prove that both give the same
 * cells, or the same error, for every input that both take.
 *
 *     struct csv *c = csv_open(&dialect, paths, count, &e);
 *     while (csv_next(c, &block, &e)) {
 *         csv_cells_parse(&dialect, &block, columns, &cells, &e);
 *         ...
 *         csv_release(c, &block);
 *     }
 *
 * A block is at most about 256 KiB of file, whatever the threads, and ends at the end of a record
 * (quotes are followed). Encoding is converted, the byte-order mark removed and line ends left as
 * they are before scanning. Lines end with LF or CRLF; in a file whose first block has neither,
 * with CR.
 *
 * A bad record (a NUL, invalid UTF-8, a stray CR) ends where its quotes say. With a stray quote, or
 * one that never closes, its first line is the bad record, and the next line is read afresh.
 * csv_rest() gives the bytes of a block behind a bad record. A record above 16 MiB ends the
 * reading. */
#ifndef DNN_CSV_CSV_H
#define DNN_CSV_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/file.h"

/* With its cells and records a block fits the second cache. */
#define CSV_BLOCK_BYTES ((size_t)256 << 10)
#define CSV_MOST_FIELD ((size_t)1 << 20)
#define CSV_MOST_LINE ((size_t)16 << 20)
#define CSV_MOST_COLUMNS 65536
#define CSV_MOST_NAME 4096

enum csv_encoding { ENCODING_UTF8, ENCODING_LATIN1, ENCODING_CP1252 };
extern const char *const csv_encoding_names[]; /* as data.encoding has them; NULL at the end */

/* Who says what a file looks like, and so what a message tells the user to change. */
enum csv_said {
    CSV_SAID_BY_CONFIG, CSV_SAID_BY_MODEL_OR_IO, CSV_SAID_BY_IO, CSV_SAID_BY_MODEL
};

struct csv_dialect {
    char delimiter;     /* , ; \t | */
    bool header;
    int encoding;       /* enum csv_encoding */
    bool tsv;           /* --io tsv: no quoting at all */
    bool libcsv;        /* libcsv reads every block, scan.c none: the same cells, slower */
    uint8_t said;       /* enum csv_said */
    char trained;       /* said by --io: the delimiter of the training file */
};

/* A cell: its bytes without the outer quotes, "" pairs already read as one quote (`escaped`: there
 * was one). Unquoted cells have blanks (space, tab) at both ends cut off, as libcsv does. Not
 * NUL-terminated. */
struct csv_cell {
    const char *text;
    uint32_t length;
    uint8_t quoted, escaped;
};

struct csv_record {
    uint32_t first_cell, cells; /* in csv_cells.cells */
    uint64_t offset;            /* of its first byte in the block */
    uint32_t bytes;             /* raw length without the line end */
    int64_t line;               /* physical line of its first byte, from 1 */
};

struct csv_block {
    const char *bytes;
    size_t size;
    uint64_t index;       /* 0, 1, 2.. over all files */
    const char *path;     /* of its file */
    int64_t first_line;
    uint64_t file_offset; /* of its first byte, after decoding */
    void *owner;          /* csv_release */
    bool cr;              /* lines end with a bare CR */
    size_t valid;         /* that many bytes are known to be text: no NUL, UTF-8 */
};

/* All records of a block. Zero-initialised, reused from block to block. cells[i].text points into
 * the block, or into `unescaped`, and lives as long as both. */
struct csv_cells {
    struct csv_cell *cells;
    size_t cell_count, cell_room;
    struct csv_record *records;
    size_t record_count, record_room;
    uint64_t blank_lines; /* dropped: several columns only */
    char *unescaped;      /* the text of cells with "" pairs, and of all cells that libcsv read */
    size_t unescaped_room;
    struct err error;     /* first syntax error of the block; records before it are good */
    bool has_error;
    uint64_t error_offset; /* of the record that holds it */
    size_t valid;           /* bytes of the block that are text */
    struct csv_dialect dialect;
    uint64_t resume_offset; /* first byte after that record: where to go on, for --on-bad-row */
};

struct csv;
struct csv *csv_open(const struct csv_dialect *d, char *const *paths, size_t count, struct err *e);
/* Before csv_header: what is no regular file is read as it comes. csv_next gives the whole records
 * that are there rather than wait for a full block; before it waits, and again while it does, it
 * calls idle, whose failure ends the reading. Where records end does not depend on it; a file whose
 * lines end with CR is known by its first block, or its end. */
void csv_live(struct csv *c, bool (*idle)(void *context, struct err *e), void *context);
/* Before csv_header: while it waits for what is no regular file, it asks; true ends the reading,
 * false without an error then. */
void csv_ask(struct csv *c, bool (*stop)(void));
/* The name of column i, from 0, of files without header: c1, c2, ... */
struct csv_name { char text[24]; };
struct csv_name csv_numbered(size_t i);
/* Before csv_header, of files without header: rows have `most` cells, or `least`. The first row is
 * one like any other then, and c1, c2, .. go as far as the first one goes that has that many. */
void csv_widths(struct csv *c, size_t least, size_t most);
/* The header of the first file (or c1, c2, .. from its first record). Later files must have equal
 * columns. Names are owned by c. Reads ahead; the header's own record is not given again.
 * Duplicate, empty, overlong names: E12. Calling it again gives the same names. csv_next does it by
 * itself when it was not called. */
bool csv_header(struct csv *c, const char *const **names, size_t *count, struct err *e);
/* The next block, false at the end (e->id == ERR_NONE) or on failure. Thread-safe with
 * csv_cells_parse of other blocks. */
bool csv_next(struct csv *c, struct csv_block *b, struct err *e);
void csv_release(struct csv *c, struct csv_block *b);
void csv_close(struct csv *c);
/* What init and check say in a note: the header looks like data (`numbers`), two names are equal
 * but for upper and lower case (first != second: their positions from 0), the first column has no
 * name and got one (`unnamed`), a name has a character that cannot be seen or looks like a blank
 * (`unseen`, 0: none; the column's position from 0, its name as quoted). Valid after csv_header.
 * csv_notes_text: as a sentence; false when there is nothing to say. */
struct csv_notes {
    bool numbers, unnamed;
    size_t first, second, column;
    unsigned unseen;
    char name[96];
};
struct csv_notes csv_notes(const struct csv *c);
bool csv_notes_text(const struct csv_notes *n, char *out, size_t size);
uint64_t csv_size(const struct csv *c);        /* of all files; 0 when not known (a pipe) */
/* Read in a one-byte encoding, so far: there is text beyond ASCII, and all of it is valid UTF-8. */
bool csv_looks_utf8(const struct csv *c);
bool csv_waits(const struct csv *c); /* is it no regular file that is being read? */
bool csv_more(const struct csv *c);  /* may the open file hold more than csv_next gave? */

/* Cells of a block; columns = expected number of cells: with more than one, blank lines are dropped
 * and counted; with one, a blank line is a record with an empty cell; 0: not known, blank lines are
 * dropped. Ragged records are reported by the user of the record, not here. False on a syntax error
 * or beyond a limit (also in out->error); the records before it are good. (Its name is not
 * csv_parse, which is libcsv's.) Thread-safe for different `out`. */
bool csv_cells_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                     struct csv_cells *out, struct err *e);
/* What follows the bad record of b; false when nothing does. `rest` needs no release. */
bool csv_rest(const struct csv_block *b, const struct csv_cells *c, struct csv_block *rest);
/* Where cell i of a record stands: line and byte column, for messages. */
void csv_place(const struct csv_block *b, const struct csv_record *r, const struct csv_cells *all,
               uint32_t cell, int64_t *line, int64_t *column);
/* False with E1215 for a record of one cell, its first, that holds another delimiter. */
bool csv_check_delimiter(const struct csv_dialect *d, const struct csv_block *b,
                         const struct csv_record *r, const struct csv_cell *cell, struct err *e);
void csv_cells_free(struct csv_cells *c);

#endif
