/* vec_rocket.h - random convolution features, over 16 lanes. Included by the vec_*.c. */
#ifndef DNN_BACKEND_VEC_ROCKET_H
#define DNN_BACKEND_VEC_ROCKET_H

static void rocket_taps(real *y, const real *s, size_t n, size_t dilation, const uint8_t *three)
{
    RUN(t, n, size) {
        v16 sum = GET(s + t, size), a = GET(s + t + three[0] * dilation, size);
        for (size_t j = 1; j < ROCKET_TAPS; j++)
            sum = v_add(sum, GET(s + t + j * dilation, size));
        a = v_add(a, GET(s + t + three[1] * dilation, size));
        a = v_add(a, GET(s + t + three[2] * dilation, size));
        store_run(y + t, v_sub(v_add(v_add(a, a), a), sum), size);
    }
}

static uint32_t rocket_above(const real *y, size_t n, real bias)
{
    v16 least = v_set(bias);
    uint32_t count = 0;
    for (size_t t = 0; t + LANES <= n; t += LANES)
        count += (uint32_t)__builtin_popcount(m_bits(v_gt(v_load(y + t), least)));
    for (size_t t = n / LANES * LANES; t < n; t++)
        count += y[t] > bias;
    return count;
}

#endif
