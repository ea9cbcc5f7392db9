/* name_list.h - splits the column names of an option, a,b,c. A name with a comma, or a name that
 * begins with a quote, stands in double quotes as in CSV: "a,b",c. */
#ifndef DNN_BASE_NAME_LIST_H
#define DNN_BASE_NAME_LIST_H

#include "base/err.h"

/* The next name; caller mem_frees. *from moves to the name after it, NULL after the last. NULL: the
 * quotes are not as in CSV, OPTION_VALUE. */
char *name_list_next(const char **from, const char *option, struct err *e);

#endif
