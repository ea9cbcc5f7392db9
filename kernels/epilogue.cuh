/* epilogue.cuh - activations and their derivatives, elementwise, for every kernel that ends in one.
 * Kinds and formulas: backend/ops.h; the derivative is taken at z for gelu, silu and mish, at y for
 * the others. */
#ifndef DNN_KERNELS_EPILOGUE_CUH
#define DNN_KERNELS_EPILOGUE_CUH

#include "device.cuh"
#include "kernels.h"

#define SELU_SCALE 1.0507009873554805f
#define SELU_TAIL 1.7580993408473766f /* scale * alpha */

DEVICE float sigmoid(float x)
{
    float e = expf(-fabsf(x));
    return (x < 0 ? e : 1.0f) / (1.0f + e);
}
/* tanh(log(1 + e^x)) = n / (n + 2) with n = e^x (e^x + 2); from e^20 on it is 1. */
DEVICE float mish_factor(float x)
{
    float e = expf(x < 20 ? x : 20.0f), n = e * (e + 2);
    return x < 20 ? n / (n + 2) : 1.0f;
}

/* Called, not inlined: an epilogue has dozens of elements, and inlining would repeat this for each.
 */
DEVICE_CALL float act_curved(uint32_t kind, float x, float slope)
{
    switch (kind) {
    case ACT_GELU: return 0.5f * x * (1.0f + erff(x * 0.70710678118654752f));
    case ACT_SILU: return x * sigmoid(x);
    case ACT_ELU: return x > 0 ? x : slope * expm1f(x);
    case ACT_SELU: return x > 0 ? SELU_SCALE * x : SELU_TAIL * expm1f(x);
    case ACT_TANH: return tanhf(x);
    case ACT_SIGMOID: return sigmoid(x);
    case ACT_MISH: return x * mish_factor(x);
    default: return x;
    }
}
DEVICE float act_value(uint32_t kind, float x, float slope)
{
    if (kind == ACT_NONE)
        return x;
    if (kind <= ACT_LEAKY_RELU) /* a NaN stays one */
        return x < 0 ? (kind == ACT_RELU ? 0.0f : slope * x) : x;
    return act_curved(kind, x, slope);
}

DEVICE_CALL float derivative_curved(uint32_t kind, float by)
{
    float t;
    switch (kind) {
    case ACT_GELU: /* Phi(z) + z phi(z) */
        t = 0.5f * (1.0f + erff(by * 0.70710678118654752f));
        return fmaf(by * 0.39894228040143268f, expf(-0.5f * by * by), t);
    case ACT_SILU:
        t = sigmoid(by);
        return t * fmaf(by, 1.0f - t, 1.0f);
    default: /* mish */
        t = mish_factor(by);
        return fmaf(by * (1.0f - t * t), sigmoid(by), t);
    }
}
DEVICE float act_derivative(uint32_t kind, float by, float slope)
{
    switch (kind) {
    case ACT_NONE: return 1.0f;
    case ACT_RELU: return by > 0 ? 1.0f : 0.0f;
    case ACT_LEAKY_RELU: return by < 0 ? slope : 1.0f;
    case ACT_ELU: return by > 0 ? 1.0f : by + slope;
    case ACT_SELU: return by > 0 ? SELU_SCALE : by + SELU_TAIL;
    case ACT_TANH: return 1.0f - by * by;
    case ACT_SIGMOID: return by * (1.0f - by);
    default: return derivative_curved(kind, by);
    }
}

/* True: the derivative is taken at z. */
HOST_DEVICE bool act_needs_z(uint32_t kind)
{
    return ACT_NEEDS_Z(kind);
}

#endif
