/* mlp.cu - small dense layers forward, the loss, and back to every layer's dz, in one launch: a
 * block has eight rows, and what it computes of them stays in its memory on the way. So do the
 * weights where a block has room for all of them and a multiprocessor to itself: they are copied
 * once, for both ways, the later layers' while the first are multiplied. Else they pass by in
 * pieces, copied while the piece before is multiplied.
 *
 * Every element is the same chain over k as in a product of its own (gemm_simt.cu), norms, dropout
 * and losses are the functions that their own kernels have: the bits are those of the operations
 * one by one. dw and db follow in one launch of products; what they do not read is not written. */
#include "dropout.cuh"
#include "epilogue.cuh"
#include "gather.cuh"
#include "lnorm.cuh"
#include "loss.cuh"
#include "mlp.cuh"

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

/* Operands of a product: C[MLP_TILE][n] = X[MLP_TILE][k] W; across: by the transpose of W[n][k].
 * step: distance of rows of W in shared memory. stays: all of W is there, from `at` on */
struct operand {
    const float *w;
    uint32_t k, n, across, wide, stays, at, depth, half, step;
};

/* Copies rows of a matrix into shared memory, as its own copy group; wide: 16 bytes at a time.
 * Lanes divide only at the beginning. */
DEVICE void rows_copy(float *to, uint32_t to_step, const float *from, uint32_t from_step,
                      uint32_t rows, uint32_t width, bool wide)
{
    uint32_t by = wide ? 4 : 1, along = width / by, lanes = block_size();
    uint32_t row = thread_id() / along, at = thread_id() % along;
    uint32_t down = lanes / along, right = lanes % along;
    while (row < rows) {
        float *there = to + row * to_step + at * by;
        const float *that = from + (size_t)row * from_step + at * by;
        if (wide)
            copy_async<16>(there, that);
        else
            copy_async<4>(there, that);
        row += down;
        at += right;
        if (at >= along) {
            at -= along;
            row++;
        }
    }
    copy_commit();
}

/* --- weights that stay --- */

DEVICE void weights_copy(const struct mlp_layer &l, float *room)
{
    bool wide = (size_t)l.w % 16 == 0 && l.out % 4 == 0;
    rows_copy(room + l.at_w, l.w_step, l.w, l.out, l.in, l.out, wide);
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
    if (o.across)
        rows_copy(to, o.step, o.w, o.k, o.n, depth, o.wide);
    else
        rows_copy(to, 0, o.w, 0, 1, depth * o.n, o.wide);
}

/* Sums of this lane over one piece: TR rows of one column. x: of the first row, ld apart. */
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

/* Stores the sums of a block, [MLP_TILE][n], into the returned half of the pieces; a lane has TR
 * rows of a column. All lanes must call; x may be overwritten afterwards. */
template <int TR>
DEVICE const float *sums_of(struct operand o, const float *x, uint32_t ld, float *pieces)
{
    uint32_t col = thread_id() % o.n, row = thread_id() / o.n * TR, half = 0, left = o.k;
    bool inside = row < MLP_TILE;
    float sum[TR] = {};
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
    float *sums = pieces + half * o.half;
    UNROLL
    for (int r = 0; r < TR; r++)
        if (inside)
            sums[(row + r) * o.n + col] = sum[r];
    sync_block();
    return sums;
}
/* A product; calls put(row, column, sum) for each element. With more lanes a lane has fewer rows.
 */
template <class Put>
DEVICE void product(const struct operand &o, const float *x, uint32_t ld, float *pieces,
                    const Put &put)
{
    const float *sums;
    if (o.n * MLP_TILE <= block_size())
        sums = sums_of<1>(o, x, ld, pieces);
    else if (o.n * MLP_TILE <= 2 * block_size())
        sums = sums_of<2>(o, x, ld, pieces);
    else if (o.n * MLP_TILE <= 4 * block_size())
        sums = sums_of<4>(o, x, ld, pieces);
    else
        sums = sums_of<MLP_TILE>(o, x, ld, pieces);
    for (uint32_t e = thread_id(); e < MLP_TILE * o.n; e += block_size())
        put(e / o.n, e % o.n, sums[e]);
    sync_block();
}

