/* series.cu - sequences: their steps and lengths, recurrent layers, pooling. A recurrent layer is
 * one launch a step of time, in which a lane has one unit of one row; no two write to one place. */
#include "epilogue.cuh"
#include "form.cuh"
#include "recur_guest.cuh"

enum { SERIES_LANES = 128 };

static dim3 series_grid(size_t lanes)
{
    return dim3((unsigned)((lanes + SERIES_LANES - 1) / SERIES_LANES));
}
DEVICE size_t series_lane()
{
    return (size_t)block_x() * SERIES_LANES + thread_id();
}

/* A lane has a number of a row. */
KERNEL_BOUNDED(SERIES_LANES, series_steps)(struct op_series a)
{
    size_t at = series_lane(), each = (size_t)a.steps * a.channels;
    if (at >= a.rows * each)
        return;
    size_t row = at / each, t = at % each / a.channels, c = at % a.channels;
    ((float *)a.y.at)[at] = ((const float *)a.x.at)[row * a.ldx + c * a.x_steps + t];
}

/* A lane has a row. */
KERNEL_BOUNDED(SERIES_LANES, series_length)(struct op_series a)
{
    size_t row = series_lane();
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
    size_t row = series_lane();
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

/* What a row begins with: h, then c (LSTM); NULL: 0. */
DEVICE const float *state_before(const struct recur_state &state, size_t row)
{
    return state.from && !state.begins[row] ? (const float *)state.from + row * state.ld : NULL;
}

/* The sum of h', which stands from `at` on, times the column's part of u. */
DEVICE float recur_sum(struct op_recur a, struct act h, size_t at, uint32_t column, float sum)
{
    size_t columns = (size_t)RECUR_COLUMNS(a.kind) * a.units;
    const float *u = (const float *)a.u + column;
    for (size_t k = 0; k < a.units; k++)
        sum = fmaf(form_get(h, at + k), u[k * columns], sum);
    return sum;
}

/* The i-th step: a lane has a unit of a row. */
KERNEL_BOUNDED(SERIES_LANES, recur_step)(struct op_recur a, uint32_t i)
{
    size_t lane = series_lane(), n = a.units;
    if (lane >= a.rows * n)
        return;
    size_t row = lane / n, j = lane % n, t = a.reverse ? a.steps - 1 - i : i;
    size_t at = row * a.steps + t, before = a.reverse ? at + 1 : at - 1;
    float *gates = (float *)a.gates + at * RECUR_GATES * n + j, *cells = (float *)a.cells;
    const float *began = i ? NULL : state_before(a.state, row);
    struct act from = i ? a.y : plain_act(began);
    size_t from_at = i ? before * a.ldy + a.at : 0;
    float old = i || began ? form_get(from, from_at + j) : 0, h = 0, c = 0;
    float v[RECUR_GATES] = {gates[0], gates[n], gates[2 * n], 0};
    uint32_t first = RECUR_GATES - RECUR_COLUMNS(a.kind);
    if (a.kind == RECUR_LSTM)
        v[3] = gates[3 * n];
    for (uint32_t g = first; g < RECUR_GATES && (i || began); g++)
        v[g] = recur_sum(a, from, from_at, (uint32_t)((g - first) * n + j), v[g]);
    if (t >= (size_t)a.length[row]) {
        v[0] = v[1] = v[2] = v[3] = 0;
    } else if (a.kind == RECUR_LSTM) {
        v[0] = sigmoid(v[0]);
        v[1] = sigmoid(v[1]);
        v[2] = tanhf(v[2]);
        v[3] = sigmoid(v[3]);
        c = fmaf(v[1], i ? cells[before * n + j] : began ? began[n + j] : 0.0f, v[0] * v[2]);
        h = v[3] * tanhf(c);
    } else {
        const float *b = (const float *)a.b + j;
        v[1] = sigmoid(v[1] + b[0]);
        v[2] = sigmoid(v[2] + b[n]);
        v[3] += b[2 * n];
        v[0] = tanhf(fmaf(v[1], v[3], v[0]));
        h = fmaf(v[2], old - v[0], v[0]);
    }
    for (uint32_t g = 0; g < RECUR_GATES; g++)
        gates[g * n] = v[g];
    if (cells)
        cells[at * n + j] = c;
    a.before[at * n + j] = old;
    form_put(a.y, at * a.ldy + a.at + j, h);
}

/* What a row passes to its next window: a lane has a unit of a row. */
KERNEL_BOUNDED(SERIES_LANES, recur_keep)(struct op_recur a)
{
    size_t lane = series_lane(), n = a.units;
    if (lane >= a.rows * n)
        return;
    size_t row = lane / n, j = lane % n, length = (size_t)a.length[row];
    size_t last = row * a.steps + length - 1;
    const float *began = state_before(a.state, row), *cells = (const float *)a.cells;
    float *to = (float *)a.state.to + row * a.state.ld + j;
    to[0] = length ? form_get(a.y, last * a.ldy + a.at + j) : began ? began[j] : 0;
    if (cells)
        to[n] = length ? cells[last * n + j] : began ? began[n + j] : 0;
}

/* The gradient of h from the step behind it: what it carries, and its sums through u. */
DEVICE float recur_dh(struct op_recur_back a, size_t behind, size_t j, float dh)
{
    size_t columns = (size_t)RECUR_COLUMNS(a.kind) * a.units;
    const float *dz = (const float *)a.gates + (behind + 1) * RECUR_GATES * a.units - columns;
    for (size_t k = 0; k < columns; k++)
        dh = fmaf(dz[k], ((const float *)a.u)[j * columns + k], dh);
    return dh;
}

/* The gradient of the i-th step; last: nothing is carried to it. */
KERNEL_BOUNDED(SERIES_LANES, recur_step_back)(struct op_recur_back a, uint32_t i)
{
    size_t lane = series_lane(), n = a.units;
    if (lane >= a.rows * n)
        return;
    bool last = i + 1 == a.steps;
    size_t row = lane / n, j = lane % n, t = a.reverse ? a.steps - 1 - i : i;
    size_t at = row * a.steps + t;
    float *gates = (float *)a.gates + at * RECUR_GATES * n + j;
    float *carry = (float *)a.carry + row * 2 * n + j;
    float dh = last ? 0 : recur_dh(a, a.reverse ? at - 1 : at + 1, j, carry[0]);
    float dc = last ? 0 : carry[n], dz[RECUR_GATES] = {0, 0, 0, 0};
    float v[RECUR_GATES] = {gates[0], gates[n], gates[2 * n], gates[3 * n]};
    carry[0] = carry[n] = 0;
    if (t < (size_t)a.length[row] && a.kind == RECUR_LSTM) {
        const float *cells = (const float *)a.cells;
        const float *began = i ? NULL : state_before(a.state, row);
        float old = i       ? cells[(a.reverse ? at + 1 : at - 1) * n + j]
                    : began ? began[n + j]
                            : 0;
        float tan = tanhf(cells[at * n + j]);
        dh += form_get(a.dy, at * a.lddy + a.at + j);
        dc = fmaf(dh * v[3], 1 - tan * tan, dc);
        dz[0] = dc * v[2] * (v[0] * (1 - v[0]));
        dz[1] = dc * old * (v[1] * (1 - v[1]));
        dz[2] = dc * v[0] * (1 - v[2] * v[2]);
        dz[3] = dh * tan * (v[3] * (1 - v[3]));
        carry[n] = dc * v[1];
    } else if (t < (size_t)a.length[row]) {
        dh += form_get(a.dy, at * a.lddy + a.at + j);
        float dn = dh * (1 - v[2]) * (1 - v[0] * v[0]);
        dz[0] = dn;
        dz[1] = dn * v[3] * (v[1] * (1 - v[1]));
        dz[2] = dh * (a.before[at * n + j] - v[0]) * (v[2] * (1 - v[2]));
        dz[3] = dn * v[1];
        carry[0] = dh * v[2];
    }
    for (uint32_t g = 0; g < RECUR_GATES; g++)
        gates[g * n] = dz[g];
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
    size_t lane = series_lane();
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
    size_t lane = series_lane();
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
    LAUNCH(series_steps, series_grid((size_t)a->rows * a->steps * a->channels),
           dim3(SERIES_LANES), 0, m, *a);
    LAUNCH(series_length, series_grid(a->rows), dim3(SERIES_LANES), 0, m, *a);
}

void cuda_tokens(struct machine *m, const struct op_tokens *a)
{
    if (a->rows)
        LAUNCH(series_tokens, series_grid(a->rows), dim3(SERIES_LANES), 0, m, *a);
}

/* The sums over the inputs, of a layer that is asked for whole. */
static void recur_inputs_of(struct machine *m, const struct op_recur *a, enum product how)
{
    struct op_dense d = {};
    d.rows = a->rows * a->steps;
    d.steps = d.shards = 1;
    d.in = a->from.in;
    d.y = plain_act((const float *)a->gates);
    d.x = a->from.x;
    d.w = a->from.w;
    d.b = a->from.b;
    d.shadow = a->from.shadow;
    d.out = RECUR_COLUMNS(a->kind) * a->units;
    d.ldx = a->from.ldx;
    d.ldy = RECUR_GATES * a->units;
    cuda_dense(m, &d, how);
}

static void recur_forward(struct machine *m, const struct op_recur *a, enum product how)
{
    if (a->from.in)
        recur_inputs_of(m, a, how);
    for (uint32_t i = 0; i < a->steps && a->rows; i++)
        LAUNCH(recur_step, series_grid((size_t)a->rows * a->units), dim3(SERIES_LANES), 0, m, *a,
               i);
    if (a->state.from && a->rows)
        LAUNCH(recur_keep, series_grid((size_t)a->rows * a->units), dim3(SERIES_LANES), 0, m, *a);
}

void cuda_recur(struct machine *m, const struct op_recur *a, enum product how)
{
    if (!a->from.in || !device_recur(m, a, how))
        recur_forward(m, a, how);
}

/* Of a layer that a guest has answered and does not serve any more: as our kernels leave it. */
static void recur_again(struct machine *m, const struct op_recur_back *a, enum product how)
{
    struct op_recur f = {};
    f.dims = a->dims;
    f.y = a->y;
    f.gates = a->gates;
    f.before = const_cast<real *>(a->before);
    f.cells = const_cast<real *>(a->cells);
    f.u = a->u;
    f.b = a->b;
    f.length = a->length;
    f.ldy = a->lddy;
    f.at = a->at;
    f.kind = a->kind;
    f.reverse = a->reverse;
    f.from = a->from;
    recur_forward(m, &f, how);
}

/* The gradients of a layer that was asked for whole, from those of its sums. */
static void recur_gradients_of(struct machine *m, const struct op_recur_back *a, enum product how,
                               struct products by)
{
    uint32_t columns = RECUR_COLUMNS(a->kind) * a->units;
    struct op_dense_back d = {};
    d.dims = a->dims;
    d.rows = a->rows * a->steps;
    d.steps = 1;
    d.in = d.ldx = d.lddx = a->from.in;
    d.out = columns;
    d.ldy = d.lddy = RECUR_GATES * a->units;
    d.dy = d.y = plain_act((const float *)a->gates);
    d.dx = a->to.dx;
    d.dw = a->to.dw;
    d.db = a->to.db;
    d.x = a->from.x;
    d.w = a->from.w;
    d.shadow = a->from.shadow;
    d.now = a->to.now;
    d.add_dx = a->to.add_dx;
    d.more = a->to.more;
    cuda_dense_back(m, &d, a->shards, how);
    d.in = d.ldx = d.lddx = a->units;
    d.dy = d.y = form_past(d.dy, RECUR_GATES * a->units - columns);
    d.dx = d.shadow = no_act();
    d.dw = a->to.du;
    d.db = a->to.du_b;
    d.x = plain_act((const float *)a->before);
    d.w = a->u;
    d.add_dx = 0;
    cuda_dense_back(m, &d, a->shards, product_of(by, d.rows, d.in, d.out, false));
}

void cuda_recur_back(struct machine *m, const struct op_recur_back *a, enum product how,
                     struct products by)
{
    if (a->from.in && device_recur_back(m, a, how))
        return;
    if (a->from.in)
        recur_again(m, a, how);
    for (uint32_t i = a->steps; i-- > 0 && a->rows;)
        LAUNCH(recur_step_back, series_grid((size_t)a->rows * a->units), dim3(SERIES_LANES), 0, m,
               *a, i);
    if (a->from.in)
        recur_gradients_of(m, a, how, by);
}

void cuda_pool(struct machine *m, const struct op_pool *a)
{
    if (a->rows)
        LAUNCH(pool_steps, series_grid((size_t)a->rows * a->width), dim3(SERIES_LANES), 0, m, *a);
}

void cuda_pool_back(struct machine *m, const struct op_pool_back *a)
{
    if (a->rows)
        LAUNCH(pool_steps_back, series_grid((size_t)a->rows * a->width), dim3(SERIES_LANES), 0, m,
               *a);
}
