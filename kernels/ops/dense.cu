/* dense.cu - the dense layer: its products, dz, column sums of dz, and the weight rows of
 * one-hot inputs. */
#include "product/gemm.cuh"
#include "product/guest.cuh"
#include "product/hot.cuh"
#include "ops/mlp.cuh"

enum { LANES_OF_BLOCK = 256, WARPS_OF_BLOCK = LANES_OF_BLOCK / WARP };

/* What the derivative of a layer is taken at. */
struct derived { struct act at; uint32_t ld; };
HOST_DEVICE struct derived derived_at(const struct op_dense_back &a)
{
    return act_needs_z(a.act) ? derived{a.z, a.ldz} : derived{a.y, a.ldy};
}

/* dy becomes dz, in place. */
template <int V> KERNEL_BOUNDED(SHEET_LANES, dense_delta)(struct sheet s, struct op_dense_back a)
{
    uint32_t col = sheet_unit(s) * V;
    struct derived by = derived_at(a);
    if (col >= a.out)
        return;
    for (EACH_ROW_OF(s, row)) {
        float dz[V], at[V];
        size_t to = (size_t)row * a.lddy + col;
        run_load(dz, a.dy, to);
        run_load(at, by.at, (size_t)row * by.ld + col);
        UNROLL
        for (int i = 0; i < V; i++)
            dz[i] *= act_derivative(a.act, at[i], (float)a.slope);
        run_store(a.dy, to, dz);
    }
}

/* The same, with db of each shard as the sums: a block has 32 columns of a shard. */
KERNEL_BOUNDED(1024, dense_dz)(struct op_dense_back a)
{
    SHARED(float, room, 1024);
    uint32_t col = block_x() * WARP + lane_id();
    uint32_t begin = part_begin(a.rows, grid_y(), block_y());
    uint32_t end = part_begin(a.rows, grid_y(), block_y() + 1);
    bool inside = col < a.out;
    struct derived by = derived_at(a);
    float sum[1];
    column_sums(sum, begin, end, room, [&](uint32_t row, float(&to)[1]) {
        if (!inside)
            return;
        size_t at = (size_t)row * a.lddy + col;
        float d = form_get(a.dy, at);
        if (a.act != ACT_NONE) {
            d *= act_derivative(a.act, form_get(by.at, (size_t)row * by.ld + col), (float)a.slope);
            form_put(a.dy, at, d);
            d = form_get(a.dy, at); /* as the products have it */
        }
        to[0] += d;
    });
    if (!a.db || !inside || warp_id() != 0)
        return;
    float *db = (float *)a.db + block_y() * a.shard_stride + col;
    *db = a.more ? *db + sum[0] : sum[0];
}

/* --- starting --- */

static void product(struct machine *m, const struct gemm *g, enum product how)
{
    if (how == PRODUCT_FP32)
        gemm_simt(m, g);
    else
        gemm_mma(m, g, how);
}

/* The weight as a product reads it: the 16-bit copy if the product rounds to that form. */
static struct act weight_of(const real *w, struct act shadow, enum product how)
{
    bool serves = shadow.at && how != PRODUCT_FP32 && shadow.form == form_product(how);
    return serves ? shadow : plain_act(w);
}

void cuda_dense(struct machine *m, const struct op_dense *a, enum product how)
{
    struct gemm g = {};
    g.c = a->y;
    g.a = a->x;
    g.b = weight_of(a->w, a->shadow, how);
    g.m = a->rows;
    g.n = a->out;
    g.k = a->in;
    g.parts = 1;
    g.a_row = a->ldx;
    g.a_col = 1;
    g.b_row = a->out;
    g.b_col = 1;
    g.c_row = a->ldy;
    g.act = a->act;
    g.bias = (const float *)a->b;
    g.z = a->z;
    g.z_row = a->ldz;
    g.slope = (float)a->slope;
    g.onehot = a->onehot;
    g.onehot_b = (const float *)a->w;
    if (a->exact || !device_guest_product(m, &g, how))
        product(m, &g, how);
}

static const double *scale_of(const struct op_dense_back *a)
{
    return a->now ? &a->now->scale : nullptr;
}

/* dw = x' dz by shards. It also computes db if it sees dz unrounded: on CUDA cores, and in large
 * tiles. */
