/* cpu_norm.c - batch normalisation (Ioffe and Szegedy, 2015) and layer normalisation (Ba, Kiros and
 * Hinton, 2016).
 *
 * Batch statistics count the valid rows: rows past the end of the data do not count, and weights
 * have no part in them. One valid row has no variance: then the running statistics normalise, are
 * not moved, and are constants on the way back. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

enum { COLUMNS = 64 }; /* of a tile */

static unsigned column_tiles(uint32_t width)
{
    return (width + COLUMNS - 1) / COLUMNS;
}

static uint32_t tile_end(uint32_t width, uint32_t begin)
{
    return width - begin < COLUMNS ? width : begin + COLUMNS;
}

unsigned cpu_bnorm_stats_tiles(const struct op_bnorm_stats *a)
{
    return column_tiles(a->width);
}

void cpu_bnorm_stats(const struct op_bnorm_stats *a, const struct slice *s)
{
    uint32_t begin = s->tile * COLUMNS, end = tile_end(a->width, begin);
    uint32_t rows = cpu_valid_rows(a->now, a->from->count, a->rows, a->micro);
    double sum[COLUMNS] = {0}, square[COLUMNS] = {0};
    const real *x = act_read(a->x);
    for (size_t r = 0; r < rows && rows > 1; r++)
        for (uint32_t j = begin; j < end; j++)
            sum[j - begin] += (double)x[r * a->ld + j];
    for (uint32_t j = 0; j < COLUMNS && rows > 1; j++)
        sum[j] /= rows;
    for (size_t r = 0; r < rows && rows > 1; r++)
        for (uint32_t j = begin; j < end; j++) {
            double d = (double)x[r * a->ld + j] - sum[j - begin];
            square[j - begin] += d * d;
        }
    const real *from = a->micro ? a->moved : a->running;
    for (uint32_t j = begin; j < end; j++) {
        double m = sum[j - begin], v = square[j - begin], keep = 1 - a->momentum;
        double mean = (double)from[j], variance = (double)from[a->width + j];
        if (rows > 1) {
            a->mean[j] = (real)m;
            a->inv[j] = (real)(1 / sqrt(v / rows + a->epsilon));
            mean = keep * mean + a->momentum * m;
            variance = keep * variance + a->momentum * v / (rows - 1);
        } else {
            a->mean[j] = from[j];
            a->inv[j] = (real)(1 / sqrt(variance + a->epsilon));
        }
        a->moved[j] = (real)mean;
        a->moved[a->width + j] = (real)variance;
    }
}

/* In prediction, inv is computed from the running variance, for a block of columns at a time. */
static void bnorm_running(const struct op_bnorm *a, const struct slice *s)
{
    real inv[COLUMNS];
    for (uint32_t begin = 0; begin < a->width; begin += COLUMNS) {
        uint32_t end = tile_end(a->width, begin);
        for (uint32_t j = begin; j < end; j++)
            inv[j - begin] = (real)(1 / sqrt((double)a->running[a->width + j] + a->epsilon));
        for (size_t row = s->row0; row < s->row0 + s->rows; row++)
            s->m->vec->norm_columns(act_real(a->y) + row * a->ldy + begin,
                                    act_read(a->x) + row * a->ldx + begin, a->running + begin, inv,
                                    a->gamma + begin, a->beta + begin, end - begin);
    }
}

void cpu_bnorm(const struct op_bnorm *a, const struct slice *s)
{
    if (!a->mean) {
        bnorm_running(a, s);
        return;
    }
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->norm_columns(act_real(a->y) + row * a->ldy, act_read(a->x) + row * a->ldx,
                                a->mean, a->inv, a->gamma, a->beta, a->width);
}

unsigned cpu_bnorm_sums_tiles(const struct op_bnorm_sums *a)
{
    return column_tiles(a->width);
}

void cpu_bnorm_sums(const struct op_bnorm_sums *a, const struct slice *s)
{
    uint32_t begin = s->tile * COLUMNS, end = tile_end(a->width, begin);
    uint32_t rows = cpu_valid_rows(a->now, a->from->count, a->rows, a->micro);
    double sum[COLUMNS] = {0}, product[COLUMNS] = {0};
    const real *x = act_read(a->x), *dy = act_read(a->dy);
    for (size_t r = 0; r < rows; r++)
        for (uint32_t j = begin; j < end; j++) {
            double d = (double)dy[r * a->lddy + j];
            sum[j - begin] += d;
            double away = (double)x[r * a->ldx + j] - (double)a->mean[j];
            product[j - begin] += d * away * (double)a->inv[j];
        }
    for (uint32_t j = begin; j < end; j++) {
        a->sums[j] = (real)sum[j - begin];
        a->sums[a->width + j] = (real)product[j - begin];
        real *dgamma = a->dgamma + j, *dbeta = a->dbeta + j;
        *dgamma = (a->more ? *dgamma : 0) + (real)product[j - begin];
        *dbeta = (a->more ? *dbeta : 0) + (real)sum[j - begin];
    }
}

/* With h = (x - mean) inv and n valid rows: dx = gamma inv (dy - mean(dy) - h mean(dy h)); past the
 * end dx = 0. */
void cpu_bnorm_back(const struct op_bnorm_back *a, const struct slice *s)
{
    uint32_t rows = cpu_valid_rows(a->now, a->from->count, a->rows, a->micro);
    real share = rows > 1 ? 1 / (real)rows : 0;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *dx = act_real(a->dx) + row * a->lddx;
        const real *x = act_read(a->x) + row * a->ldx, *dy = act_read(a->dy) + row * a->lddy;
        const real *sum = a->sums, *product = a->sums + a->width;
        if (row >= rows) {
            if (!a->add_dx)
                memset(dx, 0, a->width * sizeof *dx);
            continue;
        }
        for (uint32_t j = 0; j < a->width; j++) {
            real hat = (x[j] - a->mean[j]) * a->inv[j];
            real d = a->gamma[j] * a->inv[j] * (dy[j] - share * (sum[j] + hat * product[j]));
            dx[j] = a->add_dx ? dx[j] + d : d;
        }
    }
}

void cpu_lnorm(const struct op_lnorm *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real mean, inv;
        const real *x = act_read(a->x) + row * a->ldx;
        s->m->vec->row_moments(x, a->width, (real)a->epsilon, &mean, &inv);
        if (a->mean) {
            a->mean[row] = mean;
            a->inv[row] = inv;
        }
        s->m->vec->norm_row(act_real(a->y) + row * a->ldy, x, mean, inv, a->gamma, a->beta,
                            a->width);
    }
}

void cpu_lnorm_back(const struct op_lnorm_back *a, const struct slice *s)
{
    real *dgamma = a->dgamma + s->shard * a->shard_stride;
    real *dbeta = a->dbeta + s->shard * a->shard_stride;
    if (s->first && !a->more) {
        memset(dgamma, 0, a->width * sizeof *dgamma);
        memset(dbeta, 0, a->width * sizeof *dbeta);
    }
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        s->m->vec->norm_row_back(a->dx.at ? act_real(a->dx) + row * a->lddx : NULL, dgamma, dbeta,
                                 act_read(a->dy) + row * a->lddy, act_read(a->x) + row * a->ldx,
                                     a->mean[row], a->inv[row],
                                 a->gamma, a->width, a->add_dx != 0);
}
