/* name_list.h - the names of columns that an option gives: a,b,c. One with a comma in it, or that
 * begins with a quote, stands in double quotes as in CSV: "a,b",c. */
#ifndef DNN_BASE_NAME_LIST_H
#define DNN_BASE_NAME_LIST_H

#include "base/err.h"

/* The next name; mem_free. *from goes to the one behind it, NULL behind the last. NULL: the quotes
 * are not as in CSV, OPTION_VALUE. */
char *name_list_next(const char **from, const char *option, struct err *e);

#endif
