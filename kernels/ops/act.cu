/* act.cu - elementwise kernels: activations and sums of two activations. */
#include "epilogue.cuh"
#include "sheet.cuh"

template <int V> KERNEL_BOUNDED(SHEET_LANES, act_forward)(struct sheet s, struct op_act a)
{
    uint32_t col = sheet_unit(s) * V;
    if (col >= a.width)
        return;
    for (EACH_ROW_OF(s, row)) {
        float v[V];
        run_load(v, a.x, (size_t)row * a.ldx + col);
        UNROLL
        for (int i = 0; i < V; i++)
            v[i] = act_value(a.act, v[i], (float)a.slope);
        run_store(a.y, (size_t)row * a.ldy + col, v);
    }
}

/* x is what went in. */
template <int V> KERNEL_BOUNDED(SHEET_LANES, act_backward)(struct sheet s, struct op_act_back a)
{
    uint32_t col = sheet_unit(s) * V;
    bool by_z = act_needs_z(a.act);
    if (col >= a.width)
        return;
    for (EACH_ROW_OF(s, row)) {
        float x[V], dy[V], dx[V] = {};
        size_t to = (size_t)row * a.lddx + col;
        run_load(x, a.x, (size_t)row * a.ldx + col);
        run_load(dy, a.dy, (size_t)row * a.lddy + col);
        if (a.add_dx)
            run_load(dx, a.dx, to);
        UNROLL
        for (int i = 0; i < V; i++) {
            float by = by_z ? x[i] : act_value(a.act, x[i], (float)a.slope);
            dx[i] += dy[i] * act_derivative(a.act, by, (float)a.slope);
        }
        run_store(a.dx, to, dx);
    }
}

template <int V> KERNEL_BOUNDED(SHEET_LANES, add_both)(struct sheet s, struct op_add a)
{
    uint32_t col = sheet_unit(s) * V;
    if (col >= a.width)
        return;
    for (EACH_ROW_OF(s, row)) {
        float v[V], w[V];
        run_load(v, a.a, (size_t)row * a.lda + col);
        if (a.b.at) {
            run_load(w, a.b, (size_t)row * a.ldb + col);
            UNROLL
            for (int i = 0; i < V; i++)
                v[i] += w[i];
        }
        run_store(a.y, (size_t)row * a.ldy + col, v);
    }
}

void cuda_act(struct machine *m, const struct op_act *a)
{
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy);
    if (a->rows && a->width)
        LAUNCH_SHEET(act_forward, wide, a->rows, a->width, m, *a);
}

void cuda_act_back(struct machine *m, const struct op_act_back *a)
{
    bool wide = is_wide(a->x, a->ldx) && is_wide(a->dy, a->lddy) && is_wide(a->dx, a->lddx);
    if (a->rows && a->width)
        LAUNCH_SHEET(act_backward, wide, a->rows, a->width, m, *a);
}

void cuda_add(struct machine *m, const struct op_add *a)
{
    bool wide = is_wide(a->a, a->lda) && is_wide(a->y, a->ldy) &&
                (!a->b.at || is_wide(a->b, a->ldb));
    if (a->rows && a->width)
        LAUNCH_SHEET(add_both, wide, a->rows, a->width, m, *a);
}
