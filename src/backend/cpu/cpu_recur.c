/* cpu_recur.c - sequences: their steps and lengths, recurrent layers, pooling. A strip of rows goes
 * through all of its steps; the rows of a step are one product with u. */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"

void cpu_tokens(const struct op_tokens *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const int32_t *ids = a->ids + row * a->ids_ld + a->at;
        uint32_t length = a->steps;
        while (length > 0 && !ids[length - 1])
            length--;
        memcpy(a->tokens + row * a->steps, ids, a->steps * sizeof *ids);
        a->length[row] = (int32_t)length;
    }
}

void cpu_series(const struct op_series *a, const struct slice *s)
{
    const uint32_t steps = a->steps, channels = a->channels, each = a->x_steps;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->ldx, *missing = x + (size_t)channels * each;
        real *y = act_real(a->y) + row * steps * channels;
        uint32_t length = 0;
        for (uint32_t c = 0; c < channels; c++)
            for (uint32_t t = 0; t < steps; t++) {
                y[(size_t)t * channels + c] = x[(size_t)c * each + t];
                if (t >= length && !(missing[(size_t)c * each + t] > 0))
                    length = t + 1;
            }
        a->length[row] = (int32_t)length;
    }
}

/* --- recurrent layers --- */

/* The index of the i-th step in the layer's direction. */
static size_t step_at(uint32_t steps, uint32_t i, bool reverse)
{
    return reverse ? steps - 1 - i : i;
}
static size_t step_before(size_t t, bool reverse)
{
    return reverse ? t + 1 : t - 1;
}

static uint32_t longest_of(const int32_t *length, uint32_t rows)
{
    int32_t longest = 0;
    for (uint32_t r = 0; r < rows; r++)
        longest = length[r] > longest ? length[r] : longest;
    return (uint32_t)longest;
}

/* The initial state of a row: h, then c (LSTM); NULL: 0. */
static const real *state_before(const struct recur_state *state, size_t row)
{
    return state->from && !state->begins[row] ? state->from + row * state->ld : NULL;
}

static void put_state(real *to, const real *from, size_t count)
{
    if (from)
        memmove(to, from, count * sizeof *to);
    else
        memset(to, 0, count * sizeof *to);
}

/* Stores h and c of a row's last step; without steps, the initial ones. */
static void keep_state(const struct op_recur *a, size_t row)
{
    const size_t units = a->units, length = (size_t)a->length[row];
    const size_t last = row * a->steps + length - 1;
    const real *before = state_before(&a->state, row);
    real *to = a->state.to + row * a->state.ld;
    put_state(to, length ? act_read(a->y) + last * a->ldy + a->at : before, units);
    if (a->cells)
        put_state(to + units,
                  length   ? a->cells + last * units
                  : before ? before + units
                           : NULL,
                  units);
}

/* h' of step t, of all rows of the strip. */
static void put_before(const struct op_recur *a, const struct slice *s, size_t t, bool first)
{
    for (uint32_t r = 0; r < s->rows; r++) {
        size_t row = ((size_t)s->row0 + r) * a->steps;
        real *to = a->before + (row + t) * a->units;
        if (first)
            put_state(to, state_before(&a->state, s->row0 + r), a->units);
        else
            memcpy(to, act_read(a->y) + (row + step_before(t, a->reverse)) * a->ldy + a->at,
                   a->units * sizeof *to);
    }
}

static void add_product(const struct op_recur *a, const struct slice *s, size_t t,
                        const struct bf16_code *code, const uint16_t *kept)
{
    const uint32_t units = a->units, columns = RECUR_COLUMNS(a->kind) * units;
    const size_t at = (size_t)s->row0 * a->steps + t;
    struct product p = {
        .c = a->gates + (at + 1) * RECUR_GATES * units - columns,
        .a = a->before + at * units,
        .rows = s->rows,
        .k = units,
        .lda = a->steps * units,
        .ldb = columns,
        .ldc = a->steps * RECUR_GATES * units,
        .add = true,
    };
    struct blas_product half = {.c = p.c, .a = p.a, .b = a->u, .m = p.rows, .n = columns, .k = p.k,
                                .lda = p.lda, .ldb = p.ldb, .ldc = p.ldc, .add = true};
    if (code)
        cpu_bf16_product(code, &half, NULL, kept, s->scratch);
    else
        cpu_product(s->m->vec, p, columns, a->u);
}

/* c' of a step; NULL: 0. */
static const real *cell_before(const real *cells, const struct recur_state *state, size_t units,
                               size_t row, size_t before, bool first)
{
    const real *begin = first ? state_before(state, row) : NULL;
    return !cells ? NULL : !first ? cells + before * units : begin ? begin + units : NULL;
}

