/* vec_attend.h - the softmax of attention, over 16 lanes. Included by the vec_*.c. */
#ifndef DNN_BACKEND_VEC_ATTEND_H
#define DNN_BACKEND_VEC_ATTEND_H

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

#endif
