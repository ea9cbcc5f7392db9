/* cpu_dense.c - dense layers, forward and back, over a strip of rows. The weight is read in place,
 * [in][out]: on the way back the lanes are rows of the batch, so that its transpose is not needed,
 * and no copy of it has to be kept fresh (two threads would have to exchange it). */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu_sparse.h"

/* --- padding --- */

static size_t steps_end(const struct padding *p, size_t row)
{
    return row / p->each * p->each + (size_t)p->length[row / p->each];
}

/* The first row from `row` on that is not padding; `end` if there is none before it. */
static size_t next_step(const struct padding *p, size_t row, size_t end)
{
    while (row < end && row >= steps_end(p, row))
        row = (row / p->each + 1) * p->each;
    return row < end ? row : end;
}

/* The next part of the strip without padding, after `part` (at first: no rows at its begin). guest:
 * a library or bf16 code packs the weight anew for each part, and has one part from the first step
 * to the last. */
static bool next_part(const struct padding *p, const struct slice *s, bool guest,
                      struct slice *part)
{
    size_t end = (size_t)s->row0 + s->rows;
    size_t begin = next_step(p, (size_t)part->row0 + part->rows, end), stop = begin, next = begin;
    while (next < end && (guest || next == stop)) {
        stop = steps_end(p, next) < end ? steps_end(p, next) : end;
        next = next_step(p, stop, end);
    }
    part->row0 = (uint32_t)begin;
    part->rows = (uint32_t)(stop - begin);
    return begin < end;
}

static void clear_padding(const struct padding *p, const struct slice *s, struct act y, size_t ld,
                          size_t width)
{
    for (size_t row = s->row0; row < (size_t)s->row0 + s->rows; row++)
        if (row >= steps_end(p, row))
            memset(act_real(y) + row * ld, 0, width * sizeof(real));
}

/* --- products --- */

enum { BLOCK_K = PRODUCT_DEPTH };

static uint32_t panel_width(uint32_t columns, uint32_t at)
{
    return columns - at < PANEL ? columns - at : PANEL;
}

void cpu_product(const struct vec *vec, struct product p, uint32_t n, const real *b)
{
    real *c = p.c;
    const real *a = p.a, *bias = p.bias;
    uint32_t k = p.k, act = p.act;
    bool add = p.add;
    for (uint32_t j = 0; j < n; j += PANEL) {
        p.width = panel_width(n, j);
        p.c = c + j;
        p.bias = bias ? bias + j : NULL;
        for (uint32_t at = 0; at < k; at += BLOCK_K) {
            p.k = k - at < BLOCK_K ? k - at : BLOCK_K;
            p.a = a + at;
            p.b = b + (size_t)at * p.ldb + j;
            p.next = at + BLOCK_K < k  ? p.b + (size_t)BLOCK_K * p.ldb
                     : j + PANEL < n ? b + j + PANEL
                                     : NULL;
            p.add = add || at > 0;
            p.act = at + p.k == k ? act : (uint32_t)ACT_NONE;
            vec->product(&p);
        }
    }
}

/* At most NARROW outputs: the columns of w as rows. */
static void turn_narrow(real *bt, const real *w, uint32_t in, uint32_t out)
{
    for (uint32_t k = 0; k < in; k++)
        for (uint32_t j = 0; j < out; j++)
            bt[(size_t)j * in + k] = w[(size_t)k * out + j];
}

static void narrow_of(const struct vec *vec, const struct op_dense *a, const struct slice *s,
                      real *c, uint32_t ldc, bool started)
{
    real *bt = s->scratch;
    turn_narrow(bt, a->w, a->in, a->out);
    struct narrow n = {.c = c, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .bt = bt,
                       .bias = a->b, .rows = s->rows, .k = a->in, .width = a->out, .lda = a->ldx,
                       .ldc = ldc, .add = started};
    vec->narrow(&n);
}

/* z = the bias and the rows of w that the ids say. */
static void onehot_start(const struct op_dense *a, const struct slice *s, real *z, uint32_t ldz)
{
    struct onehot_rows h = {.z = z, .bias = a->b, .onehot = &a->onehot, .row0 = s->row0,
                            .rows = s->rows, .out = a->out, .ldz = ldz};
    memcpy(&h.w, &a->w, sizeof h.w); /* only read */
    s->m->vec->onehot(&h);
}

