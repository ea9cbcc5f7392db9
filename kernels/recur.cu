/* recur.cu - recurrent layers (formulas: backend/ops_series.h). A block has some rows and goes
 * through all their steps in one launch: rows do not meet, so no block waits for another. A step is
 * a product, of h' (back: of the gradients of the sums of the step behind) with u, then the
 * formulas of each unit. What the next step reads is copied meanwhile.
 *
 * Each number is one chain of sums: its inputs' part, then units 0, 1, ..; on the way back a chain
 * for each gate, gates added in pairs. So its bits depend on nothing else: not on the rows of a
 * block, nor on where u stands.
 *
 * A step of r rows takes 2 r n columns FLOPs, of 256 a clock on a multiprocessor, and reads u
 * once for each tile of rows, of 128 bytes a clock: with one row that takes four times as long as
 * the arithmetic. Of small layers each lane holds a column of u in registers then. */
#include "epilogue.cuh"
#include "form.cuh"
#include "recur_guest.cuh"

/* Where u stands: in registers, in shared memory, in memory; in memory with the block's room. */
enum walk_kind { WALK_HELD, WALK_KEPT, WALK_READ, WALK_LARGE };
enum {
    WALK_LANES = 512,
    WALK_HELD_UNITS = 64,    /* at most, a multiple of 4; of one row */
    WALK_ROWS = 16,          /* of a block, at most; a power of two */
    WALK_TILE = 4,           /* rows of a lane in a product, at most; columns */
    WALK_ROOMY = 512,        /* units, of which more may need a room in memory */
    WALK_FORWARD = 9, WALK_BACK = 18, WALK_BACK_SIDE = 4 /* numbers of a room for each unit */
};

/* How a launch goes. Units are padded with zeros to a multiple of 4. */
struct walk {
    const float *w;          /* u as it is multiplied (recur_lay) */
    float *rooms;            /* large: `floats` for each block */
    uint64_t weights, floats; /* numbers of w, of a room */
    uint32_t rows;           /* of a block */
    uint32_t padded;         /* units */
    uint32_t side;           /* rows side by side, to be multiplied: from a unit to the next */
    uint32_t fours;          /* 1: what is copied begins at multiples of 16 bytes */
    uint32_t lanes, where;
};

/* f(o, i) for all o < outer, i < inner, by turns of the block's lanes: a lane has the same pairs
 * each time. */
template <class F> DEVICE void each_pair(uint32_t outer, uint32_t inner, F &&f)
{
    uint32_t o = thread_id() / inner, i = thread_id() % inner;
    uint32_t o_more = block_size() / inner, i_more = block_size() % inner;
    while (o < outer) {
        f(o, i);
        o += o_more;
        i += i_more;
        o += i >= inner;
        i -= i >= inner ? inner : 0;
    }
}

/* What a row begins with: h, then c (LSTM); NULL: 0. */
DEVICE const float *state_before(const struct recur_state &state, size_t row)
{
    return state.from && !state.begins[row] ? (const float *)state.from + row * state.ld : NULL;
}

/* u as it is multiplied: [unit][gate][unit of the sum], or across: [gate][unit][unit of h']. */
KERNEL_BOUNDED(256, recur_lay)(float *w, const float *u, uint32_t n, uint32_t columns, bool across)
{
    uint32_t padded = (n + 3) / 4 * 4;
    for (uint64_t i = global_id(); i < (uint64_t)columns * padded; i += global_count()) {
        uint64_t line = i / padded, j = i % padded;
        w[i] = j >= n ? 0.0f : across ? u[j * columns + line] : u[line * n + j];
    }
}

/* --- the product of a step --- */

/* out[row][gate][j] = v[gate][row] w[gate][j], or added to it. */
struct walk_product {
    const float *w, *v;
    uint32_t w_gate, w_next, v_gate; /* from a gate to the next; from a unit to the next */
    uint32_t units, gates;
    float *out;                      /* [rows][4 padded] */
    bool add;
};

/* Unit k of the lane's rows. */
template <int ROWS> DEVICE void walk_rows(float (&h)[ROWS], const float *v)
{
    if constexpr (ROWS == 4) {
        four x = load4(v);
        UNROLL
        for (int r = 0; r < ROWS; r++)
            h[r] = x.v[r];
    } else {
        UNROLL
        for (int r = 0; r < ROWS; r++)
            h[r] = v[r];
    }
}