/* True: w can be copied by 16 bytes, as rows of pieces are aligned. */
DEVICE struct operand operand_of(const struct mlp &f, const struct mlp_layer &l, uint32_t k,
                                 uint32_t n, uint32_t across)
{
    bool wide = (size_t)l.w % 16 == 0 && (across ? k : n) % 4 == 0;
    if (f.stays)
        return {l.w, k, n, across, wide, true, l.at_w, 0, 0, l.w_step};
    return {l.w, k, n, across, wide, false, 0, f.depth, f.half, across ? step_of(f.depth) : n};
}

/* --- dropout --- */

/* Dropout masks of the block's rows, for all layers at once. */
DEVICE void draw_kept(const struct mlp &f, float *room, uint32_t row0)
{
    for (uint32_t i = 0; i < f.count; i++) {
        const struct mlp_layer &l = f.layer[i];
        uint32_t fours = l.scale != 0 ? (l.first + MLP_TILE * l.out + 3) / 4 : 0;
        uint8_t *kept = (uint8_t *)(room + l.at_kept);
        uint32_t threshold = fours ? dropout_threshold(l.threshold, f.now->fall) : 0;
        for (uint32_t q = thread_id(); q < fours; q += block_size()) {
            struct rng4 bits =
                dropout_bits(f.now, l.position, l.counter + (uint64_t)(row0 / 4) * l.out + q);
            uint32_t keep = 0;
            UNROLL
            for (int k = 0; k < 4; k++)
                keep |= (uint32_t)(bits.v[k] >= threshold) << k;
            kept[q] = (uint8_t)keep;
        }
    }
}

DEVICE float dropped(const struct mlp &f, const struct mlp_layer &l, const float *room, uint32_t r,
                     uint32_t col, float x)
{
    uint32_t e = l.first + r * l.out + col;
    const uint8_t *kept = (const uint8_t *)(room + l.at_kept);
    uint64_t fall = f.now->fall;
    float scale = dropout_scale(l.scale, dropout_threshold(l.threshold, fall), fall);
    return dropout_value(0, x, kept[e / 4] >> e % 4 & 1, scale);
}

/* --- forward --- */

DEVICE float hot_sum(const struct mlp &f, uint32_t row, uint32_t col, float sum)
{
    for (uint32_t h = 0; h < f.hot.column_count; h++) {
        struct onehot_column one = f.hot.columns[h];
        uint32_t id = (uint32_t)f.hot.ids[(size_t)row * f.hot.ids_ld + one.id];
        if (id < one.count)
            sum += f.layer[0].w[(size_t)(one.at + id) * f.layer[0].out + col];
    }
    return sum;
}

/* What becomes of x w + b, or of its norm. */
DEVICE void put_value(const struct mlp &f, const struct mlp_layer &l, float *room, uint32_t r,
                      uint32_t row, uint32_t col, float x)
{
    uint32_t at = r * padded(l.out) + col;
    float y = act_value(l.act, x, l.slope);
    room[l.at_by + at] = act_needs_z(l.act) ? x : y;
    if (l.scale != 0)
        y = dropped(f, l, room, r, col, y);
    room[l.at_y + at] = y; /* maybe the same place: then that is all that is wanted of it */
    if (l.y)
        l.y[(size_t)row * l.out + col] = y;
}

template <int V>
DEVICE void layer_norm(const struct mlp &f, const struct mlp_layer &l, float *room, uint32_t row0)
{
    uint32_t ld = padded(l.out);
    for (uint32_t r = warp_id(); r < MLP_TILE && row0 + r < f.rows; r += block_size() / WARP) {
        float *normed = room + l.at_by + r * ld;
        const float *sums = room + l.at_sum + r * ld;
        struct lnorm_stats s = lnorm_row<V>(
            [&](float(&v)[V], uint32_t k) { run_load(v, sums + k); },
            [&](const float(&v)[V], uint32_t k) { run_store(normed + k, v); }, l.gamma, l.beta,
            l.out, l.epsilon);
        if (lane_id() == 0) {
            room[l.at_stats + 2 * r] = s.mean;
            room[l.at_stats + 2 * r + 1] = s.inv;
            if (l.mean) {
                l.mean[row0 + r] = s.mean;
                l.inv[row0 + r] = s.inv;
            }
        }
        sync_warp(FULL_WARP);
        for (uint32_t col = lane_id(); col < l.out; col += WARP) {
            float x = normed[col];
            if (f.answers && l.normed)
                l.normed[(size_t)(row0 + r) * l.out + col] = x;
            put_value(f, l, room, r, row0 + r, col, x);
        }
    }
    sync_block();
}

