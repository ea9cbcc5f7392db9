/* recur_walk.cu - recurrent layers, forward (walk.cuh; formulas: backend/ops_series.h). */
#include "epilogue.cuh"
#include "ops/walk.cuh"

/* A unit of a row at a step. */
struct walk_unit {
    float *v, *h, *c;     /* in the room: its sums, `padded` apart; what the step before left */
    float *gates;         /* in memory, units apart */
    size_t at, y;         /* of its cell and h' in memory; of its answer */
    uint32_t j;
};

/* A column's gate, of its sum; of GRU's q, what r is multiplied with. */
DEVICE float walk_curve(const struct op_recur &a, bool gru, uint32_t column, uint32_t j, float sum)
{
    if (!gru)
        return column == 2 ? tanhf(sum) : sigmoid(sum);
    sum += ((const float *)a.b)[column * a.units + j];
    return column == 2 ? sum : sigmoid(sum);
}

/* Gates, h and c of a unit; curved: its columns hold gates already, not sums. */
DEVICE void walk_gates(const struct op_recur &a, struct walk_unit u, uint32_t padded, bool curved,
                       float (&v)[4], float *h, float *c)
{
    UNROLL
    for (int g = 0; g < RECUR_GATES; g++)
        v[g] = u.v[g * padded];
    if (a.kind == RECUR_LSTM) {
        UNROLL
        for (int g = 0; g < RECUR_GATES && !curved; g++)
            v[g] = walk_curve(a, false, g, u.j, v[g]);
        *c = fmaf(v[1], *u.c, v[0] * v[2]);
        *h = v[3] * tanhf(*c);
    } else {
        UNROLL
        for (int g = 1; g < RECUR_GATES && !curved; g++)
            v[g] = walk_curve(a, true, g - 1, u.j, v[g]);
        v[0] = tanhf(fmaf(v[1], v[3], v[0]));
        *h = fmaf(v[2], *u.h - v[0], v[0]);
    }
}

DEVICE void walk_unit_step(const struct op_recur &a, struct walk_unit u, uint32_t padded,
                           bool curved, size_t row, size_t t)
{
    const uint32_t n = a.units, length = (uint32_t)a.length[row];
    float v[RECUR_GATES] = {0, 0, 0, 0}, h = 0, c = 0;
    if (t < length)
        walk_gates(a, u, padded, curved, v, &h, &c);
    if (a.kind == RECUR_GRU)
        u.v[3 * padded] = 0;
    UNROLL
    for (int g = 0; g < RECUR_GATES; g++)
        u.gates[g * n] = v[g];
    if (a.cells)
        ((float *)a.cells)[u.at] = c;
    ((float *)a.before)[u.at] = *u.h;
    form_put(a.y, u.y, h);
    *u.h = as_kept(a.y.form, h);
    *u.c = c;
    if (a.state.from && t + 1 == length) {
        float *to = (float *)a.state.to + row * a.state.ld + u.j;
        to[0] = *u.h;
        if (a.cells)
            to[n] = c;
    }
}

/* The initial state of a row; a row without steps passes it on. */
DEVICE void walk_begin(const struct op_recur &a, float *h, float *c, size_t row, uint32_t j)
{
    const size_t n = a.units;
    const float *began = state_before(a.state, row);
    *h = began ? began[j] : 0;
    *c = began && a.cells ? began[n + j] : 0;
    if (a.state.from && !a.length[row]) {
        float *to = (float *)a.state.to + row * a.state.ld + j;
        to[0] = *h;
        if (a.cells)
            to[n] = *c;
    }
}

template <int ROWS, int WHERE>
KERNEL_SHARING(WALK_LANES, 1, recur_walk)(ARGUMENT(struct op_recur) a, ARGUMENT(struct walk) s)
{
    DYNAMIC(float, shared);
    float *room = walk_room<WHERE>(s, shared), held[WALK_HELD_UNITS];
    const uint32_t n = a.units, gates = RECUR_COLUMNS(a.kind), row_of = RECUR_GATES * s.padded;
    float *h = room + 2 * s.rows * row_of, *c = h + s.side * s.padded;
    struct walk_block b = walk_block_of(s, a.rows, a.length);
    struct walk_product p = {};
    p.v = h;
    p.w_gate = s.padded;
    p.w_next = gates * s.padded;
    p.units = n;
    p.gates = gates;
    p.add = true;
    walk_weights<WHERE>(s, &p, shared, held);
    const size_t row_cells = (size_t)a.steps * n, row_gates = RECUR_GATES * row_cells;
    auto stage = [&](uint32_t i) {
        size_t t = step_of(a, i);
        if (t < b.longest)
            walk_copy<WHERE>(s, b.rows, room + i % 2 * s.rows * row_of, row_of,
                             a.kind == RECUR_LSTM ? 4 : 3, n,
                             (const float *)a.gates + b.row0 * row_gates + t * RECUR_GATES * n,
                             row_gates);
        copy_commit();
    };
    sync_block(); /* the room is cleared */
    stage(0);
    each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
        walk_begin(a, h + j * s.side + r, c + r * s.padded + j, b.row0 + r, j);
    });
    copy_wait<0>();
    sync_block();
    for (uint32_t i = 0; i < a.steps; i++) {
        size_t t = step_of(a, i);
        float *sums = room + i % 2 * s.rows * row_of;
        if (i + 1 < a.steps)
            stage(i + 1);
        p.out = sums + (RECUR_GATES - gates) * s.padded;
        bool summed = t < b.longest && (a.reverse ? t + 1 < b.longest : i || a.state.from);
        if (summed)
            walk_multiply<ROWS, WHERE>(s, p, held, [&](uint32_t gate, uint32_t j, float sum) {
                return walk_curve(a, a.kind == RECUR_GRU, gate, j, sum);
            });
        sync_block();
        float *at_gates = (float *)a.gates + b.row0 * row_gates + t * RECUR_GATES * n;
        const size_t at = b.row0 * row_cells + t * n, row_y = (size_t)a.steps * a.ldy;
        const size_t at_y = b.row0 * row_y + t * a.ldy + a.at;
        each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
            struct walk_unit u = {sums + r * row_of + j,      h + j * s.side + r,
                                  c + r * s.padded + j,       at_gates + r * row_gates + j,
                                  at + r * row_cells + j,     at_y + r * row_y + j,
                                  j};
            walk_unit_step(a, u, s.padded, WHERE == WALK_HELD && summed, b.row0 + r, t);
        });
        copy_wait<0>();
        sync_block();
    }
}

void recur_walk_start(struct machine *m, const struct op_recur *a, const struct walk *s,
                      size_t bytes)
{
    WALK_LAUNCH(recur_walk, m, a, s, bytes);
}