/* One row, one step. `at`: its place among rows x steps. */
static void put_step(const struct op_recur *a, const struct slice *s, size_t at, bool padding,
                     bool first)
{
    const size_t units = a->units;
    struct cell c = {
        .gates = a->gates + at * RECUR_GATES * units,
        .h = act_real(a->y) + at * a->ldy + a->at,
        .c = a->cells ? a->cells + at * units : NULL,
        .before = a->before + at * units,
        .c_before = cell_before(a->cells, &a->state, units, at / a->steps,
                                step_before(at, a->reverse), first),
        .b = a->b,
        .units = a->units,
    };
    if (padding) {
        memset(c.gates, 0, RECUR_GATES * units * sizeof *c.gates);
        memset(c.h, 0, units * sizeof *c.h);
        if (c.c)
            memset(c.c, 0, units * sizeof *c.c);
    } else if (a->kind == RECUR_GRU) {
        s->m->vec->gru(&c);
    } else {
        s->m->vec->lstm(&c);
    }
}

void cpu_recur(const struct op_recur *a, const struct slice *s)
{
    const int32_t *length = a->length + s->row0;
    const uint32_t longest = longest_of(length, s->rows);
    const uint32_t columns = RECUR_COLUMNS(a->kind) * a->units;
    const struct bf16_code *code = a->exact ? NULL : cpu_bf16(s->m, a->units, columns);
    const struct blas_product u = {.b = a->u, .n = columns, .k = a->units, .ldb = columns};
    const uint16_t *kept = code ? cpu_bf16_keep(&u, s->scratch) : NULL;
    for (uint32_t i = 0; i < a->steps; i++) {
        size_t t = step_at(a->steps, i, a->reverse);
        put_before(a, s, t, i == 0);
        for (uint32_t r = 0; r < s->rows && a->kind == RECUR_GRU; r++) {
            size_t at = ((size_t)s->row0 + r) * a->steps + t;
            memset(a->gates + (at * RECUR_GATES + 3) * a->units, 0, a->units * sizeof *a->gates);
        }
        if ((i > 0 || a->state.from) && t < longest)
            add_product(a, s, t, code, kept);
        for (uint32_t r = 0; r < s->rows; r++)
            put_step(a, s, ((size_t)s->row0 + r) * a->steps + t, t >= (size_t)length[r], i == 0);
    }
    for (uint32_t r = 0; r < s->rows && a->state.from; r++)
        keep_state(a, s->row0 + r);
}

/* Columns of the gradient of the sums that are turned at a time. */
enum { TURN = 512 };

/* dx += dz w', with scratch for the copy and the transpose of dz. */
static void add_across(const struct vec *vec, struct across x, real *dz, uint32_t ld,
                       void *scratch)
{
    const uint32_t columns = x.out;
    const real *w = x.w;
    size_t copied = ((size_t)x.rows + LANES - 1) / LANES * LANES * PANEL;
    real *turned = (real *)scratch + copied;
    assert(copied * (1 + TURN / PANEL) * sizeof *turned <= CPU_SCRATCH);
    struct deltas d = {.copy = scratch, .rows = x.rows, .ld = ld, .ldby = ld, .kind = ACT_NONE,
                       .room = TURN};
    for (uint32_t begin = 0; begin < columns; begin += TURN) {
        uint32_t end = columns - begin < TURN ? columns : begin + TURN;
        for (uint32_t j = begin; j < end; j += PANEL) {
            d.dy = dz + j;
            d.by = d.dy;
            d.width = end - j < PANEL ? end - j : PANEL;
            d.turned = turned + (size_t)(j - begin) * LANES;
            vec->deltas(&d);
        }
        x.dz = turned;
        x.w = w + begin;
        x.out = end - begin;
        x.room = TURN;
        vec->across(&x);
    }
}

static void take_step(const struct op_recur_back *a, const struct slice *s, uint32_t row, size_t t,
                      bool first)
{
    const size_t units = a->units, at = (size_t)row * a->steps + t;
    real *carry = a->carry + (size_t)row * 2 * units;
    struct cell_back c = {
        .gates = a->gates + at * RECUR_GATES * units,
        .dh = carry,
        .dc = carry + units,
        .dy = act_read(a->dy) + at * a->lddy + a->at,
        .before = a->before + at * units,
        .c_before = cell_before(a->cells, &a->state, units, row, step_before(at, a->reverse),
                                first),
        .c = a->cells ? a->cells + at * units : NULL,
        .units = a->units,
    };
    if (t >= (size_t)a->length[row])
        memset(c.gates, 0, RECUR_GATES * units * sizeof *c.gates);
    else if (a->kind == RECUR_GRU)
        s->m->vec->gru_back(&c);
    else
        s->m->vec->lstm_back(&c);
}

