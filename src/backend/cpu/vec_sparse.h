/* vec_sparse.h - products that pass over the zeros of a, over 16 lanes. Included by vec_table.h. A
 * chain of sums has the terms of vec_product.h without zeros, in another order: of two neighbouring
 * rows (0 and 1, 2 and 3, ...) first the terms that both have, then the row's own, each in the
 * order of k; a last row without a neighbour has its own terms only. The order follows from a
 * alone, so every vector code leaves the same bits. */
#ifndef DNN_BACKEND_VEC_SPARSE_H
#define DNN_BACKEND_VEC_SPARSE_H

INLINE void nonzero_run(uint64_t *bits, const real *a, uint32_t rows, const uint32_t n,
                        uint32_t lda)
{
    for (uint32_t r = 0; r < rows; r++, a += lda) {
        uint64_t zeros = n < 64 ? ~(uint64_t)0 << n : 0;
        for (uint32_t i = 0; i < n; i += LANES)
            zeros |= (uint64_t)m_bits(v_eq(part_of(a + i, run_size(i, n)), v_set(0))) << i;
        bits[r] = ~zeros;
    }
}

static void nonzero(uint64_t *bits, const real *a, uint32_t rows, uint32_t n, uint32_t lda)
{
    if (n == 64)
        nonzero_run(bits, a, rows, 64, lda);
    else
        nonzero_run(bits, a, rows, n, lda);
}

/* The start of a row's V vectors of sums; the last one has `tail` lanes. */
INLINE void sparse_begin(v16 *sum, const struct sparse *p, const real *c, const real *bias,
                         const int V, size_t tail)
{
    for (int v = 0; v < V; v++) {
        size_t lanes = v == V - 1 ? tail : LANES;
        sum[v] = p->add ? part_of(c + v * LANES, lanes)
                 : bias ? part_of(bias + v * LANES, lanes)
                        : v_set(0);
    }
}

INLINE void sparse_end(real *c, const v16 *sum, uint32_t act, const int V, size_t tail)
{
    for (int v = 0; v < V; v++) {
        v16 y = act == ACT_RELU ? v_max(v_set(0), sum[v]) : sum[v];
        if (v == V - 1 && tail < LANES)
            v_store_n(c + v * LANES, y, tail);
        else
            v_store(c + v * LANES, y);
    }
}

/* The terms that one row has. */
INLINE void sparse_terms(v16 *sum, const struct sparse *p, uint64_t terms, const real *a,
                         const real *b, const int V, size_t tail)
{
    for (; terms; terms &= terms - 1) {
        size_t k = (size_t)__builtin_ctzll(terms);
        v16 x = v_set(a[k * p->a_next]);
        const real *w = b + k * p->ldb;
        for (int v = 0; v < V; v++)
            sum[v] = v_fma(x, part_of(w + v * LANES, v == V - 1 ? tail : LANES), sum[v]);
    }
}

/* Terms that two neighbouring rows share: b is loaded once for both. */
INLINE void sparse_shared(v16 *sum, v16 *other, const struct sparse *p, uint64_t terms,
                          const real *a, const real *b, const int V, size_t tail)
{
    for (; terms; terms &= terms - 1) {
        size_t k = (size_t)__builtin_ctzll(terms);
        v16 x = v_set(a[k * p->a_next]), y = v_set(a[k * p->a_next + p->a_row]);
        const real *w = b + k * p->ldb;
        for (int v = 0; v < V; v++) {
            v16 both = v_held(part_of(w + v * LANES, v == V - 1 ? tail : LANES));
            sum[v] = v_fma(x, both, sum[v]);
            other[v] = v_fma(y, both, other[v]);
        }
    }
}

/* V vectors of c a row. Two neighbouring rows at a time: first their shared terms, then each row's
 * own, as loads of b take most time. */
INLINE void sparse_columns(const struct sparse *p, uint32_t column, const int V, size_t tail)
{
    const real *b = p->b + column, *bias = p->bias ? p->bias + column : NULL, *a = p->a;
    real *c = p->c + column;
    uint32_t r = 0;
    for (; r + 2 <= p->rows; r += 2, c += 2 * (size_t)p->ldc, a += 2 * (size_t)p->a_row) {
        uint64_t shared = p->bits[r] & p->bits[r + 1];
        v16 sum[SPARSE_VECS], other[SPARSE_VECS];
        sparse_begin(sum, p, c, bias, V, tail);
        sparse_begin(other, p, c + p->ldc, bias, V, tail);
        sparse_shared(sum, other, p, shared, a, b, V, tail);
        sparse_terms(sum, p, p->bits[r] & ~shared, a, b, V, tail);
        sparse_end(c, sum, p->act, V, tail);
        sparse_terms(other, p, p->bits[r + 1] & ~shared, a + p->a_row, b, V, tail);
        sparse_end(c + p->ldc, other, p->act, V, tail);
    }
    if (r < p->rows) {
        v16 sum[SPARSE_VECS];
        sparse_begin(sum, p, c, bias, V, tail);
        sparse_terms(sum, p, p->bits[r], a, b, V, tail);
        sparse_end(c, sum, p->act, V, tail);
    }
}

static void sparse(const struct sparse *p)
{
    uint32_t column = 0;
    for (; column + SPARSE_VECS * LANES <= p->width; column += SPARSE_VECS * LANES)
        sparse_columns(p, column, SPARSE_VECS, LANES);
    for (; column + SPARSE_VECS / 2 * LANES <= p->width; column += SPARSE_VECS / 2 * LANES)
        sparse_columns(p, column, SPARSE_VECS / 2, LANES);
    for (; column < p->width; column += LANES)
        sparse_columns(p, column, 1, run_size(column, p->width));
}

/* to[j][i] = from[i][j] */
static void turn(real *to, const real *from, uint32_t rows, uint32_t columns, uint32_t ld_from,
                 uint32_t ld_to)
{
    uint32_t whole_rows = rows / LANES * LANES, whole_columns = columns / LANES * LANES;
    for (uint32_t i = 0; i < whole_rows; i += LANES)
        for (uint32_t j = 0; j < whole_columns; j += LANES)
            transpose_block(to + (size_t)j * ld_to + i, from + (size_t)i * ld_from + j, ld_from,
                            ld_to);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = i < whole_rows ? whole_columns : 0; j < columns; j++)
            to[(size_t)j * ld_to + i] = from[(size_t)i * ld_from + j];
}

/* --- one-hot inputs of a dense layer as ids: rows of w are added --- */

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
