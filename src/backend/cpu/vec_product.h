/* vec_product.h - matrix products over 16 lanes. Included by vec_table.h. Each output is one chain
 * of fused multiply-adds in the order of k (for `outer`, of the rows), so blocking changes speed
 * and no bit. */
#ifndef DNN_BACKEND_VEC_PRODUCT_H
#define DNN_BACKEND_VEC_PRODUCT_H

/* How many of n things a vector that begins at i takes. */
static inline size_t run_size(size_t i, size_t n)
{
    return i >= n ? 0 : n - i < LANES ? n - i : LANES;
}

INLINE v16 part_of(const real *p, size_t lanes)
{
    return lanes == LANES ? v_load(p) : v_load_n(p, lanes);
}

/* R rows by V vectors; only the last vector may be short (`tail` lanes). packed: it is written,
 * [k][V][16], and lines of every row of the next panel are prefetched; NULL: it is not. */
INLINE void product_block(const struct product *p, uint32_t row, uint32_t column, const int R_,
                          const int V, size_t tail, real *packed)
{
    v16 sum[8][2];
    const real *a = p->a + (size_t)row * p->lda, *b = p->b + column;
    real *c = p->c + (size_t)row * p->ldc + column;
    const real *next = p->next ? p->next + column : b;
    const bool full = tail == LANES;
    for (int r = 0; r < R_; r++)
        for (int v = 0; v < V; v++)
            __builtin_prefetch(c + (size_t)r * p->ldc + v * LANES, 1);
    /* three loops without branches: the sums stay in registers */
    if (p->add) {
        for (int r = 0; r < R_; r++)
            for (int v = 0; v < V; v++)
                sum[r][v] = part_of(c + (size_t)r * p->ldc + v * LANES, v == V - 1 ? tail : LANES);
    } else if (p->bias) {
        for (int r = 0; r < R_; r++)
            for (int v = 0; v < V; v++)
                sum[r][v] = part_of(p->bias + column + v * LANES, v == V - 1 ? tail : LANES);
    } else {
        for (int r = 0; r < R_; r++)
            for (int v = 0; v < V; v++)
                sum[r][v] = v_set(0);
    }
    for (uint32_t k = 0; k < p->k; k++) {
        v16 w[2];
        for (int v = 0; v < V; v++)
            w[v] = part_of(b + v * LANES, v == V - 1 ? tail : LANES);
        for (int r = 0; r < R_; r++) {
            v16 x = v_set(a[(size_t)r * p->lda + k]);
            for (int v = 0; v < V; v++)
                sum[r][v] = v_fma(x, w[v], sum[r][v]);
        }
        for (int v = 0; v < V && packed; v++) {
            v_store(packed + (k * (uint32_t)V + (uint32_t)v) * LANES, w[v]);
            __builtin_prefetch(next + v * LANES, 0, 2);
        }
        next += p->ldb;
        b += p->ldb;
    }
    for (int r = 0; r < R_; r++)
        for (int v = 0; v < V; v++) {
            v16 y = p->act == ACT_RELU ? v_max(v_set(0), sum[r][v]) : sum[r][v];
            real *to = c + (size_t)r * p->ldc + v * LANES;
            if (v == V - 1 && !full)
                v_store_n(to, y, tail);
            else
                v_store(to, y);
        }
}

/* The first block of rows leaves its columns of b packed for the others: rows of b lie far apart,
 * so few of them fit the first-level cache together. */
INLINE void product_columns(const struct product *p, uint32_t column, const int V, size_t tail)
{
    _Alignas(64) real packed[PRODUCT_DEPTH * BLOCK_VECS * LANES];
    struct product q = *p;
    uint32_t row = 0;
    if (tail == LANES && p->rows >= 3 * BLOCK_ROWS && p->k <= PRODUCT_DEPTH) {
        product_block(p, row, column, BLOCK_ROWS, V, tail, packed);
        row += BLOCK_ROWS;
        q.b = packed - column;
        q.ldb = (uint32_t)V * LANES;
    }
    for (; row + BLOCK_ROWS <= q.rows; row += BLOCK_ROWS)
        product_block(&q, row, column, BLOCK_ROWS, V, tail, NULL);
    /* the rest in smaller blocks: a single row waits for each of its sums */
    for (; row + 4 <= q.rows; row += 4)
        product_block(&q, row, column, 4, V, tail, NULL);
    for (; row + 2 <= q.rows; row += 2)
        product_block(&q, row, column, 2, V, tail, NULL);
    if (row < q.rows)
        product_block(&q, row, column, 1, V, tail, NULL);
}

