/* mlp_step.cu - small dense layers forward, the loss, and back to every layer's dz, in one launch:
 * a block has T rows, 4 or 8, and what it computes of them stays in its memory on the way. So do
 * the weights, if a block has room for all of them and a multiprocessor to itself: they are copied
 * once, for both ways, while other lanes gather the rows. Else they pass by in pieces, copied while
 * the piece before is multiplied. The loss of every row goes to memory, so that its sum has the
 * same order for any T.
 *
 * Every element is the same chain over k as in gemm_simt.cu; norms, dropout and losses use the
 * functions of their own kernels: the bits are the same as with the operations one by one. dw and
 * db follow in one launch of products; what they do not read is not written. */
#include "ops/dropout.cuh"
#include "epilogue.cuh"
#include "ops/gather.cuh"
#include "ops/lnorm.cuh"
#include "ops/mlp_loss.cuh"
#include "ops/mlp_product.cuh"

/* A block's memory, its first row, and how far dropout has fallen. */
struct place { float *room; uint32_t row0; uint64_t decay; };

/* --- dropout --- */

/* Dropout masks of the block's rows, for all layers at once. The last lanes come first: others may
 * have records to gather. */
template <int T> DEVICE void draw_kept(const struct mlp &f, const struct place &at)
{
    for (uint32_t i = 0; i < f.count; i++) {
        const struct mlp_layer &l = f.layer[i];
        uint32_t fours = l.scale != 0 ? (l.first + T * l.out + 3) / 4 : 0;
        uint8_t *kept = (uint8_t *)(at.room + l.at_kept);
        uint32_t threshold = dropout_threshold(l.threshold, at.decay);
        for (uint32_t q = block_size() - 1 - thread_id(); q < fours; q += block_size()) {
            struct rng4 bits =
                dropout_bits(f.now, l.position, l.counter + (uint64_t)(at.row0 / 4) * l.out + q);
            uint32_t keep = 0;
            UNROLL
            for (int k = 0; k < 4; k++)
                keep |= (uint32_t)(bits.v[k] >= threshold) << k;
            kept[q] = (uint8_t)keep;
        }
    }
}

/* N rows of a column, from row r of the block on. */
template <int N>
DEVICE void dropped(const struct mlp_layer &l, const struct place &at, uint32_t r, uint32_t col,
                    float (&x)[N])
{
    const uint8_t *kept = (const uint8_t *)(at.room + l.at_kept);
    float scale = dropout_scale(l.scale, dropout_threshold(l.threshold, at.decay), at.decay);
    UNROLL
    for (int i = 0; i < N; i++) {
        uint32_t e = l.first + (r + i) * l.out + col;
        x[i] = dropout_value(0, x[i], kept[e / 4] >> e % 4 & 1, scale);
    }
}

/* --- forward --- */

template <int N>
DEVICE void add_onehot(const struct mlp &f, uint32_t row, uint32_t col, float (&sum)[N])
{
    uint32_t left = rows_left(f, row);
    for (uint32_t h = 0; h < f.onehot.column_count; h++) {
        struct onehot_column one = f.onehot.columns[h];
        UNROLL
        for (uint32_t i = 0; i < N; i++) {
            uint32_t id =
                i < left ? (uint32_t)f.onehot.ids[(size_t)(row + i) * f.onehot.ids_ld + one.id]
                         : ~0u;
            if (id < one.count)
                sum[i] += f.layer[0].w[(size_t)(one.at + id) * f.layer[0].out + col];
        }
    }
}

/* Writes the outputs made of x w + b, or of its norm: N rows of a column, from row r of the block
 * on. Rows beyond the batch stay in the block. */
template <int N>
DEVICE void put_values(const struct mlp &f, const struct mlp_layer &l, const struct place &at,
                       uint32_t r, uint32_t col, const float (&x)[N])
{
    uint32_t ld = padded(l.out), left = rows_left(f, at.row0 + r);
    float *by = at.room + l.at_by + r * ld + col, *to = at.room + l.at_y + r * ld + col;
    bool needs_z = act_needs_z(l.act);
    float y[N];
    UNROLL
    for (int i = 0; i < N; i++)
        y[i] = act_value(l.act, x[i], l.slope);
    UNROLL
    for (int i = 0; i < N; i++)
        by[i * ld] = needs_z ? x[i] : y[i];
    if (l.scale != 0)
        dropped(l, at, r, col, y);
    UNROLL
    for (int i = 0; i < N; i++)
        to[i * ld] = y[i]; /* maybe the same place: then that is all that is wanted of it */
    float *out = l.y + (size_t)(at.row0 + r) * l.out + col;
    UNROLL
    for (uint32_t i = 0; i < N && l.y; i++)
        if (i < left)
            out[(size_t)i * l.out] = y[i];
}

/* x w + b, which is to be normed. */
template <int N>
DEVICE void put_sums(const struct mlp &f, const struct mlp_layer &l, const struct place &at,
                     uint32_t r, uint32_t col, const float (&x)[N])
{
    uint32_t ld = padded(l.out), left = rows_left(f, at.row0 + r);
    UNROLL
    for (uint32_t i = 0; i < N; i++) {
        uint32_t to = (r + i) * ld + col;
        at.room[l.at_sum + to] = x[i];
        if (i < left)
            l.sum[(size_t)(at.row0 + r + i) * l.out + col] = x[i];
        else
            at.room[l.at_y + to] = at.room[l.at_by + to] = 0;
    }
}

