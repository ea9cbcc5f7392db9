/* attend.cu - around attention (attention.cu): positions, lengths, pooling by weights. Sums run
 * over steps in their order. */
#include "epilogue.cuh"
#include "form.cuh"

enum { ATTEND_LANES = 128 };

KERNEL_BOUNDED(ATTEND_LANES, position_forward)(struct op_position a)
{
    size_t at = global_id(), line = (size_t)a.steps * a.width;
    if (at >= a.rows * line)
        return;
    size_t row = at / line, t = at % line / a.width, j = at % a.width;
    int64_t from = (int64_t)t + a.shift;
    float y = a.add ? form_get(a.y, at) : 0.0f;
    if (from >= 0 && from < a.x_steps)
        y += form_get(a.x, (row * a.x_steps + (size_t)from) * a.width + j);
    if (a.p && t < a.count)
        y += (float)a.p[t * a.width + j];
    form_put(a.y, at, y);
}

KERNEL_BOUNDED(ATTEND_LANES, position_sums)(struct op_position_back a)
{
    size_t at = global_id();
    if (at >= (size_t)a.count * a.width)
        return;
    float sum = a.more ? (float)a.dp[at] : 0.0f;
    size_t rows = at < (size_t)a.steps * a.width ? a.rows : 0;
    for (size_t row = 0; row < rows; row++)
        sum += form_get(a.dy, row * a.steps * a.width + at);
    a.dp[at] = sum;
}

KERNEL_BOUNDED(ATTEND_LANES, lengths_of_rows)(struct op_lengths a)
{
    size_t row = global_id();
    if (row < a.rows)
        a.to[row] = (int32_t)(((uint32_t)a.from[row] + a.more + a.divide - 1) / a.divide);
}

/* A lane has a pair. */
KERNEL_BOUNDED(ATTEND_LANES, rotary_pairs)(struct op_rotary a)
{
    size_t lane = global_id(), pairs = a.width / 2;
    if (lane >= a.rows * a.steps * pairs)
        return;
    size_t step = lane / pairs, j = lane % pairs % a.half;
    size_t at = step * a.ld + lane % pairs / a.half * 2 * a.half + j;
    const float *turn = (const float *)a.turn + (step % a.steps * a.half + j) * 2;
    float c = turn[0], s = a.back ? -turn[1] : turn[1];
    float one = form_get(a.x, at), two = form_get(a.x, at + a.half);
    form_put(a.x, at, fmaf(one, c, -two * s));
    form_put(a.x, at + a.half, fmaf(two, c, one * s));
}

DEVICE float warp_most(float v)
{
    for (int bits = 16; bits > 0; bits >>= 1)
        v = fmaxf(v, shuffle_xor(FULL_WARP, v, bits));
    return v;
}

/* The sum over `n` columns of two steps. */
DEVICE float attend_dot(struct act a, size_t i, struct act b, size_t j, uint32_t n)
{
    float sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum = fmaf(form_get(a, i + k), form_get(b, j + k), sum);
    return sum;
}

/* A warp has a row; its shares are in memory. */
KERNEL_BOUNDED(WARP, weigh_rows)(struct op_weigh a)
{
    size_t row = block_x(), first = row * a.steps;
    uint32_t length = (uint32_t)a.length[row];
    float *share = (float *)a.share + first, most = -INFINITY, sum = 0;
    for (uint32_t t = lane_id(); t < length; t += WARP)
        most = fmaxf(most, form_get(a.score, first + t));
    most = warp_most(most);
    for (uint32_t t = lane_id(); t < length; t += WARP)
        sum += expf(form_get(a.score, first + t) - most);
    sum = warp_sum(sum);
    for (uint32_t t = lane_id(); t < a.steps; t += WARP)
        share[t] = t < length ? expf(form_get(a.score, first + t) - most) / sum : 0.0f;
    sync_warp(FULL_WARP);
    for (uint32_t j = lane_id(); j < a.width; j += WARP) {
        float y = 0;
        for (uint32_t t = 0; t < length; t++)
            y = fmaf(share[t], form_get(a.x, (first + t) * a.width + j), y);
        form_put(a.y, row * a.width + j, y);
    }
}

KERNEL_BOUNDED(WARP, weigh_rows_back)(struct op_weigh_back a)
{
    size_t row = block_x(), first = row * a.steps;
    uint32_t length = (uint32_t)a.length[row];
    const float *share = (const float *)a.share + first;
    float mean = 0;
    for (uint32_t t = lane_id(); t < length; t += WARP)
        mean = fmaf(share[t], attend_dot(a.dy, row * a.width, a.x, (first + t) * a.width, a.width),
                    mean);
    mean = warp_sum(mean);
    for (uint32_t t = lane_id(); t < a.steps; t += WARP) {
        float d = t < length
                      ? attend_dot(a.dy, row * a.width, a.x, (first + t) * a.width, a.width) - mean
                      : 0.0f;
        form_put(a.dscore, first + t, t < length ? share[t] * d : 0.0f);
    }
    for (size_t i = lane_id(); i < (size_t)a.steps * a.width && a.dx.at; i += WARP) {
        size_t at = first * a.width + i;
        float d = share[i / a.width] * form_get(a.dy, row * a.width + i % a.width);
        form_put(a.dx, at, a.add_dx ? form_get(a.dx, at) + d : d);
    }
}

void cuda_position(struct machine *m, const struct op_position *a)
{
    LAUNCH_EACH(position_forward, (size_t)a->rows * a->steps * a->width, ATTEND_LANES, m, *a);
}

void cuda_position_back(struct machine *m, const struct op_position_back *a)
{
    LAUNCH_EACH(position_sums, (size_t)a->count * a->width, ATTEND_LANES, m, *a);
}

void cuda_lengths(struct machine *m, const struct op_lengths *a)
{
    LAUNCH_EACH(lengths_of_rows, a->rows, ATTEND_LANES, m, *a);
}

void cuda_rotary(struct machine *m, const struct op_rotary *a)
{
    LAUNCH_EACH(rotary_pairs, (size_t)a->rows * a->steps * (a->width / 2), ATTEND_LANES, m, *a);
}

void cuda_weigh(struct machine *m, const struct op_weigh *a)
{
    if (a->rows)
        LAUNCH(weigh_rows, dim3(a->rows), dim3(WARP), 0, m, *a);
}

void cuda_weigh_back(struct machine *m, const struct op_weigh_back *a)
{
    if (a->rows)
        LAUNCH(weigh_rows_back, dim3(a->rows), dim3(WARP), 0, m, *a);
}
