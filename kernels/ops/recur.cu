/* recur.cu - recurrent layers: the rows of a block and the place of u (walk.cuh), and layers
 * computed whole. */
#include "ops/recur_guest.cuh"
#include "ops/walk.cuh"

/* Lays u out for the product: [unit][gate][unit of the sum], or across: [gate][unit][unit of
 * h']. */
KERNEL_BOUNDED(256, recur_lay)(float *w, const float *u, uint32_t n, uint32_t columns, bool across)
{
    uint32_t padded = (n + 3) / 4 * 4;
    for (uint64_t i = global_id(); i < (uint64_t)columns * padded; i += global_count()) {
        uint64_t line = i / padded, j = i % padded;
        w[i] = j >= n ? 0.0f : across ? u[j * columns + line] : u[line * n + j];
    }
}

static uint64_t walk_weights_of(uint32_t kind, uint64_t n)
{
    return RECUR_COLUMNS(kind) * n * ((n + 3) / 4 * 4);
}
/* Rows stand side by side with room between units, so that lanes store to several banks at once. */
static void walk_rows_of(struct walk *s, uint32_t rows, bool back)
{
    s->rows = rows;
    s->side = rows < WALK_TILE ? rows : rows + 4;
    s->floats = back ? WALK_BACK * rows + WALK_BACK_SIDE * s->side : WALK_FORWARD * rows + s->side;
    s->floats *= s->padded;
}

/* The scratch holds its head, then u, then the rooms. */
size_t cuda_recur_scratch(struct dims d, uint32_t kind, bool back)
{
    struct walk s = {};
    s.padded = (d.width + 3) / 4 * 4;
    walk_rows_of(&s, WALK_TILE, back);
    uint64_t rooms = d.width > WALK_ROOMY ? (d.rows + WALK_TILE - 1) / WALK_TILE * s.floats : 0;
    return SCRATCH_HEAD + (walk_weights_of(kind, d.width) + rooms) * sizeof(float);
}

/* A block gets few rows while free multiprocessors are left. Each multiprocessor takes two blocks:
 * one computes while the other waits. u is kept in shared memory if a tile of rows fits beside it.
 */
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

static void walk_start(struct machine *m, const struct op_recur &a, const struct walk &s,
                       size_t bytes)
{
    recur_walk_start(m, &a, &s, bytes);
}
static void walk_start(struct machine *m, const struct op_recur_back &a, const struct walk &s,
                       size_t bytes)
{
    recur_back_start(m, &a, &s, bytes);
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
    size_t bytes = s.where == WALK_LARGE ? 0 : s.floats * sizeof(float);
    bytes += s.where == WALK_KEPT ? s.weights * sizeof(float) : 0;
    walk_start(m, a, s, bytes);
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

void cuda_recur(struct machine *m, const struct op_recur *a, enum product how, struct products,
                void *scratch)
{
    if (!a->from.in || !device_recur(m, a, how))
        recur_forward(m, a, how, scratch);
}

/* Computes forward again, as our kernels do, a layer that a guest computed and then failed. */
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

/* The gradients of the inputs' product of a whole layer, from the gradients of its sums. */
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
    cuda_dense_back(m, &d, how);
    d.in = d.ldx = d.lddx = a->units;
    d.dy = d.y = form_past(d.dy, RECUR_GATES * a->units - columns);
    d.dx = d.shadow = no_act();
    d.dw = a->to.du;
    d.db = a->to.du_b;
    d.x = plain_act((const float *)a->before);
    d.w = a->u;
    d.add_dx = 0;
    cuda_dense_back(m, &d, product_of(by, d.rows, d.in, d.out, false));
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
