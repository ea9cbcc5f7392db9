/* row_store_series.h - kept rows of sequences of records: their windows and lines. Private to
 * row_store.c and row_store_series.c. */
#ifndef DNN_ANSWER_ROW_STORE_SERIES_H
#define DNN_ANSWER_ROW_STORE_SERIES_H

#include "answer/explain/row_store.h"

enum { KEPT_CHUNK = 8192 }; /* records that are answered at once */

void store_series_lines(struct row_store *x);
bool store_series_answer(struct row_store *x, struct err *e);
void store_series_close(struct row_store *x);

#endif
