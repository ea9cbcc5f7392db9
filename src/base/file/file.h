/* file.h - every byte in and out. Reading: one descriptor, no mmap, short reads and EINTR handled.
 * Writing: aside, synced, renamed (outfile); the final name never shows a half-written file. Each
 * system call goes through one wrapper (sys.h). */
#ifndef DNN_BASE_FILE_H
#define DNN_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* --- reading --- */
struct file {
    int fd;
    char *path;      /* as given; "-" is standard input, shown as "standard input" */
    bool seekable;   /* a regular file */
    uint64_t size;   /* of a regular file, else 0 */
    uint64_t device, inode;
    int64_t modified_ns;
};
/* Missing or a directory: FILE_MISSING; no right: FILE_PERMISSION. */
bool file_open(struct file *f, const char *path, struct err *e);
/* As file_open, for a file that must be regular (a model): anything else is FILE_MISSING, and a
 * FIFO is not waited for. */
bool file_open_regular(struct file *f, const char *path, struct err *e);
/* Opens a FIFO without waiting for a writer. For callers that ask file_ready before each read: it
 * is ready when a writer has written or closed. */
bool file_open_early(struct file *f, const char *path, struct err *e);
/* Up to `room` bytes; fewer only at the end of the file. *got = 0 at the end. */
bool file_read(struct file *f, void *bytes, size_t room, size_t *got, struct err *e);
/* The result of one read; waits for at least one byte, except at the end of the file. */
bool file_read_some(struct file *f, void *bytes, size_t room, size_t *got, struct err *e);
/* True: a read would not block. Waits for that, at most this long; < 0: for ever. */
bool file_ready(const struct file *f, int milliseconds);
bool file_read_at(struct file *f, void *bytes, size_t room, uint64_t offset, size_t *got,
                  struct err *e);
/* A regular file whose size or time changed since file_open: FILE_CHANGED. A file that was replaced
 * by a rename has not changed: the descriptor still reads the one that was opened. */
bool file_unchanged(const struct file *f, struct err *e);
void file_close(struct file *f);
/* A whole small file, NUL-terminated; longer than `most` bytes fails with id `too_long`. Caller
 * mem_frees. */
bool file_slurp(const char *path, size_t most, enum err_id too_long, char **bytes, size_t *length,
                struct err *e);
/* The text of a file of at most 1 MiB, mem_free; NULL: it is missing or cannot be read. */
char *file_small(const char *path);
/* The names stand for one file: both exist and are one inode, or neither exists and writing to both
 * would make one. */
bool file_same(const char *a, const char *b);
/* True: the name still leads to the file of this descriptor. */
bool file_named(int fd, const char *path);
/* The open descriptor that a name of an output stands for: "-" and "/dev/stdout" 1, "/dev/stderr"
 * 2, "/dev/fd/N" N. -1 for any other name. */
int file_descriptor(const char *path);
/* True: the name is standard output's descriptor, or the regular file or pipe that it leads to. */
bool file_is_output(const char *path);
/* True: the name is the regular file that standard input reads. */
bool file_is_input(const char *path);
bool file_exists(const char *path);
/* True: it can be read from its beginning any number of times: a regular file that is named. */
bool file_lasts(const char *path);
/* True: it exists, and can be read only once: standard input, a pipe, a terminal. */
bool file_once(const char *path);
/* the part of `path` after the last slash: empty for a folder's "a/" */
const char *file_base_name(const char *path);
/* path relative to the folder that the file folder_of lies in; a name of a descriptor lies in no
 * folder. mem_free */
char *file_join(const char *folder_of, const char *path);
/* The opposite: path, relative to the working folder, as seen from the folder that `file` lies in
 * (or will: its folder is there). Unchanged if the two cannot be compared. mem_free */
char *file_seen_from(const char *file, const char *path);

/* The file at the end of a chain of symbolic links, existing or not; mem_free. NULL: it has no end,
 * errno is set. */
char *file_follow(const char *path);
/* The same. A descriptor ("-", "/dev/stdout") and a chain without end stay as they are. */
char *file_final(const char *path);
/* True: the names in the path's folder are durable, so a file made there survives a power failure.
 * False: the file is there and whole, but a power failure may lose it; the err's cause says so. */
enum { FILE_IN_PLACE = 100 }; /* no cause of another room */
bool file_sync_folder(const char *path, struct err *e);
bool file_in_place(const struct err *e); /* whether the error is that one */
bool file_remove(const char *path, struct err *e);

/* --- how a file begins, and whether this program may replace it --- */

/* The first bytes of a regular file without its blanks, as a string of at most room - 1 bytes; a
 * NUL becomes '?'. Empty when there is no file or it is empty. False: it cannot be read. */
bool file_first_words(const char *path, char *words, size_t room, struct err *e);
/* True when the regular file at path is empty, is not there, or begins with `begins`; blanks do
 * not count. Else FILE_CREATE (73): it is not `what`.
 * A path that is not a regular file, and one that is open already ("-", "/dev/stdout"), passes. */
bool file_is_ours(const char *path, const char *begins, const char *what, const char *help,
                  struct err *e);
/* Fills e: the file at path is not `what` and is not replaced. False. */
bool file_not_ours(const char *path, const char *what, const char *help, struct err *e);

#endif