/* In training in bf16, or with OpenBLAS. */
static void guest_product(const struct slice *s, uint32_t in, uint32_t out,
                          const struct blas_product *p, const real *bias)
{
    const struct bf16_code *code = cpu_bf16(s->m, in, out);
    if (code)
        cpu_bf16_product(code, p, bias, NULL, s->scratch);
    else
        blas_product(s->m->blas, p);
}
static bool guest_serves(const struct cpu *m, uint32_t in, uint32_t out)
{
    return cpu_bf16(m, in, out) || (m->blas && out > NARROW);
}

/* bf16: z = b + x w. OpenBLAS: z = b, then z += x w. */
static void guest_dense(const struct op_dense *a, const struct slice *s, real *z, uint32_t ldz,
                        bool started)
{
    bool copied = a->b && !started && !cpu_bf16(s->m, a->in, a->out);
    for (uint32_t r = 0; r < s->rows && copied; r++)
        memcpy(z + (size_t)r * ldz, a->b, a->out * sizeof *z);
    guest_product(s, a->in, a->out, &(struct blas_product){
        .c = z, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .b = a->w, .m = s->rows,
        .n = a->out, .k = a->in, .lda = a->ldx, .ldb = a->out, .ldc = ldz,
        .add = started || copied}, a->b);
}

static void dense_rows(const struct op_dense *a, const struct slice *s)
{
    const struct vec *vec = s->m->vec;
    real *y = act_real(a->y) + (size_t)s->row0 * a->ldy;
    real *z = a->z.at ? act_real(a->z) + (size_t)s->row0 * a->ldz : y;
    uint32_t ldz = a->z.at ? a->ldz : a->ldy;
    bool fused = a->act == ACT_NONE || (a->act == ACT_RELU && !a->z.at);
    bool started = a->onehot.column_count > 0;
    if (started)
        onehot_start(a, s, z, ldz);
    if (started && a->in == 0) {
        fused = fused && a->act == ACT_NONE;
    } else if (!a->exact && guest_serves(s->m, a->in, a->out)) {
        guest_dense(a, s, z, ldz, started);
        fused = fused && a->act == ACT_NONE;
    } else if (a->out <= NARROW && a->in <= CPU_SCRATCH / sizeof(real) / NARROW) {
        narrow_of(vec, a, s, z, ldz, started);
        fused = fused && a->act == ACT_NONE;
    } else {
        struct product p = {.c = z, .a = act_read(a->x) + (size_t)s->row0 * a->ldx,
                            .bias = started ? NULL : a->b, .rows = s->rows, .k = a->in,
                            .lda = a->ldx, .ldb = a->out, .ldc = ldz, .add = started,
                            .act = fused ? a->act : (uint32_t)ACT_NONE};
        if (!a->exact && cpu_is_sparse(vec, p.a, s->rows, a->in, a->ldx, a->out)) {
            p.b = a->w;
            cpu_sparse_product(vec, &p, a->out, s->scratch);
        } else {
            cpu_product(vec, p, a->out, a->w);
        }
    }
    if (fused && !a->z.at)
        return;
    for (uint32_t r = 0; r < s->rows; r++)
        vec->act(y + (size_t)r * a->ldy, z + (size_t)r * ldz, a->out, a->act, (real)a->slope);
}

void cpu_dense(const struct op_dense *a, const struct slice *s)
{
    struct slice part = *s;
    if (!a->padding.length) {
        dense_rows(a, s);
        return;
    }
    bool guest = !a->exact && guest_serves(s->m, a->in, a->out);
    clear_padding(&a->padding, s, a->y, a->ldy, a->out);
    if (a->z.at)
        clear_padding(&a->padding, s, a->z, a->ldz, a->out);
    part.rows = 0;
    while (next_part(&a->padding, s, guest, &part))
        dense_rows(a, &part);
}

/* Columns of dz that are turned at a time. */
enum { TURN_COLUMNS = 1024 };

/* In scratch: a dense panel of dz, and its transpose. */
static size_t panel_elements(uint32_t rows)
{
    return ((size_t)rows + LANES - 1) / LANES * LANES * PANEL;
}