void cpu_recur_back(const struct op_recur_back *a, const struct slice *s)
{
    const size_t units = a->units, columns = RECUR_COLUMNS(a->kind) * units;
    const uint32_t longest = longest_of(a->length + s->row0, s->rows);
    real *carry = a->carry + (size_t)s->row0 * 2 * units;
    const struct bf16_code *code = cpu_bf16(s->m, a->units, (uint32_t)columns);
    struct blas_product half = {.c = carry, .b = a->u, .m = s->rows, .n = a->units,
                                .k = (uint32_t)columns, .ldb = (uint32_t)columns,
                                .lda = a->steps * RECUR_GATES * a->units, .ldc = 2 * a->units,
                                .b_across = true, .add = true};
    const uint16_t *kept = code ? cpu_bf16_keep(&half, s->scratch) : NULL;
    memset(carry, 0, s->rows * 2 * units * sizeof *carry);
    for (uint32_t i = a->steps; i-- > 0;) {
        size_t t = step_at(a->steps, i, a->reverse);
        for (uint32_t r = 0; r < s->rows; r++)
            take_step(a, s, s->row0 + r, t, i == 0);
        if (i == 0 || t >= longest)
            continue;
        real *dz = a->gates + ((size_t)s->row0 * a->steps + t + 1) * RECUR_GATES * units - columns;
        struct across x = {.dx = carry, .w = a->u, .rows = s->rows, .in = a->units,
                           .out = (uint32_t)columns, .ldw = (uint32_t)columns,
                           .lddx = 2 * a->units, .add = true};
        half.a = dz;
        if (code)
            cpu_bf16_product(code, &half, NULL, kept, s->scratch);
        else
            add_across(s->m->vec, x, dz, half.lda, s->scratch);
    }
}

/* --- pooling --- */

/* The first of the largest of a column. */
static uint32_t largest_at(const real *x, size_t ld, uint32_t length)
{
    uint32_t at = 0;
    for (uint32_t t = 1; t < length; t++)
        at = x[t * ld] > x[at * ld] ? t : at;
    return at;
}

void cpu_pool(const struct op_pool *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->steps * a->ldx;
        real *y = act_real(a->y) + row * a->ldy;
        uint32_t length = (uint32_t)a->length[row];
        memset(y, 0, a->width * sizeof *y);
        if (!length)
            continue;
        if (a->kind == POOL_LAST || a->kind == POOL_FIRST)
            memcpy(y, x + (a->kind == POOL_LAST ? (size_t)length - 1 : 0) * a->ldx,
                   a->width * sizeof *y);
        for (uint32_t j = 0; j < a->width && a->kind == POOL_MAX; j++)
            y[j] = x[largest_at(x + j, a->ldx, length) * (size_t)a->ldx + j];
        if (a->kind != POOL_MEAN)
            continue;
        for (size_t t = 0; t < length; t++)
            s->m->vec->add(y, y, x + t * a->ldx, a->width);
        for (uint32_t j = 0; j < a->width; j++)
            y[j] /= (real)length;
    }
}

/* Row by row: columns of steps lie far apart. */
static void mean_back(const struct op_pool_back *a, const real *dy, real *dx, uint32_t length)
{
    for (size_t t = 0; t < length; t++) {
        real *to = dx + t * a->lddx;
        if (t > 0 && !a->add_dx)
            memcpy(to, dx, a->width * sizeof *to);
        else
            for (uint32_t j = 0; j < a->width; j++)
                to[j] = (a->add_dx ? to[j] : 0) + dy[j] / (real)length;
    }
}

void cpu_pool_back(const struct op_pool_back *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const uint32_t length = (uint32_t)a->length[row];
        const real *dy = act_read(a->dy) + row * a->lddy;
        const real *x = act_read(a->x) + row * a->steps * a->ldx;
        real *dx = act_real(a->dx) + row * a->steps * a->lddx;
        bool mean = a->kind == POOL_MEAN;
        for (size_t t = mean ? length : 0; t < a->steps && !a->add_dx; t++)
            memset(dx + t * a->lddx, 0, a->width * sizeof *dx);
        if (mean)
            mean_back(a, dy, dx, length);
        for (uint32_t j = 0; j < a->width && length && !mean; j++) {
            uint32_t only = a->kind == POOL_MAX    ? largest_at(x + j, a->ldx, length)
                            : a->kind == POOL_FIRST ? 0
                                                    : length - 1;
            dx[(size_t)only * a->lddx + j] += dy[j];
        }
    }
}
