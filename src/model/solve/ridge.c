/* ridge.c - see ridge.h. Matrices of rows are cut into blocks of 64 x 64, each [column][row] in one
 * piece; the blocks of the lower triangle are kept. Rows past the last are 0. */
#include "model/solve/ridge.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"

enum { B = RIDGE_BLOCK, AREA = B * B, LANES = 4, STRIP = 256 };
#define LEAST 1e-6 /* of 1 - h: a row that its own weight alone answers for */

static double *block(double *of, uint32_t i, uint32_t j)
{
    return of + ((size_t)i * (i + 1) / 2 + j) * AREA;
}

/* --- on blocks --- */

/* c[j][i] += sign * sum over p of a[p][i] b[p][j] */
static void multiply(double *restrict c, const double *restrict a, const double *restrict b,
                     double sign)
{
    for (int j = 0; j < B; j += LANES)
        for (int i = 0; i < B; i += LANES) {
            double sum[LANES][LANES] = {{0}};
            for (int p = 0; p < B; p++)
                for (int k = 0; k < LANES; k++)
                    for (int l = 0; l < LANES; l++)
                        sum[k][l] += b[p * B + j + k] * a[p * B + i + l];
            for (int k = 0; k < LANES; k++)
                for (int l = 0; l < LANES; l++)
                    c[(j + k) * B + i + l] += sign * sum[k][l];
        }
}

/* Row j of c: (c_j - sum over q < j of f(j, q) c_q) / f(j, j), where f [q][j] is lower triangular.
 */
static void substitute(double *restrict c, const double *restrict f)
{
    for (int j = 0; j < B; j++) {
        double *to = c + (size_t)j * B;
        for (int q = 0; q < j; q++)
            for (int i = 0; i < B; i++)
                to[i] -= f[q * B + j] * c[q * B + i];
        for (int i = 0; i < B; i++)
            to[i] /= f[j * B + j];
    }
}

/* The factor of a block on the diagonal, in its place. */
static void factor_block(double *c)
{
    for (int j = 0; j < B; j++) {
        double root = sqrt(c[j * B + j]);
        for (int i = 0; i < B; i++)
            c[j * B + i] = i < j ? 0 : c[j * B + i] / root;
        for (int k = j + 1; k < B; k++)
            for (int i = k; i < B; i++)
                c[k * B + i] -= c[j * B + k] * c[j * B + i];
    }
}

/* --- K --- */

/* Columns at .. at + B of a block of rows as [column][row]. */
static void pack(const struct ridge *r, uint32_t i, uint32_t at, double *to)
{
    memset(to, 0, AREA * sizeof *to);
    for (uint32_t k = 0; k < B && i * B + k < r->rows; k++) {
        const real *x = r->x + (size_t)(i * B + k) * r->columns;
        for (uint32_t f = 0; f < B && at + f < r->columns; f++)
            to[f * B + k] = (double)x[at + f];
    }
}

static void product_tile(void *of, unsigned tile, unsigned thread)
{
    struct ridge *r = of;
    uint32_t i = 0, j = tile;
    (void)thread;
    while (j > i)
        j -= ++i;
    double *a = mem_alloc(AREA, sizeof *a), *b = mem_alloc(AREA, sizeof *b);
    double *c = block(r->product, i, j);
    memset(c, 0, AREA * sizeof *c);
    for (uint32_t at = 0; at < r->columns && !stopper_asked(r->stop); at += B) {
        pack(r, i, at, a);
        if (i != j)
            pack(r, j, at, b);
        multiply(c, a, i == j ? a : b, 1);
    }
    mem_free(a);
    mem_free(b);
}

/* --- the factor --- */

struct column {
    struct ridge *r;
    uint32_t at;
};

/* Block at + tile of a column: K minus the products of the columns before it. */
static void reduce_tile(void *of, unsigned tile, unsigned thread)
{
    const struct column *t = of;
    const uint32_t j = t->at, i = j + tile;
    double *c = block(t->r->factor, i, j);
    (void)thread;
    memcpy(c, block(t->r->product, i, j), AREA * sizeof *c);
    for (int k = 0; i == j && k < B; k++)
        c[k * B + k] += t->r->penalty;
    for (uint32_t p = 0; p < j; p++)
        multiply(c, block(t->r->factor, i, p), block(t->r->factor, j, p), -1);
}