static void product(const struct product *p)
{
    uint32_t column = 0;
    for (; column + BLOCK_VECS * LANES <= p->width; column += BLOCK_VECS * LANES)
        product_columns(p, column, BLOCK_VECS, LANES);
    for (; column < p->width; column += LANES) {
        size_t tail = run_size(column, p->width);
        if (tail == LANES)
            product_columns(p, column, 1, LANES);
        else
            product_columns(p, column, 1, tail);
    }
}

/* Lanes split k: lane i sums k = i mod 16, then lanes are added in halves. R rows by W columns. */
INLINE void narrow_block(const struct narrow *p, uint32_t row, const int R_, const int W)
{
    v16 sum[8][NARROW];
    const real *a = p->a + (size_t)row * p->lda;
    for (int r = 0; r < R_; r++)
        for (int j = 0; j < W; j++)
            sum[r][j] = v_set(0);
    for (uint32_t k = 0; k < p->k; k += LANES) {
        size_t n = run_size(k, p->k);
        v16 b[NARROW];
        for (int j = 0; j < W; j++)
            b[j] = part_of(p->bt + (size_t)j * p->k + k, n);
        for (int r = 0; r < R_; r++) {
            v16 x = part_of(a + (size_t)r * p->lda + k, n);
            for (int j = 0; j < W; j++)
                sum[r][j] = v_fma(x, b[j], sum[r][j]);
        }
    }
    for (int r = 0; r < R_; r++)
        for (int j = 0; j < W; j++) {
            real *c = &p->c[(size_t)(row + (uint32_t)r) * p->ldc + (size_t)j];
            *c = v_sum(sum[r][j]) + (p->add ? *c : p->bias ? p->bias[j] : 0);
        }
}

INLINE void narrow_width(const struct narrow *p, const int W)
{
    const uint32_t together = BLOCK_ROWS >= 8 ? 8 / (uint32_t)W : 4 / (uint32_t)W;
    uint32_t row = 0;
    for (; row + together <= p->rows; row += together)
        narrow_block(p, row, (int)together, W);
    for (; row < p->rows; row++)
        narrow_block(p, row, 1, W);
}

/* The place of column i of a, packed in blocks of BLOCK_ROWS columns, [rows][BLOCK_ROWS]. */
static inline size_t packed_at(uint32_t rows, uint32_t i)
{
    return (size_t)(i / BLOCK_ROWS) * rows * BLOCK_ROWS + i % BLOCK_ROWS;
}

/* Rows of a lie far apart, and each panel reads all of them: packed, they follow each other. */
static void outer_pack(real *to, const real *a, uint32_t rows, uint32_t m, uint32_t lda)
{
    enum { TOGETHER = 8 };
    for (uint32_t begin = 0; begin < rows; begin += TOGETHER) {
        uint32_t end = rows - begin < TOGETHER ? rows : begin + TOGETHER, i = 0;
        for (; i + BLOCK_ROWS <= m; i += BLOCK_ROWS)
            for (uint32_t r = begin; r < end; r++)
                memcpy(to + packed_at(rows, i) + r * BLOCK_ROWS, a + (size_t)r * lda + i,
                       BLOCK_ROWS * sizeof *to);
        for (uint32_t r = begin; r < end && i < m; r++)
            memcpy(to + packed_at(rows, i) + r * BLOCK_ROWS, a + (size_t)r * lda + i,
                   (m - i) * sizeof *to);
    }
}

