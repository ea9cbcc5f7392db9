/* bnorm.cu - batch normalisation (Ioffe and Szegedy, 2015), with the rules of the CPU: statistics
 * count the valid rows, without their weights; one valid row has no variance, and the running
 * statistics are used.
 *
 * Sums over rows: a block has 32 columns of a part of the rows, and the last block of a tile of
 * columns adds the parts in order. The number of parts follows from the rows alone. */
#include "columns.cuh"

enum { LANES_OF_BLOCK = 256, ROWS_OF_PART = 64, MOST_PARTS = 64 };

/* Parts of rows; one if there are more tiles than counters. */
HOST_DEVICE uint32_t parts_of(uint32_t rows, uint32_t tiles)
{
    uint32_t parts = rows / ROWS_OF_PART;
    if (parts < 1 || tiles > SCRATCH_HEAD / sizeof(uint32_t))
        return 1;
    return parts < MOST_PARTS ? parts : (uint32_t)MOST_PARTS;
}

/* Two numbers a column and part, in scratch after its head. */
DEVICE double *part_at(void *scratch, uint32_t width, uint32_t part, uint32_t which)
{
    double *parts = (double *)(void *)((char *)scratch + SCRATCH_HEAD);
    return parts + (size_t)(2 * part + which) * width;
}

/* Valid rows [*begin, *end) of a part. */
DEVICE void part_rows(uint32_t rows, uint32_t valid, uint32_t parts, uint32_t part,
                      uint32_t *begin, uint32_t *end)
{
    *begin = part_begin(rows, parts, part);
    *end = part_begin(rows, parts, part + 1);
    *begin = *begin < valid ? *begin : valid;
    *end = *end < valid ? *end : valid;
}

/* A column's statistics: mean, and sum of squares around it, over `rows`. */
DEVICE void put_moments(const struct op_bnorm_stats &a, uint32_t col, uint32_t rows, double mean,
                        double square)
{
    const float *from = (const float *)(a.micro ? a.moved : a.running);
    double keep = 1 - a.momentum, moved = (double)from[col];
    double variance = (double)from[a.width + col];
    if (rows > 1) {
        a.mean[col] = (float)mean;
        a.inv[col] = (float)(1 / sqrt(square / rows + a.epsilon));
        moved = keep * moved + a.momentum * mean;
        variance = keep * variance + a.momentum * square / (rows - 1);
    } else {
        a.mean[col] = from[col];
        a.inv[col] = (float)(1 / sqrt(variance + a.epsilon));
    }
    a.moved[col] = (float)moved;
    a.moved[a.width + col] = (float)variance;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, bnorm_moments)(struct op_bnorm_stats a, void *scratch)
{
    SHARED(float, room, 2 * LANES_OF_BLOCK);
    SHARED(float, centre, WARP);
    SHARED(uint32_t, said, 1);
    uint32_t valid = valid_rows(a.now, a.from, a.rows, a.micro), parts = grid_y(), begin, end;
    uint32_t col = block_x() * WARP + lane_id();
    bool inside = col < a.width;
    part_rows(a.rows, valid, parts, block_y(), &begin, &end);
    float sum[1], around[2], n = (float)(end - begin);
    auto load = [&](uint32_t row, uint32_t(&word)[1]) {
        word[0] = form_bits(a.x, (size_t)row * a.ld + (inside ? col : 0));
    };
    column_sums<1, 1>(sum, begin, end, room, load, [&](const uint32_t(&word)[1], float(&to)[1]) {
        to[0] += form_number(a.x.form, word[0]);
    });
    if (warp_id() == 0)
        centre[lane_id()] = end > begin ? sum[0] / n : 0;
    sync_block();
    float c = centre[lane_id()];
    column_sums<2, 1>(around, begin, end, room, load, [&](const uint32_t(&word)[1], float(&to)[2]) {
        float d = form_number(a.x.form, word[0]) - c;
        to[0] += d;
        to[1] = fmaf(d, d, to[1]);
    });
    /* the exact mean, not the rounded one */
    double off = end > begin ? (double)(around[0] / n) : 0, mean = (double)c + off;
    double square = (double)around[1] - (double)around[0] * off;
    if (parts > 1 && warp_id() == 0 && inside) {
        part_at(scratch, a.width, block_y(), 0)[col] = mean;
        part_at(scratch, a.width, block_y(), 1)[col] = square;
    }
    if (parts > 1 && !block_is_last((uint32_t *)scratch + block_x(), parts, said))
        return;
    if (warp_id() != 0 || !inside)
        return;
    /* Chan, Golub and LeVeque (1979): squares around the common mean */
    if (parts > 1)
        mean = square = 0;
    for (uint32_t p = 0; p < parts && parts > 1; p++) {
        part_rows(a.rows, valid, parts, p, &begin, &end);
        mean += (double)(end - begin) / valid * part_at(scratch, a.width, p, 0)[col];
    }
    for (uint32_t p = 0; p < parts && parts > 1; p++) {
        part_rows(a.rows, valid, parts, p, &begin, &end);
        double away = part_at(scratch, a.width, p, 0)[col] - mean;
        square += part_at(scratch, a.width, p, 1)[col] + (double)(end - begin) * away * away;
    }
    put_moments(a, col, valid, mean, square);
}

