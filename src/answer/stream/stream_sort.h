/* stream_sort.h - sequences of records whose rows are not in order ("unordered": "sort"): whole
 * inputs with the same columns are read, their records are put in order and answered, and their
 * answers come in the order of the inputs. Private to stream.c and stream_sort.c. */
#ifndef DNN_ANSWER_STREAM_SORT_H
#define DNN_ANSWER_STREAM_SORT_H

#include "answer/stream/stream.h"

struct work;
struct stream_sort;

struct stream_sort *stream_sort_new(const struct stream *t);
/* Adds the present input, to its end. */
bool stream_sort_read(struct stream_sort *s, struct stream *t, struct err *e);
/* After the last block: finds the records. E12 for a record that is not CSV. */
bool stream_sort_parse(struct stream_sort *s, struct err *e);
void stream_sort_free(struct stream_sort *s);
/* All of it as one block, with the records in the order of the input. */
const struct csv_block *stream_sort_block(const struct stream_sort *s);
const struct csv_cells *stream_sort_cells(const struct stream_sort *s);
/* Answers and delivers all records. w->series is set, and the columns are bound. */
bool stream_sort_answer(struct stream_sort *s, struct work *w, const struct stream_sink *sink,
                        struct err *e);

#endif
