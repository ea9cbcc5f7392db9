/* cuda_guest.cu - cuBLASLt in place of our product kernels, in trainings. It serves if `rows`
 * has it as faster and the training is long enough to pay for loading it (cuda_guest_work); if a
 * plan names it, the products of `rows`; all products with "cublaslt" in backend.guests, or in a
 * test build with DNN_GUESTS=always or cuBLASLt (base/fault.h).
 * Its matrices are column-major: it computes C' = B' A' in place, in fp32 or in the 16 bits of a
 * training, with sums in fp32. It may not split k, so the same shapes give the same bits. The
 * algorithm of a shape is chosen when the shape comes first, never in a capture. After its first
 * failure our kernels serve. */
#include <stdio.h>
#include <string.h>

#include "card/cuda_guests.cuh"
#include "form.cuh"
#include "product/guest.cuh"

extern "C" {
#include "base/log.h"
#include "base/mem.h"
}

/* Rates in operations a second, measured on an H200 with cuBLASLt 13.1 (gpu_constants: 4096 x 512 x
 * 512; larger products gain as much or more). bf16: factors stored in 16 bits; our kernels are
 * those of warpgroups. Not measured: fp32, and fp16, whose gradients are scaled. */
static const double LEAST = 2.0 * 4096 * 512 * 512;
static const struct guest_row rows[] = {
    {90, PRODUCT_TF32, LEAST, 61e12, 150e12},
    {90, PRODUCT_BF16, LEAST, 161e12, 297e12},
    {GUEST_EMULATED, PRODUCT_TF32, 1 << 18, 5e7, 1e8},
    {GUEST_EMULATED, PRODUCT_BF16, 1 << 18, 5e7, 1e8},
};
/* The share of a layer's three products that the library takes at least: in bf16 only the weight's
 * gradient, as the others have epilogues that it lacks. */
static double share_of(enum product how)
{
    return how == PRODUCT_TF32 ? 1 : 1.0 / 3;
}
/* Seconds. Loading took 0.31; the estimate is rough, and a training may end early. */
static const double SAVES_LEAST = 1;

/* A product by its shape, and the algorithm for it. */
struct shape {
    uint64_t c_part;
    uint32_t m, n, k, parts, a_row, a_col, b_row, b_col, c_row;
    uint32_t how, end, add;         /* end: CUBLASLT_END_ */
    uint32_t align_a, align_b, align_c;
    uint16_t form, form_c;          /* no padding: shapes are compared as bytes */
};
struct served {
    struct shape shape;
    bool serves;                    /* else our kernels do */
    void *product, *of_a, *of_b, *of_c;
    struct cublaslt_way way;
};
struct guest_use {
    struct card_guest guest; /* the first member */
    struct cublaslt calls;
    struct served *served;
    size_t count, room;
    size_t workspace;
};

