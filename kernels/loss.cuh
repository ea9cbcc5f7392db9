/* loss.cuh - the loss of one row and its gradient. */
#ifndef DNN_KERNELS_LOSS_CUH
#define DNN_KERNELS_LOSS_CUH

#include "sheet.cuh"

/* With more classes a warp takes a row: its sums have another order. */
enum { MANY_CLASSES = 16 };

/* A sum, or the largest, over the lanes of a row. */
template <int G> DEVICE float row_sum(float v)
{
    return G == 1 ? v : warp_sum(v);
}
template <int G> DEVICE float row_most(float v)
{
    for (int bits = 16; bits > 0 && G > 1; bits >>= 1)
        v = fmaxf(v, shuffle_xor(FULL_WARP, v, bits));
    return v;
}

/* -(1 - p)^gamma log p and its derivative by log p (Lin et al., "Focal loss", 2017); others is
 * 1 - p, as a sum. */
DEVICE double focal(double logp, double others, double gamma, double *slope)
{
    double p = exp(logp), power = others > 0 ? pow(others, gamma) : gamma > 0 ? 0 : 1;
    *slope = -power + (others > 0 ? gamma * p * power / others * logp : 0);
    return -power * logp;
}

/* One row by G lanes, 1 or a warp: writes its gradient to d (NULL: not wanted) and returns its
 * loss; 0 if its weight is 0. */
template <int G>
DEVICE double class_row(const struct op_loss_class &a, const float *logits, float *d, float target,
                        float weight)
{
    uint32_t lane = G == 1 ? 0 : lane_id();
    if (weight == 0) {
        for (uint32_t k = lane; k < a.classes && d; k += G)
            d[k] = 0;
        return 0;
    }
    float most = -INFINITY;
    for (uint32_t k = lane; k < a.classes; k += G)
        most = fmaxf(most, logits[k]);
    most = row_most<G>(most);
    float sum = 0, z_sum = 0, z_target = 0, others = 0;
    for (uint32_t k = lane; k < a.classes; k += G) {
        float z = logits[k] - most, e = expf(z);
        bool hit = target == (float)k;
        sum += e;
        z_sum += z;
        z_target += hit ? z : 0;
        others += hit ? 0 : e;
    }
    sum = row_sum<G>(sum);
    z_target = row_sum<G>(z_target);
    double log_sum = (double)logf(sum), log_p = (double)z_target - log_sum, loss, slope = -1;
    bool smooth = a.kind == CLASS_CROSS_ENTROPY;
    if (smooth) {
        double mean = (double)row_sum<G>(z_sum) / a.classes - log_sum;
        loss = -(1 - a.smoothing) * log_p - a.smoothing * mean;
    } else {
        others = row_sum<G>(others);
        loss = focal(log_p, (double)others / (double)sum, a.gamma, &slope);
    }
    float low = smooth ? (float)(a.smoothing / a.classes) : 0.0f, inverse = 1 / sum;
    float high = smooth ? (float)(1 - a.smoothing + a.smoothing / a.classes) : 1.0f;
    float times = (float)(-slope * (double)weight);
    for (uint32_t k = lane; k < a.classes && d; k += G)
        d[k] = (expf(logits[k] - most) * inverse - (target == (float)k ? high : low)) * times;
    return (double)weight * loss;
}

/* Loss and derivative for d = y - t. */
DEVICE double value_loss(const struct op_loss_value &a, double d, double *slope)
{
    switch (a.kind) {
    case VALUE_MAE:
        *slope = d > 0 ? 1 : d < 0 ? -1 : d * 0; /* NaN stays NaN */
        return fabs(d);
    case VALUE_HUBER:
        if (fabs(d) > a.delta) {
            *slope = d > 0 ? a.delta : -a.delta;
            return a.delta * (fabs(d) - a.delta / 2);
        }
        *slope = d;
        return d * d / 2;
    case VALUE_QUANTILE: /* t above y costs q, below 1 - q */
        *slope = d < 0 ? -a.q : d > 0 ? 1 - a.q : d * 0;
        return d < 0 ? -a.q * d : (1 - a.q) * d;
    default:
        *slope = 2 * d;
        return d * d;
    }
}

/* One row, as class_row. */
DEVICE double value_row(const struct op_loss_value &a, float y, float *d, float target,
                        float weight)
{
    double slope = 0, loss = 0;
    if (weight != 0)
        loss = (double)weight * value_loss(a, (double)y - (double)target, &slope);
    if (d)
        *d = (float)((double)weight * slope);
    return loss;
}

#endif
