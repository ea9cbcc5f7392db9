/* vec_layer.h - activations, normalisation and the classification loss over 16 lanes.
 * Included by vec_table.h. */
#ifndef DNN_BACKEND_VEC_LAYER_H
#define DNN_BACKEND_VEC_LAYER_H

/* for runs of n: full vectors, then the rest */
#define RUN(i, n, size) for (size_t i = 0, size; (size = run_size(i, n)) > 0; i += LANES)
#define GET(p, size) ((size) == LANES ? v_load(p) : v_load_n(p, size))

INLINE void store_run(real *p, v16 a, size_t size)
{
    if (size == LANES)
        v_store(p, a);
    else
        v_store_n(p, a, size);
}

INLINE void act_run(real *y, const real *x, size_t n, uint32_t kind, real slope)
{
    RUN(i, n, size)
        store_run(y + i, act_of(GET(x + i, size), kind, v_set(slope)), size);
}

/* One loop a kind, so that the switch stands outside it. */
static void act(real *y, const real *x, size_t n, uint32_t kind, real slope)
{
    switch (kind) {
#define ACT(NAME, ...) case ACT_##NAME: act_run(y, x, n, ACT_##NAME, slope); break;
#include "backend/acts.def"
    default: act_run(y, x, n, ACT_NONE, slope);
    }
}

INLINE void act_back_run(real *dx, const real *dy, const real *by, size_t n, uint32_t kind,
                         real slope, bool from_x, bool add)
{
    v16 s = v_set(slope);
    bool from_y = from_x && !ACT_NEEDS_Z(kind) && kind != ACT_RELU && kind != ACT_LEAKY_RELU;
    RUN(i, n, size) {
        v16 b = GET(by + i, size);
        __builtin_prefetch(by + i + 8 * LANES);
        __builtin_prefetch(dy + i + 8 * LANES);
        if (from_y)
            b = act_of(b, kind, s);
        v16 d = v_mul(GET(dy + i, size), act_derivative(b, kind, s));
        store_run(dx + i, add ? v_add(GET(dx + i, size), d) : d, size);
    }
}

static void act_back(real *dx, const real *dy, const real *by, size_t n, uint32_t kind, real slope,
                     bool from_x, bool add)
{
    switch (kind) {
#define ACT(NAME, ...) \
    case ACT_##NAME: act_back_run(dx, dy, by, n, ACT_##NAME, slope, from_x, add); break;
#include "backend/acts.def"
    default: act_back_run(dx, dy, by, n, ACT_NONE, slope, from_x, add);
    }
}

/* Backward into a dense layer, for V vectors of one panel, the last one with `tail` lanes:
 * dz = dy act'(by), of relu or none, dense (0 past the end of rows and columns), its column sums,
 * and its transpose if `turned`. */
INLINE void deltas_columns(const struct deltas *d, uint32_t j, uint32_t kind, bool in_place,
                           const int V, size_t tail)
{
    v16 sum[2];
    real *dy = d->dy + j, *copy = d->copy ? d->copy + j : NULL;
    const real *by = d->by + j;
    for (int v = 0; v < V; v++)
        sum[v] = d->sums && d->add ? GET(d->sums + j + v * LANES, v == V - 1 ? tail : LANES)
                                   : v_set(0);
    for (uint32_t r = 0; r < d->rows; r++) {
        for (int v = 0; v < V; v++) {
            const size_t size = v == V - 1 ? tail : LANES;
            v16 x = GET(dy + v * LANES, size);
            __builtin_prefetch(dy + PANEL + v * LANES, 0, 2); /* of the next panel */
            if (kind != ACT_NONE)
                __builtin_prefetch(by + PANEL + v * LANES, 0, 2);
            if (kind == ACT_RELU)
                x = v_pick(v_gt(GET(by + v * LANES, size), v_set(0)), x, v_set(0));
            if (in_place)
                store_run(dy + v * LANES, x, size);
            if (copy)
                v_store(copy + v * LANES, x);
            sum[v] = v_add(sum[v], x);
        }
        copy = copy ? copy + PANEL : NULL;
        dy += d->ld;
        by += d->ldby;
    }
    for (int v = 0; v < V && d->sums; v++)
        store_run(d->sums + j + v * LANES, sum[v], v == V - 1 ? tail : LANES);
    if (!d->turned)
        return;
    for (uint32_t r = d->rows; r % LANES; r++, copy += PANEL)
        for (int v = 0; v < V; v++)
            v_store(copy + v * LANES, v_set(0));
    for (uint32_t r = 0; r < d->rows; r += LANES)
        for (uint32_t v = 0; v < (uint32_t)V; v++)
            transpose_block(d->turned + (size_t)r * d->room + (size_t)(j + v * LANES) * LANES,
                            d->copy + (size_t)r * PANEL + j + v * LANES, PANEL, LANES);
}

