/* mlp_product.cuh - the products of mlp_step.cu: weights on their way into a block's memory, and a
 * block's rows by them. */
#ifndef DNN_KERNELS_MLP_PRODUCT_CUH
#define DNN_KERNELS_MLP_PRODUCT_CUH

#include "device.cuh"
#include "ops/mlp.cuh"

/* A piece of weights: across 0: [depth][n]; 1: [n][step], k along the rows, so that the lanes'
 * reads of four meet all banks. */
DEVICE uint32_t step_of(uint32_t depth)
{
    return depth + MLP_SKEW;
}
DEVICE uint32_t padded(uint32_t width)
{
    return (width + 3) / 4 * 4;
}

/* Operands of a product: C[T][n] = X[T][k] W; across: W is the transpose of W[n][k]. step: distance
 * of rows of W in shared memory. stays: all of W is in shared memory, from `at` on. bias: [n] or
 * NULL */
struct operand {
    const float *w, *bias;
    uint32_t k, n, across, wide, stays, at, depth, half, step;
};

/* Lanes that do something together, and which of them this one is. */
struct team { uint32_t lane, lanes; };

/* Copies rows of a matrix into shared memory, as its own copy group; wide: 16 bytes at a time.
 * Lanes divide only at the beginning. */
DEVICE void rows_copy(float *to, uint32_t to_step, const float *from, uint32_t from_step,
                      uint32_t rows, uint32_t width, bool wide, struct team by)
{
    uint32_t each = wide ? 4 : 1, along = width / each;
    uint32_t row = by.lane / along, at = by.lane % along;
    uint32_t down = by.lanes / along, right = by.lanes % along;
    to += row * to_step + at * each;
    from += (size_t)row * from_step + at * each;
    while (row < rows) {
        if (wide)
            copy_async<16>(to, from);
        else
            copy_async<4>(to, from);
        row += down;
        at += right;
        to += down * to_step + right * each;
        from += (size_t)down * from_step + right * each;
        if (at >= along) {
            at -= along;
            row++;
            to += to_step - width;
            from += (ptrdiff_t)from_step - width;
        }
    }
    copy_commit();
}

/* --- weights that stay --- */

DEVICE void weights_copy(const struct mlp_layer &l, float *room, struct team by)
{
    bool wide = (size_t)l.w % 16 == 0 && l.out % 4 == 0;
    rows_copy(room + l.at_w, l.w_step, l.w, l.out, l.in, l.out, wide, by);
}

/* Waits for the copies of all layers but the last `later`, for the whole block. */
DEVICE void weights_wait(uint32_t later)
{
    static_assert(MLP_LAYERS == 6, "a case for each");
    switch (later) {
    case 5: copy_wait<5>(); break;
    case 4: copy_wait<4>(); break;
    case 3: copy_wait<3>(); break;
    case 2: copy_wait<2>(); break;
    case 1: copy_wait<1>(); break;
    default: copy_wait<0>();
    }
    sync_block();
}

/* --- weights that pass by --- */

/* Copies the first k of w; `left` remain. */
DEVICE void piece_copy(float *to, const struct operand &o, uint32_t left)
{
    uint32_t depth = left < o.depth ? left : o.depth;
    struct team all = {thread_id(), block_size()};
    if (o.across)
        rows_copy(to, o.step, o.w, o.k, o.n, depth, o.wide, all);
    else
        rows_copy(to, 0, o.w, 0, 1, depth * o.n, o.wide, all);
}

/* Sums of this lane over one piece: TR rows of one column. x: the first row's, ld apart. */
template <int TR>
DEVICE void piece_add(float (&sum)[TR], const float *piece, const struct operand &o, uint32_t depth,
                      uint32_t col, const float *x, uint32_t ld)
{
    uint32_t k = 0, step = o.step;
    for (; k + 4 <= depth; k += 4) {
        four w;
        if (o.across) {
            w = load4(piece + col * step + k);
        } else {
            UNROLL
            for (uint32_t i = 0; i < 4; i++)
                w.v[i] = piece[(k + i) * step + col];
        }
        UNROLL
        for (int r = 0; r < TR; r++) {
            four v = load4(x + r * ld + k);
            UNROLL
            for (int i = 0; i < 4; i++)
                sum[r] = fmaf(v.v[i], w.v[i], sum[r]);
        }
    }
    ROLLED
    for (; k < depth; k++) {
        float w = o.across ? piece[col * step + k] : piece[k * step + col];
        UNROLL
        for (int r = 0; r < TR; r++)
            sum[r] = fmaf(x[r * ld + k], w, sum[r]);
    }
}

/* The sums of a block: a lane has TR rows of a column, and gives them to put(row, column, bias,
 * sums). All lanes must call, after a barrier; put must not write x. */
template <int T, int TR, class Put>
DEVICE void product_by(struct operand o, const float *x, uint32_t ld, float *pieces,
                       const Put &put)
{
    uint32_t col = thread_id() % o.n, row = thread_id() / o.n * TR, half = 0, left = o.k;
    bool inside = row < T;
    float sum[TR] = {}, bias = inside && o.bias ? o.bias[col] : 0;
    if (o.stays) {
        if (inside)
            piece_add<TR>(sum, pieces + o.at, o, o.k, col, x + row * ld, ld);
        left = 0;
    }
    if (left > 0)
        piece_copy(pieces, o, left);
    for (; left > 0; half ^= 1) {
        uint32_t depth = left < o.depth ? left : o.depth;
        copy_wait<0>();
        /* all have left the other half as well */
        sync_block();
        left -= depth;
        o.w += o.across ? depth : (size_t)depth * o.n;
        if (left > 0)
            piece_copy(pieces + (half ^ 1) * o.half, o, left);
        if (inside)
            piece_add<TR>(sum, pieces + half * o.half, o, depth, col,
                          x + row * ld + (o.k - left - depth), ld);
    }
    if (inside)
        put(row, col, bias, sum);
}
/* With more lanes a lane has fewer rows. */
template <int T, class Put>
DEVICE void product(const struct operand &o, const float *x, uint32_t ld, float *pieces,
                    const Put &put)
{
    if (o.n * T <= block_size())
        product_by<T, 1>(o, x, ld, pieces, put);
    else if (o.n * T <= 2 * block_size())
        product_by<T, 2>(o, x, ld, pieces, put);
    else if (T == 4 || o.n * T <= 4 * block_size())
        product_by<T, 4>(o, x, ld, pieces, put);
    else
        product_by<T, T>(o, x, ld, pieces, put);
}

/* True: w can be copied by 16 bytes, as rows of pieces are aligned. */
DEVICE struct operand operand_of(const struct mlp &f, const struct mlp_layer &l, uint32_t k,
                                 uint32_t n, uint32_t across)
{
    bool wide = (size_t)l.w % 16 == 0 && (across ? k : n) % 4 == 0;
    const float *bias = across ? nullptr : l.b;
    if (f.stays)
        return {l.w, bias, k, n, across, wide, true, l.at_w, 0, 0, l.w_step};
    return {l.w, bias, k, n, across, wide, false, 0, f.depth, f.half,
            across ? step_of(f.depth) : n};
}

#endif
