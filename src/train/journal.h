/* journal.h - output.metrics: one JSON line an epoch (dnn.epoch/1), each with one write. A training
 * that starts afresh empties the file; one that resumes cuts it back to the checkpoint's length, or
 * to the lines that its runs will not write again. Pipes, devices and descriptors ("/dev/stdout")
 * are only appended to. */
#ifndef DNN_TRAIN_JOURNAL_H
#define DNN_TRAIN_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct journal {
    int fd;          /* -1: the file is made by journal_cut */
    char *path;      /* NULL: none is wanted, and every call below does nothing */
    bool regular;
    bool borrowed;   /* a descriptor that was open already: /dev/stdout */
    uint64_t length; /* bytes of this training's lines */
};
/* path NULL: none. Opens the file without a change; makes none. False: it cannot be written, or
 * made (73). */
bool journal_open(struct journal *j, const char *path, struct err *e);
/* One training at a time writes it: LOCKED (75) while another does, until that closes it. A file
 * system without locks: true. */
bool journal_own(struct journal *j, struct err *e);
/* Makes the file if it is missing, and cuts it. A file shorter than `length` keeps its whole lines,
 * with a note; a file that cannot be read is an error. */
bool journal_cut(struct journal *j, uint64_t length, struct err *e);
/* Makes the file if it is missing and cuts nothing: other programs append to it as well. */
bool journal_join(struct journal *j, struct err *e);
/* Makes the file if it is missing; lines for which `keep` is false go. Each is NUL-terminated. */
bool journal_filter(struct journal *j, bool (*keep)(const void *context, const char *line),
                    const void *context, struct err *e);
bool journal_line(struct journal *j, const char *line, struct err *e); /* without a newline */
bool journal_sync(struct journal *j, struct err *e);
void journal_close(struct journal *j);

#endif