INLINE void deltas_run(const struct deltas *d, uint32_t kind, bool in_place)
{
    if (d->width == PANEL) {
        deltas_columns(d, 0, kind, in_place, PANEL / LANES, LANES);
        return;
    }
    for (uint32_t j = 0; j < d->width; j += LANES)
        deltas_columns(d, j, kind, in_place, 1, run_size(j, d->width));
}

static void deltas(const struct deltas *d)
{
    if (d->kind == ACT_RELU && d->put)
        deltas_run(d, ACT_RELU, true);
    else if (d->kind == ACT_RELU)
        deltas_run(d, ACT_RELU, false);
    else
        deltas_run(d, ACT_NONE, false);
}

static void add_run(real *y, const real *a, const real *b, size_t n)
{
    RUN(i, n, size)
        store_run(y + i, v_add(GET(a + i, size), GET(b + i, size)), size);
}

/* --- positions of the shuffled order: rng_permute of base/rng.h, 16 at a time --- */

/* One walk of 16 lanes. */
INLINE void shuffle_walk(uint32_t *x, uint32_t half, const struct shuffle *s)
{
    const uint32_t mask = (1u << half) - 1u;
    const uint32_t low = (uint32_t)s->seed, high = (uint32_t)(s->seed >> 32);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t left = x[i] >> half, right = x[i] & mask;
        for (uint32_t round = 0; round < 6; round++) {
            uint32_t f = right * 0x9E3779B1u + low + round * 0x7F4A7C15u;
            f ^= f >> 15;
            f = (f + s->epoch) * 0x85EBCA77u ^ high;
            f ^= f >> 13;
            f = (f + s->model) * 0xC2B2AE3Du;
            f ^= f >> 16;
            uint32_t next = left ^ (f & mask);
            left = right;
            right = next;
        }
        x[i] = left << half | right;
    }
}

/* Positions that fall past the end are permuted again, alone. */
static void permute(uint32_t *out, uint32_t first, uint32_t count, const struct shuffle *s)
{
    enum { MANY = 4 * LANES };
    uint32_t half = 1;
    while (half < 16 && ((uint64_t)1 << (2 * half)) < s->n)
        half++;
    for (uint32_t at = 0; at < count; at += MANY) {
        uint32_t x[MANY] = {0}, place[MANY], left = count - at < MANY ? count - at : MANY;
        for (uint32_t i = 0; i < left; i++) {
            x[i] = first + at + i;
            place[i] = at + i;
        }
        while (left) {
            uint32_t outside = 0;
            for (uint32_t i = 0; i < left; i += LANES)
                shuffle_walk(x + i, half, s);
            for (uint32_t i = 0; i < left; i++) {
                out[place[i]] = x[outside] = x[i];
                place[outside] = place[i];
                outside += x[i] >= s->n;
            }
            left = outside;
        }
    }
}

/* --- normalisation --- */

static void norm_columns(real *y, const real *x, const real *mean, const real *inv,
                         const real *gamma, const real *beta, size_t n)
{
    RUN(i, n, size) {
        v16 factor = v_mul(GET(inv + i, size), GET(gamma + i, size));
        v16 v = v_sub(GET(x + i, size), GET(mean + i, size));
        store_run(y + i, v_fma(v, factor, GET(beta + i, size)), size);
    }
}

