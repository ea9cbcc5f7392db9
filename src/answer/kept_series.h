/* kept_series.h - kept rows of sequences of records: their windows and lines. Private to kept.c and
 * kept_series.c. */
#ifndef DNN_ANSWER_KEPT_SERIES_H
#define DNN_ANSWER_KEPT_SERIES_H

#include "answer/kept.h"

enum { KEPT_CHUNK = 8192 }; /* records that are answered at once */

void kept_series_room(struct kept *x);
void kept_series_place(struct kept *x, const struct stream *t, const struct stream_group *g,
                       uint64_t i);
void kept_series_lines(struct kept *x);
bool kept_series_answer(struct kept *x, struct err *e);
void kept_series_close(struct kept *x);

#endif
