/* csv_room.h - the inside of a reader, shared by csv.c (files to blocks), csv_bytes.c,
 * csv_header.c (names) and csv_sniff.c (files that are no CSV). Private to src/csv and src/table.
 */
#ifndef DNN_CSV_CSV_ROOM_H
#define DNN_CSV_CSV_ROOM_H

#include "base/convert.h"
#include "base/text.h"
#include "csv/csv.h"
#include "csv/scan.h"

#define CSV_HEAD_BYTES 4096

/* Memory of a block. */
struct csv_buffer {
    struct csv_buffer *next; /* in the list of free ones */
    size_t room;
    char *bytes;
};

struct csv {
    struct csv_dialect dialect;
    char **paths;
    size_t path_count, at; /* at: of the open file */
    char **shown;          /* what messages call them; blocks borrow it */
    struct file file;
    bool open, ended;      /* ended: every byte of the open file was read */
    bool drained;          /* live only: the end was met, and is not to be read again */
    struct {
        bool wanted;
        bool (*idle)(void *context, struct err *e);
        void *context;
    } live;
    bool (*stop)(void);    /* is asked while it waits; NULL: nobody is */
    struct convert *convert;
    struct text converted; /* decoded bytes that found no room */
    size_t converted_at;
    struct csv_utf8 {
        unsigned expected; /* bytes that the sequence begun still lacks */
        uint64_t sequences, broken;
    } utf8; /* of the raw bytes, where they are converted */
    char head[CSV_HEAD_BYTES]; /* the first raw bytes, looked at before they are decoded */
    size_t head_used, head_at;

    struct csv_buffer *pending; /* bytes that were read and not given out */
    size_t pending_used;
    struct csv_buffer *spare;
    size_t block, longest; /* CSV_BLOCK_BYTES, CSV_MOST_LINE; less in tests */
    bool cr;
    int64_t line;          /* of the first pending byte */
    uint64_t offset, index, bytes, size;

    char **names;
    size_t name_count;
    size_t least, most; /* cells of a row; 0: as the first one has */
    struct csv_notes notes;
};

/* What comes as somebody writes it: no regular file, and csv_live was asked for. */
static inline bool csv_is_live(const struct csv *c)
{
    return c->live.wanted && !c->file.seekable;
}

/* csv_bytes.c: the first bytes into c->head. Of a live file the first line, but all there is room
 * for when there are zero bytes: what that means is not told by a few. */
bool csv_head_read(struct csv *c, struct err *e);
/* Reads on until `room` bytes are pending or the file ends; makes the buffer that large. A
 * live file may give fewer: what is there, without waiting. */
bool csv_fill(struct csv *c, size_t room, struct err *e);
/* Waits until csv_fill of a live file finds another byte, or the end. */
bool csv_wait(struct csv *c, struct err *e);
/* The next larger room, up to that of the longest line. */
static inline size_t csv_larger(const struct csv *c, size_t room)
{
    return room < c->longest / 2 ? 2 * room : c->longest;
}
/* Takes `count` bytes, and the lines they hold, off the front of the pending ones. */
void csv_drop(struct csv *c, size_t count);

/* Counts characters of several bytes, and places where there is none. A file in UTF-8 can be
 * read as any one-byte encoding, and says other words then. */
void csv_count_utf8(struct csv_utf8 *u, const char *bytes, size_t length);

/* csv_sniff.c: refuses other formats and encodings by c->head; *skip: bytes of the byte-order mark.
 * */
bool csv_sniff(const struct csv *c, const char *path, size_t *skip, struct err *e);
/* Do lines end with a bare CR? *sure: whatever follows these bytes. */
bool csv_sniff_cr(const struct csv *c, const char *bytes, size_t size, bool *sure);

/* The way out of a byte that the encoding does not have. */
bool csv_encoding_help(const struct csv_dialect *d, const char *others, struct err *e);

/* csv_header.c: the names, from the first record pending; taken off when it is a header. Called at
 * the start of each file; those after the first are compared. */
bool csv_header_read(struct csv *c, struct err *e);
void csv_header_free(struct csv *c);

/* The reader behind csv_cells_parse, which looks for NULs and invalid UTF-8 by itself, where
 * scan_parse (scan.h) refuses: every error message comes from here. */
bool libcsv_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                  struct csv_cells *out, struct err *e);

/* csv_header.c: of the characters that csv_notes tells of, those that take room. */
bool csv_is_blank(unsigned character);

#endif
