/* cpu_attend.c - attention: positions, attention itself, pooling by weights. A head of a sequence
 * goes through in blocks of steps whose products with all other steps stay in cache. The way back
 * computes them again, unless the sequence is so short that they were kept. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

/* --- positions --- */

void cpu_position(const struct op_position *a, const struct slice *s)
{
    const size_t width = a->width;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        for (uint32_t t = 0; t < a->steps; t++) {
            real *y = act_real(a->y) + (row * a->steps + t) * width;
            int64_t from = (int64_t)t + a->shift;
            bool there = from >= 0 && from < a->x_steps;
            const real *x =
                act_read(a->x) + (row * a->x_steps + (there ? (size_t)from : 0)) * width;
            const real *p = a->p && t < a->count ? a->p + t * width : NULL;
            if (there && a->add)
                s->m->vec->add(y, y, x, width);
            else if (there && !p)
                memmove(y, x, width * sizeof *y);
            else if (!there && !a->add)
                memset(y, 0, width * sizeof *y);
            if (p)
                s->m->vec->add(y, there && !a->add ? x : y, p, width);
        }
}

/* A tile is a step. */
unsigned cpu_position_back_tiles(const struct op_position_back *a)
{
    return a->count;
}

void cpu_position_back(const struct op_position_back *a, const struct slice *s)
{
    real *dp = a->dp + (size_t)s->tile * a->width;
    if (!a->more)
        memset(dp, 0, a->width * sizeof *dp);
    for (size_t row = 0; row < a->rows && s->tile < a->steps; row++)
        s->m->vec->add(dp, dp, act_read(a->dy) + (row * a->steps + s->tile) * a->width, a->width);
}

void cpu_lengths(const struct op_lengths *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        a->to[row] = (int32_t)(((uint32_t)a->from[row] + a->more + a->divide - 1) / a->divide);
}

static void rotate(real *x, const real *turn, size_t half, bool back)
{
    for (size_t j = 0; j < half; j++) {
        real c = turn[2 * j], sine = back ? -turn[2 * j + 1] : turn[2 * j + 1];
        real first = x[j] * c - x[half + j] * sine;
        x[half + j] = x[half + j] * c + x[j] * sine;
        x[j] = first;
    }
}

void cpu_rotary(const struct op_rotary *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        for (size_t t = 0; t < a->steps; t++) {
            real *x = act_real(a->x) + (row * a->steps + t) * a->ld;
            for (size_t j = 0; j < a->width; j += 2 * (size_t)a->half)
                rotate(x + j, a->turn + t * 2 * a->half, a->half, a->back);
        }
}

/* --- attention --- */

/* Numbers of scratch: rows of shares, and of their gradients; parts of k or v, turned; a panel. */
enum { SHARES = 32768, TURNED = 32768, COPIED = 64 * PANEL, MOST_QUERIES = 64 };

/* One head of one sequence. */
struct head {
    const struct vec *vec;
    const struct bf16_code *bf16; /* of a training; NULL: fp32 */
    const real *q, *k, *v;
    size_t ld;                      /* of q, k, v */
    uint32_t width, length, queries; /* queries: of one block */
    bool causal;
    real scale;
    real *share, *dshare, *turned, *copy; /* scratch */
};

static struct head head_of(const struct slice *s, const real *x, uint32_t width, uint32_t heads,
                           uint32_t head, uint32_t length, bool causal, bool exact)
{
    uint32_t each = width / heads, queries = length ? SHARES / length : 0;
    real *scratch = s->scratch;
    return (struct head){.vec = s->m->vec,
                         .bf16 = exact ? NULL : cpu_bf16(s->m, each, each),
                         .q = x + (size_t)head * each,
                         .k = x + width + (size_t)head * each,
                         .v = x + 2 * (size_t)width + (size_t)head * each,
                         .ld = 3 * (size_t)width,
                         .width = each,
                         .length = length,
                         .queries = queries > MOST_QUERIES ? MOST_QUERIES : queries,
                         .causal = causal,
                         .scale = (real)(1 / sqrt((double)each)),
                         .share = scratch,
                         .dshare = scratch + SHARES,
                         .turned = scratch + 2 * SHARES,
                         .copy = scratch + 2 * SHARES + TURNED};
}

_Static_assert(2 * SHARES * sizeof(float) + CPU_BF16_SCRATCH <= CPU_SCRATCH,
               "shares, and packed inputs in place of what is turned and copied");

/* c = a b, b [k][n]. */
static void straight(const struct head *h, struct blas_product p)
{
    if (h->bf16)
        cpu_bf16_product(h->bf16, &p, NULL, NULL, h->turned);
    else
        cpu_product(h->vec,
                    (struct product){.c = p.c, .a = p.a, .rows = p.m, .k = p.k, .lda = p.lda,
                                     .ldb = p.ldb, .ldc = p.ldc},
                    p.n, p.b);
}

