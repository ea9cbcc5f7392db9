/* source.h - the bytes of a data file. A file packed with gzip, known by its first bytes, gives the
 * unpacked bytes. */
#ifndef DNN_CSV_SOURCE_H
#define DNN_CSV_SOURCE_H

#include "base/file/file.h"

struct gunzip;
struct source_file {
    struct file file;
    bool begun;            /* the first bytes were read: it is known whether they are packed */
    struct gunzip *gunzip; /* NULL: not packed */
    char first[2];         /* the first bytes of the file: [first_at, first_used) were not given */
    size_t first_at, first_used;
    bool ended;            /* and nothing follows them */
};
/* As file_open and file_open_early. */
bool source_open(struct source_file *s, const char *path, bool early, struct err *e);
/* As file_read, file_read_some, file_ready. CSV_GZIP: packed and damaged; ZLIB_MISSING. */
bool source_read(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e);
bool source_read_some(struct source_file *s, void *bytes, size_t room, size_t *got, struct err *e);
bool source_ready(struct source_file *s, int milliseconds);
/* Bytes of a regular file that is not packed; else 0. Known once bytes were read. */
uint64_t source_size(const struct source_file *s);
void source_close(struct source_file *s);

#endif
