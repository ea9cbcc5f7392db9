/* vec_hot.h - one-hot inputs of a dense layer as ids: adds rows of w, over 16 lanes. Included by
 * the vec_*.c. */
#ifndef DNN_BACKEND_VEC_HOT_H
#define DNN_BACKEND_VEC_HOT_H

/* Up to HOT_VECS vectors of a row stay in registers over all its columns. */
enum { HOT_VECS = 8 };

/* The part of w that column c of the ids says, or NULL. */
static inline real *onehot_row(const struct onehot_rows *h, const int32_t *ids, uint32_t c)
{
    const struct onehot_column *column = &h->onehot->columns[c];
    uint32_t id = (uint32_t)ids[column->id];
    return id < column->count ? h->w + (size_t)(column->at + id) * h->out : NULL;
}

INLINE void onehot_block(const struct onehot_rows *h, const int32_t *ids, real *z, uint32_t j,
                         const int V, size_t tail)
{
    v16 sum[HOT_VECS];
    for (int v = 0; v < V; v++)
        sum[v] = h->bias ? part_of(h->bias + j + v * LANES, v == V - 1 ? tail : LANES) : v_set(0);
    for (uint32_t c = 0; c < h->onehot->column_count; c++) {
        const real *w = onehot_row(h, ids, c);
        for (int v = 0; v < V && w; v++)
            sum[v] = v_add(sum[v], part_of(w + j + v * LANES, v == V - 1 ? tail : LANES));
    }
    for (int v = 0; v < V; v++)
        store_run(z + j + v * LANES, sum[v], v == V - 1 ? tail : LANES);
}

INLINE void onehot_back_block(const struct onehot_rows *h, const int32_t *ids, const real *z,
                              uint32_t j, const int V, size_t tail)
{
    v16 d[HOT_VECS];
    for (int v = 0; v < V; v++)
        d[v] = part_of(z + j + v * LANES, v == V - 1 ? tail : LANES);
    for (uint32_t c = 0; c < h->onehot->column_count; c++) {
        real *w = onehot_row(h, ids, c);
        for (int v = 0; v < V && w; v++) {
            real *to = w + j + v * LANES;
            size_t size = v == V - 1 ? tail : LANES;
            store_run(to, v_add(part_of(to, size), d[v]), size);
        }
    }
}

/* Both go through a row of z in blocks of vectors. */
#define HOT_ROWS(name, block)                                                                      \
    static void name(const struct onehot_rows *h)                                                  \
    {                                                                                              \
        for (uint32_t r = 0; r < h->rows; r++) {                                                   \
            const int32_t *ids = h->onehot->ids + (size_t)(h->row0 + r) * h->onehot->ids_ld;       \
            real *z = h->z + (size_t)r * h->ldz;                                                   \
            uint32_t j = 0;                                                                        \
            for (; j + HOT_VECS * LANES <= h->out; j += HOT_VECS * LANES)                          \
                block(h, ids, z, j, HOT_VECS, LANES);                                              \
            for (; j < h->out; j += LANES)                                                         \
                block(h, ids, z, j, 1, run_size(j, h->out));                                       \
        }                                                                                          \
    }
HOT_ROWS(onehot, onehot_block)
HOT_ROWS(onehot_back, onehot_back_block)

#endif