/* to[i][u] = a[i] b[u], for `rows` steps of a and steps u < n of b. */
static void across_steps(const struct head *h, real *to, const real *a, size_t lda, const real *b,
                         uint32_t rows, uint32_t n)
{
    if (h->bf16) {
        cpu_bf16_product(h->bf16,
                         &(struct blas_product){.c = to, .a = a, .b = b, .m = rows, .n = n,
                                                .k = h->width, .lda = (uint32_t)lda,
                                                .ldb = (uint32_t)h->ld, .ldc = h->length,
                                                .b_across = true},
                         NULL, NULL, h->turned);
        return;
    }
    uint32_t part = TURNED / h->width / PANEL * PANEL;
    for (uint32_t at = 0; at < n; at += part) {
        uint32_t now = n - at < part ? n - at : part;
        h->vec->turn(h->turned, b + at * h->ld, now, h->width, (uint32_t)h->ld, now);
        cpu_product(h->vec,
                    (struct product){.c = to + at, .a = a, .rows = rows, .k = h->width,
                                     .lda = (uint32_t)lda, .ldb = now, .ldc = h->length},
                    now, h->turned);
    }
}

/* Steps that query i sees. */
static uint32_t seen_by(const struct head *h, uint32_t i)
{
    return h->causal ? i + 1 : h->length;
}

/* share[i] of the queries of [begin, begin + rows). Returns how many steps they see. */
static uint32_t shares_of(const struct head *h, uint32_t begin, uint32_t rows)
{
    uint32_t seen = seen_by(h, begin + rows - 1);
    across_steps(h, h->share, h->q + begin * h->ld, h->ld, h->k, rows, seen);
    for (uint32_t i = 0; i < rows; i++) {
        uint32_t n = seen_by(h, begin + i);
        real *row = h->share + (size_t)i * h->length;
        h->vec->softmax_row(row, n, h->scale);
        memset(row + n, 0, (seen - n) * sizeof *row);
    }
    return seen;
}

static uint32_t block_of(const struct head *h, uint32_t begin)
{
    return h->length - begin < h->queries ? h->length - begin : h->queries;
}

/* Shares of all heads that take no more room than q, k and v. */
void cpu_attention_need(const struct op_attention *a, struct need *n)
{
    const uint64_t width = (uint64_t)a->heads * a->steps;
    n->kept = width <= 3 * (uint64_t)a->width ? a->rows * a->steps * width * sizeof(real) : 0;
}

/* The stored attention weights of a head, [length][length]; NULL: not stored. */
static real *kept_of(void *kept, size_t row, uint32_t heads, uint32_t head, uint32_t steps)
{
    return kept ? (real *)kept + (row * heads + head) * steps * steps : NULL;
}

void cpu_attention(const struct op_attention *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->steps * 3 * a->width;
        real *y = act_real(a->y) + row * a->steps * a->width;
        uint32_t length = (uint32_t)a->length[row];
        memset(y + (size_t)length * a->width, 0,
               (size_t)(a->steps - length) * a->width * sizeof *y);
        for (uint32_t j = 0; j < a->heads; j++) {
            struct head h = head_of(s, x, a->width, a->heads, j, length, a->causal, a->exact);
            real *kept = kept_of(a->kept, row, a->heads, j, a->steps);
            for (uint32_t t = 0, rows; t < length; t += rows) {
                rows = block_of(&h, t);
                h.share = kept ? kept + (size_t)t * length : h.share;
                uint32_t seen = shares_of(&h, t, rows);
                straight(&h, (struct blas_product){.c = y + (size_t)t * a->width + j * h.width,
                                                   .a = h.share, .b = h.v, .m = rows,
                                                   .n = h.width, .k = seen, .lda = length,
                                                   .ldb = (uint32_t)h.ld, .ldc = a->width});
            }
        }
    }
}

/* c[u] (= or +=) the sum over i of a[i][u] b[i] for u < n. */
static void outer_steps(const struct head *h, real *c, const real *a, const real *b, size_t ldb,
                        uint32_t rows, uint32_t n, bool add)
{
    if (h->bf16) {
        cpu_bf16_product(h->bf16,
                         &(struct blas_product){.c = c, .a = a, .b = b, .m = n, .n = h->width,
                                                .k = rows, .lda = h->length, .ldb = (uint32_t)ldb,
                                                .ldc = (uint32_t)h->ld, .a_across = true,
                                                .add = add},
                         NULL, NULL, h->turned);
        return;
    }
    for (uint32_t j = 0; j < h->width; j += PANEL) {
        uint32_t width = h->width - j < PANEL ? h->width - j : PANEL;
        struct outer o = {.c = c + j, .a = a, .b = h->copy, .rows = rows, .m = n, .width = width,
                          .lda = h->length, .ldc = (uint32_t)h->ld, .add = add};
        if (width < PANEL)
            memset(h->copy, 0, (size_t)rows * PANEL * sizeof *h->copy);
        for (size_t i = 0; i < rows; i++)
            memcpy(h->copy + i * PANEL, b + i * ldb + j, width * sizeof *h->copy);
        (width <= NARROW ? h->vec->narrow_outer : h->vec->outer)(&o);
    }
}

