/* vec_sparse.h - products that pass over the zeros of a, over 16 lanes. Included by the vec_*.c.
 * A chain of sums is the one of vec_product.h without the terms that are 0, and so has its bits. */
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

/* V vectors of c a row, the last one with `tail` lanes. */
INLINE void sparse_columns(const struct sparse *p, uint32_t column, const int V, size_t tail)
{
    const real *b = p->b + column, *bias = p->bias ? p->bias + column : NULL;
    real *c = p->c + column;
    for (uint32_t r = 0; r < p->rows; r++, c += p->ldc) {
        v16 sum[SPARSE_VECS];
        for (int v = 0; v < V; v++) {
            size_t lanes = v == V - 1 ? tail : LANES;
            sum[v] = p->add ? part_of(c + v * LANES, lanes)
                     : bias ? part_of(bias + v * LANES, lanes)
                            : v_set(0);
        }
        const real *a = p->a + (size_t)r * p->a_row;
        for (uint64_t left = p->bits[r]; left; left &= left - 1) {
            size_t k = (size_t)__builtin_ctzll(left);
            v16 x = v_set(a[k * p->a_next]);
            const real *w = b + k * p->ldb;
            for (int v = 0; v < V; v++)
                sum[v] = v_fma(x, part_of(w + v * LANES, v == V - 1 ? tail : LANES), sum[v]);
        }
        for (int v = 0; v < V; v++) {
            v16 y = p->act == ACT_RELU ? v_max(v_set(0), sum[v]) : sum[v];
            if (v == V - 1 && tail < LANES)
                v_store_n(c + v * LANES, y, tail);
            else
                v_store(c + v * LANES, y);
        }
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

#endif
