/* mlp.cu - small dense layers forward, the loss, and back to every layer's dz, in one launch: a
 * block has eight rows, and what it computes of them stays in its memory on the way. Weights pass
 * by in pieces, copied while the piece before is multiplied.
 *
 * Every element is the same chain over k as in a product of its own (gemm_simt.cu), so the bits are
 * those of the operations one by one. dw and db follow in one launch of products. */
#include "backend/backend.h"
#include "epilogue.cuh"
#include "gather.cuh"
#include "loss.cuh"
#include "mlp.cuh"

/* A piece of weights: across 0: [MLP_DEPTH][n]; 1: [n][STEP], k along the rows, so that the lanes'
 * reads of four meet all banks. */
enum { STEP = MLP_DEPTH + 4, PIECE = MLP_WIDTH * STEP };

HOST_DEVICE uint32_t padded(uint32_t width)
{
    return (width + 3) / 4 * 4;
}

/* A product's operands: C[MLP_TILE][n] = X[MLP_TILE][k] W; across: by the transpose of W[n][k]. */
struct operand { const float *w; uint32_t k, n, across, wide; };

/* Copies k [begin, begin + MLP_DEPTH) of w. */
DEVICE void piece_copy(float *to, const struct operand &o, uint32_t begin)
{
    uint32_t depth = o.k - begin < MLP_DEPTH ? o.k - begin : (uint32_t)MLP_DEPTH;
    uint32_t by = o.wide ? 4 : 1, along = (o.across ? depth : depth * o.n) / by;
    uint32_t rows = o.across ? o.n : 1, from_step = o.across ? o.k : 0;
    const float *from = o.w + (o.across ? begin : (size_t)begin * o.n);
    for (uint32_t e = thread_id(); e < along * rows; e += MLP_LANES) {
        uint32_t row = e / along, at = e % along * by;
        float *there = to + row * STEP + at;
        if (o.wide)
            copy_async<16>(there, from + (size_t)row * from_step + at);
        else
            copy_async<4>(there, from + (size_t)row * from_step + at);
    }
    copy_commit();
}

/* The sums of this lane over one piece: TR rows of one column. x: of the first row, ld apart. */
template <int TR>
DEVICE void piece_add(float (&sum)[TR], const float *piece, const struct operand &o, uint32_t depth,
                      uint32_t col, const float *x, uint32_t ld)
{
    uint32_t k = 0;
    for (; k + 4 <= depth; k += 4) {
        four w;
        if (o.across) {
            w = load4(piece + col * STEP + k);
        } else {
            UNROLL
            for (uint32_t i = 0; i < 4; i++)
                w.v[i] = piece[(k + i) * o.n + col];
        }
        UNROLL
        for (int r = 0; r < TR; r++) {
            four v = load4(x + r * ld + k);
            UNROLL
            for (int i = 0; i < 4; i++)
                sum[r] = fmaf(v.v[i], w.v[i], sum[r]);
        }
    }
    for (; k < depth; k++) {
        float w = o.across ? piece[col * STEP + k] : piece[k * o.n + col];
        UNROLL
        for (int r = 0; r < TR; r++)
            sum[r] = fmaf(x[r * ld + k], w, sum[r]);
    }
}

/* C of a block, each element given to put(row, column, sum): all rows of a column by one lane, or,
 * where there are few columns, an element a lane. Every lane of the block comes here, and waits
 * before x is read. */
