/* header_row.h - header lines among the rows: the header again, as `cat a.csv b.csv` makes it, also
 * after a byte-order mark; the header of a file for a model that was trained without one. Private
 * to cell.c, header_row.c and src/infer. */
#ifndef DNN_TABLE_HEADER_ROW_H
#define DNN_TABLE_HEADER_ROW_H

#include <string.h>

#include "table/encoder/cell_error.h"

/* True if the cells are the names. A file of one column may have its name as a value. */
bool header_row_equals(const char *const *names, size_t count, const struct csv_cell *cells);
/* A quick look at the first cell, before header_row_equals. */
static inline bool header_row_may_be(const char *const *names, const struct csv_cell *cells)
{
    const size_t length = strlen(names[0]);
    if (cells->length == length || cells->length == length + 3 || !cells->length)
        return true;
    return *names[0] == *cells->text || ((*names[0] | *cells->text) & 0x80); /* composed */
}
/* False, with the error, if a record of the block is the header. */
bool header_row_none(const char *const *names, size_t count, const struct csv_block *b,
                     const struct csv_cells *cells, struct err *e);
/* True for the first line of a file without header if it looks like names: all columns that the
 * network reads are categories, at least two; no cell was seen in training, is missing or stands
 * twice. Needs w->encoder. */
bool header_row_unknown(const struct cell_where *w);
/* Set the error, E12; return false. */
bool header_row_report(const struct csv_block *b, const struct csv_record *r, struct err *e);
bool header_row_report_unknown(const struct cell_where *w);

#endif