/* In bf16 or with OpenBLAS: dw (= or +=) x' dz, dx (= or +=) dz w'. */
static void guest_back(const struct op_dense_back *a, const struct slice *s, const real *dz,
                       real *dw, bool add)
{
    if (dw && a->in)
        guest_product(s, a->in, a->out, &(struct blas_product){
            .c = dw, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .b = dz, .m = a->in,
            .n = a->out, .k = s->rows, .lda = a->ldx, .ldb = a->lddy, .ldc = a->out,
            .a_across = true, .add = add}, NULL);
    if (a->dx.at)
        guest_product(s, a->in, a->out, &(struct blas_product){
            .c = act_real(a->dx) + (size_t)s->row0 * a->lddx, .a = dz, .b = a->w, .m = s->rows,
            .n = a->in, .k = a->out, .lda = a->lddy, .ldb = a->out, .ldc = a->lddx,
            .b_across = true, .add = a->add_dx != 0}, NULL);
}

/* dw of the one-hot rows. The first strip of a shard clears them all at once. */
static void onehot_end(const struct op_dense_back *a, const struct slice *s, real *dz, real *dw,
                       bool add)
{
    if (!add)
        memset(dw + (size_t)a->in * a->out, 0, (size_t)a->onehot.width * a->out * sizeof *dw);
    s->m->vec->onehot_back(&(struct onehot_rows){.z = dz, .w = dw, .onehot = &a->onehot,
                           .row0 = s->row0, .rows = s->rows, .out = a->out, .ldz = a->lddy});
}

/* dx for at most NARROW outputs; copy: their dz, followed by room for w. */
static void narrow_dx(const struct op_dense_back *a, const struct slice *s, real *copy)
{
    real *bt = copy + panel_elements(s->rows);
    turn_narrow(bt, a->w, a->in, a->out);
    s->m->vec->narrow_across(&(struct across){
        .dx = act_real(a->dx) + (size_t)s->row0 * a->lddx, .w = bt, .dz = copy, .rows = s->rows,
        .in = a->in, .out = a->out, .ldw = a->in, .lddx = a->lddx, .add = a->add_dx != 0});
}

/* Products that skip zeros: of x for dw, of dz for dx. */
struct passing { bool x, dz; };

/* After relu dz is 0 wherever y is. */
static struct passing passing_of(const struct op_dense_back *a, const struct slice *s)
{
    const struct vec *vec = s->m->vec;
    size_t first = s->row0;
    bool relu = a->act == ACT_RELU;
    uint32_t ld = relu ? a->ldy : a->lddy;
    const real *x = act_read(a->x) + first * a->ldx;
    const real *z = act_read(relu ? a->y : a->dy) + first * ld;
    return (struct passing){
        a->dw && a->in <= SPARSE_MOST && cpu_is_sparse(vec, x, s->rows, a->in, a->ldx, a->out),
        a->dx.at && a->out <= TURN_COLUMNS && cpu_is_sparse(vec, z, s->rows, a->out, ld, a->in)};
}

/* dw (= or +=) x' dz, dx (= or +=) dz w', skipping zeros. */
static void passing_back(const struct op_dense_back *a, const struct slice *s, struct passing pass,
                         const real *dz, real *dw, bool add)
{
    struct outer o = {.c = dw, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .b = dz,
                      .rows = s->rows, .m = a->in, .lda = a->ldx, .ldc = a->out, .add = add};
    if (pass.x)
        cpu_sparse_outer(s->m->vec, &o, a->out, a->lddy, s->scratch);
    if (!pass.dz)
        return;
    struct across x = {.dx = act_real(a->dx) + (size_t)s->row0 * a->lddx, .w = a->w, .dz = dz,
                       .rows = s->rows, .in = a->in, .out = a->out, .ldw = a->out,
                       .lddx = a->lddx, .add = a->add_dx != 0};
    cpu_sparse_across(s->m->vec, &x, a->lddy, s->scratch);
}

/* Rows of x that are packed for dw. */
enum { PACK_LEAST = 16 };

/* By panels: dz = dy act', db (= or +=) its column sums, dw (= or +=) x' dz from its dense copy;
 * then dx (= or +=) dz w' from the transposed copy. bf16, OpenBLAS, one-hot inputs and products
 * that skip zeros need dz in place of dy. */