template <int ROWS>
DEVICE void walk_add(float (&sum)[ROWS][WALK_TILE], const float (&h)[ROWS], const four &w)
{
    UNROLL
    for (int r = 0; r < ROWS; r++)
        UNROLL
        for (int c = 0; c < WALK_TILE; c++)
            sum[r][c] = fmaf(h[r], w.v[c], sum[r][c]);
}

/* A tile of rows and columns. */
template <int ROWS>
DEVICE void walk_tile(float (&sum)[ROWS][WALK_TILE], const float *w, uint32_t w_next,
                      const float *v, uint32_t side, uint32_t n)
{
    enum { DEPTH = 4 };
    uint32_t k = 0;
    float h[ROWS];
    for (; k + DEPTH <= n; k += DEPTH) {
        four at[DEPTH];
        UNROLL
        for (int d = 0; d < DEPTH; d++)
            at[d] = load4(w + (size_t)(k + d) * w_next);
        UNROLL
        for (int d = 0; d < DEPTH; d++) {
            walk_rows<ROWS>(h, v + (k + d) * side);
            walk_add<ROWS>(sum, h, at[d]);
        }
    }
    for (; k < n; k++) {
        walk_rows<ROWS>(h, v + k * side);
        walk_add<ROWS>(sum, h, load4(w + (size_t)k * w_next));
    }
}

/* The lane's column of w. */
DEVICE void walk_hold(float (&held)[WALK_HELD_UNITS], const struct walk_product &p)
{
    uint32_t n = p.units, gate = thread_id() / n, j = thread_id() % n;
    UNROLL
    for (uint32_t k = 0; k < WALK_HELD_UNITS; k++)
        held[k] = gate < p.gates && k < n ? p.w[gate * p.w_gate + k * p.w_next + j] : 0.0f;
}

DEVICE void multiply_held(const float (&held)[WALK_HELD_UNITS], const struct walk_product &p)
{
    uint32_t n = p.units, gate = thread_id() / n;
    if (gate >= p.gates)
        return;
    const float *v = p.v + gate * p.v_gate;
    float *out = p.out + thread_id(), sum = p.add ? *out : 0.0f;
    UNROLL
    for (uint32_t k = 0; k < WALK_HELD_UNITS; k += 4) {
        if (k >= n)
            break;
        four h = load4(v + k);
        UNROLL
        for (int i = 0; i < 4; i++)
            sum = fmaf(h.v[i], held[k + i], sum);
    }
    *out = sum;
}

template <int ROWS> DEVICE void multiply_tiles(const struct walk &s, const struct walk_product &p)
{
    each_pair(s.rows / ROWS, p.gates * s.padded / WALK_TILE, [&](uint32_t group, uint32_t tile) {
        uint32_t gate = WALK_TILE * tile / s.padded, j = WALK_TILE * tile % s.padded;
        float *out = p.out + group * ROWS * RECUR_GATES * s.padded + WALK_TILE * tile;
        float sum[ROWS][WALK_TILE] = {};
        for (int r = 0; r < ROWS && p.add; r++) {
            four x = load4(out + r * RECUR_GATES * s.padded);
            UNROLL
            for (int c = 0; c < WALK_TILE; c++)
                sum[r][c] = x.v[c];
        }
        walk_tile<ROWS>(sum, p.w + (size_t)gate * p.w_gate + j, p.w_next,
                        p.v + gate * p.v_gate + group * ROWS, s.side, p.units);
        UNROLL
        for (int r = 0; r < ROWS; r++)
            store4(out + r * RECUR_GATES * s.padded,
                   four{{sum[r][0], sum[r][1], sum[r][2], sum[r][3]}});
    });
}

template <int ROWS, int WHERE>
DEVICE void walk_multiply(const struct walk &s, const struct walk_product &p,
                          const float (&held)[WALK_HELD_UNITS])
{
    if constexpr (WHERE == WALK_HELD)
        multiply_held(held, p);
    else
        multiply_tiles<ROWS>(s, p);
}

/* --- what both ways share --- */