static void divide_tile(void *of, unsigned tile, unsigned thread)
{
    const struct column *t = of;
    (void)thread;
    substitute(block(t->r->factor, t->at + 1 + tile, t->at), block(t->r->factor, t->at, t->at));
}

static bool factor(struct ridge *r)
{
    for (struct column t = {r, 0}; t.at < r->blocks; t.at++) {
        if (stopper_asked(r->stop))
            return false;
        threads_run(r->blocks - t.at, reduce_tile, &t);
        factor_block(block(r->factor, t.at, t.at));
        threads_run(r->blocks - t.at - 1, divide_tile, &t);
    }
    return true;
}

/* --- solutions --- */

struct diagonal {
    struct ridge *r;
    double *of; /* [blocks * B]: diagonal of the inverse of K + penalty */
};

/* The squares of a block column of the factor's inverse. */
static void diagonal_tile(void *of, unsigned tile, unsigned thread)
{
    const struct diagonal *d = of;
    struct ridge *r = d->r;
    const uint32_t j = tile, high = r->blocks - j;
    double *m = mem_zero((size_t)high * AREA, sizeof *m), *to = d->of + (size_t)j * B;
    (void)thread;
    for (uint32_t i = 0; i < high && !stopper_asked(r->stop); i++) {
        double *c = m + (size_t)i * AREA; /* [row][column] */
        for (int k = 0; i == 0 && k < B; k++)
            c[k * B + k] = 1;
        for (uint32_t p = 0; p < i; p++)
            multiply(c, m + (size_t)p * AREA, block(r->factor, j + i, j + p), -1);
        substitute(c, block(r->factor, j + i, j + i));
        for (int k = 0; k < B; k++)
            for (int l = 0; l < B; l++)
                to[l] += c[k * B + l] * c[k * B + l];
    }
    mem_free(m);
}

/* dual = (K + penalty)^-1 of the centred targets, each times the root of its row's weight. */
static void solve_dual(struct ridge *r)
{
    const uint32_t n = r->blocks * B, outputs = r->outputs;
    double *y = r->dual;
    memset(y, 0, (size_t)n * outputs * sizeof *y);
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t k = 0; k < outputs; k++)
            y[(size_t)i * outputs + k] =
                sqrt(r->weight[i]) * (r->target[(size_t)i * outputs + k] - r->center[k]);
    for (uint32_t q = 0; q < n; q++) { /* by the factor, a column at a time */
        double *from = y + (size_t)q * outputs;
        const double *at = block(r->factor, q / B, q / B) + (size_t)(q % B) * B;
        for (uint32_t k = 0; k < outputs; k++)
            from[k] /= at[q % B];
        for (uint32_t i = q + 1; i < n; i++) {
            double f = block(r->factor, i / B, q / B)[(size_t)(q % B) * B + i % B];
            for (uint32_t k = 0; k < outputs; k++)
                y[(size_t)i * outputs + k] -= f * from[k];
        }
    }
    for (uint32_t q = n; q-- > 0;) { /* and by its transpose */
        double *to = y + (size_t)q * outputs;
        for (uint32_t i = q + 1; i < n; i++) {
            double f = block(r->factor, i / B, q / B)[(size_t)(q % B) * B + i % B];
            for (uint32_t k = 0; k < outputs; k++)
                to[k] -= f * y[(size_t)i * outputs + k];
        }
        for (uint32_t k = 0; k < outputs; k++)
            to[k] /= block(r->factor, q / B, q / B)[(size_t)(q % B) * B + q % B];
    }
}

bool ridge_solve(struct ridge *r, double penalty)
{
    struct diagonal d = {r, mem_zero((size_t)r->blocks * B, sizeof *d.of)};
    r->penalty = penalty;
    bool good = factor(r);
    if (good) {
        threads_run(r->blocks, diagonal_tile, &d);
        solve_dual(r);
        good = !stopper_asked(r->stop);
    }
    for (uint32_t i = 0; good && i < r->rows; i++) {
        double least = penalty * d.of[i] - r->weight[i] / r->rows; /* the constant's share */
        double per = penalty / fmax(least, LEAST) / sqrt(r->weight[i]);
        for (uint32_t k = 0; k < r->outputs; k++) {
            size_t at = (size_t)i * r->outputs + k;
            r->without[at] = r->target[at] - r->dual[at] * per;
        }
    }
    mem_free(d.of);
    return good;
}