static void back_rows(const struct op_dense_back *a, const struct slice *s)
{
    const struct vec *vec = s->m->vec;
    size_t shard = s->shard * a->shard_stride, first = s->row0;
    real *dy = act_real(a->dy) + first * a->lddy, *dw = a->dw ? a->dw + shard : NULL;
    bool add = !s->first || a->more, guest = guest_serves(s->m, a->in, a->out);
    struct act by = ACT_NEEDS_Z(a->act) ? a->z : a->y;
    uint32_t ldby = ACT_NEEDS_Z(a->act) ? a->ldz : a->ldy;
    struct passing pass = guest ? (struct passing){0} : passing_of(a, s);
    const real *from = a->act == ACT_NONE ? dy : act_read(by) + first * ldby;
    uint32_t kind = a->act;
    if (kind != ACT_NONE && kind != ACT_RELU) {
        /* row by row: panels of what forward left in memory long ago would come slowly */
        for (uint32_t r = 0; r < s->rows; r++)
            vec->act_back(dy + (size_t)r * a->lddy, dy + (size_t)r * a->lddy,
                          from + (size_t)r * ldby, a->out, kind, (real)a->slope, false, false);
        kind = ACT_NONE;
        from = dy;
    }
    bool narrow = a->dx.at && a->out <= NARROW &&
        (size_t)a->in * a->out <= CPU_SCRATCH / sizeof(real) - panel_elements(s->rows);
    real *copy = s->scratch;
    bool turn = a->dx.at && !guest && !narrow && !pass.dz;
    uint32_t room = a->out < TURN_COLUMNS ? (a->out + PANEL - 1) / PANEL * PANEL : TURN_COLUMNS;
    real *turned = turn ? copy + panel_elements(s->rows) : NULL;
    assert(panel_elements(s->rows) * (1 + TURN_COLUMNS / PANEL) * sizeof(real) <= CPU_SCRATCH);
    struct deltas d = {.copy = guest || (pass.x && !turn) ? NULL : copy, .rows = s->rows,
                       .ld = a->lddy, .ldby = ldby, .kind = kind, .room = room,
                       .add = add,
                       .put = guest || pass.x || pass.dz || a->onehot.column_count};
    struct outer o = {.a = act_read(a->x) + first * a->ldx, .b = copy, .rows = s->rows, .m = a->in,
                      .lda = a->ldx, .ldc = a->out, .add = add};
    size_t used = panel_elements(s->rows) * (turned ? 1 + room / PANEL : 1);
    if (dw && !guest && !pass.x && a->out > PANEL && s->rows >= PACK_LEAST &&
        (used + ((size_t)a->in + 7) / 8 * 8 * s->rows) * sizeof *copy <= CPU_SCRATCH) {
        vec->outer_pack(copy + used, o.a, s->rows, a->in, a->ldx);
        o.packed = copy + used;
    }
    struct across x = {.dz = turned, .rows = s->rows, .in = a->in, .ldw = a->out, .lddx = a->lddx,
                       .room = room, .add = a->add_dx != 0};
    for (uint32_t j = 0; j < a->out; j += PANEL) {
        d.width = o.width = panel_width(a->out, j);
        d.dy = dy + j;
        d.by = from + j;
        d.sums = a->db ? a->db + shard + j : NULL;
        d.turned = turned ? turned + (size_t)(j % TURN_COLUMNS) * LANES : NULL;
        vec->deltas(&d);
        if (dw && !guest && !pass.x) {
            o.c = dw + j;
            (o.width <= NARROW ? vec->narrow_outer : vec->outer)(&o);
        }
        uint32_t end = j + d.width;
        if (turned && (end == a->out || end % TURN_COLUMNS == 0)) {
            uint32_t begin = (end - 1) / TURN_COLUMNS * TURN_COLUMNS;
            x.dx = act_real(a->dx) + first * a->lddx;
            x.w = a->w + begin;
            x.out = end - begin;
            vec->across(&x);
            x.add = true;
        }
    }
    if (narrow)
        narrow_dx(a, s, copy);
    passing_back(a, s, pass, dy, dw, add);
    if (guest)
        guest_back(a, s, dy, dw, add);
    if (dw && a->onehot.column_count)
        onehot_end(a, s, dy, dw, add);
}

/* A shard's first strip starts dw and db: without a step, a row of padding does. */
void cpu_dense_back(const struct op_dense_back *a, const struct slice *s)
{
    struct slice part = *s;
    if (!a->padding.length) {
        back_rows(a, s);
        return;
    }
    bool guest = guest_serves(s->m, a->in, a->out);
    if (a->dx.at && !a->add_dx)
        clear_padding(&a->padding, s, a->dx, a->lddx, a->in);
    part.rows = 0;
    while (next_part(&a->padding, s, guest, &part)) {
        back_rows(a, &part);
        part.first = false;
    }
    part.row0 = s->row0;
    part.rows = 1;
    if (part.first)
        back_rows(a, &part);
}
