/* vec_blend.h - a column's own weight on its activation, or on the column itself, over 16 lanes.
 * Included by vec_table.h.
 *
 * y = x + w (f(x) - x), so dx = dy (1 + w (f'(x) - 1)) and dw = sum dy (f(x) - x). Without an
 * activation y = w x, dx = dy w and dw = sum dy x. */
#ifndef DNN_BACKEND_VEC_BLEND_H
#define DNN_BACKEND_VEC_BLEND_H

INLINE void blend_run(real *y, const real *x, const real *w, size_t n, uint32_t kind, real slope)
{
    RUN(i, n, size) {
        v16 v = GET(x + i, size), factor = GET(w + i, size);
        if (kind == ACT_NONE)
            v = v_mul(v, factor);
        else
            v = v_fma(v_sub(act_of(v, kind, v_set(slope)), v), factor, v);
        store_run(y + i, v, size);
    }
}

static void blend(real *y, const real *x, const real *w, size_t n, uint32_t kind, real slope)
{
    switch (kind) {
#define ACT(NAME, ...) case ACT_##NAME: blend_run(y, x, w, n, ACT_##NAME, slope); break;
#include "backend/acts.def"
    default: blend_run(y, x, w, n, ACT_NONE, slope);
    }
}

INLINE void blend_back_run(real *dx, real *dw, const real *dy, const real *x, const real *w,
                           size_t n, uint32_t kind, real slope, bool add)
{
    v16 s = v_set(slope), one = v_set(1);
    RUN(i, n, size) {
        v16 d = GET(dy + i, size), v = GET(x + i, size), factor = GET(w + i, size);
        v16 away = v, part = factor;
        if (kind != ACT_NONE) {
            v16 f = act_of(v, kind, s);
            away = v_sub(f, v);
            part = v_fma(v_sub(act_derivative(ACT_NEEDS_Z(kind) ? v : f, kind, s), one), factor,
                         one);
        }
        store_run(dw + i, v_fma(d, away, GET(dw + i, size)), size);
        if (!dx)
            continue;
        d = v_mul(d, part);
        store_run(dx + i, add ? v_add(GET(dx + i, size), d) : d, size);
    }
}

static void blend_back(real *dx, real *dw, const real *dy, const real *x, const real *w, size_t n,
                       uint32_t kind, real slope, bool add)
{
    switch (kind) {
#define ACT(NAME, ...) \
    case ACT_##NAME: blend_back_run(dx, dw, dy, x, w, n, ACT_##NAME, slope, add); break;
#include "backend/acts.def"
    default: blend_back_run(dx, dw, dy, x, w, n, ACT_NONE, slope, add);
    }
}

#endif
