/* lnorm.cu - layer normalisation (Ba, Kiros and Hinton, 2016): one warp a row. */
#include "columns.cuh"
#include "ops/lnorm.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };

template <int V> KERNEL_BOUNDED(LANES_OF_BLOCK, lnorm_rows)(struct op_lnorm a)
{
    uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
    if (row >= a.rows)
        return;
    size_t x = (size_t)row * a.ldx, y = (size_t)row * a.ldy;
    struct lnorm_stats s = lnorm_row<V>(
        [&](float(&v)[V], uint32_t k) { run_load(v, a.x, x + k); },
        [&](const float(&v)[V], uint32_t k) { run_store(a.y, y + k, v); },
        (const float *)a.gamma, (const float *)a.beta, a.width, (float)a.epsilon);
    if (a.mean && lane_id() == 0) {
        a.mean[row] = s.mean;
        a.inv[row] = s.inv;
    }
}

/* The first blocks compute dx by rows; the others dgamma and dbeta, 32 columns of a shard each. */
template <int V>
KERNEL_BOUNDED(LANES_OF_BLOCK, lnorm_back)(struct op_lnorm_back a, uint32_t row_blocks,
                                           uint32_t tiles)
{
    SHARED(float, room, 2 * LANES_OF_BLOCK);
    if (block_x() < row_blocks) {
        uint32_t row = block_x() * WARPS_OF_BLOCK + warp_id();
        size_t x = (size_t)row * a.ldx, dy = (size_t)row * a.lddy, dx = (size_t)row * a.lddx;
        if (row < a.rows)
            lnorm_dx<V>([&](float(&v)[V], uint32_t k) { run_load(v, a.x, x + k); },
                        [&](float(&v)[V], uint32_t k) { run_load(v, a.dy, dy + k); },
                        [&](float(&v)[V], uint32_t k) {
                            if (a.add_dx)
                                run_load(v, a.dx, dx + k);
                        },
                        [&](const float(&v)[V], uint32_t k) { run_store(a.dx, dx + k, v); },
                        (const float *)a.gamma, {a.mean[row], a.inv[row]}, a.width);
        return;
    }
    uint32_t shard = (block_x() - row_blocks) / tiles;
    uint32_t col = (block_x() - row_blocks) % tiles * WARP + lane_id();
    uint32_t inside = col < a.width ? col : 0;
    float sum[2];
    column_sums<2, 4>(
        sum, part_begin(a.rows, a.shards, shard), part_begin(a.rows, a.shards, shard + 1), room,
        [&](uint32_t row, uint32_t(&word)[4]) {
            word[0] = form_bits(a.dy, (size_t)row * a.lddy + inside);
            word[1] = form_bits(a.x, (size_t)row * a.ldx + inside);
            word[2] = form_bits(plain_act(a.mean), row);
            word[3] = form_bits(plain_act(a.inv), row);
        },
        [&](const uint32_t(&word)[4], float(&to)[2]) {
            float d = form_number(a.dy.form, word[0]), x = form_number(a.x.form, word[1]);
            to[0] = fmaf(d, (x - float_of_word(word[2])) * float_of_word(word[3]), to[0]);
            to[1] += d;
        });
    if (warp_id() != 0 || col >= a.width)
        return;
    float *dgamma = a.dgamma + shard * a.shard_stride + col;
    float *dbeta = a.dbeta + shard * a.shard_stride + col;
    *dgamma = (a.more ? *dgamma : 0) + sum[0];
    *dbeta = (a.more ? *dbeta : 0) + sum[1];
}

bool lnorm_is_wide(const struct op_lnorm *a)
{
    return is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy) && is_wide(a->gamma, a->width) &&
           is_wide(a->beta, 0);
}

bool lnorm_back_is_wide(const struct op_lnorm_back *a)
{
    return is_wide(a->x, a->ldx) && is_wide(a->dy, a->lddy) && is_wide(a->dx, a->lddx) &&
           is_wide(a->gamma, a->width);
}

void cuda_lnorm(struct machine *m, const struct op_lnorm *a)
{
    dim3 grid(parts(a->rows, WARPS_OF_BLOCK)), lanes(LANES_OF_BLOCK);
    if (!a->rows || !a->width)
        return;
    if (lnorm_is_wide(a))
        LAUNCH(lnorm_rows<4>, grid, lanes, 0, m, *a);
    else
        LAUNCH(lnorm_rows<1>, grid, lanes, 0, m, *a);
}

void cuda_lnorm_back(struct machine *m, const struct op_lnorm_back *a)
{
    uint32_t tiles = column_tiles(a->width);
    uint32_t row_blocks = a->dx.at ? parts(a->rows, WARPS_OF_BLOCK) : 0;
    dim3 grid(row_blocks + tiles * a->shards), lanes(LANES_OF_BLOCK);
    if (!a->rows || !a->width)
        return;
    if (lnorm_back_is_wide(a))
        LAUNCH(lnorm_back<4>, grid, lanes, 0, m, *a, row_blocks, tiles);
    else
        LAUNCH(lnorm_back<1>, grid, lanes, 0, m, *a, row_blocks, tiles);
}