DEVICE void layer_forward(const struct mlp &f, uint32_t number, float *room, uint32_t row0)
{
    const struct mlp_layer &l = f.layer[number];
    const float *x = room + (number ? f.layer[number - 1].at_y : f.at_x);
    if (f.stays)
        weights_wait(f.count - 1 - number);
    product(operand_of(f, l, l.in, l.out, 0), x, padded(l.in), room,
            [&](uint32_t r, uint32_t col, float sum) {
                uint32_t at = r * padded(l.out) + col, row = row0 + r;
                if (row >= f.rows) {
                    room[l.at_y + at] = room[l.at_by + at] = 0;
                    return;
                }
                if (number == 0)
                    sum = hot_sum(f, row, col, sum);
                if (l.b)
                    sum += l.b[col];
                if (!l.gamma) {
                    put_value(f, l, room, r, row, col, sum);
                    return;
                }
                room[l.at_sum + at] = sum;
                l.sum[(size_t)row * l.out + col] = sum;
            });
    if (l.gamma && l.wide)
        layer_norm<4>(f, l, room, row0);
    else if (l.gamma)
        layer_norm<1>(f, l, room, row0);
}

/* --- back --- */

/* The gradient of a layer's output becomes dz, or the gradient of its norm. */
DEVICE void put_gradient(const struct mlp &f, const struct mlp_layer &l, float *room, uint32_t r,
                         uint32_t row0, uint32_t col, float d)
{
    float *at = room + l.at_by + r * padded(l.out) + col;
    if (l.scale != 0)
        d = dropped(f, l, room, r, col, d);
    if (l.act != ACT_NONE)
        d *= act_derivative(l.act, *at, l.slope);
    if (l.act != ACT_NONE && l.gamma)
        d = 0.0f + d; /* an act by itself adds it */
    bool inside = row0 + r < f.rows;
    *at = inside ? d : 0;
    if (inside)
        (l.gamma ? l.dnormed : l.dz)[(size_t)(row0 + r) * l.out + col] = d;
}

template <int V>
DEVICE void norm_back(const struct mlp &f, const struct mlp_layer &l, float *room, uint32_t row0)
{
    uint32_t ld = padded(l.out);
    for (uint32_t r = warp_id(); r < MLP_TILE && row0 + r < f.rows; r += block_size() / WARP) {
        float *dz = room + l.at_by + r * ld;
        const float *stats = room + l.at_stats + 2 * r, *sums = room + l.at_sum + r * ld;
        lnorm_dx<V>([&](float(&v)[V], uint32_t k) { run_load(v, sums + k); },
                    [&](float(&v)[V], uint32_t k) { run_load(v, dz + k); },
                    [&](float(&)[V], uint32_t) {},
                    [&](const float(&v)[V], uint32_t k) { run_store(dz + k, v); }, l.gamma,
                    {stats[0], stats[1]}, l.out);
        sync_warp(FULL_WARP);
        for (uint32_t col = lane_id(); col < l.out; col += WARP)
            l.dz[(size_t)(row0 + r) * l.out + col] = dz[col];
    }
    sync_block();
}

/* dz of the layer below, or dx of the first, from dz of this one. */
DEVICE void layer_back(const struct mlp &f, uint32_t number, float *room, uint32_t row0)
{
    const struct mlp_layer &l = f.layer[number], &below = f.layer[number ? number - 1 : 0];
    product(operand_of(f, l, l.out, l.in, 1), room + l.at_by, padded(l.out), room,
            [&](uint32_t r, uint32_t col, float sum) {
                if (number > 0) {
                    put_gradient(f, below, room, r, row0, col, sum);
                } else if (row0 + r < f.rows) {
                    float *dx = f.dx + (size_t)(row0 + r) * l.in + col;
                    *dx = f.add_dx ? *dx + sum : sum;
                }
            });
    if (number > 0 && below.gamma && below.wide_back)
        norm_back<4>(f, below, room, row0);
    else if (number > 0 && below.gamma)
        norm_back<1>(f, below, room, row0);
}