template <int T, int V>
DEVICE void layer_norm(const struct mlp &f, const struct mlp_layer &l, const struct place &at)
{
    uint32_t ld = padded(l.out), row0 = at.row0;
    for (uint32_t r = warp_id(); r < T && row0 + r < f.rows; r += block_size() / WARP) {
        float *normed = at.room + l.at_by + r * ld;
        const float *sums = at.room + l.at_sum + r * ld;
        struct lnorm_stats s = lnorm_row<V>(
            [&](float(&v)[V], uint32_t k) { run_load(v, sums + k); },
            [&](const float(&v)[V], uint32_t k) { run_store(normed + k, v); }, l.gamma, l.beta,
            l.out, l.epsilon);
        if (lane_id() == 0) {
            at.room[l.at_stats + 2 * r] = s.mean;
            at.room[l.at_stats + 2 * r + 1] = s.inv;
            if (l.mean) {
                l.mean[row0 + r] = s.mean;
                l.inv[row0 + r] = s.inv;
            }
        }
        sync_warp(FULL_WARP);
        for (uint32_t col = lane_id(); col < l.out; col += WARP) {
            float x[1] = {normed[col]};
            if (f.answers && l.normed)
                l.normed[(size_t)(row0 + r) * l.out + col] = x[0];
            put_values(f, l, at, r, col, x);
        }
    }
}

/* Waits until the weights are loaded, and all that the block has written is visible. */
DEVICE void layer_begin(const struct mlp &f, uint32_t later)
{
    if (f.stays)
        weights_wait(later);
    else
        sync_block();
}

template <int T>
DEVICE void layer_forward(const struct mlp &f, uint32_t number, const struct place &at)
{
    const struct mlp_layer &l = f.layer[number];
    const float *x = at.room + (number ? f.layer[number - 1].at_y : f.at_x);
    layer_begin(f, f.count - 1 - number);
    product<T>(operand_of(f, l, l.in, l.out, 0), x, padded(l.in), at.room,
               [&](uint32_t r, uint32_t col, float bias, auto &sum) {
                   if (number == 0 && f.onehot.column_count)
                       add_onehot(f, at.row0 + r, col, sum);
                   if (l.b)
                       for (float &s : sum)
                           s += bias;
                   if (l.gamma)
                       put_sums(f, l, at, r, col, sum);
                   else
                       put_values(f, l, at, r, col, sum);
               });
    if (!l.gamma)
        return;
    sync_block();
    if (l.wide)
        layer_norm<T, 4>(f, l, at);
    else
        layer_norm<T, 1>(f, l, at);
}

/* --- back --- */

/* The gradient of a layer's output becomes dz, or the gradient of its norm. */
template <int N>
DEVICE void put_gradients(const struct mlp &f, const struct mlp_layer &l, const struct place &at,
                          uint32_t r, uint32_t col, float (&d)[N])
{
    uint32_t ld = padded(l.out), left = rows_left(f, at.row0 + r);
    float *by = at.room + l.at_by + r * ld + col;
    float *to = (l.gamma ? l.dnormed : l.dz) + (size_t)(at.row0 + r) * l.out + col;
    if (l.scale != 0)
        dropped(l, at, r, col, d);
    if (l.act == ACT_RELU) {
        UNROLL
        for (int i = 0; i < N; i++)
            d[i] *= act_derivative(ACT_RELU, by[i * ld], 0);
    } else if (l.act != ACT_NONE) {
        UNROLL
        for (int i = 0; i < N; i++)
            d[i] *= act_derivative(l.act, by[i * ld], l.slope);
    }
    UNROLL
    for (uint32_t i = 0; i < N; i++) {
        if (l.act != ACT_NONE && l.gamma)
            d[i] = 0.0f + d[i]; /* as the operation act does, which adds to 0 */
        by[i * ld] = i < left ? d[i] : 0;
        if (i < left)
            to[(size_t)i * l.out] = d[i];
    }
}

