/* outfile.h - writing: beside the final place, then synced and renamed over it. */
#ifndef DNN_BASE_OUTFILE_H
#define DNN_BASE_OUTFILE_H

#include "base/file/file.h"
#include "base/text.h"

struct outfile {
    int fd;
    char *path, *temp; /* temp NULL: standard output or a device, written straight */
    char *buffer;
    size_t used;
    uint64_t written; /* bytes handed to the descriptor */
    bool open, failed;
    bool prepared;    /* all bytes are durable under the temporary name */
    bool borrowed;    /* the descriptor is standard output or error: never closed */
};
/* Probes that the folder can be written to. "-" is standard output. A symbolic link: the file that
 * it leads to. */
bool outfile_open(struct outfile *o, const char *path, struct err *e);
/* The same, but a link at the name itself is replaced and never followed. */
bool outfile_open_here(struct outfile *o, const char *path, struct err *e);
bool outfile_write(struct outfile *o, const void *bytes, size_t length, struct err *e);
bool outfile_flush(struct outfile *o, struct err *e); /* buffer to descriptor, no sync */
/* All that can fail for want of room: flush, fsync, close. Nothing more is written; the final name
 * is untouched. Of several outputs, each is prepared before the first is committed. */
bool outfile_prepare(struct outfile *o, struct err *e);
/* Prepares, unless that is done; rename, fsync of the folder: true means durable. Frees o in either
 * case. */
bool outfile_commit(struct outfile *o, struct err *e);
/* Commits when `good`, else aborts. False: not good, or e. */
bool outfile_end(struct outfile *o, bool good, struct err *e);
/* Writes the text and clears it. */
bool outfile_text(struct outfile *o, struct text *t, struct err *e);
/* A file that is this text: opened, written, committed. */
bool outfile_whole(const char *path, const struct text *t, struct err *e);
/* Removes the temporary files of an output whose writers are gone: no process of that number here,
 * and no lock on the file (a writer on another host). With an infix also those named path, infix,
 * digits. Returns their number; those that cannot be listed or removed stay. */
unsigned outfile_sweep(const char *path, const char *infix);
void outfile_abort(struct outfile *o);  /* removes the temporary file; harmless when not open */
void outfile_abort_all(void); /* async-signal-safe: unlinks every temporary file still open */

#endif
