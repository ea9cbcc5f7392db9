/* series.h - sequences of records (long format): a row is a step, and the rows of one group stand
 * together, in order. */
#ifndef DNN_TABLE_SERIES_H
#define DNN_TABLE_SERIES_H

#include "base/text.h"
#include "table/cell.h"
#include "table/dataset.h"

/* The hash of a record's group and its place in it (order NULL: not wanted). False, E12: it has no
 * place. */
bool series_place(const struct schema *s, const struct binding *b, const struct csv_block *block,
                  const struct csv_cells *cells, size_t record, uint64_t *group, double *order,
                  struct err *e);
/* A row to be put in order. group: a number of its group, in the order of first rows. */
struct row_place {
    double order;
    uint32_t group, row;
};
/* Groups together, each by `order`; stable. */
void row_places_sort(struct row_place *places, size_t count);

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
/* Rows of a group whose `order` equals the row before, or follows a gap: a step of more than 1.5
 * usual ones. */
enum odd_step { STEP_EQUAL, STEP_GAP, ODD_STEPS };
struct odd_steps {
    uint64_t count[ODD_STEPS];
    struct text first[ODD_STEPS]; /* place of the first one: "FILE:LINE, group "s3"" */
};
/* The kind of a step; ODD_STEPS: usual. */
enum odd_step odd_step(const struct windows *w, double step);
/* The place of a row, for `first`. group: its cell. */
void odd_step_place(struct text *to, const char *path, int64_t line, const char *group,
                    size_t length);
void odd_steps_note(const struct odd_steps *o, const struct schema *s);
void odd_steps_free(struct odd_steps *o);

/* Lists the windows of some groups, and their answers: one for each row with a target, or for each
 * window whose last row has one. Windows without an answer are left out. Caller: row_list_free. */
void series_list(const struct dataset *d, const uint32_t *groups, uint64_t count,
                 struct row_list *to);

#endif
