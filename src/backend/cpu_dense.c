/* cpu_dense.c - dense layers, forward and back, over a strip of rows.
 *
 * The shadow of a weight [in][out] at offset o of the arena stands at 2 o of the shadow: first w in
 * panels of PANEL columns, then its transpose in panels, in * out each. Without a shadow (a foreign
 * caller) w is read in place, and transposed panel by panel into scratch: the same sums in the same
 * order. */
#include <assert.h>
#include <string.h>

#include "backend/cpu.h"

/* Rows of k that are done before the next: a panel of them stays in the first cache. */
enum { BLOCK_K = 256 };

static uint32_t panel_width(uint32_t columns, uint32_t at)
{
    return columns - at < PANEL ? columns - at : PANEL;
}

static bool needs_z(uint32_t act)
{
    return act == ACT_GELU || act == ACT_SILU || act == ACT_MISH;
}

/* b is [k][n] as it stands (packed NULL) or in panels. Blocks of k continue in c: the same chain of
 * sums. */
static void product_of(const struct vec *vec, struct product p, uint32_t n, const real *b,
                       const real *packed)
{
    real *c = p.c;
    const real *a = p.a, *bias = p.bias;
    uint32_t k = p.k, act = p.act;
    bool add = p.add;
    for (uint32_t j = 0; j < n; j += PANEL) {
        p.width = panel_width(n, j);
        p.ldb = packed ? p.width : n;
        p.c = c + j;
        p.bias = bias ? bias + j : NULL;
        const real *panel = packed ? packed + (size_t)j * k : b + j;
        for (uint32_t at = 0; at < k; at += BLOCK_K) {
            p.k = k - at < BLOCK_K ? k - at : BLOCK_K;
            p.a = a + at;
            p.b = panel + (size_t)at * p.ldb;
            p.add = add || at > 0;
            p.act = at + p.k == k ? act : (uint32_t)ACT_NONE;
            vec->product(&p);
        }
    }
}

/* At most NARROW outputs: the columns of w as rows, in scratch. */
static void narrow_of(const struct vec *vec, const struct op_dense *a, const struct slice *s,
                      real *c, uint32_t ldc)
{
    real *bt = s->scratch;
    for (uint32_t k = 0; k < a->in; k++)
        for (uint32_t j = 0; j < a->out; j++)
            bt[(size_t)j * a->in + k] = a->w[(size_t)k * a->out + j];
    struct narrow n = {.c = c, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .bt = bt,
                       .bias = a->b, .rows = s->rows, .k = a->in, .width = a->out, .lda = a->ldx,
                       .ldc = ldc};
    vec->narrow(&n);
}

/* In training, where OpenBLAS serves: z = b, then z += x w. */
static void guest_dense(const struct op_dense *a, const struct slice *s, real *z, uint32_t ldz)
{
    for (uint32_t r = 0; r < s->rows && a->b; r++)
        memcpy(z + (size_t)r * ldz, a->b, a->out * sizeof *z);
    blas_product(s->m->blas, &(struct blas_product){
        .c = z, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .b = a->w, .m = s->rows,
        .n = a->out, .k = a->in, .lda = a->ldx, .ldb = a->out, .ldc = ldz, .add = a->b != NULL});
}

void cpu_dense(const struct op_dense *a, const struct slice *s)
{
    const struct vec *vec = s->m->vec;
    real *y = act_real(a->y) + (size_t)s->row0 * a->ldy;
    real *z = a->z ? act_real(a->z) + (size_t)s->row0 * a->ldz : y;
    uint32_t ldz = a->z ? a->ldz : a->ldy;
    bool fused = a->act == ACT_NONE || (a->act == ACT_RELU && !a->z);
    if (s->m->blas && !a->exact && a->out > NARROW) {
        guest_dense(a, s, z, ldz);
        fused = fused && a->act == ACT_NONE;
    } else if (a->out <= NARROW && a->in <= CPU_SCRATCH / sizeof(real) / NARROW) {
        narrow_of(vec, a, s, z, ldz);
        fused = fused && a->act == ACT_NONE;
    } else {
        struct product p = {.c = z, .a = act_read(a->x) + (size_t)s->row0 * a->ldx, .bias = a->b,
                            .rows = s->rows, .k = a->in, .lda = a->ldx, .ldc = ldz,
                            .act = fused ? a->act : (uint32_t)ACT_NONE};
        product_of(vec, p, a->out, a->w, a->shadow);
    }
    if (fused && !a->z)
        return;
    for (uint32_t r = 0; r < s->rows; r++)
        vec->act(y + (size_t)r * a->ldy, z + (size_t)r * ldz, a->out, a->act, (real)a->slope);
}