template <int TR, class Put>
DEVICE void product_of(const struct operand &o, const float *x, uint32_t ld, float *pieces,
                       const Put &put)
{
    uint32_t col = TR == 1 ? thread_id() % o.n : thread_id(), half = 0;
    uint32_t row = TR == 1 ? thread_id() / o.n : 0;
    bool inside = TR == 1 ? row < MLP_TILE : col < o.n;
    float sum[TR] = {};
    if (o.k > 0)
        piece_copy(pieces, o, 0);
    for (uint32_t k = 0; k < o.k; k += MLP_DEPTH, half ^= 1) {
        bool last = o.k - k <= MLP_DEPTH;
        if (!last)
            piece_copy(pieces + (half ^ 1) * PIECE, o, k + MLP_DEPTH);
        if (last)
            copy_wait<0>();
        else
            copy_wait<1>();
        sync_block();
        if (inside)
            piece_add<TR>(sum, pieces + half * PIECE, o,
                          last ? o.k - k : (uint32_t)MLP_DEPTH, col, x + row * ld + k, ld);
        sync_block();
    }
    UNROLL
    for (int r = 0; r < TR; r++)
        if (inside)
            put(row + r, col, sum[r]);
    sync_block();
}
template <class Put>
DEVICE void product(const struct operand &o, const float *x, uint32_t ld, float *pieces,
                    const Put &put)
{
    if (o.n * MLP_TILE <= MLP_LANES)
        product_of<1>(o, x, ld, pieces, put);
    else
        product_of<MLP_TILE>(o, x, ld, pieces, put);
}

/* w may be copied 16 bytes at a time: rows of pieces begin at such places. */
DEVICE struct operand operand_of(const float *w, uint32_t k, uint32_t n, uint32_t across)
{
    bool wide = (size_t)w % 16 == 0 && (across ? k : n) % 4 == 0;
    return {w, k, n, across, wide};
}

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

DEVICE void layer_forward(const struct mlp &f, uint32_t number, float *room, uint32_t row0)
{
    const struct mlp_layer &l = f.layer[number];
    const float *x = room + (number ? f.layer[number - 1].at_y : f.at_x);
    product(operand_of(l.w, l.in, l.out, 0), x, padded(l.in), room,
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
                if (l.z)
                    l.z[(size_t)row * l.out + col] = sum;
                float y = act_value(l.act, sum, l.slope);
                room[l.at_by + at] = sum;
                room[l.at_y + at] = y; /* the same place where the derivative is taken at y */
                l.y[(size_t)row * l.out + col] = y;
            });
}

/* dz of the layer below, or dx of the first, from dz of this one. */
DEVICE void layer_back(const struct mlp &f, uint32_t number, float *room, const float *dz,
                       float *to, uint32_t row0)
{
    const struct mlp_layer &l = f.layer[number];
    product(operand_of(l.w, l.out, l.in, 1), dz, f.ld_dz, room,
            [&](uint32_t r, uint32_t col, float sum) {
                uint32_t row = row0 + r;
                if (number > 0) {
                    const struct mlp_layer &below = f.layer[number - 1];
                    float by = room[below.at_by + r * padded(l.in) + col];
                    if (below.act != ACT_NONE)
                        sum *= act_derivative(below.act, by, below.slope);
                    to[r * f.ld_dz + col] = sum;
                    if (row < f.rows)
                        below.dz[(size_t)row * l.in + col] = sum;
                } else if (row < f.rows) {
                    float *dx = f.dx + (size_t)row * l.in + col;
                    *dx = f.add_dx ? *dx + sum : sum;
                }
            });
}

/* The loss of the block's rows, in their order; lane r has row r. */
DEVICE void block_loss(const struct mlp &f, const float *room, float *dz, double *parts,
                       uint32_t row0)
{
    const struct mlp_layer &l = f.layer[f.count - 1];
    uint32_t r = thread_id(), row = row0 + r;
    if (r < MLP_TILE) {
        float *d = dz + r * f.ld_dz, weight = 0;
        const float *logits = room + l.at_y + r * padded(l.out);
        double loss = 0;
        for (uint32_t k = 0; k < l.out; k++)
            d[k] = 0;
        if (row < f.rows && f.classes) {
            weight = (float)f.of_classes.weight[row];
            loss = class_row<1>(f.of_classes, logits, d, (float)f.of_classes.target[row], weight);
        } else if (row < f.rows) {
            weight = (float)f.of_values.weight[row];
            loss = value_row(f.of_values, logits[0], d, (float)f.of_values.target[row], weight);
        }
        parts[r] = loss;
        parts[MLP_TILE + r] = (double)weight;
        for (uint32_t k = 0; k < l.out && row < f.rows; k++)
            l.dz[(size_t)row * l.out + k] = d[k];
    }
    sync_block();
    if (thread_id() < 2) {
        double sum = 0;
        for (uint32_t i = 0; i < MLP_TILE; i++)
            sum += parts[thread_id() * MLP_TILE + i];
        f.parts[2 * block_x() + thread_id()] = sum;
    }
}

