/* row_group.h - the group of a row in a stream, if a model knows groups of rows: rows that its
 * split keeps together, a column of type group, the series that windows are of. */
#ifndef DNN_ANSWER_ROW_GROUP_H
#define DNN_ANSWER_ROW_GROUP_H

#include "answer/stream/stream.h"

/* The column of the model's schema; UINT32_MAX: it knows no groups. */
uint32_t row_group_column(const struct modelfile *f);
/* A hash of the row's group; if the present input lacks the column, of the row's number alone, as
 * if each row were a group. */
uint64_t row_group_key(const struct stream *t, const struct stream_group *g, uint64_t row,
                       uint32_t column, uint64_t number);

#endif
