/* csv_reader.h - the state of a reader, shared by csv.c (files to blocks), csv_bytes.c,
 * csv_header.c (names) and csv_sniff.c (files that are not CSV). Private to src/csv, src/table
 * and src/infer. */
#ifndef DNN_CSV_CSV_READER_H
#define DNN_CSV_CSV_READER_H

#include "base/file/convert.h"
#include "base/text.h"
#include "csv/code_page.h"
#include "csv/csv.h"
#include "csv/scan.h"
#include "csv/source.h"

#define CSV_HEAD_BYTES 4096

/* Memory of a block. */
struct csv_buffer {
    struct csv_buffer *next; /* in the list of free buffers */
    size_t room;
    char *bytes;
};

struct csv {
    struct csv_dialect dialect;
    char **paths;
    size_t path_count, at; /* at: index of the open file */
    char **shown;          /* names for messages; blocks borrow them */
    struct source_file source;
    bool open, ended;      /* ended: all bytes of the open file were read */
    bool drained;          /* live only: the end was read; do not read again */
    struct {
        bool wanted;
        bool (*idle)(void *context, struct err *e);
        void *context;
    } live;
    const struct stopper *stop; /* polled while waiting; may be NULL */
    struct convert *convert;
    struct text converted; /* decoded bytes that did not fit */
    size_t converted_at;
    struct csv_utf8 {
        unsigned expected; /* bytes still missing in the current sequence */
        uint64_t sequences, broken;
    } utf8; /* counted in the raw bytes, if they are converted */
    struct code_page page; /* likewise */
    char head[CSV_HEAD_BYTES]; /* first raw bytes, inspected before decoding */
    size_t head_used, head_at;

    struct csv_buffer *pending; /* bytes read and not yet returned */
    size_t pending_used;
    struct csv_buffer *spare;
    size_t block, longest; /* CSV_BLOCK_BYTES, CSV_MOST_LINE; tests set smaller ones */
    bool cr;
    int64_t line;          /* of the first pending byte */
    uint64_t offset, index, bytes, size;
    bool unsized;          /* the size of a file is not known */

    char **names;
    size_t name_count;
    uint32_t **orders;  /* [path_count] csv_block.order; NULL: none */
    size_t least, most; /* cells of a row; 0: as in the first row */
    struct csv_notes notes;
    struct csv_choice *choice; /* NULL: every record */
    struct csv_cells chosen;   /* the cells of a block, if records of it are chosen */
};

/* True: csv_live was called and the open file is a pipe or terminal. */
static inline bool csv_is_live(const struct csv *c)
{
    return c->live.wanted && !c->source.file.seekable;
}

/* csv_bytes.c: reads the first bytes of the file into c->head. Of a live file: the first line; as
 * much as fits if it has zero bytes, which may mean UTF-16. */
bool csv_head_read(struct csv *c, struct err *e);
/* Reads until `room` bytes are pending or the file ends. Grows the buffer to `room`. Of a live file
 * it returns the bytes that have arrived. */
bool csv_fill(struct csv *c, size_t room, struct err *e);
/* Waits until a live file has another byte or ends. */
bool csv_wait(struct csv *c, struct err *e);
/* Doubles a buffer's size, up to the longest line. */
static inline size_t csv_larger(const struct csv *c, size_t room)
{
    return room < c->longest / 2 ? 2 * room : c->longest;
}
/* Drops the first `count` pending bytes and counts their lines. */
void csv_drop(struct csv *c, size_t count);

/* Counts multi-byte UTF-8 characters and invalid bytes. UTF-8 text read in a one-byte encoding
 * gives wrong letters without an error; this detects it. */
void csv_count_utf8(struct csv_utf8 *u, const char *bytes, size_t length);

/* csv_sniff.c: inspects c->head. False for other formats and encodings. *skip: bytes of the
 * byte-order mark. */
bool csv_sniff(const struct csv *c, const char *path, size_t *skip, struct err *e);
/* True if lines end with a bare CR. *sure: more bytes cannot change the answer. */
bool csv_sniff_cr(const struct csv *c, const char *bytes, size_t size, bool *sure);

/* Adds a help line for a byte that the encoding does not have. Returns false. */
bool csv_encoding_help(const struct csv_dialect *d, const char *others, struct err *e);

/* csv_header.c: reads the names from the first pending record, and drops it if it is a header.
 * Called at the beginning of each file. The names of later files are compared. */
bool csv_header_read(struct csv *c, struct err *e);
void csv_header_free(struct csv *c);

/* Parses a block with libcsv for csv_cells_parse. Every error message of the syntax comes from
 * here: it checks for NUL and invalid UTF-8, as scan_parse (scan.h) gives no reason. */
bool libcsv_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                  struct csv_cells *out, struct err *e);

/* csv_choose.c: leaves the chosen records of a block. False: there is none. */
bool csv_keep_chosen(struct csv *c, struct csv_block *b);

/* csv_header.c: true if a character of csv_notes.unseen has a width. */
bool csv_is_blank(unsigned character);

#endif
