/* columns.cuh - column sums. A block has 32 neighbouring columns and a range of rows; its warps
 * take rows in turn, and their sums are added in order. */
#ifndef DNN_KERNELS_COLUMNS_CUH
#define DNN_KERNELS_COLUMNS_CUH

#include "sheet.cuh"

/* The sums of the warps, in order; valid in warp 0. room: SHARED, N numbers a lane, free again at
 * return. All lanes of the block must call. */
template <int N> DEVICE void add_warps(float (&sum)[N], float *room)
{
    uint32_t warps = block_size() / WARP;
    UNROLL
    for (int i = 0; i < N; i++)
        room[i * block_size() + thread_id()] = sum[i];
    sync_block();
    for (uint32_t w = 1; w < warps && warp_id() == 0; w++)
        UNROLL
        for (int i = 0; i < N; i++)
            sum[i] += room[i * block_size() + w * WARP + lane_id()];
    sync_block();
}

/* Sums of this lane's column over rows [begin, end): each(row, sum) adds to sum[]. As add_warps. */
template <int N, class Each>
DEVICE void column_sums(float (&sum)[N], uint32_t begin, uint32_t end, float *room,
                        const Each &each)
{
    UNROLL
    for (int i = 0; i < N; i++)
        sum[i] = 0;
    for (uint32_t row = begin + warp_id(); row < end; row += block_size() / WARP)
        each(row, sum);
    add_warps(sum, room);
}

/* As above, with M words of each of eight rows in flight: load(row, word), and later add(word,
 * sum). */
template <int N, int M, class Load, class Add>
DEVICE void column_sums(float (&sum)[N], uint32_t begin, uint32_t end, float *room,
                        const Load &load, const Add &add)
{
    enum { AHEAD = 8 };
    uint32_t warps = block_size() / WARP;
    UNROLL
    for (int i = 0; i < N; i++)
        sum[i] = 0;
    for (uint32_t first = begin + warp_id(); first < end; first += AHEAD * warps) {
        uint32_t word[AHEAD][M];
        UNROLL
        for (uint32_t k = 0; k < AHEAD; k++)
            load(first + k * warps < end ? first + k * warps : first, word[k]);
        UNROLL
        for (uint32_t k = 0; k < AHEAD; k++)
            if (first + k * warps < end)
                add(word[k], sum);
    }
    add_warps(sum, room);
}

static inline unsigned column_tiles(uint32_t width)
{
    return parts(width, WARP);
}

/* Calls hit(row), by the whole warp, for the rows of [begin, end) whose id is `id`, in order. Ids
 * >= count count as `other`. ids: the first row's, ld apart. */
template <class Hit>
DEVICE void rows_of_id(const int32_t *ids, uint32_t ld, uint32_t begin, uint32_t end, uint32_t id,
                       uint32_t count, uint32_t other, const Hit &hit)
{
    for (uint32_t first = begin; first < end; first += WARP) {
        uint32_t row = first + lane_id();
        uint32_t mine = row < end ? (uint32_t)ids[(size_t)row * ld] : id + 1;
        if (row < end && mine >= count)
            mine = other;
        for (unsigned left = ballot(FULL_WARP, mine == id); left; left &= left - 1)
            hit(first + lowest_bit(left));
    }
}

#endif