INLINE void outer_block(const struct outer *p, uint32_t i, uint32_t column, const int M,
                        const int V, size_t tail)
{
    v16 sum[8][2];
    const real *a = p->packed ? p->packed + packed_at(p->rows, i) : p->a + i;
    const real *b = p->b + column;
    const size_t lda = p->packed ? BLOCK_ROWS : p->lda;
    real *c = p->c + (size_t)i * p->ldc + column;
    const bool full = tail == LANES;
    for (int m = 0; m < M; m++)
        for (int v = 0; v < V; v++) {
            const real *from = c + (size_t)m * p->ldc + v * LANES;
            sum[m][v] = p->add ? part_of(from, v == V - 1 ? tail : LANES) : v_set(0);
        }
    /* the next block, one line at a time: its rows lie far apart, the hardware prefetches none */
    const real *next = i + 2 * (uint32_t)M <= p->m ? c + (size_t)M * p->ldc : c;
    for (uint32_t r = 0; r < p->rows; r++) {
        v16 y[2];
        for (int v = 0; v < V; v++)
            y[v] = part_of(b + v * LANES, v == V - 1 ? tail : LANES);
        for (int m = 0; m < M; m++) {
            v16 x = v_set(a[m]);
            for (int v = 0; v < V; v++)
                sum[m][v] = v_fma(x, y[v], sum[m][v]);
        }
        __builtin_prefetch(next + r % 8 * p->ldc + r / 8 % (uint32_t)V * LANES, 1);
        a += lda;
        b += PANEL;
    }
    for (int m = 0; m < M; m++)
        for (int v = 0; v < V; v++) {
            real *to = c + (size_t)m * p->ldc + v * LANES;
            if (v == V - 1 && !full)
                v_store_n(to, sum[m][v], tail);
            else
                v_store(to, sum[m][v]);
        }
}

INLINE void outer_columns(const struct outer *p, uint32_t column, const int V, size_t tail)
{
    uint32_t i = 0;
    for (; i + BLOCK_ROWS <= p->m; i += BLOCK_ROWS)
        outer_block(p, i, column, BLOCK_ROWS, V, tail);
    for (; i + 4 <= p->m; i += 4)
        outer_block(p, i, column, 4, V, tail);
    for (; i + 2 <= p->m; i += 2)
        outer_block(p, i, column, 2, V, tail);
    if (i < p->m)
        outer_block(p, i, column, 1, V, tail);
}

static void outer(const struct outer *p)
{
    uint32_t column = 0;
    for (; column + BLOCK_VECS * LANES <= p->width; column += BLOCK_VECS * LANES)
        outer_columns(p, column, BLOCK_VECS, LANES);
    for (; column < p->width; column += LANES)
        outer_columns(p, column, 1, run_size(column, p->width));
}

/* The lanes are 16 rows i of c: few columns, so the vectors run down the columns of c. V of them,
 * the last one with `tail` lanes. */
INLINE void narrow_outer_block(const struct outer *p, uint32_t i, const int W, const int V,
                               size_t tail)
{
    v16 sum[4][NARROW];
    real column[LANES] = {0};
    for (int v = 0; v < V; v++) {
        real *c = p->c + (size_t)(i + (uint32_t)v * LANES) * p->ldc;
        const size_t n = v == V - 1 ? tail : LANES;
        for (int j = 0; j < W; j++) {
            for (size_t m = 0; p->add && m < n; m++)
                column[m] = c[m * p->ldc + (size_t)j];
            sum[v][j] = v_load(column);
        }
    }
    const real *a = p->a + i, *b = p->b;
    for (uint32_t r = 0; r < p->rows; r++, a += p->lda, b += PANEL) {
        v16 y[NARROW];
        for (int j = 0; j < W; j++)
            y[j] = v_set(b[j]);
        for (int v = 0; v < V; v++) {
            v16 x = part_of(a + v * LANES, v == V - 1 ? tail : LANES);
            for (int j = 0; j < W; j++)
                sum[v][j] = v_fma(x, y[j], sum[v][j]);
        }
    }
    for (int v = 0; v < V; v++) {
        real *c = p->c + (size_t)(i + (uint32_t)v * LANES) * p->ldc;
        for (int j = 0; j < W; j++) {
            v_store(column, sum[v][j]);
            for (size_t m = 0; m < (v == V - 1 ? tail : LANES); m++)
                c[m * p->ldc + (size_t)j] = column[m];
        }
    }
}

