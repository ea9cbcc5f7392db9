/* cell_error.h - errors of cells, each with a help line. All functions fill the error and return
 * false. Private to cell.c, cell_error.c, src/table/dataset/dataset_block.c,
 * src/table/dataset/dataset_walk.c, header_row.h, header_row.c and src/table/sequence/order.c. */
#ifndef DNN_TABLE_CELL_ERROR_H
#define DNN_TABLE_CELL_ERROR_H

#include "csv/form/number.h"
#include "table/encoder/cell.h"

bool cell_report_ragged(const struct cell_where *w);
bool cell_report_missing(const struct cell_where *w, size_t column);
bool cell_report_number(const struct cell_where *w, size_t column, const struct csv_cell *cell,
                        enum number_result why);
bool cell_report_date(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_unknown(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_weight(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_unlabelled(const struct cell_where *w, size_t column);
bool cell_report_label(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_domain(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_placeless(const struct cell_where *w, size_t column, const struct csv_cell *cell);
bool cell_report_timeless(const struct cell_where *w, size_t column);
bool cell_report_part(const struct cell_where *w, size_t column, const struct csv_cell *cell);

#endif
