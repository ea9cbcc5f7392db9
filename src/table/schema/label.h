/* label.h - the label that a text means. If all labels are numbers, texts compare as numbers:
 * "1.0", "01" and "1e0" are the label "1". Numbers from 2^53 on, which doubles do not tell apart,
 * and codes such as 110E1 are texts. */
#ifndef DNN_TABLE_LABEL_H
#define DNN_TABLE_LABEL_H

#include <stdbool.h>

#include "table/schema/vocab.h"

/* True if the text is a number; sets *value. */
bool label_number(const char *text, size_t length, char decimal, double *value);
/* Returns the label that is this text, else the first that equals it as a number; UINT32_MAX: none.
 * decimal: the sign of the text; the labels may have either. */
uint32_t label_find(const struct vocab *labels, char decimal, const char *text, size_t length);
/* Finds labels of one file that are equal as numbers. rows: of each label; NULL: not known. Sets
 * as[label]: the equal label with most rows (the first of several), else the label itself.
 * Fractions that the rows write in two ways ("1.1" and "1.10") may be versions, and stay apart.
 * Returns how many labels became another one. */
uint32_t label_join(const struct vocab *labels, const uint64_t *rows, uint32_t *as);

#endif
