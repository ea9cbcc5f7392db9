/* stream_wait.h - records of a block that wait for the next one, of a further input too, and the
 * input that each record comes from. Private to stream*.c. */
#ifndef DNN_ANSWER_STREAM_WAIT_H
#define DNN_ANSWER_STREAM_WAIT_H

#include "answer/stream/stream_work.h"

/* Keeps the records from `first` on, with the bytes of their block, for the next one. */
void wait_for_more(struct work *w, const struct csv_block *block, size_t first);
/* Puts the waiting records before a block. False: it is not CSV to its end. */
bool wait_join(struct work *w, struct csv_block *block);
/* The records that wait are of input `at`; the next block is of a further one, with the same
 * columns. */
void wait_turn(struct work *w, size_t at);

/* The records of the block of w->cells that begin below byte `end` are of input `at`. */
void origins_add(struct origins *o, uint64_t end, size_t at);
void origins_free(struct origins *o);
/* The input of a record of w->cells; *line: its line in that input. */
size_t work_origin(const struct work *w, size_t record, int64_t *line);

#endif