/* Several vectors at a time: a single one waits for each of its sums. */
INLINE void narrow_outer_width(const struct outer *p, const int W)
{
    enum { V = BLOCK_ROWS >= 8 ? 4 : 2 };
    uint32_t i = 0;
    for (; i + V * LANES <= p->m; i += V * LANES)
        narrow_outer_block(p, i, W, V, LANES);
    for (; i < p->m; i += LANES)
        narrow_outer_block(p, i, W, 1, run_size(i, p->m));
}

/* M rows of w against V panels of 16 rows of dz, `apart` elements from each other, for `n` columns
 * of w; the sums of panel v and row m go to sums[v][m], vectors over the 16 rows, and go on from
 * there if `add`. */
INLINE void across_block(real *sums, const real *w, size_t ldw, const real *dz, size_t apart,
                         uint32_t n, bool add, const bool ahead, const int M, const int V)
{
    v16 sum[8][2];
    for (int m = 0; m < M; m++)
        for (int v = 0; v < V; v++)
            sum[m][v] = add ? v_load(sums + (v * LANES + m) * LANES) : v_set(0);
    for (uint32_t j = 0; j < n; j++) {
        v16 d[2];
        for (int v = 0; v < V; v++)
            d[v] = v_load(dz + (size_t)v * apart);
        for (int m = 0; m < M; m++) {
            v16 x = v_set(w[(size_t)m * ldw + j]);
            for (int v = 0; v < V; v++)
                sum[m][v] = v_fma(x, d[v], sum[m][v]);
        }
        if (ahead) /* every line of the next M rows */
            __builtin_prefetch(w + ((uint32_t)M + j % (uint32_t)M) * ldw + j / 8 * 8, 0, 2);
        dz += LANES;
    }
    for (int m = 0; m < M; m++)
        for (int v = 0; v < V; v++)
            v_store(sums + (v * LANES + m) * LANES, sum[m][v]);
}

/* A block of 16 columns of dx, from `sums`, for up to 16 rows. */
INLINE void across_put(const struct across *p, const real *sums, uint32_t row, uint32_t i)
{
    real turned[LANES * LANES];
    size_t columns = run_size(i, p->in), rows = run_size(row, p->rows);
    if (columns == LANES && rows == LANES && !p->add) {
        transpose_block(p->dx + (size_t)row * p->lddx + i, sums, LANES, p->lddx);
        return;
    }
    transpose_block(turned, sums, LANES, LANES);
    for (size_t r = 0; r < rows; r++) {
        real *dx = p->dx + (row + r) * p->lddx + i;
        v16 v = v_load(turned + r * LANES);
        if (p->add)
            v = v_add(part_of(dx, columns), v);
        if (columns == LANES)
            v_store(dx, v);
        else
            v_store_n(dx, v, columns);
    }
}

/* Numbers of a block of sums, of V panels and 16 rows of w. */
#define ACROSS_SUMS (BLOCK_VECS * LANES * LANES)
/* Columns of w in a block: their panels of dz fit the first-level cache; and rows of w. */
enum { ACROSS_DEPTH = 192, ACROSS_ROWS = 256 };

/* sums (= or +=) rows [i, i + 16) of w times columns [j, j + n) of dz. */
INLINE void across_panels(const struct across *p, real *sums, uint32_t row, uint32_t i, uint32_t j,
                          uint32_t n, const bool ahead, const int V)
{
    const real *w = p->w + (size_t)i * p->ldw + j;
    const real *dz = p->dz + (size_t)row * p->room + (size_t)j * LANES;
    const size_t apart = (size_t)LANES * p->room, columns = run_size(i, p->in);
    size_t m = 0;
    for (; m + BLOCK_ACROSS <= columns; m += BLOCK_ACROSS)
        across_block(sums + m * LANES, w + m * p->ldw, p->ldw, dz, apart, n, j > 0, ahead,
                     BLOCK_ACROSS, V);
    for (; m < columns; m++)
        across_block(sums + m * LANES, w + m * p->ldw, p->ldw, dz, apart, n, j > 0, ahead, 1,
                     V);
    for (; m < LANES; m++)
        for (int v = 0; v < V; v++)
            v_store(sums + ((size_t)v * LANES + m) * LANES, v_set(0));
}