/* The rows of a block. */
struct walk_block {
    size_t row0;
    uint32_t rows, longest;
};
DEVICE struct walk_block walk_block_of(const struct walk &s, uint32_t rows, const int32_t *length)
{
    struct walk_block b = {(size_t)block_x() * s.rows, s.rows, 0};
    b.rows = rows - b.row0 < s.rows ? (uint32_t)(rows - b.row0) : s.rows;
    for (uint32_t r = 0; r < b.rows; r++) {
        uint32_t one = (uint32_t)length[b.row0 + r];
        b.longest = one > b.longest ? one : b.longest;
    }
    return b;
}

/* The block's room, all zeros. */
template <int WHERE> DEVICE float *walk_room(const struct walk &s, float *shared)
{
    float *room = WHERE == WALK_LARGE  ? s.rooms + block_x() * s.floats
                  : WHERE == WALK_KEPT ? shared + s.weights
                                       : shared;
    for (uint64_t i = thread_id(); i < s.floats; i += block_size())
        room[i] = 0;
    return room;
}
/* w where the products read it; there after the next barrier. */
template <int WHERE>
DEVICE void walk_weights(const struct walk &s, struct walk_product *p, float *shared,
                         float (&held)[WALK_HELD_UNITS])
{
    p->w = s.w;
    if constexpr (WHERE == WALK_HELD)
        walk_hold(held, *p);
    if constexpr (WHERE == WALK_KEPT) {
        for (uint64_t i = 4 * thread_id(); i < s.weights; i += 4 * block_size())
            copy_async<16>(shared + i, s.w + i);
        p->w = shared;
    }
}

/* `parts` neighbouring gates of each row, `next` numbers from row to row, to where units are
 * padded. */
template <int WHERE>
DEVICE void walk_copy(const struct walk &s, uint32_t rows, float *to, uint32_t apart,
                      uint32_t parts, uint32_t n, const float *from, size_t next)
{
    bool fours = s.fours && WHERE != WALK_LARGE;
    each_pair(rows, fours ? parts * n / 4 : parts * n, [&](uint32_t r, uint32_t i) {
        float *at = to + r * apart + (fours ? 4 * i : i / n * s.padded + i % n);
        if constexpr (WHERE == WALK_LARGE) /* its room is no shared memory */
            *at = from[r * next + i];
        else if (fours)
            copy_async<16>(at, from + r * next + 4 * i);
        else
            copy_async<4>(at, from + r * next + i);
    });
}

/* As it is read back where such numbers are kept. */
DEVICE float as_kept(uint32_t form, float x)
{
    return form == FORM_REAL ? x : bits_to_float(form, float_to_bits(form, x));
}

template <class A> DEVICE size_t step_of(const A &a, uint32_t i)
{
    return a.reverse ? a.steps - 1 - i : i;
}

/* --- forward --- */

/* A unit of a row at a step. */
struct walk_unit {
    float *v, *h, *c;     /* in the room: its sums, `padded` apart; what the step before left */
    float *gates;         /* in memory, units apart */
    size_t at, y;         /* of its cell and h' in memory; of its answer */
    uint32_t j;
};

/* Gates, h and c of a unit. GRU's q is 0 again: no input adds to it. */
DEVICE void walk_gates(const struct op_recur &a, struct walk_unit u, uint32_t padded, float (&v)[4],
                       float *h, float *c)
{
    const size_t n = a.units;
    UNROLL
    for (int g = 0; g < RECUR_GATES; g++)
        v[g] = u.v[g * padded];
    if (a.kind == RECUR_LSTM) {
        v[0] = sigmoid(v[0]);
        v[1] = sigmoid(v[1]);
        v[2] = tanhf(v[2]);
        v[3] = sigmoid(v[3]);
        *c = fmaf(v[1], *u.c, v[0] * v[2]);
        *h = v[3] * tanhf(*c);
    } else {
        const float *b = (const float *)a.b + u.j;
        v[1] = sigmoid(v[1] + b[0]);
        v[2] = sigmoid(v[2] + b[n]);
        v[3] += b[2 * n];
        v[0] = tanhf(fmaf(v[1], v[3], v[0]));
        *h = fmaf(v[2], *u.h - v[0], v[0]);
    }
}

