/* split_csv.h - train --split-csv: the part of every row as a CSV file: `row`, its number among the
 * data rows of data.train, then of data.valid; the id columns; `part`, empty for a row without one.
 * Rows of data.test are all test rows, and are not listed. */
#ifndef DNN_TRAIN_SPLIT_CSV_H
#define DNN_TRAIN_SPLIT_CSV_H

#include "config/config.h"
#include "table/table.h"

/* Before the data are read: the file can be written, it is no input and not the model, and the data
 * can be read twice. False: 64, 73. */
bool split_csv_check(const struct config *c, const char *path, const char *model, struct err *e);
/* Reads the files again. Durable when true. */
bool split_csv_write(const char *path, const struct table *t, const struct data_options *o,
                     struct err *e);

#endif