KERNEL_BOUNDED(MLP_LANES, mlp_step)(ARGUMENT(struct mlp) f)
{
    DYNAMIC(float, room);
    SHARED(double, parts, 2 * MLP_TILE);
    SHARED(uint32_t, said, 1);
    uint32_t row0 = block_x() * MLP_TILE, in = f.layer[0].in;
    if (f.gather.rows) { /* a row has MLP_LANES / MLP_TILE lanes */
        enum { EACH = MLP_LANES / MLP_TILE };
        if (row0 + thread_id() / EACH < f.rows)
            gather_row<EACH>(f.gather, row0 + thread_id() / EACH, thread_id() % EACH);
        sync_block();
    }
    for (uint32_t e = thread_id(); e < MLP_TILE * in; e += MLP_LANES) {
        uint32_t r = e / in, k = e % in;
        room[f.at_x + r * padded(in) + k] =
            row0 + r < f.rows ? f.x[(size_t)(row0 + r) * in + k] : 0;
    }
    sync_block();
    for (uint32_t i = 0; i < f.count; i++)
        layer_forward(f, i, room, row0);
    float *dz = room + f.at_dz, *other = dz + MLP_TILE * f.ld_dz;
    block_loss(f, room, dz, parts, row0);
    for (uint32_t i = f.count; i-- > (f.dx ? 0u : 1u);) {
        layer_back(f, i, room, dz, other, row0);
        float *swap = dz;
        dz = other;
        other = swap;
    }
    if (!block_is_last(f.counter, grid_x(), said) || thread_id() >= f.shards)
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

size_t mlp_scratch(uint32_t rows)
{
    return SCRATCH_HEAD + 2 * sizeof(double) * ((rows + MLP_TILE - 1) / MLP_TILE);
}

void mlp_start(struct machine *m, const struct mlp *f)
{
    LAUNCH(mlp_step, dim3((f->rows + MLP_TILE - 1) / MLP_TILE), dim3(MLP_LANES), f->bytes, m, *f);
}

/* --- which operations --- */

/* The layer's place in the block's memory, and whether the kernel can have it. */
static bool add_layer(struct mlp *f, uint32_t *at, const struct op_dense *a)
{
    struct mlp_layer *l = &f->layer[f->count];
    if (f->count == MLP_LAYERS || a->out > MLP_WIDTH || a->in > MLP_WIDTH || !a->out ||
        (f->count && (a->in != l[-1].out || (const float *)a->x != l[-1].y)) ||
        (f->count && (a->hot.column_count || a->rows != f->rows)) || a->ldx != a->in ||
        a->ldy != a->out || (a->z && a->ldz != a->out) || (act_needs_z(a->act) && !a->z))
        return false;
    l->w = (const float *)a->w;
    l->b = (const float *)a->b;
    l->y = (float *)a->y;
    l->z = (float *)a->z;
    l->in = a->in;
    l->out = a->out;
    l->act = a->act;
    l->slope = (float)a->slope;
    l->at_y = l->at_by = *at;
    *at += MLP_TILE * padded(a->out);
    if (act_needs_z(a->act)) {
        l->at_by = *at;
        *at += MLP_TILE * padded(a->out);
    }
    f->count++;
    return true;
}

static bool has_loss(struct mlp *f, const struct kernel_op *op)
{
    struct mlp_layer *last = &f->layer[f->count - 1];
    const struct op_loss_class *c = (const struct op_loss_class *)op->arguments;
    const struct op_loss_value *v = (const struct op_loss_value *)op->arguments;
    if (last->act != ACT_NONE)
        return false;
    if (op->op == OP_loss_class) {
        f->of_classes = *c;
        f->classes = c->classes;
        last->dz = (float *)c->dlogits;
        return c->dlogits && c->rows == f->rows && c->classes == last->out &&
               c->classes <= MANY_CLASSES && c->ld == c->classes && c->ldd == c->classes &&
               (const float *)c->logits == last->y;
    }
    f->of_values = *v;
    last->dz = (float *)v->dy;
    return op->op == OP_loss_value && v->dy && v->rows == f->rows && last->out == 1 && v->ld == 1 &&
           v->ldd == 1 && (const float *)v->y == last->y;
}

/* The way back of layer i. */
static bool goes_back(struct mlp *f, uint32_t i, const struct op_dense_back *b)
{
    const struct mlp_layer *l = &f->layer[i];
    const float *x = i ? l[-1].y : f->x;
    if (b->rows != f->rows || b->in != l->in || b->out != l->out || b->act != l->act ||
        (float *)b->dy != l->dz || (const float *)b->x != x || (const float *)b->w != l->w ||
        b->ldx != b->in || b->lddy != b->out || (float)b->slope != l->slope || !b->dw ||
        (act_needs_z(l->act) ? (const float *)b->z != l->z || b->ldz != b->out
                             : (const float *)b->y != l->y || b->ldy != b->out) ||
        (b->dx && b->lddx != b->in) || (i > 0 && (!b->dx || b->add_dx || b->hot.column_count)))
        return false;
    if (i > 0) {
        f->layer[i - 1].dz = (float *)b->dx;
        return true;
    }
    f->dx = b->in ? (float *)b->dx : nullptr;
    f->add_dx = b->add_dx;
    return b->hot.column_count == f->hot.column_count && b->hot.ids == f->hot.ids &&
           b->hot.columns == f->hot.columns && b->hot.ids_ld == f->hot.ids_ld;
}

uint32_t mlp_match(struct mlp *f, const struct op_dense_back **back, const struct kernel_op *ops,
                   uint32_t count, void *scratch)
{
    uint32_t at = 2 * PIECE, n = 0, widest = 1;
    *f = mlp{};
    if (count > 1 && ops[0].op == OP_gather && ops[1].op == OP_dense) {
        const struct op_gather *g = (const struct op_gather *)ops[0].arguments;
        const struct op_dense *a = (const struct op_dense *)ops[1].arguments;
        n = g->x == a->x && g->ld == a->ldx && g->rows == a->rows && g->rows
                ? mlp_match(f, back, ops + 1, count - 1, scratch)
                : 0;
        f->gather = *g;
        return n ? n + 1 : 0;
    }
    const struct op_dense *first = (const struct op_dense *)ops[0].arguments;
    if (count == 0 || ops[0].op != OP_dense || first->rows == 0 || first->rows > MLP_ROWS)
        return 0;
    f->rows = first->rows;
    f->x = (const float *)first->x;
    f->hot = first->hot;
    f->at_x = at;
    at += MLP_TILE * padded(first->in);
    for (; n < count && ops[n].op == OP_dense; n++) {
        const struct op_dense *a = (const struct op_dense *)ops[n].arguments;
        if (a->exact || !add_layer(f, &at, a))
            return 0;
        widest = a->out > widest ? a->out : widest;
    }
    if (count < 2 * n + 1 || !has_loss(f, &ops[n]))
        return 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct kernel_op *op = &ops[n + 1 + i];
        back[i] = (const struct op_dense_back *)op->arguments;
        if (op->op != OP_dense_back || !goes_back(f, n - 1 - i, back[i]))
            return 0;
    }
    f->at_dz = at;
    f->ld_dz = padded(widest);
    f->bytes = (at + 2 * MLP_TILE * f->ld_dz) * sizeof(float);
    if (f->bytes > MLP_BYTES - 1024)
        return 0;
    f->counter = (uint32_t *)scratch;
    f->parts = (double *)(void *)((char *)scratch + SCRATCH_HEAD);
    return 2 * n + 1;
}
