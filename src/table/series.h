/* series.h - sequences of records (long format): a row is a step, and the rows of one group stand
 * together, in order. */
#ifndef DNN_TABLE_SERIES_H
#define DNN_TABLE_SERIES_H

#include "table/cell.h"
#include "table/dataset.h"

/* The hash of a record's group and its place in it (order NULL: not wanted). False, E12: it has no
 * place. */
bool series_place(const struct schema *s, const struct binding *b, const struct csv_block *block,
                  const struct csv_cells *cells, size_t record, uint64_t *group, double *order,
                  struct err *e);

/* The windows of a group of `rows` records begin at 0, stride, 2 stride, .. until one reaches the
 * end. */
static inline uint64_t windows_count(const struct windows *w, uint64_t rows)
{
    return rows <= w->window ? rows > 0 : 1 + (rows - w->window + w->stride - 1) / w->stride;
}
static inline uint32_t window_length(const struct windows *w, uint64_t rows, uint64_t i)
{
    uint64_t left = rows - i * w->stride;
    return left < w->window ? (uint32_t)left : w->window;
}
/* Lists the windows of some groups, and their answers: of each row with a target, or of each window
 * whose last row has one. Windows without an answer are left out. Caller: row_list_free. */
void series_list(const struct dataset *d, const uint32_t *groups, uint64_t count,
                 struct row_list *to);

#endif
