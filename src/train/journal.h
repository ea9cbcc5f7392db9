/* journal.h - output.metrics: one JSON line an epoch (dnn.epoch/1), each with one write, for
 * whoever watches. Emptied when a training starts afresh, cut back to the checkpoint's length when
 * one goes on. What is not a regular file, and what "/dev/stdout" and its like name, is only
 * written, behind what stands there. */
#ifndef DNN_TRAIN_JOURNAL_H
#define DNN_TRAIN_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct journal {
    int fd;
    char *path; /* NULL: none is wanted, and every call below does nothing */
    bool regular;
    bool borrowed; /* a descriptor that was open already: /dev/stdout */
    bool made;       /* by journal_open, and nothing was said yet */
    uint64_t length; /* bytes of this training's lines */
};
/* path NULL: none. What is inside stays until journal_cut. */
bool journal_open(struct journal *j, const char *path, struct err *e);
/* One training at a time writes it: LOCKED (75) while another does, until that closes it. A file
 * system without locks: true. */
bool journal_own(struct journal *j, struct err *e);
/* Shorter than that already: its whole lines stay, with a note; one that cannot be read is left as
 * it is, an error. */
bool journal_cut(struct journal *j, uint64_t length, struct err *e);
bool journal_line(struct journal *j, const char *line, struct err *e); /* without a newline */
bool journal_sync(struct journal *j, struct err *e);
/* Before journal_cut: takes away what journal_open made, if no training has it by now. */
void journal_close(struct journal *j);

#endif
