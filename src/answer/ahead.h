/* ahead.h - blocks of a CSV reader with their cells, some ahead of who answers them: read in the
 * order of the files, their cells found side by side by the pool. Who found them cannot be seen. */
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
    struct err error;        /* of csv_next: stands behind every block read before */
};

/* Borrows the reader and the dialect. */
void ahead_start(struct ahead *a, struct csv *c, const struct csv_dialect *d, size_t columns);
/* The next block; what was given before is the reader's again. As many are read at a time as there
 * are threads that find a processor (threads_hands) and as 32 MiB hold, but one only of what may
 * keep us waiting (a pipe). NULL at the end or on failure. */
struct ahead_block *ahead_next(struct ahead *a, struct err *e);
void ahead_end(struct ahead *a);

#endif
