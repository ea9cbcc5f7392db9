/* opcase_series.c - the cases of sequences: `in` channels or units, `out` steps. */
#include "backend/cases/opcase.h"

static uint32_t places(const struct opcase *c)
{
    return c->rows * c->out;
}

/* kind: steps of x beyond the batch's */
#define SERIES(r, i, o, k, p) {.op = OP_series, .rows = r, .in = i, .out = o, .kind = k, .pad = p}
static const struct opcase cases_series[] = {SERIES(64, 8, 16, 0, 0), SERIES(33, 3, 7, 4, 2),
                                             SERIES(1, 1, 1, 0, 0), SERIES(9, 1, 50, 0, 0)};

static void make_series(const struct opcase *c, struct opdata *d)
{
    size_t steps = c->out + c->kind, each = c->in * steps, ld = 2 * each + c->pad;
    real *x = opdata_host(d, c->rows * ld, sizeof *x);
    for (size_t r = 0; r < c->rows; r++) {
        uint64_t length = opdata_random(d, c->out + 1);
        for (size_t k = 0; k < each; k++) {
            x[r * ld + k] = (real)opdata_random(d, 2001) / 1000 - 1;
            x[r * ld + each + k] = k % steps >= length || opdata_random(d, 3) == 0;
        }
    }
    d->arguments.series = (struct op_series){
        .y = {.at = opdata_output(d, "y", BUFFER_REAL, places(c), c->in, 0, false)},
        .length = opdata_output(d, "length", BUFFER_INT, c->rows, 1, 0, false),
        .x = {.at = opdata_values(d, "x", BUFFER_REAL, x, c->rows * ld, false)},
        .rows = c->rows,
        .steps = c->out,
        .channels = c->in,
        .ldx = (uint32_t)ld,
        .x_steps = (uint32_t)steps};
}
OPCASES(series);

#define TOKENS(r, o, p) {.op = OP_tokens, .rows = r, .in = 1, .out = o, .pad = p}
static const struct opcase cases_tokens[] = {TOKENS(64, 16, 0), TOKENS(33, 7, 3), TOKENS(1, 1, 0),
                                             TOKENS(300, 50, 1)};

/* An id may be 0 before the last too. */
static void make_tokens(const struct opcase *c, struct opdata *d)
{
    uint32_t ld = 1 + c->out + c->pad;
    int32_t *ids = opdata_host(d, (size_t)c->rows * ld, sizeof *ids);
    for (size_t r = 0; r < c->rows; r++) {
        uint64_t length = opdata_random(d, c->out + 1);
        for (size_t k = 0; k < ld; k++)
            ids[r * ld + k] = k > length && k <= c->out ? 0 : (int32_t)opdata_random(d, 9);
    }
    d->arguments.tokens = (struct op_tokens){
        .tokens = opdata_output(d, "tokens", BUFFER_INT, places(c), 1, 0, false),
        .length = opdata_output(d, "length", BUFFER_INT, c->rows, 1, 0, false),
        .ids = opdata_values(d, "ids", BUFFER_INT, ids, (size_t)c->rows * ld, false),
        .rows = c->rows,
        .steps = c->out,
        .width = 1,
        .ids_ld = ld,
        .at = 1};
}
OPCASES(tokens);

/* kind: enum recur_kind; CASE_SECOND: from the last step to the first; CASE_MORE: further windows,
 * which begin with the state of those before. The answers are the last of 3 + units columns. */
#define RECUR(OP, r, i, o, k, p, f, g)                                                             \
    {.op = OP, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .flags = f, .gate = g}
#define RECURS(OP, k, g)                                                                           \
    RECUR(OP, 64, 32, 16, k, 0, 0, g), RECUR(OP, 33, 17, 5, k, 2, CASE_SECOND, g),                 \
        RECUR(OP, 1, 1, 1, k, 0, 0, g), RECUR(OP, 5, 200, 3, k, 0, CASE_SECOND, g),                \
        RECUR(OP, 130, 3, 7, k, 1, 0, g), RECUR(OP, 33, 17, 5, k, 2, CASE_MORE, g),                \
        RECUR(OP, 9, 40, 1, k, 0, CASE_MORE, g), RECUR(OP, 600, 12, 4, k, 1, CASE_SECOND, g), \
        RECUR(OP, 5, 16, 6, k, 0, CASE_MORE, g), RECUR(OP, 2, 150, 3, k, 0, 0, g)
enum { BESIDE = 3 };
static const struct opcase cases_recur[] = {RECURS(OP_recur, RECUR_LSTM, 1e-5),
                                            RECURS(OP_recur, RECUR_GRU, 1e-5)};

/* Every third window or so is the first of its sequence. */
static struct recur_state state_of(const struct opcase *c, struct opdata *d, bool written)
{
    const size_t width = (c->kind == RECUR_LSTM ? 2 : 1) * (size_t)c->in;
    if (!(c->flags & CASE_MORE))
        return (struct recur_state){.from = NULL};
    int32_t *begins = opdata_host(d, c->rows, sizeof *begins);
    for (uint32_t r = 0; r < c->rows; r++)
        begins[r] = opdata_random(d, 3) == 0;
    return (struct recur_state){
        .from = opdata_input(d, "state", BUFFER_REAL, c->rows, width, BESIDE, 0.5),
        .to = written ? opdata_output(d, "to", BUFFER_REAL, c->rows, width, BESIDE, false) : NULL,
        .begins = opdata_values(d, "begins", BUFFER_INT, begins, c->rows, false),
        .ld = (uint32_t)width + BESIDE};
}

