/* cell_run.h - parses neighbouring columns of plain numbers in one call. Private to src/csv and
 * src/table. */
#ifndef DNN_TABLE_CELL_RUN_H
#define DNN_TABLE_CELL_RUN_H

#include "table/encoder/cell.h"

/* The cells of one record in a struct number_run. */
struct cell_run {
    const int32_t *cell_of;          /* [count], as in struct binding */
    const struct csv_cell *cells;    /* of the record */
    const double *offsets;           /* [count] */
    size_t count;                    /* 1 to NUMBER_RUN_MOST */
    bool together;                   /* cell_of[i] = cell_of[0] + i */
    char decimal;
    unsigned char *out;              /* float [count]: value - offset */
};
/* Parses the cells. Bit i of the result: cell i is not a short plain number (number_short.h),
 * and its float is unchanged. No text of data.missing may look like a number. */
typedef uint64_t cell_run_fn(const struct cell_run *r);
cell_run_fn cell_run_plain, cell_run_avx512;
/* Chooses the fastest one for this processor. */
cell_run_fn *cell_run_choose(void);
#if defined(__x86_64__)
/* True if this processor can run cell_run_avx512. */
static inline bool cell_run_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd") &&
           __builtin_cpu_supports("bmi2");
}
#endif

#endif