DEVICE void walk_unit_step(const struct op_recur &a, struct walk_unit u, uint32_t padded,
                           size_t row, size_t t)
{
    const uint32_t n = a.units, length = (uint32_t)a.length[row];
    float v[RECUR_GATES] = {0, 0, 0, 0}, h = 0, c = 0;
    if (t < length)
        walk_gates(a, u, padded, v, &h, &c);
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

/* What a row begins with; without steps, it passes that on. */
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
        if (t < b.longest && (a.reverse ? t + 1 < b.longest : i || a.state.from))
            walk_multiply<ROWS, WHERE>(s, p, held);
        sync_block();
        float *at_gates = (float *)a.gates + b.row0 * row_gates + t * RECUR_GATES * n;
        const size_t at = b.row0 * row_cells + t * n, row_y = (size_t)a.steps * a.ldy;
        const size_t at_y = b.row0 * row_y + t * a.ldy + a.at;
        each_pair(b.rows, n, [&](uint32_t r, uint32_t j) {
            struct walk_unit u = {sums + r * row_of + j,      h + j * s.side + r,
                                  c + r * s.padded + j,       at_gates + r * row_gates + j,
                                  at + r * row_cells + j,     at_y + r * row_y + j,
                                  j};
            walk_unit_step(a, u, s.padded, b.row0 + r, t);
        });
        copy_wait<0>();
        sync_block();
    }
}

/* --- the way back --- */

/* What a step reads, [two steps][rows][6 padded]: gates, dy, and c' (GRU: h'). Then the products,
 * [rows][4 padded], one a gate; the gradients of the sums, [gate][unit][rows side by side]; and what
 * the step behind left, twice [rows][padded]: c and its gradient (GRU: the gradient of h). */
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

/* What step i reads. */
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
            walk_multiply<ROWS, WHERE>(s, p, held);
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

/* --- launches --- */

static uint64_t walk_weights_of(uint32_t kind, uint64_t n)
{
    return RECUR_COLUMNS(kind) * n * ((n + 3) / 4 * 4);
}
/* Rows stand side by side with room between units, so that lanes store to several banks at once. */
static void walk_rows_of(struct walk *s, uint32_t rows, bool back)
{
    s->rows = rows;
    s->side = rows < WALK_TILE ? rows : rows + 4;
    s->floats = (back ? WALK_BACK * rows + WALK_BACK_SIDE * s->side : WALK_FORWARD * rows + s->side) *
                (uint64_t)s->padded;
}

/* Behind the scratch's head stand u and the rooms. */
size_t cuda_recur_scratch(struct dims d, uint32_t kind, bool back)
{
    struct walk s = {};
    s.padded = (d.width + 3) / 4 * 4;
    walk_rows_of(&s, WALK_TILE, back);
    uint64_t rooms = d.width > WALK_ROOMY ? (d.rows + WALK_TILE - 1) / WALK_TILE * s.floats : 0;
    return SCRATCH_HEAD + (walk_weights_of(kind, d.width) + rooms) * sizeof(float);
}

/* Few rows a block as long as there are multiprocessors for more blocks, of which two can be at
 * different parts of a step; then u is kept where at least a tile of rows fits beside it. */
static struct walk walk_of(struct machine *m, struct dims d, uint32_t kind, bool back)
{
    const uint64_t most = (device_block_bytes(m) - BESIDE_DYNAMIC) / sizeof(float);
    const uint64_t sms = device_sms(m);
    struct walk s = {};
    s.padded = (d.width + 3) / 4 * 4;
    s.weights = walk_weights_of(kind, d.width);
    bool held = d.width <= WALK_HELD_UNITS && d.width == s.padded && d.rows <= 2 * sms;
    uint32_t rows = held || d.rows <= sms ? 1 : WALK_TILE;
    while (rows > 1 && rows < WALK_ROWS && d.rows > 2 * sms * rows)
        rows *= 2;
    s.where = held ? WALK_HELD : WALK_KEPT;
    walk_rows_of(&s, rows, back);
    while (!held && s.rows > WALK_TILE && s.weights + s.floats > most)
        walk_rows_of(&s, s.rows / 2, back);
    if (!held && s.weights + s.floats > most) {
        s.where = WALK_READ;
        walk_rows_of(&s, rows, back);
        while (s.rows > 1 && s.floats > most)
            walk_rows_of(&s, s.rows > WALK_TILE ? s.rows / 2 : 1, back);
    }
    if (s.floats > most) {
        s.where = WALK_LARGE;
        walk_rows_of(&s, WALK_TILE, back);
    }
    uint32_t tile = s.rows < WALK_TILE ? 1 : WALK_TILE;
    uint32_t lanes = held ? RECUR_COLUMNS(kind) * d.width
                          : RECUR_GATES * s.padded / WALK_TILE * (s.rows / tile);
    if (lanes > WALK_LANES)
        lanes = WALK_LANES;
    s.lanes = (lanes + WARP - 1) / WARP * WARP;
    return s;
}