struct weighing {
    const struct ridge *r;
    double *b;
};

static void weights_tile(void *of, unsigned tile, unsigned thread)
{
    const struct weighing *w = of;
    const struct ridge *r = w->r;
    uint32_t from = tile * STRIP, end = from + STRIP < r->columns ? from + STRIP : r->columns;
    (void)thread;
    memset(w->b + (size_t)from * r->outputs, 0,
           (size_t)(end - from) * r->outputs * sizeof *w->b);
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t f = from; f < end; f++) {
            double x = (double)r->x[(size_t)i * r->columns + f];
            for (uint32_t k = 0; k < r->outputs; k++)
                w->b[(size_t)f * r->outputs + k] += x * r->dual[(size_t)i * r->outputs + k];
        }
}

void ridge_weights(const struct ridge *r, double *b)
{
    threads_run((r->columns + STRIP - 1) / STRIP, weights_tile, &(struct weighing){r, b});
}

/* --- begin and end --- */

static void standardise(struct ridge *r, double epsilon)
{
    const uint32_t columns = r->columns;
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t f = 0; f < columns; f++)
            r->mean[f] += r->weight[i] * (double)r->x[(size_t)i * columns + f] / r->rows;
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t f = 0; f < columns; f++) {
            double apart = (double)r->x[(size_t)i * columns + f] - r->mean[f];
            r->variance[f] += r->weight[i] * apart * apart / r->rows;
        }
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t f = 0; f < columns; f++) {
            real *x = &r->x[(size_t)i * columns + f];
            *x = (real)(((double)*x - r->mean[f]) / sqrt(r->variance[f] + epsilon) *
                         sqrt(r->weight[i]));
        }
    for (uint32_t i = 0; i < r->rows; i++)
        for (uint32_t k = 0; k < r->outputs; k++)
            r->center[k] += r->weight[i] * r->target[(size_t)i * r->outputs + k] / r->rows;
}

static uint64_t blocks_of(uint64_t rows)
{
    return (rows + B - 1) / B;
}

uint64_t ridge_bytes(uint64_t rows, uint64_t columns, uint64_t outputs)
{
    uint64_t blocks = blocks_of(rows);
    return (blocks * (blocks + 1) * AREA + 2 * columns + (2 * outputs + 1) * blocks * B) *
           sizeof(double);
}

struct ridge *ridge_new(real *x, uint32_t rows, uint32_t columns, const double *weight,
                        const double *target, uint32_t outputs, double epsilon,
                        const struct stopper *stop)
{
    struct ridge *r = mem_zero(1, sizeof *r);
    *r = (struct ridge){.rows = rows,
                        .columns = columns,
                        .outputs = outputs,
                        .blocks = (uint32_t)blocks_of(rows),
                        .x = x,
                        .weight = weight,
                        .target = target,
                        .stop = stop};
    size_t half = (size_t)r->blocks * (r->blocks + 1) / 2;
    r->center = mem_zero(outputs, sizeof *r->center);
    r->mean = mem_zero(columns, sizeof *r->mean);
    r->variance = mem_zero(columns, sizeof *r->variance);
    r->product = mem_alloc(half * AREA, sizeof *r->product);
    r->factor = mem_alloc(half * AREA, sizeof *r->factor);
    r->dual = mem_alloc((size_t)r->blocks * B * outputs, sizeof *r->dual);
    r->without = mem_alloc((size_t)rows * outputs, sizeof *r->without);
    standardise(r, epsilon);
    threads_run((unsigned)half, product_tile, r);
    return r;
}

void ridge_free(struct ridge *r)
{
    if (!r)
        return;
    mem_free(r->center);
    mem_free(r->mean);
    mem_free(r->variance);
    mem_free(r->product);
    mem_free(r->factor);
    mem_free(r->dual);
    mem_free(r->without);
    mem_free(r);
}