INLINE void across_rows(const struct across *p, uint32_t row, const int V)
{
    _Alignas(64) real room[ACROSS_ROWS / LANES * ACROSS_SUMS];
    for (uint32_t i = 0; i < p->in && p->out <= ACROSS_DEPTH; i += LANES) {
        across_panels(p, room, row, i, 0, p->out, false, V);
        for (int v = 0; v < V; v++)
            across_put(p, room + v * LANES * LANES, row + (uint32_t)v * LANES, i);
    }
    if (p->out <= ACROSS_DEPTH)
        return;
    for (uint32_t begin = 0; begin < p->in; begin += ACROSS_ROWS) {
        uint32_t end = p->in - begin < ACROSS_ROWS ? p->in : begin + ACROSS_ROWS;
        for (uint32_t j = 0; j < p->out; j += ACROSS_DEPTH) {
            uint32_t n = p->out - j < ACROSS_DEPTH ? p->out - j : ACROSS_DEPTH;
            real *sums = room;
            for (uint32_t i = begin; i < end; i += LANES, sums += ACROSS_SUMS)
                across_panels(p, sums, row, i, j, n, true, V);
        }
        real *sums = room;
        for (uint32_t i = begin; i < end; i += LANES, sums += ACROSS_SUMS)
            for (int v = 0; v < V; v++)
                across_put(p, sums + v * LANES * LANES, row + (uint32_t)v * LANES, i);
    }
}

/* The lanes are rows of dz, in panels of 16 rows, [rows / 16][room][16]; so w needs no transpose,
 * and each block of 16 x 16 results is transposed once at the end. */
static void across(const struct across *p)
{
    uint32_t row = 0;
    for (; row + (BLOCK_VECS - 1) * LANES < p->rows; row += BLOCK_VECS * LANES)
        across_rows(p, row, BLOCK_VECS);
    if (row < p->rows)
        across_rows(p, row, 1);
}

/* V vectors of i: their part of w stays in registers over all rows. */
INLINE void narrow_across_block(const struct across *p, uint32_t i, const int W, const int V,
                                size_t tail)
{
    v16 w[NARROW][2];
    for (int j = 0; j < W; j++)
        for (int v = 0; v < V; v++)
            w[j][v] = part_of(p->w + (size_t)j * p->ldw + i + v * LANES,
                              v == V - 1 ? tail : LANES);
    for (uint32_t r = 0; r < p->rows; r++) {
        const real *dz = p->dz + (size_t)r * PANEL;
        for (int v = 0; v < V; v++) {
            real *dx = p->dx + (size_t)r * p->lddx + i + v * LANES;
            size_t size = v == V - 1 ? tail : LANES;
            v16 sum = v_set(0);
            for (int j = 0; j < W; j++)
                sum = v_fma(v_set(dz[j]), w[j][v], sum);
            if (p->add)
                sum = v_add(part_of(dx, size), sum);
            if (size == LANES)
                v_store(dx, sum);
            else
                v_store_n(dx, sum, size);
        }
    }
}

INLINE void narrow_across_width(const struct across *p, const int W)
{
    uint32_t i = 0;
    for (; i + 2 * LANES <= p->in; i += 2 * LANES)
        narrow_across_block(p, i, W, 2, LANES);
    for (; i < p->in; i += LANES)
        narrow_across_block(p, i, W, 1, run_size(i, p->in));
}

/* One function a width, so that columns stay in registers. */
#define WIDTHS(width, call)                                                                        \
    switch (width) {                                                                               \
    case 1: call(p, 1); break;                                                                     \
    case 2: call(p, 2); break;                                                                     \
    case 3: call(p, 3); break;                                                                     \
    default: call(p, 4);                                                                           \
    }

static void narrow(const struct narrow *p)
{
    WIDTHS(p->width, narrow_width)
}

static void narrow_outer(const struct outer *p)
{
    WIDTHS(p->width, narrow_outer_width)
}

static void narrow_across(const struct across *p)
{
    WIDTHS(p->out, narrow_across_width)
}

#endif