template <int T, int V>
DEVICE void norm_back(const struct mlp &f, const struct mlp_layer &l, const struct place &at)
{
    uint32_t ld = padded(l.out), row0 = at.row0;
    const float *room = at.room;
    for (uint32_t r = warp_id(); r < T && row0 + r < f.rows; r += block_size() / WARP) {
        float *dz = at.room + l.at_by + r * ld;
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
}

/* dx of the first layer: N rows of a column. */
template <int N>
DEVICE void put_dx(const struct mlp &f, uint32_t row, uint32_t col, const float (&sum)[N])
{
    uint32_t in = f.layer[0].in, left = rows_left(f, row);
    float *dx = f.dx + (size_t)row * in + col;
    UNROLL
    for (uint32_t i = 0; i < N; i++, dx += in)
        if (i < left)
            *dx = f.add_dx ? *dx + sum[i] : sum[i];
}

/* dz of the layer below, or dx of the first, from dz of this one. */
template <int T>
DEVICE void layer_back(const struct mlp &f, uint32_t number, const struct place &at)
{
    const struct mlp_layer &l = f.layer[number], &below = f.layer[number ? number - 1 : 0];
    sync_block();
    product<T>(operand_of(f, l, l.out, l.in, 1), at.room + l.at_by, padded(l.out), at.room,
               [&](uint32_t r, uint32_t col, float, auto &sum) {
                   if (number > 0)
                       put_gradients(f, below, at, r, col, sum);
                   else
                       put_dx(f, at.row0 + r, col, sum);
               });
    if (number == 0 || !below.gamma)
        return;
    sync_block();
    if (below.wide_back)
        norm_back<T, 4>(f, below, at);
    else
        norm_back<T, 1>(f, below, at);
}

/* --- all of it --- */

/* x of the block's rows, from memory. */
template <int T> DEVICE void read_rows(const struct mlp &f, const struct place &at)
{
    uint32_t in = f.layer[0].in;
    for (uint32_t e = thread_id(); e < T * in; e += block_size()) {
        uint32_t r = e / in, k = e % in;
        at.room[f.at_x + r * padded(in) + k] =
            at.row0 + r < f.rows ? f.x[(size_t)(at.row0 + r) * in + k] : 0;
    }
}
/* One number of four bytes after the other, by the whole block: all of it comes at once. */
template <class S> DEVICE void words_copy(S *to, const S *from)
{
    for (uint32_t i = thread_id(); i < sizeof(S) / 4; i += block_size())
        ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
}
/* The same by EACH lanes a row, from records. from, now: the gather's, copied into the block. */
template <int EACH>
DEVICE void gather_rows(const struct mlp &f, const struct place &at, uint32_t r,
                        const struct source *from, const struct step *now)
{
    struct op_gather gather = f.gather;
    gather.from = from;
    gather.now = now;
    uint32_t in = f.layer[0].in, lane = thread_id() % EACH, row = at.row0 + r;
    float *x = at.room + f.at_x + r * padded(in);
    if (row < f.rows)
        gather_row<EACH>(gather, row, lane, row, 0, true, x);
    for (uint32_t k = lane; row >= f.rows && k < in; k += EACH)
        x[k] = 0;
}

template <int T> KERNEL_SHARING(MLP_LANES, 2, mlp_step)(ARGUMENT(struct mlp) f)
{
    DYNAMIC(float, room);
    SHARED(uint32_t, said, 1);
    SHARED(struct source, from, 1);
    SHARED(struct step, now, 1);
    /* lanes of a row, lanes that gather */
    enum { EACH = MLP_NARROW / MLP_TILE, GATHER = T * EACH };
    int64_t tried = f.now ? f.now->tried : 0;
    struct place at = {room, block_x() * T, 0};
    struct loss_row mine = {at.row0 + thread_id(), 0, 0, 0, {}};
    /* some lanes gather while others copy, if the block has enough */
    uint32_t others = f.gather.rows && block_size() > GATHER ? GATHER : 0;
    struct team copying = {thread_id() - others, block_size() - others};
    if (f.gather.rows) {
        words_copy(from, f.gather.from);
        words_copy(now, f.gather.now);
        sync_block();
    }
    if (f.now)
        at.decay = step_dropout_decay(&f.schedule, tried);
    if (f.stays && thread_id() >= others)
        for (uint32_t i = 0; i < f.count; i++)
            weights_copy(f.layer[i], room, copying);
    if (!f.gather.rows)
        read_rows<T>(f, at);
    else if (thread_id() < GATHER)
        gather_rows<EACH>(f, at, thread_id() / EACH, from, now);
    draw_kept<T>(f, at);
    for (uint32_t i = 0; i < f.count; i++) {
        layer_forward<T>(f, i, at);
        if (i == 0 && !f.answers && thread_id() < T)
            loss_read(f, &mine); /* valid since the barrier of the first layer */
    }
    if (f.answers)
        return;
    sync_block();
    const struct mlp_layer &last = f.layer[f.count - 1];
    uint32_t own = thread_id() * padded(last.out);
    if (thread_id() < T)
        loss_gradient(f, &mine, room + last.at_y + own, room + last.at_by + own);
    for (uint32_t i = f.count; i-- > (f.dx ? 0u : 1u);)
        layer_back<T>(f, i, at);
    if (thread_id() < T)
        loss_put(f, mine);
    if (block_is_last(f.counter, grid_x(), said))
        shard_loss(f);
}

size_t mlp_scratch(uint32_t rows)
{
    return SCRATCH_HEAD + 2 * sizeof(double) * (rows + (rows + 7) / 8);
}

void mlp_start(struct machine *m, const struct mlp *f)
{
    dim3 grid((f->rows + f->tile - 1) / f->tile), lanes(f->lanes);
    if (f->tile == MLP_TILE)
        LAUNCH(mlp_step<MLP_TILE>, grid, lanes, f->bytes, m, *f);
    else
        LAUNCH(mlp_step<MLP_TILE / 2>, grid, lanes, f->bytes, m, *f);
}
