/* ahead.h - reads blocks of CSV ahead of the answers. Blocks are read in order; the thread pool
 * finds the cells of several blocks at the same time. The result does not depend on the threads. */
#ifndef DNN_ANSWER_AHEAD_H
#define DNN_ANSWER_AHEAD_H

#include <pthread.h>

#include "csv/csv.h"

struct ahead_block {
    struct csv_block block;
    struct csv_cells cells;
    bool good; /* of csv_cells_parse; its error is in cells */
};

struct ahead {
    struct csv *csv;
    const struct csv_dialect *dialect;
    size_t columns; /* of a record, as csv_cells_parse takes it */
    struct ahead_block *blocks;
    unsigned room, used, at; /* blocks from `at` on, up to `used`, are not given out yet */
    pthread_mutex_t lock;    /* of csv, used, ended, error */
    bool ended;
    struct err error;        /* error of csv_next: it comes after every block read before */
};

/* Borrows the reader and the dialect. */
void ahead_start(struct ahead *a, struct csv *c, const struct csv_dialect *d, size_t columns);
/* The next block; the one before becomes invalid. Reads one block per running thread at a time
 * (threads_hands), at most 32 MiB; of a pipe only one. NULL: the end, or e is set. */
struct ahead_block *ahead_next(struct ahead *a, struct err *e);
void ahead_end(struct ahead *a);

#endif