/* Panel by panel: dz = dy act' and db (= or +=) its column sums, with a dense copy that dw (= or
 * +=) x' dz reads in one stream. */
static void weight_gradient(const struct op_dense_back *a, const struct slice *s, real *dz)
{
    const struct vec *vec = s->m->vec;
    size_t shard = s->shard * a->shard_stride;
    const struct act *by = needs_z(a->act) ? a->z : a->y;
    uint32_t ldby = needs_z(a->act) ? a->ldz : a->ldy;
    bool add = !s->first || a->more, guest = a->dw && s->m->blas && a->out > NARROW;
    struct deltas d = {.copy = s->scratch, .rows = s->rows, .ld = a->lddy, .ldby = ldby,
                       .kind = a->act, .slope = (real)a->slope, .add = add};
    struct outer o = {.a = act_read(a->x) + (size_t)s->row0 * a->ldx, .b = s->scratch,
                      .rows = s->rows, .m = a->in, .lda = a->ldx, .ldc = a->out, .add = add};
    for (uint32_t j = 0; j < a->out; j += PANEL) {
        d.width = o.width = panel_width(a->out, j);
        d.dz = dz + j;
        d.by = a->act == ACT_NONE ? d.dz : act_read(by) + (size_t)s->row0 * ldby + j;
        d.sums = a->db ? a->db + shard + j : NULL;
        vec->deltas(&d);
        if (!a->dw || guest)
            continue;
        o.c = a->dw + shard + j;
        if (o.width <= NARROW)
            vec->narrow_outer(&o);
        else
            vec->outer(&o);
    }
    if (guest)
        blas_product(s->m->blas, &(struct blas_product){.c = a->dw + shard, .a = o.a, .b = dz,
                                                        .m = a->in, .n = a->out, .k = s->rows,
                                                        .lda = a->ldx, .ldb = a->lddy,
                                                        .ldc = a->out, .a_across = true,
                                                        .add = add});
}

/* dx (= or +=) dz w' */
static void input_gradient(const struct op_dense_back *a, const struct slice *s, const real *dz)
{
    const struct vec *vec = s->m->vec;
    real *dx = act_real(a->dx) + (size_t)s->row0 * a->lddx;
    struct product p = {.c = dx, .a = dz, .rows = s->rows, .k = a->out, .lda = a->lddy,
                        .ldc = a->lddx, .add = a->add_dx != 0};
    if (s->m->blas && a->out > NARROW) {
        blas_product(s->m->blas, &(struct blas_product){.c = dx, .a = dz, .b = a->w, .m = s->rows,
                                                        .n = a->in, .k = a->out, .lda = a->lddy,
                                                        .ldb = a->out, .ldc = a->lddx,
                                                        .b_across = true, .add = a->add_dx != 0});
        return;
    }
    if (a->shadow) {
        product_of(vec, p, a->in, NULL, (const real *)a->shadow + (size_t)a->in * a->out);
        return;
    }
    real *panel = s->scratch;
    uint32_t block = (uint32_t)(CPU_SCRATCH / sizeof(real) / PANEL);
    for (uint32_t i = 0; i < a->in; i += PANEL) {
        p.width = p.ldb = panel_width(a->in, i);
        p.c = dx + i;
        for (uint32_t k = 0; k < a->out; k += block) {
            p.k = a->out - k < block ? a->out - k : block;
            vec->transpose(panel, a->w + (size_t)i * a->out + k, p.width, p.k, a->out, p.width);
            p.a = dz + k;
            p.b = panel;
            p.add = a->add_dx || k > 0;
            vec->product(&p);
        }
    }
}

void cpu_dense_back(const struct op_dense_back *a, const struct slice *s)
{
    assert((size_t)s->rows * PANEL * sizeof(real) <= CPU_SCRATCH);
    real *dz = act_real(a->dy) + (size_t)s->row0 * a->lddy;
    weight_gradient(a, s, dz);
    if (a->dx)
        input_gradient(a, s, dz);
}
