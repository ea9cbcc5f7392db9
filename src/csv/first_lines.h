/* first_lines.h - why a file lacks the names of columns that it should have: its first lines,
 * looked at once more. */
#ifndef DNN_CSV_FIRST_LINES_H
#define DNN_CSV_FIRST_LINES_H

#include "csv/csv.h"

/* Replaces the help of `e` if the first lines of the file tell the reason: the header stands below
 * titles or comments; blanks stand between the cells; the rows have a name more than the header, as
 * R writes them. wanted: names that the file should have. Does nothing for pipes, packed files and
 * files that cannot be read. */
void first_lines_help(const char *path, const struct csv_dialect *d, const char *const *wanted,
                      size_t count, struct err *e);
/* True, and the help is set: a record of line 2 has a cell more than the header, as R writes tables
 * with row names. */
bool first_lines_row_names(const struct csv_dialect *d, const char *path,
                           const struct csv_record *r, const struct csv_cell *cells, size_t count,
                           struct err *e);

#endif
