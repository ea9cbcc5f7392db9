/* vec_series.h - sequences, over 16 lanes: one step of a recurrent layer for one row, the softmax
 * of attention, random convolution features. Formulas: ops_series.h. Included by vec_table.h. */
#ifndef DNN_BACKEND_VEC_SERIES_H
#define DNN_BACKEND_VEC_SERIES_H

/* s (1 - s), the derivative of s = sigmoid */
INLINE v16 sigmoid_slope(v16 s)
{
    return v_mul(s, v_sub(v_set(1), s));
}
/* 1 - t^2, the derivative of t = tanh */
INLINE v16 tanh_slope(v16 t)
{
    return v_sub(v_set(1), v_mul(t, t));
}

static void lstm(const struct cell *c)
{
    const size_t n = c->units;
    real *gates = c->gates;
    RUN(j, n, size) {
        v16 i = v_sigmoid(GET(gates + j, size)), f = v_sigmoid(GET(gates + n + j, size));
        v16 g = v_tanh(GET(gates + 2 * n + j, size)), o = v_sigmoid(GET(gates + 3 * n + j, size));
        v16 before = c->c_before ? GET(c->c_before + j, size) : v_set(0);
        v16 now = v_fma(f, before, v_mul(i, g));
        store_run(gates + j, i, size);
        store_run(gates + n + j, f, size);
        store_run(gates + 2 * n + j, g, size);
        store_run(gates + 3 * n + j, o, size);
        store_run(c->c + j, now, size);
        store_run(c->h + j, v_mul(o, v_tanh(now)), size);
    }
}

static void lstm_back(const struct cell_back *c)
{
    const size_t n = c->units;
    real *gates = c->gates;
    RUN(j, n, size) {
        v16 i = GET(gates + j, size), f = GET(gates + n + j, size);
        v16 g = GET(gates + 2 * n + j, size), o = GET(gates + 3 * n + j, size);
        v16 before = c->c_before ? GET(c->c_before + j, size) : v_set(0);
        v16 t = v_tanh(GET(c->c + j, size)), dh = v_add(GET(c->dy + j, size), GET(c->dh + j, size));
        v16 dc = v_fma(v_mul(dh, o), tanh_slope(t), GET(c->dc + j, size));
        store_run(gates + j, v_mul(v_mul(dc, g), sigmoid_slope(i)), size);
        store_run(gates + n + j, v_mul(v_mul(dc, before), sigmoid_slope(f)), size);
        store_run(gates + 2 * n + j, v_mul(v_mul(dc, i), tanh_slope(g)), size);
        store_run(gates + 3 * n + j, v_mul(v_mul(dh, t), sigmoid_slope(o)), size);
        store_run(c->dc + j, v_mul(dc, f), size);
        store_run(c->dh + j, v_set(0), size);
    }
}

static void gru(const struct cell *c)
{
    const size_t n = c->units;
    real *gates = c->gates;
    RUN(j, n, size) {
        v16 r = v_sigmoid(v_add(GET(gates + n + j, size), GET(c->b + j, size)));
        v16 z = v_sigmoid(v_add(GET(gates + 2 * n + j, size), GET(c->b + n + j, size)));
        v16 q = v_add(GET(gates + 3 * n + j, size), GET(c->b + 2 * n + j, size));
        v16 next = v_tanh(v_fma(r, q, GET(gates + j, size)));
        store_run(gates + j, next, size);
        store_run(gates + n + j, r, size);
        store_run(gates + 2 * n + j, z, size);
        store_run(gates + 3 * n + j, q, size);
        store_run(c->h + j, v_fma(z, v_sub(GET(c->before + j, size), next), next), size);
    }
}

static void gru_back(const struct cell_back *c)
{
    const size_t n = c->units;
    real *gates = c->gates;
    RUN(j, n, size) {
        v16 next = GET(gates + j, size), r = GET(gates + n + j, size);
        v16 z = GET(gates + 2 * n + j, size), q = GET(gates + 3 * n + j, size);
        v16 dh = v_add(GET(c->dy + j, size), GET(c->dh + j, size));
        v16 away = v_sub(GET(c->before + j, size), next);
        v16 dn = v_mul(v_mul(dh, v_sub(v_set(1), z)), tanh_slope(next));
        store_run(gates + j, dn, size);
        store_run(gates + n + j, v_mul(v_mul(dn, q), sigmoid_slope(r)), size);
        store_run(gates + 2 * n + j, v_mul(v_mul(dh, away), sigmoid_slope(z)), size);
        store_run(gates + 3 * n + j, v_mul(dn, r), size);
        store_run(c->dh + j, v_mul(dh, z), size);
    }
}

/* --- attention --- */

static void softmax_row(real *s, size_t n, real scale)
{
    v16 high = v_set(s[0]), sum = v_set(0), factor = v_set(scale);
    for (size_t j = 0; j + LANES <= n; j += LANES)
        high = v_max(v_load(s + j), high);
    real most = v_most(high);
    for (size_t j = n / LANES * LANES; j < n; j++)
        most = s[j] > most ? s[j] : most;
    high = v_set(most);
    RUN(j, n, size) {
        v16 y = v_exp(v_mul(v_sub(GET(s + j, size), high), factor));
        store_run(s + j, y, size);
        sum = v_add(sum, size == LANES ? y : GET(s + j, size));
    }
    factor = v_set(1 / v_sum(sum));
    RUN(j, n, size)
        store_run(s + j, v_mul(GET(s + j, size), factor), size);
}

static void softmax_row_back(real *d, const real *p, size_t n, real scale)
{
    v16 sum = v_set(0), factor = v_set(scale);
    RUN(j, n, size)
        sum = v_fma(GET(d + j, size), GET(p + j, size), sum);
    sum = v_set(v_sum(sum));
    RUN(j, n, size)
        store_run(d + j,
                  v_mul(v_mul(v_sub(GET(d + j, size), sum), GET(p + j, size)), factor), size);
}

/* --- random convolution features --- */

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
