/* cell_run.h - columns that stand side by side in the schema and are plain numbers, without a call
 * for each cell. Private to src/csv and src/table. */
#ifndef DNN_TABLE_CELL_RUN_H
#define DNN_TABLE_CELL_RUN_H

#include "table/cell.h"

/* The part of one record that a struct number_run covers. */
struct cell_run {
    const int32_t *cell_of;          /* [count], as in struct binding */
    const struct csv_cell *cells;    /* of the record */
    const struct number_slot *slots; /* [count] */
    size_t count;                    /* 1 to NUMBER_RUN_MOST */
    bool together;                   /* cell_of[i] = cell_of[0] + i */
    char decimal;
    unsigned char *out;              /* float [count]: value - offset */
};
/* Bit i is set when cell i is not a short plain number (csv/number_short.h); then its float is
 * left as it was. No text of data.missing may look like a number. */
typedef uint64_t cell_run_fn(const struct cell_run *r);
cell_run_fn cell_run_plain, cell_run_avx512;
/* The best one that this processor runs. */
cell_run_fn *cell_run_choose(void);
#if defined(__x86_64__)
/* Can this processor do what cell_run_avx512 does? */
static inline bool cell_run_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
}
#endif

#endif
