/* hot.cuh - one-hot inputs of a dense layer, backward: they stay ids. */
#ifndef DNN_KERNELS_HOT_CUH
#define DNN_KERNELS_HOT_CUH

#include "columns.cuh"

/* dw of the weight row `mine` of a one-hot input, in one shard: one warp adds the dz of the rows
 * with that id, in order. */
DEVICE void onehot_gradient(const struct op_dense_back &a, uint32_t mine, uint32_t shard)
{
    enum { AT_ONCE = 4 };
    uint32_t h = 0;
    if (mine >= a.onehot.width)
        return;
    mine += a.in;
    while (h < a.onehot.column_count &&
           (mine < a.onehot.columns[h].at ||
            mine - a.onehot.columns[h].at >= a.onehot.columns[h].count))
        h++;
    uint32_t begin = part_begin(a.rows, a.shards, shard);
    uint32_t end = part_begin(a.rows, a.shards, shard + 1);
    struct onehot_column one = {0, mine, 1};
    if (h < a.onehot.column_count)
        one = a.onehot.columns[h];
    else
        end = begin; /* no column's */
    float *to = (float *)a.dw + shard * a.shard_stride + (size_t)mine * a.out;
    for (uint32_t first = 0; first < a.out; first += AT_ONCE * WARP) {
        float sum[AT_ONCE] = {};
        uint32_t col = first + lane_id();
        rows_of_id(a.onehot.ids + one.id, a.onehot.ids_ld, begin, end, mine - one.at, one.count,
                   one.count, [&](uint32_t row) {
                       UNROLL
                       for (int i = 0; i < AT_ONCE; i++)
                           if (col + i * WARP < a.out)
                               sum[i] += form_get(a.dy, (size_t)row * a.lddy + col + i * WARP);
                   });
        UNROLL
        for (int i = 0; i < AT_ONCE; i++)
            if (col + i * WARP < a.out)
                to[col + i * WARP] = a.more ? to[col + i * WARP] + sum[i] : sum[i];
    }
}

#endif
