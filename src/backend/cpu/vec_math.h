/* vec_math.h - exp, log, tanh, erf and the activations over 16 lanes. Included by vec_table.h.
 *
 * Argument reduction is Cody and Waite's (Software Manual for the Elementary Functions, 1980). The
 * polynomials were fitted for this program, over Chebyshev nodes in 40-digit arithmetic:
 *   expm1(r) = r + r^2 P(r)            |r| <= ln(2)/2              error of P 6.6e-8
 *   log1p(f) = f - f^2/2 + f^3 Q(f)    1 + f in [1/sqrt 2, sqrt 2]  error of Q 2.9e-8
 *   -log(erfc(x)) / x = E(x)           0 <= x <= 4                 error of E 2.5e-8
 *   (1 - Phi(z)) exp(z^2 / 2) = T(t)   t = 1 / (1 + 0.35 z), z >= 0  a relative 3.1e-7
 * (the last one in double), so that exp, expm1, log, tanh are within 3 units in the last place. The
 * gradient build takes libm's. */
#ifndef DNN_BACKEND_VEC_MATH_H
#define DNN_BACKEND_VEC_MATH_H

#define R(x) ((real)(x))

#ifdef DNN_DOUBLE
#define LIBM(name, call)                                                                           \
    static inline v16 name(v16 a)                                                                  \
    {                                                                                              \
        v16 r;                                                                                     \
        EACH r.v[i] = call(a.v[i]);                                                                \
        return r;                                                                                  \
    }
LIBM(v_exp, exp)
LIBM(v_expm1, expm1)
LIBM(v_log, log)
LIBM(v_erf, erf)
#define normal_below(z, e) \
    v_mul(v_set(R(0.5)), v_add(v_set(1), v_erf(v_mul(z, v_set(ROOT_HALF)))))
#else

static inline v16 poly(v16 x, const float *c, int count)
{
    v16 r = v_set(c[0]);
    for (int i = 1; i < count; i++)
        r = v_fma(r, x, v_set(c[i]));
    return r;
}

/* x = n ln 2 + r; gives expm1(r) */
static inline v16 reduced_expm1(v16 x, v16 *n)
{
    static const float p[] = {1.392625083e-3f, 8.363232884e-3f, 4.166655421e-2f, 1.666657667e-1f,
                              0.5f};
    *n = v_round(v_mul(x, v_set(1.44269504f)));
    v16 r = v_fma(*n, v_set(-0.693359375f), x);
    r = v_fma(*n, v_set(2.12194440e-4f), r);
    return v_fma(v_mul(r, r), poly(r, p, 5), r);
}

/* 0 below -87.33, as the result would be subnormal; infinite above 88.72. */
static inline v16 v_exp(v16 x)
{
    v16 low = v_set(-87.33f), high = v_set(88.72f), n;
    v16 inside = v_min(high, v_max(low, x)); /* a NaN in x comes through: the second operand wins */
    v16 em1 = reduced_expm1(inside, &n);
    v16 half = v_round(v_mul(n, v_set(0.5f)));
    v16 y = v_mul(v_mul(v_add(em1, v_set(1)), v_pow2(half)), v_pow2(v_sub(n, half)));
    y = v_pick(v_gt(low, x), v_set(0), y);
    y = v_pick(v_gt(x, high), v_set(INFINITY), y);
    return v_pick(v_eq(x, x), y, x);
}

/* For x <= 88; -1 far below. */
static inline v16 v_expm1(v16 x)
{
    v16 n;
    v16 inside = v_min(v_set(88.0f), v_max(v_set(-87.0f), x));
    v16 em1 = reduced_expm1(inside, &n), power = v_pow2(n);
    v16 y = v_fma(power, em1, v_sub(power, v_set(1)));
    return v_pick(v_eq(x, x), y, x);
}

/* For normal positive numbers. */
static inline v16 v_log(v16 x)
{
    static const float q[] = {6.971611471e-2f, -1.147973385e-1f, 1.168541992e-1f, -1.242568733e-1f,
                              1.424905765e-1f, -1.666780232e-1f, 2.000071575e-1f, -2.499999696e-1f,
                              3.333333118e-1f};
    v16 e, f = v_sub(v_split(x, &e), v_set(1)), square = v_mul(f, f);
    v16 small = v_mul(v_mul(f, square), poly(f, q, 9));
    small = v_fma(e, v_set(-2.12194440e-4f), small);
    small = v_fma(square, v_set(-0.5f), small);
    v16 y = v_fma(e, v_set(0.693359375f), v_add(f, small));
    return v_pick(v_eq(x, x), y, x);
}

static inline v16 v_erf(v16 x)
{
    static const float c[] = {-1.013977274e-7f, 2.55876506e-6f, -2.874358177e-5f, 1.880921764e-4f,
                              -7.718797463e-4f, 1.823030723e-3f, -2.581503948e-4f, -1.912138603e-2f,
                              1.027733609e-1f, 6.366195674e-1f, 1.128379171f};
    v16 a = v_min(v_set(4), v_abs(x)); /* min gives its second operand for a NaN */
    v16 y = v_expm1(v_mul(v_sub(v_set(0), a), poly(a, c, 11)));
    return v_pick(v_gt(v_set(0), x), y, v_sub(v_set(0), y));
}

