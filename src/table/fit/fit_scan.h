/* fit_scan.h - one tile of rows, scanned for the range and the values around the median of
 * sixteen neighbouring slots. Private to fit_scan*.c. */
#ifndef DNN_TABLE_FIT_SCAN_H
#define DNN_TABLE_FIT_SCAN_H

#include <stdint.h>
#include <string.h>

#include "table/schema/record.h"

/* SCAN_PAD: between the values of two slots, so that they do not share the sets of a cache. */
enum { SCAN_SLOTS = 16, SCAN_ROWS = 4096, SCAN_PAD = 80 };

/* Values are compared as integers of the same order, so that -0 is below 0. */
static inline int32_t scan_order(float v)
{
    int32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits ^ (int32_t)((uint32_t)(bits >> 31) & 0x7FFFFFFFu);
}

struct scan_window {
    uint32_t first, wanted;                      /* slot; bit k: slot first + k is scanned */
    int32_t from[SCAN_SLOTS], to[SCAN_SLOTS];    /* of the values to keep, as scan_order */
};
struct scan_found {
    uint32_t count[SCAN_SLOTS], below[SCAN_SLOTS]; /* values that are not missing; below `from` */
    int32_t least[SCAN_SLOTS], most[SCAN_SLOTS];
    uint32_t kept[SCAN_SLOTS];
    float *values[SCAN_SLOTS]; /* [kept], with room for one more than all rows */
};
/* Adds `rows` records, at most SCAN_ROWS. */
typedef void scan_rows_fn(const struct scan_window *w, const unsigned char *const *records,
                          uint32_t rows, struct scan_found *f);
scan_rows_fn scan_rows_plain, scan_rows_avx512;

#endif
