/* parts_check.h - compares the labels of validation and test rows with those of training rows. */
#ifndef DNN_TABLE_PARTS_CHECK_H
#define DNN_TABLE_PARTS_CHECK_H

#include "table/encoder.h"
#include "table/split.h"

/* False (E14) for a label that training rows lack; *row is the first row, from 1, that has it. A
 * label that another part lacks is a remark. c NULL: it could not be fitted, only the first is
 * checked. A regression has no labels. */
bool labels_check(const struct encoder *c, const struct dataset *d, const struct split *s,
                  struct remarks *remarks, uint64_t *row, struct err *e);

#endif
