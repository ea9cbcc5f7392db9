/* lnorm.cu - layer normalisation (Ba, Kiros and Hinton, 2016): a warp has a row. */
#include "columns.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };

template <int V> KERNEL_BOUNDED(LANES_OF_BLOCK, lnorm_rows)(struct op_lnorm a)
{
    uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    size_t x = (size_t)row * a.ldx, y = (size_t)row * a.ldy;
    float v[V], g[V], b[V], sum = 0, square = 0;
    for (uint32_t k = lane_id() * V; k < a.width; k += WARP * V) {
        run_load(v, a.x, x + k);
        UNROLL
        for (int i = 0; i < V; i++)
            sum += v[i];
    }
    float mean = warp_sum(sum) / (float)a.width;
    for (uint32_t k = lane_id() * V; k < a.width; k += WARP * V) {
        run_load(v, a.x, x + k);
        UNROLL
        for (int i = 0; i < V; i++)
            square = fmaf(v[i] - mean, v[i] - mean, square);
    }
    float inv = 1 / sqrtf(warp_sum(square) / (float)a.width + (float)a.epsilon);
    for (uint32_t k = lane_id() * V; k < a.width; k += WARP * V) {
        run_load(v, a.x, x + k);
        run_load(g, (const float *)a.gamma + k);
        run_load(b, (const float *)a.beta + k);
        UNROLL
        for (int i = 0; i < V; i++)
            v[i] = fmaf((v[i] - mean) * inv, g[i], b[i]);
        run_store(a.y, y + k, v);
    }
    if (a.mean && lane_id() == 0) {
        a.mean[row] = mean;
        a.inv[row] = inv;
    }
}

/* With h = (x - mean) inv and g = dy gamma: dx = inv (g - mean(g) - h mean(g h)). */
template <int V> DEVICE void lnorm_dx(const struct op_lnorm_back &a, uint32_t row)
{
    size_t x = (size_t)row * a.ldx, dy = (size_t)row * a.lddy, dx = (size_t)row * a.lddx;
    float mean = a.mean[row], inv = a.inv[row], v[V], d[V], g[V], sum = 0, product = 0;
    for (uint32_t k = lane_id() * V; k < a.width; k += WARP * V) {
        run_load(v, a.x, x + k);
        run_load(d, a.dy, dy + k);
        run_load(g, (const float *)a.gamma + k);
        UNROLL
        for (int i = 0; i < V; i++) {
            sum += d[i] * g[i];
            product = fmaf(d[i] * g[i], (v[i] - mean) * inv, product);
        }
    }
    sum = warp_sum(sum) / (float)a.width;
    product = warp_sum(product) / (float)a.width;
    for (uint32_t k = lane_id() * V; k < a.width; k += WARP * V) {
        float to[V] = {};
        run_load(v, a.x, x + k);
        run_load(d, a.dy, dy + k);
        run_load(g, (const float *)a.gamma + k);
        if (a.add_dx)
            run_load(to, a.dx, dx + k);
        UNROLL
        for (int i = 0; i < V; i++)
            to[i] += (d[i] * g[i] - sum - (v[i] - mean) * inv * product) * inv;
        run_store(a.dx, dx + k, to);
    }
}

/* The first blocks have rows, for dx; the others 32 columns of a shard, for dgamma and dbeta. */
template <int V>
KERNEL_BOUNDED(LANES_OF_BLOCK, lnorm_back)(struct op_lnorm_back a, uint32_t row_blocks,
                                           uint32_t tiles, uint32_t shards)
{
    SHARED(float, room, 2 * LANES_OF_BLOCK);
    if (block_x() < row_blocks) {
        uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
        if (row < a.rows)
            lnorm_dx<V>(a, row);
        return;
    }
    uint32_t shard = (block_x() - row_blocks) / tiles;
    uint32_t col = (block_x() - row_blocks) % tiles * WARP + lane_id();
    float sum[2];
    column_sums(sum, part_begin(a.rows, shards, shard), part_begin(a.rows, shards, shard + 1), room,
                [&](uint32_t row, float(&to)[2]) {
                    if (col >= a.width)
                        return;
                    float d = form_get(a.dy, (size_t)row * a.lddy + col);
                    float x = form_get(a.x, (size_t)row * a.ldx + col);
                    to[0] = fmaf(d, (x - a.mean[row]) * a.inv[row], to[0]);
                    to[1] += d;
                });
    if (warp_id() != 0 || col >= a.width)
        return;
    float *dgamma = a.dgamma + shard * a.shard_stride + col;
    float *dbeta = a.dbeta + shard * a.shard_stride + col;
    *dgamma = (a.more ? *dgamma : 0) + sum[0];
    *dbeta = (a.more ? *dbeta : 0) + sum[1];
}

void cuda_lnorm(struct machine *m, const struct op_lnorm *a)
{
    dim3 grid((a->rows + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK), lanes(LANES_OF_BLOCK);
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy) && is_wide(a->gamma, a->width) &&
                is_wide(a->beta, 0);
    if (!a->rows || !a->width)
        return;
    if (wide)
        LAUNCH(lnorm_rows<4>, grid, lanes, 0, m, *a);
    else
        LAUNCH(lnorm_rows<1>, grid, lanes, 0, m, *a);
}

void cuda_lnorm_back(struct machine *m, const struct op_lnorm_back *a, unsigned shards)
{
    uint32_t tiles = column_tiles(a->width);
    uint32_t row_blocks = a->dx ? (a->rows + WARPS_OF_BLOCK - 1) / WARPS_OF_BLOCK : 0;
    dim3 grid(row_blocks + tiles * shards), lanes(LANES_OF_BLOCK);
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->dy, a->lddy) && is_wide(a->dx, a->lddx) &&
                is_wide(a->gamma, a->width);
    if (!a->rows || !a->width)
        return;
    if (wide)
        LAUNCH(lnorm_back<4>, grid, lanes, 0, m, *a, row_blocks, tiles, shards);
    else
        LAUNCH(lnorm_back<1>, grid, lanes, 0, m, *a, row_blocks, tiles, shards);
}
