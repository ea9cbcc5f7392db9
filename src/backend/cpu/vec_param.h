/* vec_param.h - operations on parameters and gradients, over 16 lanes. Included by vec_table.h. */
#ifndef DNN_BACKEND_VEC_PARAM_H
#define DNN_BACKEND_VEC_PARAM_H

#include <float.h>

/* Adds the shards in order; a single shard is the sum itself, and stays in place. Returns the sum
 * of squares, in lanes of real; if it is not finite, it is computed again in double. */
static double sum_shards(real *to, const real *g, uint64_t stride, uint32_t shards, size_t n)
{
    v16 square = v_set(0);
    RUN(i, n, size) {
        v16 sum = GET(g + i, size);
        for (uint32_t s = 1; s < shards; s++)
            sum = v_add(sum, GET(g + s * stride + i, size));
        if (shards > 1)
            store_run(to + i, sum, size);
        square = v_fma(sum, sum, square);
    }
    double total = (double)v_sum(square);
    if (total < 1e37)
        return total;
    total = 0;
    for (size_t i = 0; i < n; i++)
        total += shards > 1 ? (double)to[i] * (double)to[i] : (double)g[i] * (double)g[i];
    return total;
}

/* A running mean without new gradients ends at 0. Otherwise it would stay denormal for ever, since
 * 0.9 of the smallest number rounds to itself, and updates with denormals take three times as long.
 * The change of a weight would be below its last place. */
INLINE v16 faded(v16 mean)
{
    return v_pick(v_gt(v_set(FLT_MIN), v_abs(mean)), v_set(0), mean);
}

/* Kingma and Ba, "Adam" (2015); decoupled decay: Loshchilov and Hutter (2019). */
static void adam(const struct update *u)
{
    v16 b1 = v_set(R(u->beta1)), c1 = v_set(R(1 - u->beta1));
    v16 b2 = v_set(R(u->beta2)), c2 = v_set(R(1 - u->beta2));
    v16 scale = v_set(u->scale), step = v_set(-u->step);
    v16 root = v_set(u->root), epsilon = v_set(u->epsilon);
    v16 shrink = v_set(u->flag ? -u->decay : 0), l2 = v_set(u->flag ? 0 : u->decay);
    RUN(i, u->n, size) {
        v16 p = GET(u->p + i, size);
        v16 g = v_fma(l2, p, v_mul(GET(u->g + i, size), scale));
        v16 m = faded(v_fma(b1, GET(u->m1 + i, size), v_mul(c1, g)));
        v16 v = faded(v_fma(b2, GET(u->m2 + i, size), v_mul(c2, v_mul(g, g))));
        v16 below = v_fma(v_sqrt(v), root, epsilon);
        p = v_fma(shrink, p, p);
        p = v_fma(step, v_div(m, below), p);
        store_run(u->m1 + i, m, size);
        store_run(u->m2 + i, v, size);
        store_run(u->p + i, p, size);
    }
}

/* Tieleman and Hinton (2012), not centred; beta2 is the decay of the mean square. */
static void rmsprop(const struct update *u)
{
    v16 b2 = v_set(R(u->beta2)), c2 = v_set(R(1 - u->beta2));
    v16 scale = v_set(u->scale), l2 = v_set(u->decay);
    v16 epsilon = v_set(u->epsilon), step = v_set(-u->lr);
    RUN(i, u->n, size) {
        v16 p = GET(u->p + i, size);
        v16 g = v_fma(l2, p, v_mul(GET(u->g + i, size), scale));
        v16 v = faded(v_fma(b2, GET(u->m2 + i, size), v_mul(c2, v_mul(g, g))));
        store_run(u->m2 + i, v, size);
        store_run(u->p + i, v_fma(step, v_div(g, v_add(v_sqrt(v), epsilon)), p), size);
    }
}

/* m = momentum m + g; p -= lr m, or with Nesterov lr (g + momentum m). beta1 is the momentum; m1
 * NULL: none. */
static void sgd(const struct update *u)
{
    v16 b1 = v_set(R(u->beta1)), step = v_set(-u->lr);
    v16 scale = v_set(u->scale), l2 = v_set(u->decay);
    RUN(i, u->n, size) {
        v16 p = GET(u->p + i, size);
        v16 g = v_fma(l2, p, v_mul(GET(u->g + i, size), scale));
        if (u->m1) {
            v16 m = faded(v_fma(b1, GET(u->m1 + i, size), g));
            store_run(u->m1 + i, m, size);
            g = u->flag ? v_fma(b1, m, g) : m;
        }
        store_run(u->p + i, v_fma(step, g, p), size);
    }
}

#endif
