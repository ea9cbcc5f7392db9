/* cell_run.h - columns that stand side by side and are plain numbers, without a call for each cell.
 * Private to cell.c. */
#ifndef DNN_DATA_CELL_RUN_H
#define DNN_DATA_CELL_RUN_H

#include "data/cell.h"

struct cell_run {
    const struct schema *s;
    const int32_t *cell_of;       /* by schema column, as in struct binding */
    const struct csv_cell *cells; /* of the record */
    unsigned char *out;
    struct drift *drift;          /* NULL: not counted */
};
/* Reads columns from `column` on until one is not numeric, or its cell is not a short plain number;
 * returns which that is, or column_count. No text of data.missing may look like a number. */
typedef size_t cell_run_fn(const struct cell_run *r, size_t column);
cell_run_fn cell_run_plain, cell_run_avx512;
/* The best of this processor, or what DNN_CPU says. */
cell_run_fn *cell_run_choose(void);

#endif