/* The loss of the block's rows, in their order; lane r has row r. */
DEVICE void block_loss(const struct mlp &f, float *room, double *parts, uint32_t row0)
{
    const struct mlp_layer &l = f.layer[f.count - 1];
    uint32_t r = thread_id(), row = row0 + r;
    if (r < MLP_TILE) {
        float *d = room + l.at_by + r * padded(l.out), weight = 0;
        const float *logits = room + l.at_y + r * padded(l.out);
        double loss = 0;
        if (row < f.rows && f.classes) {
            weight = (float)f.of_classes.weight[row];
            loss = class_row<1>(f.of_classes, logits, d, (float)f.of_classes.target[row], weight);
        } else if (row < f.rows) {
            weight = (float)f.of_values.weight[row];
            loss = value_row(f.of_values, logits[0], d, (float)f.of_values.target[row], weight);
        }
        for (uint32_t k = 0; k < l.out; k++) {
            if (row < f.rows)
                l.dz[(size_t)row * l.out + k] = d[k];
            else
                d[k] = 0;
        }
        parts[r] = loss;
        parts[MLP_TILE + r] = (double)weight;
    }
    sync_block();
    if (thread_id() < 2) {
        double sum = 0;
        for (uint32_t i = 0; i < MLP_TILE; i++)
            sum += parts[thread_id() * MLP_TILE + i];
        f.parts[2 * block_x() + thread_id()] = sum;
    }
}

/* The block that comes last adds what all of them lost. */
DEVICE void shard_loss(const struct mlp &f)
{
    if (thread_id() >= f.shards)
        return;
    /* shards begin at multiples of MLP_TILE */
    uint32_t end = (part_begin(f.rows, f.shards, thread_id() + 1) + MLP_TILE - 1) / MLP_TILE;
    bool more = f.classes ? f.of_classes.more : f.of_values.more;
    double *part_loss = (f.classes ? f.of_classes.part_loss : f.of_values.part_loss) + thread_id();
    double *part_weight = f.classes ? f.of_classes.part_weight : f.of_values.part_weight;
    double loss = 0, weight = 0;
    for (uint32_t i = part_begin(f.rows, f.shards, thread_id()) / MLP_TILE; i < end; i++) {
        loss += f.parts[2 * i];
        weight += f.parts[2 * i + 1];
    }
    part_weight += thread_id();
    *part_loss = (more ? *part_loss : 0) + loss;
    *part_weight = (more ? *part_weight : 0) + weight;
}

KERNEL_BOUNDED(MLP_LANES, mlp_step)(ARGUMENT(struct mlp) f)
{
    DYNAMIC(float, room);
    SHARED(double, parts, 2 * MLP_TILE);
    SHARED(uint32_t, said, 1);
    enum { EACH = MLP_NARROW / MLP_TILE }; /* lanes of a row */
    uint32_t row0 = block_x() * MLP_TILE, in = f.layer[0].in, mine = thread_id() / EACH;
    for (uint32_t i = 0; i < f.count && f.stays; i++)
        weights_copy(f.layer[i], room);
    if (f.gather.rows) {
        if (mine < MLP_TILE && row0 + mine < f.rows)
            gather_row<EACH>(f.gather, row0 + mine, thread_id() % EACH, row0 + mine, 0,
                             true);
        sync_block();
    }
    for (uint32_t e = thread_id(); e < MLP_TILE * in; e += block_size()) {
        uint32_t r = e / in, k = e % in;
        room[f.at_x + r * padded(in) + k] =
            row0 + r < f.rows ? f.x[(size_t)(row0 + r) * in + k] : 0;
    }
    draw_kept(f, room, row0);
    sync_block();
    for (uint32_t i = 0; i < f.count; i++)
        layer_forward(f, i, room, row0);
    if (f.answers)
        return;
    block_loss(f, room, parts, row0);
    for (uint32_t i = f.count; i-- > (f.dx ? 0u : 1u);)
        layer_back(f, i, room, row0);
    if (block_is_last(f.counter, grid_x(), said))
        shard_loss(f);
}

size_t mlp_scratch(uint32_t rows)
{
    return SCRATCH_HEAD + 2 * sizeof(double) * ((rows + MLP_TILE - 1) / MLP_TILE);
}

void mlp_start(struct machine *m, const struct mlp *f)
{
    LAUNCH(mlp_step, dim3((f->rows + MLP_TILE - 1) / MLP_TILE), dim3(f->lanes), f->bytes, m, *f);
}