static void row_moments(const real *x, size_t n, real epsilon, real *mean, real *inv)
{
    v16 sum = v_set(0), square = v_set(0);
    RUN(i, n, size)
        sum = v_add(sum, GET(x + i, size));
    *mean = v_sum(sum) / (real)n;
    RUN(i, n, size) {
        v16 d = v_sub(GET(x + i, size), v_set(*mean));
        if (size < LANES) { /* the lanes past the end hold -mean */
            real lanes[LANES];
            v_store(lanes, d);
            d = v_load_n(lanes, size);
        }
        square = v_fma(d, d, square);
    }
    real root[LANES];
    v_store(root, v_sqrt(v_set(v_sum(square) / (real)n + epsilon)));
    *inv = 1 / root[0];
}

static void norm_row(real *y, const real *x, real mean, real inv, const real *gamma,
                     const real *beta, size_t n)
{
    RUN(i, n, size) {
        v16 hat = v_mul(v_sub(GET(x + i, size), v_set(mean)), v_set(inv));
        store_run(y + i, v_fma(hat, GET(gamma + i, size), GET(beta + i, size)), size);
    }
}

/* With h = (x - mean) inv and g = dy gamma: dx = inv (g - mean(g) - h mean(g h)). */
static void norm_row_back(real *dx, real *dgamma, real *dbeta, const real *dy, const real *x,
                          real mean, real inv, const real *gamma, size_t n, bool add)
{
    v16 sum = v_set(0), product_sum = v_set(0);
    RUN(i, n, size) { /* past the end dy is 0 */
        v16 d = GET(dy + i, size), hat = v_mul(v_sub(GET(x + i, size), v_set(mean)), v_set(inv));
        v16 g = v_mul(d, GET(gamma + i, size));
        sum = v_add(sum, g);
        product_sum = v_fma(g, hat, product_sum);
        store_run(dgamma + i, v_fma(d, hat, GET(dgamma + i, size)), size);
        store_run(dbeta + i, v_add(GET(dbeta + i, size), d), size);
    }
    if (!dx)
        return;
    v16 m = v_set(v_sum(sum) / (real)n), mh = v_set(v_sum(product_sum) / (real)n);
    RUN(i, n, size) {
        v16 hat = v_mul(v_sub(GET(x + i, size), v_set(mean)), v_set(inv));
        v16 g = v_sub(v_mul(GET(dy + i, size), GET(gamma + i, size)), m);
        v16 d = v_mul(v_sub(g, v_mul(hat, mh)), v_set(inv));
        store_run(dx + i, add ? v_add(GET(dx + i, size), d) : d, size);
    }
}

/* --- the loss of a classification: 16 rows at a time, a lane a row --- */

struct rows16 { size_t n; v16 target, weight; const real *logits; };

INLINE v16 logits_of(const struct softmax *s, const struct rows16 *rows, uint32_t k)
{
    real lanes[LANES] = {0};
    for (size_t i = 0; i < rows->n; i++)
        lanes[i] = rows->logits[i * s->ld + k];
    return v_load(lanes);
}

/* -(1 - p)^gamma log p and its derivative by log p (Lin et al., "Focal loss", 2017); others is
 * 1 - p, as a sum. */
static void focal(double logp, double others, double gamma, double *loss, double *slope)
{
    double p = exp(logp), power = others > 0 ? pow(others, gamma) : gamma > 0 ? 0 : 1;
    *loss = -power * logp;
    *slope = -power + (others > 0 ? gamma * p * power / others * logp : 0);
}

/* Sums over the classes of 16 rows, of exponentials e = exp(logit - most). */
struct softmax16 { v16 most, sum, others, target_logit, logit_sum; };

