/* vec_recur.h - one step of a recurrent layer for one row, over 16 lanes. Formulas: ops_series.h.
 * Included by the vec_*.c. */
#ifndef DNN_BACKEND_VEC_RECUR_H
#define DNN_BACKEND_VEC_RECUR_H

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

#endif