/* The normal distribution function from e = exp(-z^2 / 2), which its derivative needs anyway. */
static inline v16 normal_below(v16 z, v16 e)
{
    static const float c[] = {4.89425994e-2f, -2.02119902e-1f, 2.40641817e-1f, -1.70242917e-2f,
                              1.55961901e-1f, 1.33354992e-1f, 1.40270352e-1f, -2.73163337e-5f};
    v16 t = v_div(v_set(1), v_fma(v_set(0.35f), v_abs(z), v_set(1)));
    v16 above = v_mul(e, poly(t, c, 8));
    return v_pick(v_gt(v_set(0), z), above, v_sub(v_set(1), above));
}
#endif

static inline v16 v_neg(v16 a)
{
    return v_sub(v_set(0), a);
}

static inline v16 v_tanh(v16 x)
{
    v16 inside = v_min(v_set(20), v_max(v_set(-20), x));
    v16 e = v_expm1(v_add(inside, inside));
    return v_div(e, v_add(e, v_set(2)));
}

static inline v16 v_sigmoid(v16 x)
{
    return v_div(v_set(1), v_add(v_set(1), v_exp(v_neg(x))));
}

/* Mish's tanh(log(1 + e^x)) = (e^2 + 2e) / (e^2 + 2e + 2) with e = e^x; 1 from 20 on. */
static inline v16 mish_tanh(v16 x, v16 *e)
{
    *e = v_exp(v_min(v_set(20), x));
    v16 n = v_mul(*e, v_add(*e, v_set(2)));
    return v_div(n, v_add(n, v_set(2)));
}

/* Klambauer et al., "Self-normalizing neural networks" (2017): lambda, and lambda * alpha. */
#define SELU_SCALE R(1.0507009873554804934)
#define SELU_TAIL R(1.7580993408473768599)
#define ROOT_HALF R(0.70710678118654752440)

static inline v16 act_of(v16 x, uint32_t kind, v16 slope)
{
    v16 zero = v_set(0), e;
    switch (kind) {
    case ACT_RELU: return v_max(zero, x); /* a NaN stays one */
    case ACT_LEAKY_RELU: return v_pick(v_gt(zero, x), v_mul(slope, x), x);
    case ACT_GELU:
        e = v_erf(v_mul(x, v_set(ROOT_HALF)));
        return v_mul(v_mul(v_set(R(0.5)), x), v_add(v_set(1), e));
    case ACT_SILU: return v_mul(x, v_sigmoid(x));
    case ACT_ELU: return v_pick(v_gt(x, zero), x, v_mul(slope, v_expm1(v_min(zero, x))));
    case ACT_SELU:
        e = v_mul(v_set(SELU_TAIL), v_expm1(v_min(zero, x)));
        return v_pick(v_gt(x, zero), v_mul(v_set(SELU_SCALE), x), e);
    case ACT_TANH: return v_tanh(x);
    case ACT_SIGMOID: return v_sigmoid(x);
    case ACT_MISH: return v_mul(x, mish_tanh(x, &e));
    default: return x;
    }
}

/* slope: leaky_relu's, or elu's alpha, as in op_dense; `by` is y, but z for gelu, silu and mish. */
static inline v16 act_derivative(v16 by, uint32_t kind, v16 slope)
{
    v16 zero = v_set(0), one = v_set(1), e, t;
    switch (kind) {
    case ACT_RELU: return v_pick(v_gt(by, zero), one, zero);
    case ACT_LEAKY_RELU: return v_pick(v_gt(zero, by), slope, one);
    case ACT_GELU: /* Phi(z) + z phi(z); beyond 9 it is 0 or 1, and denormals would be slow */
        e = v_exp(v_mul(v_set(R(-0.5)), v_mul(by, by)));
        e = v_pick(v_gt(v_set(9), v_abs(by)), e, zero);
        t = normal_below(by, e);
        return v_fma(v_mul(by, v_set(R(0.39894228040143267794))), e, t);
    case ACT_SILU: /* s (1 + z (1 - s)) */
        t = v_sigmoid(by);
        return v_mul(t, v_fma(by, v_sub(one, t), one));
    case ACT_ELU: return v_pick(v_gt(by, zero), one, v_add(by, slope));
    case ACT_SELU:
        return v_pick(v_gt(by, zero), v_set(SELU_SCALE), v_add(by, v_set(SELU_TAIL)));
    case ACT_TANH: return v_sub(one, v_mul(by, by));
    case ACT_SIGMOID: return v_mul(by, v_sub(one, by));
    case ACT_MISH: /* t + z (1 - t^2) sigmoid(z) */
        t = mish_tanh(by, &e);
        return v_fma(v_mul(by, v_sub(one, v_mul(t, t))), v_sigmoid(by), t);
    default: return one;
    }
}

#endif