static void make_recur(const struct opcase *c, struct opdata *d)
{
    uint32_t columns = RECUR_COLUMNS(c->kind) * c->in, width = BESIDE + c->in;
    bool gru = c->kind == RECUR_GRU;
    d->arguments.recur = (struct op_recur){
        .y = {.at = opdata_output(d, "y", BUFFER_REAL, places(c), width, c->pad, true)},
        .gates = opdata_output(d, "gates", BUFFER_REAL, places(c), RECUR_GATES * c->in, 0, true),
        .before = opdata_output(d, "before", BUFFER_REAL, places(c), c->in, 0, false),
        .cells = gru ? NULL : opdata_output(d, "cells", BUFFER_REAL, places(c), c->in, 0, false),
        .u = opdata_input(d, "u", BUFFER_REAL, c->in, columns, 0, 0.1),
        .b = gru ? opdata_input(d, "b", BUFFER_REAL, 1, columns, 0, 0.3) : NULL,
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .units = c->in,
        .ldy = width + c->pad,
        .at = BESIDE,
        .kind = c->kind,
        .reverse = c->flags & CASE_SECOND ? 1 : 0,
        .state = state_of(c, d, true)};
    d->flops = 2.0 * places(c) * c->in * columns;
}
OPCASES(recur);

static const struct opcase cases_recur_back[] = {RECURS(OP_recur_back, RECUR_LSTM, 1e-4),
                                                 RECURS(OP_recur_back, RECUR_GRU, 1e-4)};

/* Numbers from 0 to 1, as gates have. */
static real *shares_of(struct opdata *d, const char *name, size_t count, bool written)
{
    real *values = opdata_host(d, count, sizeof *values);
    for (size_t i = 0; i < count; i++)
        values[i] = (real)opdata_random(d, 1001) / 1000;
    return opdata_values(d, name, BUFFER_REAL, values, count, written);
}

static void make_recur_back(const struct opcase *c, struct opdata *d)
{
    uint32_t columns = RECUR_COLUMNS(c->kind) * c->in, width = BESIDE + c->in;
    bool gru = c->kind == RECUR_GRU;
    d->arguments.recur_back = (struct op_recur_back){
        .gates = shares_of(d, "gates", (size_t)places(c) * RECUR_GATES * c->in, true),
        .carry = opdata_input(d, "carry", BUFFER_REAL, c->rows, 2 * (size_t)c->in, 0, 1),
        .dy = {.at = opdata_input(d, "dy", BUFFER_REAL, places(c), width, c->pad, 1)},
        .before = opdata_input(d, "before", BUFFER_REAL, places(c), c->in, 0, 0.5),
        .cells = gru ? NULL : opdata_input(d, "cells", BUFFER_REAL, places(c), c->in, 0, 0.5),
        .u = opdata_input(d, "u", BUFFER_REAL, c->in, columns, 0, 0.1),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .units = c->in,
        .lddy = width + c->pad,
        .at = BESIDE,
        .kind = c->kind,
        .reverse = c->flags & CASE_SECOND ? 1 : 0,
        .state = state_of(c, d, false)};
    d->flops = 2.0 * places(c) * c->in * columns;
}
OPCASES(recur_back);

#define POOL(OP, r, i, o, k, p, f)                                                                 \
    {.op = OP, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .flags = f, .gate = 1e-5}
#define POOLS(OP, k, f)                                                                            \
    POOL(OP, 64, 32, 16, k, 0, 0), POOL(OP, 33, 17, 5, k, 3, f), POOL(OP, 1, 1, 1, k, 0, f)
static const struct opcase cases_pool[] = {
    POOLS(OP_pool, POOL_MEAN, 0), POOLS(OP_pool, POOL_MAX, 0), POOLS(OP_pool, POOL_LAST, 0),
    POOL(OP_pool, 9, 5, 4, POOL_FIRST, 1, 0)};

static void make_pool(const struct opcase *c, struct opdata *d)
{
    d->arguments.pool = (struct op_pool){
        .y = {.at = opdata_output(d, "y", BUFFER_REAL, c->rows, c->in, c->pad, false)},
        .x = {.at = opdata_input(d, "x", BUFFER_REAL, places(c), c->in, c->pad, 1)},
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in,
        .ldx = c->in + c->pad,
        .ldy = c->in + c->pad,
        .kind = c->kind};
}
OPCASES(pool);

static const struct opcase cases_pool_back[] = {POOLS(OP_pool_back, POOL_MEAN, CASE_ADD),
                                                POOLS(OP_pool_back, POOL_MAX, CASE_ADD),
                                                POOLS(OP_pool_back, POOL_LAST, CASE_ADD),
                                                POOL(OP_pool_back, 9, 5, 4, POOL_FIRST, 1, 0)};

static void make_pool_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.pool_back = (struct op_pool_back){
        .dx = {.at = opdata_output(d, "dx", BUFFER_REAL, places(c), c->in, c->pad, true)},
        .dy = {.at = opdata_input(d, "dy", BUFFER_REAL, c->rows, c->in, c->pad, 1)},
        .x = {.at = opdata_input(d, "x", BUFFER_REAL, places(c), c->in, c->pad, 1)},
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in,
        .ldx = c->in + c->pad,
        .lddx = c->in + c->pad,
        .lddy = c->in + c->pad,
        .kind = c->kind,
        .add_dx = c->flags & CASE_ADD ? 1 : 0};
}
OPCASES(pool_back);
