/* cpu_view.c - the views of a batch, and the mean of their answers. */
#include <math.h>

#include "backend/cpu/cpu.h"

void cpu_view_scale(const struct op_view_scale *a, const struct slice *s)
{
    size_t all = (size_t)a->views * a->width;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        for (uint32_t j = 0; j < a->views; j++) {
            size_t at = (size_t)j * a->width;
            real *restrict y = act_real(a->y) + row * all + at;
            const real *restrict w = a->w + at;
            const real *restrict b = a->b ? a->b + at : NULL;
            const real *restrict x = act_read(a->x) + (a->shared ? row * a->width : row * all + at);
            for (uint32_t i = 0; i < a->width; i++)
                y[i] = x[i] * w[i];
            for (uint32_t i = 0; b && i < a->width; i++)
                y[i] += b[i];
        }
}

/* A tile has some columns of every view and every row: its sums are its own. */
enum { VIEW_COLUMNS = 64 };

unsigned cpu_view_scale_back_tiles(const struct op_view_scale_back *a)
{
    return (a->width + VIEW_COLUMNS - 1) / VIEW_COLUMNS;
}

/* to (= for the first row, or +=) from, times by */
static void add_product(real *restrict to, const real *restrict from, const real *restrict by,
                        uint32_t n, bool add)
{
    if (add)
        for (uint32_t i = 0; i < n; i++)
            to[i] += by ? from[i] * by[i] : from[i];
    else
        for (uint32_t i = 0; i < n; i++)
            to[i] = by ? from[i] * by[i] : from[i];
}

void cpu_view_scale_back(const struct op_view_scale_back *a, const struct slice *s)
{
    uint32_t begin = s->tile * VIEW_COLUMNS;
    uint32_t n = a->width - begin < VIEW_COLUMNS ? a->width - begin : VIEW_COLUMNS;
    size_t all = (size_t)a->views * a->width;
    for (size_t row = 0; row < a->rows; row++)
        for (uint32_t j = 0; j < a->views; j++) {
            size_t at = (size_t)j * a->width + begin;
            size_t from = a->shared ? row * a->width + begin : row * all + at;
            const real *dy = act_read(a->dy) + row * all + at;
            bool add = a->more || row > 0;
            add_product(a->dw + at, dy, act_read(a->x) + from, n, add);
            if (a->db)
                add_product(a->db + at, dy, NULL, n, add);
            if (a->dx.at)
                add_product(act_real(a->dx) + from, dy, a->w + at, n,
                            a->add_dx || (a->shared && j > 0));
        }
}

/* The log of the sum of exponentials. */
static double log_sum(const real *x, uint32_t n)
{
    double most = (double)x[0], sum = 0;
    for (uint32_t i = 1; i < n; i++)
        most = (double)x[i] > most ? (double)x[i] : most;
    for (uint32_t i = 0; i < n; i++)
        sum += exp((double)x[i] - most);
    return most + log(sum);
}

static double log_add(double a, double b)
{
    return a > b ? a + log1p(exp(b - a)) : b + log1p(exp(a - b));
}

void cpu_view_mean(const struct op_view_mean *a, const struct slice *s)
{
    double *sums = s->scratch; /* a view's log of the sum: VIEWS_MOST of them fit */
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        const real *x = act_read(a->x) + row * a->views * a->outputs;
        real *y = act_real(a->y) + row * a->outputs;
        for (uint32_t j = 0; j < a->views && !a->values; j++)
            sums[j] = log_sum(x + (size_t)j * a->outputs, a->outputs);
        for (uint32_t k = 0; k < a->outputs; k++) {
            double sum = (double)x[k] - (a->values ? 0 : sums[0]);
            for (uint32_t j = 1; j < a->views; j++) {
                double one = (double)x[(size_t)j * a->outputs + k];
                sum = a->values ? sum + one : log_add(sum, one - sums[j]);
            }
            y[k] = (real)(a->values ? sum / a->views : sum - log((double)a->views));
        }
    }
}
