/* data_page.h - the page of `dnn report DATA.csv`: what is in a file of data. */
#ifndef DNN_CLI_REPORT_DATA_PAGE_H
#define DNN_CLI_REPORT_DATA_PAGE_H

#include "base/text.h"
#include "check/data_look.h"

/* name: the file's; note, date: the page's, NULL: none. */
void report_data_page(const struct data_look *l, const char *name, const char *note,
                      const char *date, struct text *out);

/* Shared by the parts of the page: a number or a date of a column; the target of a value: a share
 * or a mean. */
void data_put_number(const struct look_column *c, double value, struct text *out);
void data_put_target(const struct data_look *l, double target, struct text *out);
/* The section with the values of each column. */
void report_data_values(const struct data_look *l, struct text *out);

#endif
