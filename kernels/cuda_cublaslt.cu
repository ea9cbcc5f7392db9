/* cuda_cublaslt.cu - dense products by cuBLASLt. Its matrices run down columns, ours along rows: it
 * is given C' = B' A', as they lie: in fp32, or in the 16 bits that a training keeps, with sums in
 * fp32. It may not split k, so that the same shapes give the same bits. What it is asked about a
 * shape is asked when that is met first, and never while a graph is made. */
#include <stdio.h>
#include <string.h>

#include "cuda_guest.cuh"

#define LT(name, arguments) GUEST_CALL(cublaslt_calls(), name, arguments)

bool cublaslt_open(struct card *m)
{
    struct guest_use *use = &m->guests->use[GUEST_CUBLASLT];
    int status;
    do
        status = LT(cublasLtCreate, (&use->handle));
    while (status && guest_other(GUEST_CUBLASLT, "cublasLtCreate", status));
    if (status == 0)
        return true;
    use->handle = NULL;
    guest_failed(m, GUEST_CUBLASLT, "cublasLtCreate", status);
    return false;
}

static void forget(struct guest_served *s)
{
    if (s->product)
        LT(cublasLtMatmulDescDestroy, (s->product));
    void *const layouts[] = {s->of_a, s->of_b, s->of_c};
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            LT(cublasLtMatrixLayoutDestroy, (layouts[i]));
    s->product = s->of_a = s->of_b = s->of_c = NULL;
}

void cublaslt_close(struct card *m)
{
    struct guests *g = m->guests;
    for (size_t i = 0; i < g->count; i++)
        forget(&g->served[i]);
    LT(cublasLtDestroy, (g->use[GUEST_CUBLASLT].handle));
}

/* --- shapes --- */

static uint32_t alignment(struct act at, uint64_t part)
{
    uint64_t bits = (uint64_t)(uintptr_t)at.at | part * form_bytes(at.form) | 256;
    return (uint32_t)(bits & ~(bits - 1));
}

/* What it can do itself at the end; the rest is guest_finish's. A bias would have to be of the form
 * of C, and ours is in fp32. */
static uint32_t end_of(const struct gemm *g)
{
    bool plain = !g->hot.column_count && !g->by.at && !g->z.at && !g->add &&
                 (g->act == ACT_NONE || g->act == ACT_RELU) && (uintptr_t)g->bias % 16 == 0;
    if (!plain || (g->bias && !is_plain(g->c)))
        return CUBLASLT_END_NONE;
    uint32_t end = g->bias ? CUBLASLT_END_BIAS : 0;
    if (g->act)
        end |= CUBLASLT_END_RELU;
    return end ? end : (uint32_t)CUBLASLT_END_NONE;
}
static bool ends_by_itself(const struct gemm *g)
{
    return !g->hot.column_count && !g->by.at && !g->z.at && g->act == ACT_NONE && !g->bias;
}

/* Parts of k are as many products; they have to be of one length (part_begin). */
static bool equal_parts(const struct gemm *g)
{
    return g->parts == 1 || (g->k % 8 == 0 && g->k / 8 % g->parts == 0);
}

/* C in 16 bits is rounded before the rest is done: only a derivative is meant to come behind that
 * (gemm_put). */
static bool rounds_too_soon(const struct gemm *g)
{
    return !is_plain(g->c) && (g->hot.column_count || g->bias || g->z.at || !g->by.at);
}

/* fp16 scales factors that lie in fp32, and such as gradients are. */
static bool factors_fit(const struct gemm *g, enum product how)
{
    return is_plain(g->a) ? how != PRODUCT_FP16
                          : g->a.form == form_product(how) &&
                                !(how == PRODUCT_FP16 && g->scale);
}

static bool shape_of(const struct gemm *g, enum product how, struct guest_shape *s)
{
    *s = guest_shape{};
    s->end = end_of(g);
    bool rest = s->end == CUBLASLT_END_NONE && !ends_by_itself(g);
    if (g->sums || !factors_fit(g, how) || !equal_parts(g) ||
        (rest && (g->add || g->parts > 1 || rounds_too_soon(g))) ||
        (g->a_col != 1 && g->a_row != 1) || (g->b_col != 1 && g->b_row != 1))
        return false;
    s->m = g->m;
    s->n = g->n;
    s->k = g->k / g->parts;
    s->parts = g->parts;
    s->a_row = g->a_row;
    s->a_col = g->a_col;
    s->b_row = g->b_row;
    s->b_col = g->b_col;
    s->c_row = g->c_row;
    s->c_part = g->parts > 1 ? g->c_part : 0;
    s->how = how;
    s->form = (uint16_t)g->a.form;
    s->form_c = (uint16_t)g->c.form;
    s->add = g->add;
    uint64_t a_part = g->parts > 1 ? (uint64_t)s->k * g->a_col : 0;
    uint64_t b_part = g->parts > 1 ? (uint64_t)s->k * g->b_row : 0;
    s->align_a = alignment(g->a, a_part);
    s->align_b = alignment(g->b, b_part);
    s->align_c = alignment(g->c, s->c_part);
    return true;
}

