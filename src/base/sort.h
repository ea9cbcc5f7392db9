/* sort.h - stable sorts. qsort is banned: libraries order equal items differently. */
#ifndef DNN_BASE_SORT_H
#define DNN_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* Merge sort. size: bytes of an item. compare: as for qsort, with a context. */
void sort_stable(void *items, size_t count, size_t size,
                 int (*compare)(const void *, const void *, const void *), const void *context);
void sort_floats(float *values, size_t count);    /* ascending; no NaN among them; radix */
void sort_doubles(double *values, size_t count);  /* ascending; no NaN among them; merge */
/* pairs[i][0] and [1]: the values at ranks[i] and ranks[i] + 1 (< count) in the order of
 * sort_floats. ranks ascend, equal ones allowed. The values stay where they are; no NaN among them.
 */
void select_floats(const float *values, size_t count, const uint32_t *ranks, size_t rank_count,
                   float (*pairs)[2]);
/* Fills order[count] with the indices of keys in ascending order, stable. */
void sort_order_floats(uint32_t *order, const float *keys, size_t count);

#endif
