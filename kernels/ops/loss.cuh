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

/* Smoothed targets of a wrong and of the right class. */
struct class_levels { float low, high; };
HOST_DEVICE struct class_levels class_levels_of(const struct op_loss_class &a)
{
    if (a.kind != CLASS_CROSS_ENTROPY)
        return {0.0f, 1.0f};
    return {(float)(a.smoothing / a.classes),
            (float)(1 - a.smoothing + a.smoothing / a.classes)};
}

/* Sums over the classes of a row, by G lanes: 1 or a warp. z = logit - most. */
struct class_sums { float most, sum, z_sum, z_target, others; };
template <int G>
DEVICE struct class_sums class_sums_of(const struct op_loss_class &a, const float *logits,
                                       float target)
{
    struct class_sums s = {-INFINITY, 0, 0, 0, 0};
    uint32_t lane = G == 1 ? 0 : lane_id();
    for (uint32_t k = lane; k < a.classes; k += G)
        s.most = fmaxf(s.most, logits[k]);
    s.most = row_most<G>(s.most);
    for (uint32_t k = lane; k < a.classes; k += G) {
        float z = logits[k] - s.most, e = expf(z);
        bool hit = target == (float)k;
        s.sum += e;
        s.z_sum += z;
        s.z_target += hit ? z : 0;
        s.others += hit ? 0 : e;
    }
    s.sum = row_sum<G>(s.sum);
    s.z_target = row_sum<G>(s.z_target);
    if (a.kind == CLASS_CROSS_ENTROPY)
        s.z_sum = row_sum<G>(s.z_sum);
    else
        s.others = row_sum<G>(s.others);
    return s;
}

/* The loss of a row that weighs 1. */
DEVICE double class_cross_entropy(const struct op_loss_class &a, const struct class_sums &s)
{
    double log_sum = (double)logf(s.sum), log_p = (double)s.z_target - log_sum;
    double mean = (double)s.z_sum / a.classes - log_sum;
    return -(1 - a.smoothing) * log_p - a.smoothing * mean;
}
DEVICE double class_focal(const struct op_loss_class &a, const struct class_sums &s, double *slope)
{
    double log_p = (double)s.z_target - (double)logf(s.sum);
    return focal(log_p, (double)s.others / (double)s.sum, a.gamma, slope);
}

template <int G>
DEVICE void class_gradient(const struct op_loss_class &a, const struct class_sums &s,
                           struct class_levels of, const float *logits, float *d, float target,
                           float times)
{
    float inverse = 1 / s.sum;
    for (uint32_t k = G == 1 ? 0 : lane_id(); k < a.classes; k += G)
        d[k] = (expf(logits[k] - s.most) * inverse - (target == (float)k ? of.high : of.low)) *
               times;
}

/* One row by G lanes, 1 or a warp: writes its gradient to d (NULL: not wanted) and returns its
 * loss; 0 if its weight is 0. */
template <int G>
DEVICE double class_row(const struct op_loss_class &a, const float *logits, float *d, float target,
                        float weight)
{
    double slope = -1, loss;
    if (weight == 0) {
        for (uint32_t k = G == 1 ? 0 : lane_id(); k < a.classes && d; k += G)
            d[k] = 0;
        return 0;
    }
    struct class_sums s = class_sums_of<G>(a, logits, target);
    if (a.kind == CLASS_CROSS_ENTROPY)
        loss = class_cross_entropy(a, s);
    else
        loss = class_focal(a, s, &slope);
    if (d)
        class_gradient<G>(a, s, class_levels_of(a), logits, d, target,
                          (float)(-slope * (double)weight));
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
