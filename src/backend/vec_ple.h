/* vec_ple.h - piecewise-linear numbers of a dense layer, over 16 lanes. Included by the vec_*.c. */
#ifndef DNN_BACKEND_VEC_PLE_H
#define DNN_BACKEND_VEC_PLE_H

enum { PLE_VECS = PANEL / LANES };

/* Lanes of vector v that a panel of `width` columns has. */
INLINE size_t ple_lanes(uint32_t width, int v)
{
    return (uint32_t)v * LANES < width ? run_size((size_t)v * LANES, width) : 0;
}

/* A row of the room: the running sums before row j of w, then row j of w, 0 behind the width. */
INLINE void ple_sums(const struct ple_panel *p)
{
    v16 sum[PLE_VECS];
    for (int v = 0; v < PLE_VECS; v++)
        sum[v] = v_set(0);
    for (uint32_t j = 0; j < p->count; j++) {
        const real *w = p->w + (size_t)j * p->ldw;
        real *to = p->room + (size_t)j * 2 * PANEL;
        for (int v = 0; v < PLE_VECS; v++) {
            size_t lanes = ple_lanes(p->width, v);
            v16 row = lanes ? part_of(w + v * LANES, lanes) : v_set(0);
            v_store(to + v * LANES, sum[v]);
            v_store(to + PANEL + v * LANES, row);
            sum[v] = v_add(sum[v], row);
        }
    }
}

/* Another core wrote row j of the next number's weight, and the hardware does not foresee where it
 * lies: it comes while the rows pass. */
INLINE void ple_ahead(const struct ple_panel *p, uint32_t j)
{
    for (int v = 0; j < p->next_count && v < PLE_VECS; v++)
        __builtin_prefetch(p->next + (size_t)j * p->ldw + v * LANES);
}

INLINE void ple_rows(const struct ple_panel *p, const uint32_t width)
{
    const int32_t *bins = p->bins;
    const real *shares = p->shares, *room = p->room;
    real *y = p->y;
    for (uint32_t r = 0, rows = p->rows; r < rows; r++, y += PANEL) {
        const real *from = room + (size_t)bins[r] * 2 * PANEL;
        v16 share = v_set(shares[r]);
        for (int v = 0; v < PLE_VECS && ple_lanes(width, v); v++) {
            v16 cost = v_fma(share, v_load(from + PANEL + v * LANES), v_load(from + v * LANES));
            v_store(y + v * LANES, v_add(v_load(y + v * LANES), cost));
        }
        ple_ahead(p, r);
    }
}

static void ple(const struct ple_panel *p)
{
    ple_sums(p);
    if (p->width == PANEL)
        ple_rows(p, PANEL);
    else
        ple_rows(p, p->width);
}

/* A row of the room: the sum of y over the rows in bin j, then that of share y. */
INLINE void ple_bins(const struct ple_panel *p, const uint32_t width)
{
    for (uint32_t j = 0; j < p->count; j++)
        for (int v = 0; v < 2 * PLE_VECS; v++)
            v_store(p->room + (size_t)j * 2 * PANEL + v * LANES, v_set(0));
    const int32_t *bins = p->bins;
    const real *shares = p->shares, *y = p->y;
    real *room = p->room;
    for (uint32_t r = 0, rows = p->rows; r < rows; r++, y += PANEL) {
        real *to = room + (size_t)bins[r] * 2 * PANEL;
        v16 share = v_set(shares[r]);
        for (int v = 0; v < PLE_VECS && ple_lanes(width, v); v++) {
            v16 d = v_load(y + v * LANES);
            real *at = to + v * LANES;
            v_store(at, v_add(v_load(at), d));
            v_store(at + PANEL, v_fma(share, d, v_load(at + PANEL)));
        }
    }
}

static void ple_back(const struct ple_panel *p)
{
    v16 above[PLE_VECS];
    if (p->width == PANEL)
        ple_bins(p, PANEL);
    else
        ple_bins(p, p->width);
    for (int v = 0; v < PLE_VECS; v++)
        above[v] = v_set(0);
    for (uint32_t j = p->count; j-- > 0;) {
        const real *from = p->room + (size_t)j * 2 * PANEL;
        real *w = p->w + (size_t)j * p->ldw;
        for (int v = 0; v < PLE_VECS; v++) {
            size_t lanes = ple_lanes(p->width, v);
            if (!lanes)
                continue;
            v16 sum = v_add(v_load(from + PANEL + v * LANES), above[v]);
            real *at = w + v * LANES;
            store_run(at, p->add ? v_add(part_of(at, lanes), sum) : sum, lanes);
            above[v] = v_add(above[v], v_load(from + v * LANES));
        }
    }
}

#endif