static struct gemm weight_gradient(const struct op_dense_back *a, bool sums)
{
    struct gemm g = {};
    g.c = plain_act(a->dw);
    g.a = a->x;
    g.b = a->dy;
    g.m = a->in;
    g.n = a->out;
    g.k = a->rows;
    g.parts = a->shards;
    g.a_row = 1;
    g.a_col = a->ldx;
    g.b_row = a->lddy;
    g.b_col = 1;
    g.c_row = a->out;
    g.c_part = a->shard_stride;
    g.add = a->more;
    g.scale = scale_of(a);
    g.scaled = SCALED_B;
    g.sums = sums ? (float *)a->db : nullptr;
    return g;
}

static struct gemm input_gradient(const struct op_dense_back *a, enum product how)
{
    struct gemm g = {};
    g.c = a->dx;
    g.a = a->dy;
    g.b = weight_of(a->w, a->shadow, how);
    g.m = a->rows;
    g.n = a->in;
    g.k = a->out;
    g.parts = 1;
    g.a_row = a->lddy;
    g.a_col = 1;
    g.b_row = 1;
    g.b_col = a->out;
    g.c_row = a->lddx;
    g.add = a->add_dx;
    g.scale = scale_of(a);
    g.scaled = SCALED_A;
    return g;
}

/* A launch of its own pays. */
static bool is_large(const struct gemm *g)
{
    return (uint64_t)g->m * g->n * g->parts >= 128u * 64 * 64;
}

/* False: it is too small for a launch of its own. */
static bool launch_product(struct machine *m, const struct gemm *g, enum product how)
{
    if (device_guest_product(m, g, how))
        return true;
    if (how == PRODUCT_FP32 && !is_large(g))
        return false;
    product(m, g, how);
    return true;
}

/* below: NULL, or the layer whose dy is this dx: its dz is computed on the way to memory. */
static void go_back(struct machine *m, const struct op_dense_back *a,
                    const struct op_dense_back *below, enum product how)
{
    struct gemm of_w = weight_gradient(a, false), of_x = input_gradient(a, how), both[2];
    unsigned count = 0;
    if (!a->rows || !a->out)
        return;
    bool sums = a->dw && (how == PRODUCT_FP32 || gemm_wide_pays(&of_w)) &&
                !device_guest_takes(m, &of_w, how);
    of_w.sums = sums ? (float *)a->db : nullptr;
    if (below) {
        of_x.act = below->act;
        of_x.slope = (float)below->slope;
        of_x.by = derived_at(*below).at;
        of_x.by_row = derived_at(*below).ld;
    }
    if (a->db && !sums) {
        LAUNCH(dense_dz, dim3(column_tiles(a->out), a->shards),
               dim3(lanes_for(parts(a->rows, a->shards) * 4)), 0, m, *a);
    } else if (a->act != ACT_NONE) {
        struct derived by = derived_at(*a);
        bool wide = is_wide(a->dy, a->lddy) && is_wide(by.at, by.ld);
        LAUNCH_SHEET(dense_delta, wide, a->rows, a->out, m, *a);
    }
    if (a->dw && !launch_product(m, &of_w, how))
        both[count++] = of_w;
    if (a->dx.at && !launch_product(m, &of_x, how))
        both[count++] = of_x;
    gemm_together(m, both, count, a->dw && a->onehot.column_count ? a : nullptr);
}

static bool follows(const struct op_dense_back *a, const struct op_dense_back *below)
{
    return a->dx.at && a->dx.at == below->dy.at && !a->add_dx && a->in == below->out &&
           a->lddx == below->lddy && below->act != ACT_NONE;
}

void cuda_dense_backs(struct machine *m, const struct op_dense_back *const *a, unsigned count,
                      struct products by)
{
    bool done = false; /* dy is dz already */
    for (unsigned i = 0; i < count; i++) {
        struct op_dense_back one = *a[i];
        const struct op_dense_back *below = i + 1 < count && follows(&one, a[i + 1]) ? a[i + 1]
                                                                                    : nullptr;
        if (done)
            one.act = ACT_NONE;
        go_back(m, &one, below, product_of(by, one.rows, one.in, one.out, false));
        done = below != nullptr;
    }
}

void cuda_dense_back(struct machine *m, const struct op_dense_back *a, enum product how)
{
    go_back(m, a, nullptr, how);
}

void cuda_dense_gradients(struct machine *m, const struct op_dense_back *const *a, unsigned count)
{
    struct gemm g[GEMMS];
    const struct op_dense_back *onehot = nullptr;
    for (unsigned i = 0; i < count; i++) {
        g[i] = weight_gradient(a[i], true);
        if (a[i]->onehot.column_count)
            onehot = a[i];
    }
    gemm_together(m, g, count, onehot);
}