template <int ROWS, int WHERE>
static void walk_start(struct machine *m, const struct op_recur &a, const struct walk &s,
                       dim3 grid, size_t bytes)
{
    LAUNCH((recur_walk<ROWS, WHERE>), grid, dim3(s.lanes), bytes, m, a, s);
}
template <int ROWS, int WHERE>
static void walk_start(struct machine *m, const struct op_recur_back &a, const struct walk &s,
                       dim3 grid, size_t bytes)
{
    LAUNCH((recur_walk_back<ROWS, WHERE>), grid, dim3(s.lanes), bytes, m, a, s);
}

static bool at_four(const void *at, uint64_t numbers)
{
    return (uintptr_t)at % 16 == 0 && numbers % 4 == 0;
}
static bool walk_fours(const struct op_recur &a)
{
    return at_four(a.gates, a.units);
}
static bool walk_fours(const struct op_recur_back &a)
{
    return at_four(a.gates, a.units) && at_four(a.kind == RECUR_GRU ? a.before : a.cells, 0) &&
           at_four(a.dy.at, a.lddy) && a.at % 4 == 0;
}

template <class A> static void walk(struct machine *m, const A &a, bool back, void *scratch)
{
    if (!a.rows || !a.steps)
        return;
    const uint32_t columns = RECUR_COLUMNS(a.kind) * a.units;
    struct walk s = walk_of(m, a.dims, a.kind, back);
    float *w = (float *)((char *)scratch + SCRATCH_HEAD);
    s.w = w;
    s.rooms = w + s.weights;
    s.fours = walk_fours(a);
    if (!back && at_four(a.u, a.units))
        s.w = (const float *)a.u;
    else
        LAUNCH(recur_lay, spread(m, s.weights, 256), dim3(256), 0, m, w, (const float *)a.u,
               a.units, columns, back);
    dim3 grid((a.rows + s.rows - 1) / s.rows);
    size_t bytes = s.where == WALK_LARGE ? 0 : s.floats * sizeof(float);
    bytes += s.where == WALK_KEPT ? s.weights * sizeof(float) : 0;
    if (s.where == WALK_HELD)
        walk_start<1, WALK_HELD>(m, a, s, grid, bytes);
    else if (s.where == WALK_KEPT && s.rows == 1)
        walk_start<1, WALK_KEPT>(m, a, s, grid, bytes);
    else if (s.where == WALK_KEPT)
        walk_start<WALK_TILE, WALK_KEPT>(m, a, s, grid, bytes);
    else if (s.where == WALK_READ && s.rows == 1)
        walk_start<1, WALK_READ>(m, a, s, grid, bytes);
    else if (s.where == WALK_READ)
        walk_start<WALK_TILE, WALK_READ>(m, a, s, grid, bytes);
    else
        walk_start<WALK_TILE, WALK_LARGE>(m, a, s, grid, bytes);
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

static void recur_forward(struct machine *m, const struct op_recur *a, enum product how,
                          void *scratch)
{
    if (a->from.in)
        recur_inputs_of(m, a, how);
    walk(m, *a, false, scratch);
}

void cuda_recur(struct machine *m, const struct op_recur *a, enum product how, void *scratch)
{
    if (!a->from.in || !device_recur(m, a, how))
        recur_forward(m, a, how, scratch);
}

/* Of a layer that a guest has answered and does not serve any more: as our kernels leave it. */
static void recur_again(struct machine *m, const struct op_recur_back *a, enum product how,
                        void *scratch)
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
    recur_forward(m, &f, how, scratch);
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
                     struct products by, void *scratch)
{
    if (a->from.in && device_recur_back(m, a, how))
        return;
    if (a->from.in)
        recur_again(m, a, how, scratch);
    walk(m, *a, true, scratch);
    if (a->from.in)
        recur_gradients_of(m, a, how, by);
}