DEVICE void put_sums(const struct op_bnorm_sums &a, uint32_t col, double sum, double product)
{
    a.sums[col] = (float)sum;
    a.sums[a.width + col] = (float)product;
    a.dgamma[col] = (a.more ? a.dgamma[col] : 0) + (float)product;
    a.dbeta[col] = (a.more ? a.dbeta[col] : 0) + (float)sum;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, bnorm_gradients)(struct op_bnorm_sums a, void *scratch)
{
    SHARED(float, room, 2 * LANES_OF_BLOCK);
    SHARED(uint32_t, said, 1);
    uint32_t valid = valid_rows(a.now, a.from, a.rows, a.micro), parts = grid_y(), begin, end;
    uint32_t col = block_x() * WARP + lane_id();
    bool inside = col < a.width;
    part_rows(a.rows, valid, parts, block_y(), &begin, &end);
    float mean = inside ? (float)a.mean[col] : 0, inv = inside ? (float)a.inv[col] : 0, sums[2];
    column_sums<2, 2>(
        sums, begin, end, room,
        [&](uint32_t row, uint32_t(&word)[2]) {
            word[0] = form_bits(a.dy, (size_t)row * a.lddy + (inside ? col : 0));
            word[1] = form_bits(a.x, (size_t)row * a.ldx + (inside ? col : 0));
        },
        [&](const uint32_t(&word)[2], float(&to)[2]) {
            float d = form_number(a.dy.form, word[0]);
            to[0] += d;
            to[1] = fmaf(d, (form_number(a.x.form, word[1]) - mean) * inv, to[1]);
        });
    if (parts == 1) {
        if (warp_id() == 0 && inside)
            put_sums(a, col, (double)sums[0], (double)sums[1]);
        return;
    }
    if (warp_id() == 0 && inside)
        for (uint32_t i = 0; i < 2; i++)
            part_at(scratch, a.width, block_y(), i)[col] = (double)sums[i];
    if (!block_is_last((uint32_t *)scratch + block_x(), parts, said) || warp_id() != 0 || !inside)
        return;
    double sum = 0, product = 0;
    for (uint32_t p = 0; p < parts; p++) {
        sum += part_at(scratch, a.width, p, 0)[col];
        product += part_at(scratch, a.width, p, 1)[col];
    }
    put_sums(a, col, sum, product);
}

template <int V> KERNEL_BOUNDED(SHEET_LANES, bnorm_forward)(struct sheet s, struct op_bnorm a)
{
    uint32_t col = sheet_unit(s) * V;
    if (col >= a.width)
        return;
    float mean[V], factor[V], gamma[V], beta[V];
    run_load(mean, (const float *)(a.mean ? a.mean : a.running) + col);
    run_load(factor, (const float *)(a.mean ? a.inv : a.running + a.width) + col);
    run_load(gamma, (const float *)a.gamma + col);
    run_load(beta, (const float *)a.beta + col);
    UNROLL
    for (int i = 0; i < V; i++) {
        if (!a.mean)
            factor[i] = (float)(1 / sqrt((double)factor[i] + a.epsilon));
        factor[i] *= gamma[i];
    }
    for (EACH_ROW_OF(s, row)) {
        float v[V];
        run_load(v, a.x, (size_t)row * a.ldx + col);
        UNROLL
        for (int i = 0; i < V; i++)
            v[i] = fmaf(v[i] - mean[i], factor[i], beta[i]);
        run_store(a.y, (size_t)row * a.ldy + col, v);
    }
}