static bool is_worth(const struct guest_rule *r, const struct gemm *g)
{
    uint32_t side = g->m < g->n ? g->m : g->n;
    side = side < g->k ? side : g->k;
    return side >= r->side && (uint64_t)g->m * g->n * g->k >= r->work;
}

/* --- asking --- */

static int set_layout(void *layout, uint32_t parts, uint64_t stride)
{
    int32_t count = (int32_t)parts;
    int64_t offset = (int64_t)stride;
    int status = 0;
    if (parts == 1)
        return 0;
    status = LT(cublasLtMatrixLayoutSetAttribute, (layout, CUBLASLT_BATCH, &count, sizeof count));
    return status ? status : LT(cublasLtMatrixLayoutSetAttribute,
                                (layout, CUBLASLT_STRIDE, &offset, sizeof offset));
}

static int type_of(uint32_t form)
{
    return form == FORM_BF16 ? CUBLASLT_BFLOAT : form == FORM_FP16 ? CUBLASLT_HALF
                                                                   : CUBLASLT_FLOAT;
}

/* Lines of so many numbers, one of which begins `step` behind the other; a single line has none
 * behind it. */
struct lines { uint32_t form, length, count, step, parts; uint64_t stride; };
static int make_layout(void **layout, struct lines of)
{
    uint32_t ld = of.count == 1 && of.step < of.length ? of.length : of.step;
    int status = LT(cublasLtMatrixLayoutCreate,
                    (layout, type_of(of.form), of.length, of.count, ld));
    return status ? status : set_layout(*layout, of.parts, of.stride);
}

static int describe(struct guest_served *s)
{
    static const int computes[] = {CUBLASLT_FP32, CUBLASLT_TF32, CUBLASLT_BF16, CUBLASLT_FP16};
    const struct guest_shape *h = &s->shape;
    int32_t across_first = h->b_col != 1, across_second = h->a_col != 1;
    uint64_t part_b = (uint64_t)h->k * h->b_row, part_a = (uint64_t)h->k * h->a_col;
    uint32_t end = h->end, form = h->form, parts = h->parts;
    int compute = form == FORM_REAL ? computes[h->how] : CUBLASLT_FP32;
    int status = LT(cublasLtMatmulDescCreate, (&s->product, compute, CUBLASLT_FLOAT));
    if (!status)
        status = LT(cublasLtMatmulDescSetAttribute,
                    (s->product, CUBLASLT_ACROSS_A, &across_first, sizeof across_first));
    if (!status)
        status = LT(cublasLtMatmulDescSetAttribute,
                    (s->product, CUBLASLT_ACROSS_B, &across_second, sizeof across_second));
    if (!status)
        status = LT(cublasLtMatmulDescSetAttribute,
                    (s->product, CUBLASLT_EPILOGUE, &end, sizeof end));
    /* its first factor is our B, its second our A */
    if (!status)
        status = make_layout(&s->of_a, across_first
                                           ? lines{form, h->k, h->n, h->b_col, parts, part_b}
                                           : lines{form, h->n, h->k, h->b_row, parts, part_b});
    if (!status)
        status = make_layout(&s->of_b, across_second
                                           ? lines{form, h->m, h->k, h->a_col, parts, part_a}
                                           : lines{form, h->k, h->m, h->a_row, parts, part_a});
    return status ? status
                  : make_layout(&s->of_c, lines{h->form_c, h->n, h->m, h->c_row, parts,
                                                h->c_part});
}

static int wish_for(const struct card *m, const struct guest_shape *h, void *wish)
{
    uint64_t workspace = m->guests->workspace;
    uint32_t none = 0, aligned[] = {h->align_b, h->align_a, h->align_c, h->align_c};
    int status = LT(cublasLtMatmulPreferenceSetAttribute,
                    (wish, CUBLASLT_WORKSPACE, &workspace, sizeof workspace));
    if (!status)
        status = LT(cublasLtMatmulPreferenceSetAttribute,
                    (wish, CUBLASLT_REDUCTIONS, &none, sizeof none));
    for (int i = 0; i < 4 && !status; i++)
        status = LT(cublasLtMatmulPreferenceSetAttribute,
                    (wish, CUBLASLT_ALIGNMENT + i, &aligned[i], sizeof aligned[i]));
    return status;
}

static int set_bias(struct guest_served *s, const struct gemm *g)
{
    return s->shape.end & CUBLASLT_END_BIAS
               ? LT(cublasLtMatmulDescSetAttribute,
                    (s->product, CUBLASLT_BIAS, &g->bias, sizeof g->bias))
               : 0;
}

