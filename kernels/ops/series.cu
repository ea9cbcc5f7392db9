/* series.cu - sequences: their steps and lengths, pooling. No two lanes write to one place. */
#include "form.cuh"

enum { SERIES_LANES = 128 };

/* A lane has a number of a row. */
KERNEL_BOUNDED(SERIES_LANES, series_steps)(struct op_series a)
{
    size_t at = global_id(), each = (size_t)a.steps * a.channels;
    if (at >= a.rows * each)
        return;
    size_t row = at / each, t = at % each / a.channels, c = at % a.channels;
    ((float *)a.y.at)[at] = ((const float *)a.x.at)[row * a.ldx + c * a.x_steps + t];
}

/* A lane has a row. */
KERNEL_BOUNDED(SERIES_LANES, series_length)(struct op_series a)
{
    size_t row = global_id();
    if (row >= a.rows)
        return;
    const float *missing =
        (const float *)a.x.at + row * a.ldx + (size_t)a.channels * a.x_steps;
    uint32_t length = a.steps;
    for (bool there = false; length > 0; length--) {
        for (uint32_t c = 0; c < a.channels; c++)
            there |= !(missing[(size_t)c * a.x_steps + length - 1] > 0);
        if (there)
            break;
    }
    a.length[row] = (int32_t)length;
}

/* A lane has a row. */
KERNEL_BOUNDED(SERIES_LANES, series_tokens)(struct op_tokens a)
{
    size_t row = global_id();
    if (row >= a.rows)
        return;
    const int32_t *ids = a.ids + row * a.ids_ld + a.at;
    uint32_t length = 0;
    for (uint32_t t = 0; t < a.steps; t++) {
        int32_t id = ids[t];
        a.tokens[row * a.steps + t] = id;
        length = id ? t + 1 : length;
    }
    a.length[row] = (int32_t)length;
}

DEVICE uint32_t pool_largest(struct act x, size_t first, uint32_t ld, uint32_t length)
{
    uint32_t at = 0;
    for (uint32_t t = 1; t < length; t++)
        at = form_get(x, first + (size_t)t * ld) > form_get(x, first + (size_t)at * ld) ? t : at;
    return at;
}

/* A lane has a column of a row. */
KERNEL_BOUNDED(SERIES_LANES, pool_steps)(struct op_pool a)
{
    size_t lane = global_id();
    if (lane >= (size_t)a.rows * a.width)
        return;
    size_t row = lane / a.width, j = lane % a.width, first = row * a.steps * a.ldx + j;
    uint32_t length = (uint32_t)a.length[row];
    float sum = 0;
    for (uint32_t t = 0; t < length && a.kind == POOL_MEAN; t++)
        sum += form_get(a.x, first + (size_t)t * a.ldx);
    if (length && a.kind == POOL_MEAN)
        sum /= (float)length;
    else if (length)
        sum = form_get(a.x, first + (size_t)a.ldx * (a.kind == POOL_MAX
                                                        ? pool_largest(a.x, first, a.ldx, length)
                                                    : a.kind == POOL_FIRST ? 0
                                                                           : length - 1));
    form_put(a.y, row * a.ldy + j, sum);
}

KERNEL_BOUNDED(SERIES_LANES, pool_steps_back)(struct op_pool_back a)
{
    size_t lane = global_id();
    if (lane >= (size_t)a.rows * a.width)
        return;
    size_t row = lane / a.width, j = lane % a.width;
    uint32_t length = (uint32_t)a.length[row], only = a.kind == POOL_FIRST ? 0 : length - 1;
    float d = form_get(a.dy, row * a.lddy + j);
    if (a.kind == POOL_MAX)
        only = pool_largest(a.x, row * a.steps * a.ldx + j, a.ldx, length);
    for (uint32_t t = 0; t < a.steps; t++) {
        size_t at = (row * a.steps + t) * a.lddx + j;
        float part = t >= length                ? 0
                     : a.kind == POOL_MEAN      ? d / (float)length
                     : t == only                ? d
                                                : 0;
        form_put(a.dx, at, a.add_dx ? form_get(a.dx, at) + part : part);
    }
}

void cuda_series(struct machine *m, const struct op_series *a)
{
    if (!a->rows)
        return;
    LAUNCH_EACH(series_steps, (size_t)a->rows * a->steps * a->channels, SERIES_LANES, m, *a);
    LAUNCH_EACH(series_length, a->rows, SERIES_LANES, m, *a);
}

void cuda_tokens(struct machine *m, const struct op_tokens *a)
{
    LAUNCH_EACH(series_tokens, a->rows, SERIES_LANES, m, *a);
}

void cuda_pool(struct machine *m, const struct op_pool *a)
{
    LAUNCH_EACH(pool_steps, (size_t)a->rows * a->width, SERIES_LANES, m, *a);
}

void cuda_pool_back(struct machine *m, const struct op_pool_back *a)
{
    LAUNCH_EACH(pool_steps_back, (size_t)a->rows * a->width, SERIES_LANES, m, *a);
}