/* With h = (x - mean) inv and n valid rows: dx = gamma inv (dy - mean(dy) - h mean(dy h)); past the
 * end dx = 0. */
template <int V>
KERNEL_BOUNDED(SHEET_LANES, bnorm_backward)(struct sheet s, struct op_bnorm_back a)
{
    uint32_t col = sheet_unit(s) * V, rows = valid_rows(a.now, a.from, a.rows, a.micro);
    if (col >= a.width)
        return;
    float share = rows > 1 ? 1 / (float)rows : 0.0f;
    float mean[V], inv[V], gamma[V], sum[V], product[V];
    run_load(mean, (const float *)a.mean + col);
    run_load(inv, (const float *)a.inv + col);
    run_load(gamma, (const float *)a.gamma + col);
    run_load(sum, (const float *)a.sums + col);
    run_load(product, (const float *)a.sums + a.width + col);
    for (EACH_ROW_OF(s, row)) {
        float x[V], dy[V], dx[V] = {};
        size_t to = (size_t)row * a.lddx + col;
        if (row >= rows) {
            if (!a.add_dx)
                run_store(a.dx, to, dx);
            continue;
        }
        run_load(x, a.x, (size_t)row * a.ldx + col);
        run_load(dy, a.dy, (size_t)row * a.lddy + col);
        if (a.add_dx)
            run_load(dx, a.dx, to);
        UNROLL
        for (int i = 0; i < V; i++) {
            float hat = (x[i] - mean[i]) * inv[i];
            dx[i] += gamma[i] * inv[i] * (dy[i] - share * (sum[i] + hat * product[i]));
        }
        run_store(a.dx, to, dx);
    }
}

/* --- starting --- */

size_t cuda_bnorm_scratch(uint32_t rows, uint32_t width)
{
    return SCRATCH_HEAD +
           2 * sizeof(double) * (size_t)parts_of(rows, column_tiles(width)) * width;
}

void cuda_bnorm_stats(struct machine *m, const struct op_bnorm_stats *a, void *scratch)
{
    unsigned tiles = column_tiles(a->width);
    if (tiles)
        LAUNCH(bnorm_moments, dim3(tiles, parts_of(a->rows, tiles)), dim3(LANES_OF_BLOCK), 0, m, *a,
               scratch);
}

void cuda_bnorm_sums(struct machine *m, const struct op_bnorm_sums *a, void *scratch)
{
    unsigned tiles = column_tiles(a->width);
    if (tiles)
        LAUNCH(bnorm_gradients, dim3(tiles, parts_of(a->rows, tiles)), dim3(LANES_OF_BLOCK), 0, m,
               *a, scratch);
}

void cuda_bnorm(struct machine *m, const struct op_bnorm *a)
{
    const real *mean = a->mean ? a->mean : a->running;
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy) && is_wide(mean, 0) &&
                is_wide(a->mean ? a->inv : mean + a->width, 0) && is_wide(a->gamma, 0) &&
                is_wide(a->beta, 0);
    if (a->rows && a->width)
        LAUNCH_SHEET(bnorm_forward, wide, a->rows, a->width, m, *a);
}

void cuda_bnorm_back(struct machine *m, const struct op_bnorm_back *a)
{
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->dy, a->lddy) && is_wide(a->dx, a->lddx) &&
                is_wide(a->mean, 0) && is_wide(a->inv, 0) && is_wide(a->gamma, 0) &&
                is_wide(a->sums, a->width);
    if (a->rows && a->width)
        LAUNCH_SHEET(bnorm_backward, wide, a->rows, a->width, m, *a);
}