/* A call of the library. */
#define LT(name, arguments)                                                                        \
    (cuda_guest_enter(m->runtime, #name)                                                           \
         ? cuda_guest_leave(m->runtime, m->guest->calls.name arguments)                            \
         : m->runtime->refusal)

static void fail(struct card *m, const char *call, int status)
{
    cuda_guest_fail(m, &m->guest->guest, call, status);
}

/* --- opening --- */

/* Workspace: NVIDIA's advice for the kind of card; less on small cards. */
static size_t workspace_of(const struct card *m)
{
    size_t advised = (size_t)(m->device.capability >= 90 ? 32 : 4) << 20;
    size_t part = (size_t)(m->device.total / 64);
    return part < advised ? part / 256 * 256 : advised;
}

static bool find(struct card_guest *g)
{
    return cublaslt_open(&g->library, &((struct guest_use *)g)->calls);
}

static void open_library(struct card *m, struct card_guest *g)
{
    if (!cuda_guest_load(g)) {
        cuda_guest_cannot(g, g->all, g->library.why);
        return;
    }
    int status = LT(cublasLtCreate, (&g->handle));
    if (status) {
        g->handle = NULL;
        fail(m, "cublasLtCreate", status);
        return;
    }
    cuda_guest_opened(g);
}

void cuda_guest_begin(struct card *m)
{
    m->guest = (struct guest_use *)mem_zero(1, sizeof *m->guest);
    m->guest->guest.find = find;
    m->guest->guest.open = open_library;
    m->guest->workspace = workspace_of(m);
    cuda_guest_init(m, &m->guest->guest, GUEST_CUBLASLT);
}

static const struct guest_row *row_of(const struct card *m, enum product how, double operations)
{
    return cuda_guest_row(m, rows, sizeof rows / sizeof *rows, how, operations);
}

void cuda_guest_work(struct card *m, const struct machine_work *work)
{
    struct card_guest *g = &m->guest->guest;
    enum product how = m->products.how;
    double saved = 0;
    for (uint32_t i = 0; i < work->group_count; i++) {
        double row = 2.0 * work->groups[i].in * work->groups[i].out;
        saved += cuda_guest_saves(row_of(m, how, row * work->batch),
                                  3 * share_of(how) * row * work->rows);
    }
    cuda_guest_want(m, g, g->all || (cuda_guest_may(m) && saved >= SAVES_LEAST));
}

static void forget(struct card *m, struct served *s)
{
    if (s->product)
        LT(cublasLtMatmulDescDestroy, (s->product));
    void *const layouts[] = {s->of_a, s->of_b, s->of_c};
    for (int i = 0; i < 3; i++)
        if (layouts[i])
            LT(cublasLtMatrixLayoutDestroy, (layouts[i]));
    s->product = s->of_a = s->of_b = s->of_c = NULL;
}

void cuda_guest_end(struct card *m)
{
    struct guest_use *use = m->guest;
    if (!use)
        return;
    for (size_t i = 0; i < use->count && !cuda_gone(m); i++)
        forget(m, &use->served[i]);
    if (use->guest.handle && !cuda_gone(m))
        LT(cublasLtDestroy, (use->guest.handle));
    mem_free(use->served);
    mem_free(use);
    m->guest = NULL;
}

void cuda_guest_plan(const struct card *m, struct plan *plan)
{
    plan->guests[0] = '\0';
    cuda_guest_add(&m->guest->guest, plan);
}

void cuda_guest_set_plan(struct card *m, const struct plan *plan)
{
    cuda_guest_obey(m, &m->guest->guest, plan);
}

size_t cuda_guest_scratch(const struct card *m, enum op_id op)
{
    bool product = op == OP_dense || op == OP_dense_back;
    return product && m->guest && m->guest->guest.on ? SCRATCH_HEAD + m->guest->workspace : 0;
}

/* --- shapes --- */

static uint32_t alignment(struct act at, uint64_t part)
{
    uint64_t bits = (uint64_t)(uintptr_t)at.at | part * form_bytes(at.form) | 256;
    return (uint32_t)(bits & ~(bits - 1));
}

/* The epilogue that the library can do; guest_finish does others. Its bias has the form of C, and
 * ours is fp32. */
static uint32_t end_of(const struct gemm *g)
{
    bool plain = !g->onehot.column_count && !g->by.at && !g->z.at && !g->add &&
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
    return !g->onehot.column_count && !g->by.at && !g->z.at && g->act == ACT_NONE && !g->bias;
}

/* Parts of k are a batch of products of equal length (part_begin). */
static bool equal_parts(const struct gemm *g)
{
    return g->parts == 1 || (g->k % 8 == 0 && g->k / 8 % g->parts == 0);
}

/* A 16-bit C is rounded before guest_finish: only a derivative may follow the rounding (gemm_put).
 */
static bool rounds_too_soon(const struct gemm *g)
{
    return !is_plain(g->c) && (g->onehot.column_count || g->bias || g->z.at || !g->by.at);
}

/* fp32 operands of fp16 products, and gradients, are scaled: the library does not do that. */
static bool factors_fit(const struct gemm *g, enum product how)
{
    return is_plain(g->a) ? how != PRODUCT_FP16
                          : g->a.form == form_product(how) &&
                                !(how == PRODUCT_FP16 && g->scale);
}

static bool shape_of(const struct gemm *g, enum product how, struct shape *s)
{
    *s = shape{};
    s->end = end_of(g);
    bool rest = s->end == CUBLASLT_END_NONE && !ends_by_itself(g);
    bool forms = g->a.form == g->b.form && (is_plain(g->c) || g->c.form == g->a.form);
    if (!forms || g->sums || !factors_fit(g, how) || !equal_parts(g) ||
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

/* --- asking --- */

static int set_layout(struct card *m, void *layout, uint32_t parts, uint64_t stride)
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

/* A matrix of `count` lines of `length` numbers, `step` apart; a single line needs no step. */
struct lines { uint32_t form, length, count, step, parts; uint64_t stride; };
static int make_layout(struct card *m, void **layout, struct lines of)
{
    uint32_t ld = of.count == 1 && of.step < of.length ? of.length : of.step;
    int status = LT(cublasLtMatrixLayoutCreate,
                    (layout, type_of(of.form), of.length, of.count, ld));
    return status ? status : set_layout(m, *layout, of.parts, of.stride);
}

static int describe(struct card *m, struct served *s)
{
    static const int computes[] = {CUBLASLT_FP32, CUBLASLT_TF32, CUBLASLT_BF16, CUBLASLT_FP16};
    const struct shape *h = &s->shape;
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
    /* its A is our B, its B our A */
    if (!status)
        status = make_layout(m, &s->of_a, across_first
                                           ? lines{form, h->k, h->n, h->b_col, parts, part_b}
                                           : lines{form, h->n, h->k, h->b_row, parts, part_b});
    if (!status)
        status = make_layout(m, &s->of_b, across_second
                                           ? lines{form, h->m, h->k, h->a_col, parts, part_a}
                                           : lines{form, h->k, h->m, h->a_row, parts, part_a});
    return status ? status
                  : make_layout(m, &s->of_c, lines{h->form_c, h->n, h->m, h->c_row, parts,
                                                h->c_part});
}

static int wish_for(struct card *m, const struct shape *h, void *wish)
{
    uint64_t workspace = m->guest->workspace;
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

static int set_bias(struct card *m, struct served *s, const struct gemm *g)
{
    return s->shape.end & CUBLASLT_END_BIAS
               ? LT(cublasLtMatmulDescSetAttribute,
                    (s->product, CUBLASLT_BIAS, &g->bias, sizeof g->bias))
               : 0;
}

/* Chooses the algorithm. 0 with serves false: the library has none. The choice may depend on the
 * alignment of the bias. */
static int choose_algorithm(struct card *m, struct served *s, const struct gemm *g)
{
    enum { NOT_SUPPORTED = 15, INVALID = 7 };
    void *wish = NULL, *handle = m->guest->guest.handle;
    int found = 0, status = describe(m, s);
    if (!status)
        status = set_bias(m, s, g);
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
                s->way.workspace <= m->guest->workspace;
    return status;
}

static int launch(struct card *m, struct served *s, const struct gemm *g)
{
    const float one = 1, from = g->add ? 1.0f : 0.0f;
    void *const c = g->c.at;
    int status = set_bias(m, s, g);
    if (!status)
        status = LT(cublasLtMatmul,
                    (m->guest->guest.handle, s->product, &one, g->b.at, s->of_a, g->a.at, s->of_b,
                     &from, c, s->of_c, c, s->of_c, &s->way.how, (char *)m->scratch + SCRATCH_HEAD,
                     m->guest->workspace, m->stream));
    if (!status && s->shape.end == CUBLASLT_END_NONE && !ends_by_itself(g))
        guest_finish(&m->head, g);
    return status;
}

/* --- serving --- */

static struct served *known(struct guest_use *use, const struct shape *shape)
{
    for (size_t i = 0; i < use->count; i++)
        if (memcmp(&use->served[i].shape, shape, sizeof *shape) == 0)
            return &use->served[i];
    return NULL;
}

static struct served *add_shape(struct card *m, const struct shape *shape, const struct gemm *g)
{
    struct guest_use *use = m->guest;
    if (use->count == use->room) {
        use->room = use->room ? 2 * use->room : 16;
        use->served = (struct served *)mem_grow(use->served, use->room, sizeof *use->served);
    }
    struct served *s = &use->served[use->count++];
    *s = served{};
    s->shape = *shape;
    int status = choose_algorithm(m, s, g);
    if (status)
        fail(m, "cublasLtMatmulAlgoGetHeuristic", status);
    if (!s->serves)
        forget(m, s);
    return s;
}

/* True: the table of rows has this product as faster. In bf16 the work left to guest_finish costs
 * as much as the library gains, by the card's rate of memory. */
static bool pays(const struct card *m, const struct gemm *g, enum product how)
{
    bool rest = end_of(g) == CUBLASLT_END_NONE && !ends_by_itself(g);
    return (how == PRODUCT_TF32 || (!is_plain(g->a) && !rest)) &&
           row_of(m, how, 2.0 * g->m * g->n * g->k);
}

static struct served *server_of(struct card *m, const struct gemm *g, enum product how)
{
    struct guest_use *use = m->guest;
    struct shape shape;
    if (!use || !use->guest.on || cuda_lost(m) || !(use->guest.all || pays(m, g, how)) ||
        m->scratch_bytes < SCRATCH_HEAD + use->workspace ||
        (uint64_t)g->m * g->n * g->k == 0 || !shape_of(g, how, &shape))
        return NULL;
    struct served *s = known(use, &shape);
    if (!s && !m->capturing)
        s = add_shape(m, &shape, g);
    return s && s->serves ? s : NULL;
}

/* Stays true after a failure: a capture may not load kernels for the first time. By rows it never
 * takes a product of fused layers. */
bool device_guest(const struct machine *m)
{
    const struct guest_use *use = card_of(m)->guest;
    return use && use->guest.all && (use->guest.on || use->guest.failed);
}

bool device_guest_takes(struct machine *m, const struct gemm *g, enum product how)
{
    return server_of(card_of(m), g, how) != NULL;
}

bool device_guest_product(struct machine *machine, const struct gemm *g, enum product how)
{
    struct card *m = card_of(machine);
    struct served *s = server_of(m, g, how);
    int status = s ? launch(m, s, g) : 0;
    if (status)
        fail(m, "cublasLtMatmul", status);
    return s && (!status || cuda_lost(m));
}
