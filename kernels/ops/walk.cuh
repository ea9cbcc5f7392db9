/* walk.cuh - how blocks walk through the steps of recurrent layers (formulas: ops_series.h). A
 * block has some rows and goes through all their steps in one launch: rows do not meet, so no block
 * waits for another. A step is a product of h' (back: of the gradients of the next step's sums)
 * with u, then the formulas of each unit. What the next step reads is copied meanwhile.
 *
 * Each number is one chain of sums: its inputs' part, then units 0, 1, ..; on the way back a chain
 * for each gate, gates added in pairs. So its bits depend on nothing else: not on the rows of a
 * block, nor on the place of u.
 *
 * The limits, on a multiprocessor that does 128 multiply-adds and reads 128 bytes of its shared
 * memory a clock: a step of r rows and n units takes r n columns / 128 clocks of arithmetic, and as
 * u is read once for each tile of rows, n columns / 32 clocks a tile of reading: for one row four
 * times as many as the arithmetic. In small layers with few rows each lane therefore holds a column
 * of u in registers; a step then waits for the chain of n sums, 4 n clocks. */
#ifndef DNN_KERNELS_WALK_CUH
#define DNN_KERNELS_WALK_CUH

#include "form.cuh"

/* The place of u: registers, shared memory, memory; LARGE: memory, and the block's room too. */
enum walk_kind { WALK_HELD, WALK_KEPT, WALK_READ, WALK_LARGE };
enum {
    WALK_LANES = 512,
    WALK_HELD_UNITS = 64,    /* at most, a multiple of 4; of one row */
    WALK_ROWS = 16,          /* of a block, at most; a power of two */
    WALK_TILE = 4,           /* rows of a lane in a product, at most; columns */
    WALK_ROOMY = 512,        /* units; a wider layer may need its room in memory */
    WALK_FORWARD = 9, WALK_BACK = 18, WALK_BACK_SIDE = 4 /* numbers of a room for each unit */
};

/* How a launch goes. Units are padded with zeros to a multiple of 4. */
struct walk {
    const float *w;          /* u in the order of the product (recur_lay) */
    float *rooms;            /* large: `floats` for each block */
    uint64_t weights, floats; /* numbers of w, of a room */
    uint32_t rows;           /* of a block */
    uint32_t padded;         /* units */
    uint32_t side;           /* rows side by side, to be multiplied: from a unit to the next */
    uint32_t fours;          /* 1: copies begin at multiples of 16 bytes */
    uint32_t lanes, where;
};

/* Starts the kernels; `bytes`: shared memory of a block. */
void recur_walk_start(struct machine *m, const struct op_recur *a, const struct walk *s,
                      size_t bytes);
void recur_back_start(struct machine *m, const struct op_recur_back *a, const struct walk *s,
                      size_t bytes);
/* The form of the kernel that serves. */
#define WALK_LAUNCH(kernel, m, a, s, bytes)                                                        \
    ((s)->where == WALK_HELD   ? WALK_FORM(kernel, 1, WALK_HELD, m, a, s, bytes)                   \
     : (s)->where == WALK_LARGE ? WALK_FORM(kernel, WALK_TILE, WALK_LARGE, m, a, s, bytes)         \
     : (s)->where == WALK_KEPT  ? (s)->rows == 1                                                   \
                                      ? WALK_FORM(kernel, 1, WALK_KEPT, m, a, s, bytes)            \
                                      : WALK_FORM(kernel, WALK_TILE, WALK_KEPT, m, a, s, bytes)    \
     : (s)->rows == 1 ? WALK_FORM(kernel, 1, WALK_READ, m, a, s, bytes)                            \
                      : WALK_FORM(kernel, WALK_TILE, WALK_READ, m, a, s, bytes))
#define WALK_FORM(kernel, rows_of, where_of, m, a, s, bytes)                                       \
    LAUNCH((kernel<rows_of, where_of>), dim3(((a)->rows + (s)->rows - 1) / (s)->rows),             \
           dim3((s)->lanes), bytes, m, *(a), *(s))

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

/* The initial state of a row: h, then c (LSTM); NULL: 0. */
DEVICE const float *state_before(const struct recur_state &state, size_t row)
{
    return state.from && !state.begins[row] ? (const float *)state.from + row * state.ld : NULL;
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

/* end(gate, unit, sum) returns the number to write. */
template <class F>
DEVICE void multiply_held(const float (&held)[WALK_HELD_UNITS], const struct walk_product &p,
                          F &&end)
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
    *out = end(gate, thread_id() % n, sum);
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

template <int ROWS, int WHERE, class F>
DEVICE void walk_multiply(const struct walk &s, const struct walk_product &p,
                          const float (&held)[WALK_HELD_UNITS], F &&end)
{
    if constexpr (WHERE == WALK_HELD)
        multiply_held(held, p, end);
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
/* Puts w where the products read it; valid after the next barrier. */
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

/* Copies `parts` neighbouring gates of each row, `next` numbers from row to row, into padded
 * units. */
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

/* x as it is read back from a 16-bit form. */
DEVICE float as_kept(uint32_t form, float x)
{
    return form == FORM_REAL ? x : bits_to_float(form, float_to_bits(form, x));
}

template <class A> DEVICE size_t step_of(const A &a, uint32_t i)
{
    return a.reverse ? a.steps - 1 - i : i;
}

#endif