/* How it would do it; 0 and serves false: it has no way. It may look at where the bias lies. */
static int ask(struct card *m, struct guest_served *s, const struct gemm *g)
{
    enum { NOT_SUPPORTED = 15, INVALID = 7 };
    void *wish = NULL, *handle = m->guests->use[GUEST_CUBLASLT].handle;
    int found = 0, status = describe(s);
    if (!status)
        status = set_bias(s, g);
    if (!status)
        status = LT(cublasLtMatmulPreferenceCreate, (&wish));
    if (!status)
        status = wish_for(m, &s->shape, wish);
    if (!status) {
        status = LT(cublasLtMatmulAlgoGetHeuristic,
                    (handle, s->product, s->of_a, s->of_b, s->of_c, s->of_c, wish, 1, &s->way,
                     &found));
        if (status == NOT_SUPPORTED || status == INVALID)
            status = found = 0;
    }
    if (wish)
        LT(cublasLtMatmulPreferenceDestroy, (wish));
    s->serves = !status && found > 0 && s->way.status == 0 &&
                s->way.workspace <= m->guests->workspace;
    return status;
}

static int launch(struct card *m, struct guest_served *s, const struct gemm *g)
{
    const float one = 1, from = g->add ? 1.0f : 0.0f;
    void *const c = g->c.at;
    int status = set_bias(s, g);
    if (!status)
        status = LT(cublasLtMatmul,
                    (m->guests->use[GUEST_CUBLASLT].handle, s->product, &one, g->b.at,
                     s->of_a, g->a.at, s->of_b, &from, c, s->of_c, c, s->of_c,
                     &s->way.how, (char *)m->scratch + SCRATCH_HEAD, m->guests->workspace,
                     m->stream));
    if (!status && s->shape.end == CUBLASLT_END_NONE && !ends_by_itself(g))
        guest_finish(&m->head, g);
    return status;
}

/* --- which is faster here --- */

struct rivals { struct guest_served *served; const struct gemm *g; enum product how; };

static int run_own(struct card *m, const void *with)
{
    const struct rivals *r = (const struct rivals *)with;
    gemm_mma(&m->head, r->g, r->how); /* fp32 as well */
    return 0;
}
static int run_guest(struct card *m, const void *with)
{
    const struct rivals *r = (const struct rivals *)with;
    return launch(m, r->served, r->g);
}

/* What is written is written again by the product itself. */
static int choose_by_time(struct card *m, struct guest_served *s, const struct gemm *g,
                          enum product how)
{
    struct rivals r = {s, g, how};
    char what[64];
    snprintf(what, sizeof what, "product %u x %u x %u", g->m, g->n, g->k);
    return guest_faster(m, GUEST_CUBLASLT, what, run_own, run_guest, &r, &s->serves);
}

/* --- serving --- */

static struct guest_served *known(struct guests *g, const struct guest_shape *shape)
{
    for (size_t i = 0; i < g->count; i++)
        if (memcmp(&g->served[i].shape, shape, sizeof *shape) == 0)
            return &g->served[i];
    return NULL;
}

static struct guest_served *meet(struct card *m, const struct guest_shape *shape,
                                 const struct gemm *g, enum product how)
{
    struct guests *all = m->guests;
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 16;
        all->served =
            (struct guest_served *)mem_grow(all->served, all->room, sizeof *all->served);
    }
    struct guest_served *s = &all->served[all->count++];
    *s = guest_served{};
    s->shape = *shape;
    const char *call = "cublasLtMatmulAlgoGetHeuristic";
    int status = ask(m, s, g);
    bool timed = all->use[GUEST_CUBLASLT].rule.timed;
    if (!status && s->serves && timed && g->add) {
        s->serves = false; /* to time it would add more than once */
    } else if (!status && s->serves && timed) {
        call = "cublasLtMatmul";
        status = choose_by_time(m, s, g, how);
    }
    if (status) {
        s->serves = false;
        guest_failed(m, GUEST_CUBLASLT, call, status);
    }
    if (!s->serves)
        forget(s);
    return s;
}

static struct guest_served *server_of(struct card *m, const struct gemm *g, enum product how)
{
    struct guests *all = m->guests;
    struct guest_shape shape;
    const struct guest_use *use = &all->use[GUEST_CUBLASLT];
    if (!use->on || cuda_lost(m) || m->scratch_bytes < SCRATCH_HEAD + all->workspace ||
        (uint64_t)g->m * g->n * g->k == 0 || !is_worth(&use->rule, g) || !shape_of(g, how, &shape))
        return NULL;
    struct guest_served *s = known(all, &shape);
    if (!s && !m->capturing)
        s = meet(m, &shape, g, how);
    return s && s->serves ? s : NULL;
}

bool cublaslt_takes(struct machine *m, const struct gemm *g, enum product how)
{
    return server_of(card_of(m), g, how) != NULL;
}

bool cublaslt_product(struct machine *machine, const struct gemm *g, enum product how)
{
    struct card *m = card_of(machine);
    struct guest_served *s = server_of(m, g, how);
    int status = s ? launch(m, s, g) : 0;
    if (status)
        guest_failed(m, GUEST_CUBLASLT, "cublasLtMatmul", status);
    return s && (!status || cuda_lost(m));
}
