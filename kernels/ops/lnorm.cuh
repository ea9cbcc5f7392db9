/* lnorm.cuh - layer normalisation of one row by one warp. V: numbers at once, form.cuh's; the sums
 * are in an order of their own for each V. A row is read and written by x(v, k) and so on: run_load
 * and run_store of its numbers k, .. */
#ifndef DNN_KERNELS_LNORM_CUH
#define DNN_KERNELS_LNORM_CUH

#include "sheet.cuh"

struct lnorm_stats { float mean, inv; };

/* y = (x - mean) inv gamma + beta; y may be x. */
template <int V, class X, class Y>
DEVICE struct lnorm_stats lnorm_row(const X &x, const Y &y, const float *gamma, const float *beta,
                                    uint32_t width, float epsilon)
{
    float v[V], g[V], b[V], sum = 0, square = 0;
    for (uint32_t k = lane_id() * V; k < width; k += WARP * V) {
        x(v, k);
        UNROLL
        for (int i = 0; i < V; i++)
            sum += v[i];
    }
    float mean = warp_sum(sum) / (float)width;
    for (uint32_t k = lane_id() * V; k < width; k += WARP * V) {
        x(v, k);
        UNROLL
        for (int i = 0; i < V; i++)
            square = fmaf(v[i] - mean, v[i] - mean, square);
    }
    float inv = 1 / sqrtf(warp_sum(square) / (float)width + epsilon);
    for (uint32_t k = lane_id() * V; k < width; k += WARP * V) {
        x(v, k);
        run_load(g, gamma + k);
        run_load(b, beta + k);
        UNROLL
        for (int i = 0; i < V; i++)
            v[i] = fmaf((v[i] - mean) * inv, g[i], b[i]);
        y(v, k);
    }
    return {mean, inv};
}

/* With h = (x - mean) inv and g = dy gamma: dx = inv (g - mean(g) - h mean(g h)), added to what
 * before(v, k) puts there. dx may be dy. */
template <int V, class X, class Dy, class Before, class Dx>
DEVICE void lnorm_dx(const X &x, const Dy &dy, const Before &before, const Dx &dx,
                     const float *gamma, struct lnorm_stats s, uint32_t width)
{
    float v[V], d[V], g[V], sum = 0, product = 0;
    for (uint32_t k = lane_id() * V; k < width; k += WARP * V) {
        x(v, k);
        dy(d, k);
        run_load(g, gamma + k);
        UNROLL
        for (int i = 0; i < V; i++) {
            sum += d[i] * g[i];
            product = fmaf(d[i] * g[i], (v[i] - s.mean) * s.inv, product);
        }
    }
    sum = warp_sum(sum) / (float)width;
    product = warp_sum(product) / (float)width;
    for (uint32_t k = lane_id() * V; k < width; k += WARP * V) {
        float to[V] = {};
        x(v, k);
        dy(d, k);
        run_load(g, gamma + k);
        before(to, k);
        UNROLL
        for (int i = 0; i < V; i++)
            to[i] += (d[i] * g[i] - sum - (v[i] - s.mean) * s.inv * product) * s.inv;
        dx(to, k);
    }
}

#endif
