/* stream_series.h - answers sequences of records: their windows, as the rows come. Of a long group
 * only the rows are held that a further window reads. Private to stream.c, stream_series.c
 * and stream_sort.c. */
#ifndef DNN_ANSWER_STREAM_SERIES_H
#define DNN_ANSWER_STREAM_SERIES_H

#include "answer/stream/stream.h"

struct work;

struct stream_series;

/* room: records that are looked at together, several windows at least. */
struct stream_series *stream_series_new(const struct stream *t, size_t room);
void stream_series_free(struct stream_series *s);
/* The least room for windows of this schema. */
size_t stream_series_room(const struct schema *s);
/* Answers and delivers the records of w->cells that no further record changes. final: nothing of
 * their groups follows. *kept: the first record that the next call begins with. */
bool stream_series_answer(struct work *w, bool final, const struct stream_sink *sink,
                          size_t *kept, struct err *e);
/* The next record begins a group. */
void stream_series_cut(struct stream_series *s);
/* The next record is from an input with other columns: the last group cannot continue there. */
void stream_series_part(struct stream_series *s);

#endif
