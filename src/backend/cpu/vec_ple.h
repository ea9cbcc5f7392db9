/* vec_ple.h - piecewise-linear numbers of a dense layer, over 16 lanes. Included by vec_table.h. */
#ifndef DNN_BACKEND_VEC_PLE_H
#define DNN_BACKEND_VEC_PLE_H

enum { PLE_VECS = PANEL / LANES };

/* Lanes of vector v that a panel of `width` columns has. */
INLINE size_t ple_lanes(uint32_t width, int v)
{
    return (uint32_t)v * LANES < width ? run_size((size_t)v * LANES, width) : 0;
}

INLINE real *ple_row(real *room, int32_t bin)
{
    return room + (size_t)bin * 2 * PANEL;
}

/* A row of the room: the running sums before row j of w, then row j of w, 0 past the width. */
INLINE void ple_sums(const struct ple_panel *p, const struct ple_number *n)
{
    v16 sum[PLE_VECS];
    for (int v = 0; v < PLE_VECS; v++)
        sum[v] = v_set(0);
    for (uint32_t j = 0; j < n->count; j++) {
        const real *w = n->w + (size_t)j * p->ldw;
        real *to = ple_row(n->room, (int32_t)j);
        for (int v = 0; v < PLE_VECS; v++) {
            size_t lanes = ple_lanes(p->width, v);
            v16 row = lanes ? part_of(w + v * LANES, lanes) : v_set(0);
            v_store(to + v * LANES, sum[v]);
            v_store(to + PANEL + v * LANES, row);
            sum[v] = v_add(sum[v], row);
        }
    }
}

/* Another core wrote row j of the next numbers' weight, and the hardware cannot prefetch it: it is
 * loaded while the rows pass. */
INLINE void ple_ahead(const struct ple_panel *p, uint32_t j)
{
    for (int v = 0; j < p->next_count && v < PLE_VECS; v++)
        __builtin_prefetch(p->next + (size_t)j * p->ldw + v * LANES);
}

INLINE void ple_rows(const struct ple_panel *p, const uint32_t width, const bool pair)
{
    const struct ple_number a = p->of[0], b = p->of[pair];
    real *y = p->y;
    for (uint32_t r = 0, rows = p->rows; r < rows; r++, y += PANEL) {
        const real *from = ple_row(a.room, a.bins[r]), *then = ple_row(b.room, b.bins[r]);
        v16 share = v_set(a.shares[r]), second = v_set(b.shares[r]);
        for (int v = 0; v < PLE_VECS && ple_lanes(width, v); v++) {
            size_t at = (size_t)v * LANES;
            v16 sum = v_add(v_load(y + at),
                            v_fma(share, v_load(from + PANEL + at), v_load(from + at)));
            if (pair)
                sum = v_add(sum, v_fma(second, v_load(then + PANEL + at), v_load(then + at)));
            v_store(y + at, sum);
        }
        ple_ahead(p, r);
    }
}

static void ple(const struct ple_panel *p)
{
    for (uint32_t i = 0; i < p->numbers; i++)
        ple_sums(p, &p->of[i]);
    if (p->numbers > 1 && p->width == PANEL)
        ple_rows(p, PANEL, true);
    else if (p->numbers > 1)
        ple_rows(p, p->width, true);
    else
        ple_rows(p, p->width, false);
}

/* The gradient of a bin's weight: its share of each row in the bin, plus all rows in later bins. */
INLINE void ple_bins(const struct ple_back *b, const uint32_t width)
{
    v16 above[PLE_VECS];
    for (int v = 0; v < PLE_VECS; v++)
        above[v] = v_set(0);
    for (uint32_t j = b->count; j-- > 0;) {
        v16 sum[PLE_VECS], part[PLE_VECS]; /* of y, and of share y */
        for (int v = 0; v < PLE_VECS; v++)
            sum[v] = part[v] = v_set(0);
        for (uint32_t k = b->first[j], end = b->first[j + 1]; k < end; k++) {
            const real *y = b->y + (size_t)b->row[k] * PANEL;
            v16 share = v_set(b->share[k]);
            for (int v = 0; v < PLE_VECS; v++) {
                v16 d = v_load(y + v * LANES);
                sum[v] = v_add(sum[v], d);
                part[v] = v_fma(share, d, part[v]);
            }
        }
        for (int v = 0; v < PLE_VECS && ple_lanes(width, v); v++) {
            real *w = b->w + (size_t)j * b->ldw + v * LANES;
            size_t lanes = ple_lanes(width, v);
            v16 total = v_add(part[v], above[v]);
            store_run(w, b->add ? v_add(part_of(w, lanes), total) : total, lanes);
            above[v] = v_add(above[v], sum[v]);
        }
    }
}

static void ple_back(const struct ple_back *b)
{
    if (b->width == PANEL)
        ple_bins(b, PANEL);
    else
        ple_bins(b, b->width);
}

#endif
