/* data_page.h - the page of `dnn report DATA.csv`: what is in a file of data. */
#ifndef DNN_CLI_REPORT_DATA_PAGE_H
#define DNN_CLI_REPORT_DATA_PAGE_H

#include "base/text.h"
#include "check/data_look.h"

/* name: of the file; note, date: of the page, NULL: none. */
void report_data_page(const struct data_look *l, const char *name, const char *note,
                      const char *date, struct text *out);

#endif
