/* recur_back.cu - the way back through the steps of recurrent layers: the gradients of their sums
 * (walk.cuh; formulas: backend/ops_series.h). */
#include "ops/walk.cuh"

/* The room of a step. It reads [two steps][rows][6 padded]: gates, dy, and c' (GRU: h'). Then the
 * products, [rows][4 padded], one a gate; the gradients of the sums, [gate][unit][rows side by
 * side]; and the state left by the step after it, twice [rows][padded]: c and its gradient (GRU:
 * h's). */
enum { WALK_STAGED = RECUR_GATES + 2 };
struct walk_past {
    const float *staged, *sums; /* a unit's, each `padded` from the next */
    float *dz, *left;           /* `dz_gate`, `left_next` from one to the next */
    float *gates;               /* in memory, units apart */
    uint32_t dz_gate, left_next;
};

DEVICE void walk_unit_back(const struct op_recur_back &a, struct walk_past u, uint32_t padded,
                           bool there, bool summed)
{
    const uint32_t n = a.units;
    float v[RECUR_GATES], dz[RECUR_GATES] = {0, 0, 0, 0}, other = u.staged[5 * padded];
    float one = u.left[0], two = u.left[u.left_next];
    float dh = a.kind == RECUR_GRU ? one : 0;
    UNROLL
    for (int g = 0; g < RECUR_GATES; g++)
        v[g] = u.staged[g * padded];
    if (summed)
        dh += u.sums[0] + u.sums[padded] +
              (u.sums[2 * padded] + (a.kind == RECUR_LSTM ? u.sums[3 * padded] : 0));
    dh += u.staged[4 * padded];
    u.left[0] = a.kind == RECUR_LSTM ? other : 0;
    u.left[u.left_next] = 0;
    if (there && a.kind == RECUR_LSTM) {
        float tan = tanhf(one), dc = fmaf(dh * v[3], 1 - tan * tan, two);
        dz[0] = dc * v[2] * (v[0] * (1 - v[0]));
        dz[1] = dc * other * (v[1] * (1 - v[1]));
        dz[2] = dc * v[0] * (1 - v[2] * v[2]);
        dz[3] = dh * tan * (v[3] * (1 - v[3]));
        u.left[u.left_next] = dc * v[1];
    } else if (there) {
        float dn = dh * (1 - v[2]) * (1 - v[0] * v[0]);
        dz[0] = dn;
        dz[1] = dn * v[3] * (v[1] * (1 - v[1]));
        dz[2] = dh * (other - v[0]) * (v[2] * (1 - v[2]));
        dz[3] = dn * v[1];
        u.left[0] = dh * v[2];
    }
    uint32_t first = RECUR_GATES - RECUR_COLUMNS(a.kind);
    UNROLL
    for (int g = 0; g < RECUR_GATES; g++) {
        u.gates[g * n] = dz[g];
        if (g >= (int)first)
            u.dz[(g - first) * u.dz_gate] = dz[g];
    }
}

/* Loads the inputs of step i. */
template <int WHERE>
DEVICE void walk_stage_back(const struct op_recur_back &a, const struct walk &s,
                            struct walk_block b, float *to, uint32_t i)
{
    const uint32_t n = a.units, apart = WALK_STAGED * s.padded;
    const size_t row_cells = (size_t)a.steps * n, row_dy = (size_t)a.steps * a.lddy;
    const size_t t = step_of(a, i), at = b.row0 * row_cells + t * n;
    const size_t at_dy = b.row0 * row_dy + t * a.lddy + a.at;
    float *dy = to + RECUR_GATES * s.padded, *other = dy + s.padded;
    walk_copy<WHERE>(s, b.rows, to, apart, RECUR_GATES, n,
                     (const float *)a.gates + RECUR_GATES * at, RECUR_GATES * row_cells);
    if (is_plain(a.dy))
        walk_copy<WHERE>(s, b.rows, dy, apart, 1, n, (const float *)a.dy.at + at_dy, row_dy);
    else
        each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
            dy[r * apart + j] = form_get(a.dy, at_dy + r * row_dy + j);
        });
    if (a.kind == RECUR_GRU)
        walk_copy<WHERE>(s, b.rows, other, apart, 1, n, (const float *)a.before + at, row_cells);
    else if (i)
        walk_copy<WHERE>(s, b.rows, other, apart, 1, n,
                         (const float *)a.cells + (a.reverse ? at + n : at - n), row_cells);
    else
        each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
            const float *began = state_before(a.state, b.row0 + r);
            other[r * apart + j] = began ? began[n + j] : 0;
        });
}

template <int ROWS, int WHERE>
KERNEL_SHARING(WALK_LANES, 1, recur_walk_back)(ARGUMENT(struct op_recur_back) a,
                                            ARGUMENT(struct walk) s)
{
    DYNAMIC(float, shared);
    float *room = walk_room<WHERE>(s, shared), held[WALK_HELD_UNITS];
    const uint32_t n = a.units, staged_of = WALK_STAGED * s.padded, row_of = RECUR_GATES * s.padded;
    float *sums = room + 2 * s.rows * staged_of, *dz = sums + s.rows * row_of;
    float *left = dz + s.side * row_of;
    struct walk_block b = walk_block_of(s, a.rows, a.length);
    struct walk_product p = {};
    p.v = dz;
    p.w_gate = n * s.padded;
    p.w_next = s.padded;
    p.v_gate = s.padded * s.side;
    p.units = n;
    p.gates = RECUR_COLUMNS(a.kind);
    p.out = sums;
    walk_weights<WHERE>(s, &p, shared, held);
    sync_block(); /* the room is cleared */
    if (a.steps)
        walk_stage_back<WHERE>(a, s, b, room + (a.steps - 1) % 2 * s.rows * staged_of, a.steps - 1);
    each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
        size_t at = (b.row0 + r) * a.steps + step_of(a, a.steps - 1);
        if (a.kind == RECUR_LSTM)
            left[r * s.padded + j] = ((const float *)a.cells)[at * n + j];
    });
    copy_commit();
    copy_wait<0>();
    sync_block();
    for (uint32_t i = a.steps; i-- > 0;) {
        size_t t = step_of(a, i), behind = a.reverse ? t - 1 : t + 1;
        const float *staged = room + i % 2 * s.rows * staged_of;
        bool summed = i + 1 < a.steps && t < b.longest && behind < b.longest;
        if (i > 0)
            walk_stage_back<WHERE>(a, s, b, room + (i - 1) % 2 * s.rows * staged_of, i - 1);
        copy_commit();
        if (summed)
            walk_multiply<ROWS, WHERE>(s, p, held,
                                       [](uint32_t, uint32_t, float sum) { return sum; });
        sync_block();
        const size_t row_gates = (size_t)a.steps * RECUR_GATES * n;
        float *gates = (float *)a.gates + b.row0 * row_gates + t * RECUR_GATES * n;
        each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
            struct walk_past u = {staged + r * staged_of + j, sums + r * row_of + j,
                                  dz + j * s.side + r,        left + r * s.padded + j,
                                  gates + r * row_gates + j,  p.v_gate,
                                  s.rows * s.padded};
            walk_unit_back(a, u, s.padded, t < (size_t)a.length[b.row0 + r], summed);
        });
        copy_wait<0>();
        sync_block();
    }
}

void recur_back_start(struct machine *m, const struct op_recur_back *a, const struct walk *s,
                      size_t bytes)
{
    WALK_LAUNCH(recur_walk_back, m, a, s, bytes);
}
