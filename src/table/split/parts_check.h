/* parts_check.h - compares the labels of validation and test rows with the training rows'. */
#ifndef DNN_TABLE_PARTS_CHECK_H
#define DNN_TABLE_PARTS_CHECK_H

#include "table/encoder/encoder.h"
#include "table/split/split.h"

/* Checks the labels of validation and test rows. False, E14: a label that no training row has;
 * *row: its first row, from 1. A label that another part lacks is a remark. c NULL: fitting failed,
 * only the error is checked. No effect for regression. */
bool labels_check(const struct encoder *c, const struct dataset *d, const struct split *s,
                  struct remarks *remarks, uint64_t *row, struct err *e);

#endif