INLINE struct softmax16 softmax_sums(struct softmax *s, const struct rows16 *at)
{
    struct softmax16 x = {.sum = v_set(0), .others = v_set(0), .target_logit = v_set(0),
                          .logit_sum = v_set(0)};
    for (uint32_t k = 0; k < s->classes; k++) {
        v16 logit = logits_of(s, at, k);
        x.most = k ? v_max(x.most, logit) : logit;
        if (s->room)
            v_store(s->room + (size_t)k * LANES, logit);
    }
    for (uint32_t k = 0; k < s->classes; k++) {
        v16 logit = s->room ? v_load(s->room + (size_t)k * LANES) : logits_of(s, at, k);
        v16 z = v_sub(logit, x.most), e = v_exp(z);
        m16 hit = v_eq(at->target, v_set((real)k));
        x.sum = v_add(x.sum, e);
        x.logit_sum = v_add(x.logit_sum, z);
        x.target_logit = v_pick(hit, z, x.target_logit);
        x.others = v_add(x.others, v_pick(hit, v_set(0), e));
        if (s->room)
            v_store(s->room + (size_t)k * LANES, e);
    }
    return x;
}

/* The loss is summed in double, row by row. Returns a factor: the gradient is factor * (p_k - t_k).
 */
INLINE v16 softmax_loss(struct softmax *s, const struct rows16 *at, const struct softmax16 *x)
{
    real log_sum[LANES], z_target[LANES], z_sum[LANES], rest[LANES], whole[LANES];
    real weight[LANES], factor[LANES];
    double loss_sum = s->loss, weight_sum = s->weight_sum;
    v_store(log_sum, v_log(x->sum));
    v_store(z_target, x->target_logit);
    v_store(z_sum, x->logit_sum);
    v_store(weight, at->weight);
    v_store(rest, x->others);
    v_store(whole, x->sum);
    for (size_t i = 0; i < LANES; i++) {
        double loss, slope = -1, log_p = (double)z_target[i] - (double)log_sum[i];
        if (s->kind == CLASS_FOCAL) {
            focal(log_p, (double)rest[i] / (double)whole[i], s->gamma, &loss, &slope);
        } else {
            double mean_z = (double)z_sum[i] / s->classes - (double)log_sum[i];
            loss = -(1 - s->smoothing) * log_p - s->smoothing * mean_z;
        }
        factor[i] = (real)(-slope * (double)weight[i]);
        if (i < at->n && weight[i] != 0) {
            loss_sum += (double)weight[i] * loss;
            weight_sum += (double)weight[i];
        }
    }
    s->loss = loss_sum;
    s->weight_sum = weight_sum;
    return v_load(factor);
}

INLINE void softmax_gradient(struct softmax *s, uint32_t row, const struct rows16 *at,
                             const struct softmax16 *x, v16 times)
{
    bool smooth = s->kind == CLASS_CROSS_ENTROPY;
    v16 inverse = v_div(v_set(1), x->sum), zero = v_set(0);
    v16 low = v_set(smooth ? (real)(s->smoothing / s->classes) : 0);
    v16 high = v_set(smooth ? (real)(1 - s->smoothing + s->smoothing / s->classes) : 1);
    for (uint32_t k = 0; k < s->classes; k++) {
        v16 e = s->room ? v_load(s->room + (size_t)k * LANES)
                        : v_exp(v_sub(logits_of(s, at, k), x->most));
        v16 t = v_pick(v_eq(at->target, v_set((real)k)), high, low);
        v16 d = v_mul(v_sub(v_mul(e, inverse), t), times);
        /* a row of weight 0 has no gradient, even if its logits are not finite */
        d = v_pick(v_eq(at->weight, zero), zero, d);
        real lanes[LANES];
        v_store(lanes, d);
        for (size_t i = 0; i < at->n; i++)
            s->dlogits[(row + i) * s->ldd + k] = lanes[i];
    }
}

static void softmax_rows(struct softmax *s, uint32_t row, size_t n)
{
    struct rows16 at = {n, v_load_n(s->target + row, n), v_load_n(s->weight + row, n),
                        s->logits + (size_t)row * s->ld};
    struct softmax16 x = softmax_sums(s, &at);
    v16 factor = softmax_loss(s, &at, &x);
    if (s->dlogits)
        softmax_gradient(s, row, &at, &x, factor);
}

static void softmax(struct softmax *s)
{
    for (uint32_t row = 0; row < s->rows; row += LANES)
        softmax_rows(s, row, s->rows - row < LANES ? s->rows - row : LANES);
}

#endif
