/* gunzip.h - unpacks gzip (RFC 1952) with zlib in a thread of its own, ahead of the reader. zlib is
 * opened when a packed file is met (guest.h). A file may have several members; zero bytes after the
 * last one are padding. Private to gunzip.c, source.c and src/cli. */
#ifndef DNN_CSV_GUNZIP_H
#define DNN_CSV_GUNZIP_H

#include "base/file/file.h"

struct gunzip;
/* True if the bytes begin as gzip does; if the first byte may. */
bool gunzip_knows(const void *bytes, size_t size);
bool gunzip_may(char first);
/* Unpacks `file`, whose first bytes, two or less, were read already. Borrows the file, which
 * the thread reads until gunzip_close. Without a thread the reader's own unpacks. NULL:
 * ZLIB_MISSING. */
struct gunzip *gunzip_open(struct file *file, const void *first, size_t size, struct err *e);
/* As file_read_some. CSV_GZIP: damaged or cut; the bytes before the fault are read first. */
bool gunzip_read_some(struct gunzip *g, void *bytes, size_t room, size_t *got, struct err *e);
/* As file_ready. */
bool gunzip_ready(struct gunzip *g, int milliseconds);
void gunzip_close(struct gunzip *g);
/* The version of zlib; or "", and why it cannot serve. */
void gunzip_version(char *room, size_t size, char *why, size_t why_size);

#endif