/* The gradients of q, k and v, laid out in dx as the inputs in x: dk and dv add up over the blocks
 * of queries. causal: the caller clears them, as the first block sees some steps only. */
static void head_back(struct head *h, real *dx, size_t width, const real *dy, real *kept)
{
    for (uint32_t t = 0, rows; t < h->length; t += rows) {
        rows = block_of(h, t);
        h->share = kept ? kept + (size_t)t * h->length : h->share;
        uint32_t seen = kept ? seen_by(h, t + rows - 1) : shares_of(h, t, rows);
        const real *d = dy + t * width;
        across_steps(h, h->dshare, d, width, h->v, rows, seen);
        for (uint32_t i = 0; i < rows; i++) {
            uint32_t n = seen_by(h, t + i);
            real *row = h->dshare + (size_t)i * h->length;
            h->vec->softmax_row_back(row, h->share + (size_t)i * h->length, n, h->scale);
            memset(row + n, 0, (seen - n) * sizeof *row);
        }
        straight(h, (struct blas_product){.c = dx + t * h->ld, .a = h->dshare, .b = h->k,
                                          .m = rows, .n = h->width, .k = seen, .lda = h->length,
                                          .ldb = (uint32_t)h->ld, .ldc = (uint32_t)h->ld});
        bool add = h->causal || t > 0;
        outer_steps(h, dx + width, h->dshare, h->q + t * h->ld, h->ld, rows, seen, add);
        outer_steps(h, dx + 2 * width, h->share, d, width, rows, seen, add);
    }
}

void cpu_attention_back(const struct op_attention_back *a, const struct slice *s)
{
    const size_t width = a->width;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->steps * 3 * width;
        const real *dy = act_read(a->dy) + row * a->steps * width;
        real *dx = act_real(a->dx) + row * a->steps * 3 * width;
        uint32_t length = (uint32_t)a->length[row], written = a->causal ? 0 : length;
        memset(dx + written * 3 * width, 0, (a->steps - written) * 3 * width * sizeof *dx);
        for (uint32_t j = 0; j < a->heads; j++) {
            struct head h = head_of(s, x, a->width, a->heads, j, length, a->causal, false);
            head_back(&h, dx + (size_t)j * h.width, width, dy + (size_t)j * h.width,
                      kept_of(a->kept, row, a->heads, j, a->steps));
        }
    }
}

/* --- pooling by weights --- */

void cpu_weigh(const struct op_weigh *a, const struct slice *s)
{
    const struct vec *vec = s->m->vec;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        size_t length = (size_t)a->length[row], first = row * a->steps;
        real *share = a->share + first, *y = act_real(a->y) + row * a->width;
        memset(share, 0, a->steps * sizeof *share);
        memset(y, 0, a->width * sizeof *y);
        if (!length)
            continue;
        memcpy(share, act_read(a->score) + first, length * sizeof *share);
        vec->softmax_row(share, length, 1);
        cpu_product(vec,
                    (struct product){.c = y, .a = share, .rows = 1, .k = (uint32_t)length,
                                     .lda = a->steps, .ldb = a->width, .ldc = a->width},
                    a->width, act_read(a->x) + first * a->width);
    }
}

void cpu_weigh_back(const struct op_weigh_back *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        size_t length = (size_t)a->length[row], first = row * a->steps;
        const real *dy = act_read(a->dy) + row * a->width, *x = act_read(a->x) + first * a->width;
        real *dscore = act_real(a->dscore) + first;
        memset(dscore, 0, a->steps * sizeof *dscore);
        for (size_t t = 0; t < length; t++)
            for (size_t j = 0; j < a->width; j++)
                dscore[t] += dy[j] * x[t * a->width + j];
        s->m->vec->softmax_row_back(dscore, a->share + first, length, 1);
        for (size_t t = 0; t < a->steps && a->dx.at; t++) {
            real *dx = act_real(a->dx) + (first + t) * a->width, share = a->share[first + t];
            for (size_t j = 0; j < a->width; j++)
                dx[j] = a->add_dx ? dx[j] + share * dy[j] : share * dy[j];
        }
    }
}
