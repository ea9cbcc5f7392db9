/* sheet.cuh - grids over rows x width for elementwise kernels, and the division of rows for sums.
 */
#ifndef DNN_KERNELS_SHEET_CUH
#define DNN_KERNELS_SHEET_CUH

#include "form.cuh"

/* --- elements --- */

/* A run of `units` columns (each of V numbers) by rows: the lanes of a block lie 2^shift along the
 * columns, the others along rows, so that no lane divides; the grid is columns x rows, since of y
 * it has 65,535 at most: lanes take several rows when there are many, but one unit of columns. */
enum { SHEET_LANES = 256 };
struct sheet { uint32_t rows, units, shift; };

static inline struct sheet sheet_of(uint32_t rows, uint32_t units)
{
    struct sheet s = {rows, units, 0};
    while (s.shift < 8 && (1u << s.shift) < units)
        s.shift++;
    return s;
}
static inline dim3 sheet_grid(const struct machine *m, const struct sheet *s)
{
    uint32_t across = (s->units + (1u << s->shift) - 1) >> s->shift;
    uint32_t rows = SHEET_LANES >> s->shift, down = (s->rows + rows - 1) / rows;
    uint32_t most = 16 * device_sms(m) / across + 1;
    return dim3(across, down < most ? down : most);
}
DEVICE uint32_t sheet_unit(struct sheet s)
{
    return (block_x() << s.shift) + (thread_id() & ((1u << s.shift) - 1));
}
#define EACH_ROW_OF(s, row)                                                                        \
    uint32_t row = block_y() * (SHEET_LANES >> (s).shift) + (thread_id() >> (s).shift);            \
    row < (s).rows;                                                                                \
    row += grid_y() * (SHEET_LANES >> (s).shift)

/* True: all runs of four in its rows are aligned. */
static inline bool is_wide(const void *p, uint32_t ld)
{
    return (uintptr_t)p % 16 == 0 && ld % 4 == 0;
}
static inline bool is_wide(struct act p, uint32_t ld)
{
    return form_fours(p) && ld % 4 == 0;
}
/* LAUNCH of KERNEL<4> or KERNEL<1> over rows x width. */
#define LAUNCH_SHEET(kernel, wide, rows, width, m, ...)                                            \
    do {                                                                                           \
        if ((wide) && (width) % 4 == 0) {                                                          \
            struct sheet sheet_ = sheet_of(rows, (width) / 4);                                     \
            LAUNCH(kernel<4>, sheet_grid(m, &sheet_), dim3(SHEET_LANES), 0, m, sheet_,             \
                   __VA_ARGS__);                                                                   \
        } else {                                                                                   \
            struct sheet sheet_ = sheet_of(rows, width);                                           \
            LAUNCH(kernel<1>, sheet_grid(m, &sheet_), dim3(SHEET_LANES), 0, m, sheet_,             \
                   __VA_ARGS__);                                                                   \
        }                                                                                          \
    } while (0)

/* --- rows that are summed over --- */

/* Parts are multiples of 8 except the last, as the CPU's shards (cpu.h). */
HOST_DEVICE uint32_t part_begin(uint32_t k, uint32_t parts, uint32_t z)
{
    uint64_t at = ((uint64_t)k + 7) / 8 * z / parts * 8;
    return at < k ? (uint32_t)at : k;
}
/* Lanes of a block, by the number of rows only. */
static inline unsigned lanes_for(uint32_t rows)
{
    return rows <= 128 ? 128 : rows <= 512 ? 256 : 1024;
}

/* The number of valid rows of a micro-batch; others lie past the end of the source. */
DEVICE uint32_t valid_rows(const struct step *now, const struct source *from, uint32_t rows,
                           uint32_t micro)
{
    uint64_t begin = now->row0 + (uint64_t)micro * rows, count = from->count;
    uint64_t left = begin < count ? count - begin : 0;
    return left < rows ? (uint32_t)left : rows;
}

/* True: this block is the last of `count` to call; it sees all that the others wrote. Resets the
 * counter. said: SHARED. */
DEVICE bool block_is_last(uint32_t *counter, uint32_t count, uint32_t *said)
{
    sync_block();
    if (thread_id() == 0) {
        *said = arrive(counter) + 1 == count;
        if (*said)
            *counter = 0;
    }
    sync_block();
    return *said != 0;
}

#endif
