/* design.c - see design.h. */
#include "model/solve/design.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define LANES ((uint64_t)8) /* of a sum: lane k adds the rows k, k + 8, .. */

/* --- reading the records --- */

static float number_of(const unsigned char *record, uint32_t i)
{
    float v;
    memcpy(&v, record + 4 * (size_t)i, sizeof v);
    return v;
}

static bool is_missing(const struct rowfmt *f, const unsigned char *record, uint32_t i)
{
    uint32_t word;
    memcpy(&word, record + f->at_missing + 4 * (size_t)(i / 32), sizeof word);
    return word >> (i % 32) & 1;
}

static int32_t category_of(const struct rowfmt *f, const unsigned char *record, uint32_t i)
{
    int32_t v;
    memcpy(&v, record + f->at_category + 4 * (size_t)i, sizeof v);
    return v;
}

/* The rows of a table, and the places of its sparse columns. */
struct reading {
    const struct features *f;
    const struct rows *rows;
    const uint32_t *index;
    uint64_t count;
    uint32_t *first; /* [categories]: the sparse column of value 0; UINT32_MAX: no one-hot column */
};

static void read_numbers(const struct reading *r, struct design *d)
{
    const uint32_t numbers = r->f->format.numbers;
    d->numbers = mem_alloc((size_t)numbers * r->count + 1, sizeof *d->numbers);
    for (uint64_t i = 0; i < r->count; i++) {
        const unsigned char *record = rows_at(r->rows, r->index[i]);
        for (uint32_t k = 0; k < numbers; k++)
            d->numbers[k * r->count + i] = number_of(record, k);
    }
}

/* Calls add(d, column, row) for each sparse column of each row, row by row. */
static void each_sparse(const struct reading *r, struct design *d,
                        void (*add)(struct design *d, uint32_t column, uint64_t row))
{
    const struct features *f = r->f;
    for (uint64_t i = 0; i < r->count; i++) {
        const unsigned char *record = rows_at(r->rows, r->index[i]);
        for (uint32_t k = 0; k < f->indicator_count; k++)
            if (is_missing(&f->format, record, f->indicators[k]))
                add(d, k, i);
        for (uint32_t k = 0; k < f->format.categories; k++)
            if (r->first[k] != UINT32_MAX)
                add(d, r->first[k] + (uint32_t)category_of(&f->format, record, k), i);
    }
}

static void count_row(struct design *d, uint32_t column, uint64_t row)
{
    (void)row;
    d->begin[column + 1]++;
}

/* begin[column] is the place of the column's next row, until all are placed. */
static void put_row(struct design *d, uint32_t column, uint64_t row)
{
    d->list[d->begin[column]++] = (uint32_t)row;
}

static void read_sparse(const struct reading *r, struct design *d, uint32_t sparse)
{
    d->begin = mem_zero((size_t)sparse + 2, sizeof *d->begin);
    each_sparse(r, d, count_row);
    for (uint32_t k = 0; k < sparse; k++)
        d->begin[k + 1] += d->begin[k];
    d->list = mem_alloc((size_t)d->begin[sparse] + 1, sizeof *d->list);
    each_sparse(r, d, put_row);
    for (uint32_t k = sparse; k > 0; k--) /* each begin has moved to its successor's */
        d->begin[k] = d->begin[k - 1];
    d->begin[0] = 0;
}

/* A copy of each number with bins, for its components: NaN in rows with all components 0. */
static void add_binned(const struct reading *r, struct design *d)
{
    const struct features *f = r->f;
    size_t all = f->format.numbers;
    for (uint32_t n = 0; f->numbers && n < f->format.numbers; n++) {
        if (!f->numbers[n].bins)
            continue;
        d->numbers = mem_grow(d->numbers, (all + 1) * r->count + 1, sizeof *d->numbers);
        float *copy = d->numbers + all++ * r->count;
        memcpy(copy, d->numbers + n * r->count, r->count * sizeof *copy);
        for (uint32_t k = 0; k < f->indicator_count; k++)
            for (uint64_t p = d->begin[k]; f->indicators[k] == n && p < d->begin[k + 1]; p++)
                copy[d->list[p]] = NAN;
    }
}

/* --- a column's values --- */

/* Values before centring; of a component in d->room. */
static const float *values(const struct design *d, const struct design_column *c)
{
    const float *x = d->numbers + c->from * d->rows;
    if (c->kind == DESIGN_NUMBER)
        return x;
    const float low = c->low, per = c->per;
    float *restrict to = d->room;
    for (uint64_t i = 0; i < d->rows; i++) {
        float v = (x[i] - low) * per;
        v = v > 0 ? v : 0; /* NaN: 0 */
        to[i] = v < 1 ? v : 1;
    }
    return to;
}

static double lanes_sum(const double sum[LANES])
{
    return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

static double dense_dot(const float *x, const double *u, uint64_t rows, double center)
{
    double sum[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        for (uint64_t k = 0; k < LANES; k++)
            sum[k] += ((double)x[i + k] - center) * u[i + k];
    for (uint64_t k = 0; i < rows; i++, k++)
        sum[k] += ((double)x[i] - center) * u[i];
    return lanes_sum(sum);
}

static double dense_square(const float *x, const double *v, uint64_t rows, double center)
{
    double sum[LANES] = {0};
    uint64_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        for (uint64_t k = 0; k < LANES; k++) {
            double d = (double)x[i + k] - center;
            sum[k] += d * d * v[i + k];
        }
    for (uint64_t k = 0; i < rows; i++, k++) {
        double d = (double)x[i] - center;
        sum[k] += d * d * v[i];
    }
    return lanes_sum(sum);
}

double design_dot(const struct design *d, uint32_t j, const double *u)
{
    const struct design_column *c = &d->column[j];
    double sum = 0;
    if (c->kind != DESIGN_SPARSE)
        return dense_dot(values(d, c), u, d->rows, c->center) * c->factor;
    for (uint64_t p = d->begin[c->from]; p < d->begin[c->from + 1]; p++)
        sum += u[d->list[p]];
    return sum;
}

double design_square(const struct design *d, uint32_t j, const double *v)
{
    const struct design_column *c = &d->column[j];
    if (c->kind == DESIGN_SPARSE)
        return design_dot(d, j, v);
    return dense_square(values(d, c), v, d->rows, c->center) * c->factor * c->factor;
}

void design_move(const struct design *d, uint32_t j, double step, const double *v, double *u)
{
    const struct design_column *c = &d->column[j];
    if (c->kind == DESIGN_SPARSE) {
        for (uint64_t p = d->begin[c->from]; p < d->begin[c->from + 1]; p++)
            u[d->list[p]] -= step * v[d->list[p]];
        return;
    }
    const float *x = values(d, c);
    const double by = step * c->factor, center = c->center;
    const double *restrict from = v;
    double *restrict to = u;
    for (uint64_t i = 0; i < d->rows; i++)
        to[i] -= by * ((double)x[i] - center) * from[i];
}

/* --- the list of columns --- */

/* Sets centre and factor; false: the column has one value. */
static bool settle(const struct design *d, struct design_column *c, const double *weight)
{
    if (c->kind == DESIGN_SPARSE) {
        uint64_t ones = d->begin[c->from + 1] - d->begin[c->from];
        return ones > 0 && ones < d->rows;
    }
    const float *x = values(d, c);
    c->center = dense_dot(x, weight, d->rows, 0);
    double variance = dense_square(x, weight, d->rows, c->center);
    if (!(variance > 1e-12 * (1 + c->center * c->center)))
        return false;
    c->factor = c->kind == DESIGN_NUMBER ? 1 / sqrt(variance) : 1;
    return true;
}

static void add(struct design *d, struct design_column c, const double *weight)
{
    c.factor = 1;
    if (settle(d, &c, weight))
        d->column[d->columns++] = c;
}

static void add_components(struct design *d, const struct features *f, const double *weight)
{
    uint32_t row = 0, copy = f->format.numbers;
    for (uint32_t k = 0; f->numbers && k < f->format.numbers; k++) {
        for (uint32_t b = 0; b < f->numbers[k].bins; b++, row++) {
            const float *edge = f->edges + f->numbers[k].edges + b;
            add(d, (struct design_column){.kind = DESIGN_COMPONENT, .from = copy, .row = row,
                                          .low = edge[0], .per = 1 / (edge[1] - edge[0])},
                weight);
        }
        copy += f->numbers[k].bins > 0;
    }
}

/* One-hot columns and indicators. */
static uint64_t sparse_most(const struct features *f)
{
    uint64_t sparse = f->indicator_count;
    for (uint32_t k = 0; k < f->format.categories; k++)
        sparse += f->categories[k].encode == CATEGORY_ONEHOT ? f->categories[k].count : 0;
    return sparse;
}

uint64_t design_most(const struct features *f)
{
    return f->format.numbers + f->edge_count + sparse_most(f);
}

uint64_t design_bytes(const struct features *f, uint64_t rows)
{
    uint64_t numbers = f->format.numbers, lists = f->indicator_count;
    for (uint32_t k = 0; f->numbers && k < f->format.numbers; k++)
        numbers += f->numbers[k].bins > 0;
    for (uint32_t k = 0; k < f->format.categories; k++)
        lists += f->categories[k].encode == CATEGORY_ONEHOT;
    return rows * ((numbers + 1) * sizeof(float) + lists * sizeof(uint32_t)) +
           design_most(f) * sizeof(struct design_column) + sparse_most(f) * sizeof(uint64_t);
}

struct design *design_new(const struct features *f, const struct rows *rows, const uint32_t *index,
                          uint64_t count, const double *weight)
{
    struct design *d = mem_zero(1, sizeof *d);
    struct reading r = {.f = f, .rows = rows, .index = index, .count = count};
    const uint32_t dense = f->format.numbers, categories = f->format.categories;
    uint32_t sparse = f->indicator_count, most = dense + f->edge_count;
    d->rows = count;
    d->room = mem_alloc(count + 1, sizeof *d->room);
    r.first = mem_alloc((size_t)categories + 1, sizeof *r.first);
    for (uint32_t k = 0; k < categories; k++) {
        bool onehot = f->categories[k].encode == CATEGORY_ONEHOT;
        r.first[k] = onehot ? sparse : UINT32_MAX;
        sparse += onehot ? f->categories[k].count : 0;
    }
    read_numbers(&r, d);
    read_sparse(&r, d, sparse);
    add_binned(&r, d);
    d->column = mem_alloc((size_t)most + sparse + 1, sizeof *d->column);
    for (uint32_t k = 0; k < dense; k++)
        if (!f->numbers || !f->numbers[k].alone)
            add(d, (struct design_column){.kind = DESIGN_NUMBER, .from = k, .row = k}, weight);
    for (uint32_t k = 0; k < sparse; k++) /* the columns of x stand in the same order */
        add(d, (struct design_column){.kind = DESIGN_SPARSE, .from = k, .row = dense + k}, weight);
    add_components(d, f, weight);
    mem_free(r.first);
    return d;
}

void design_free(struct design *d)
{
    if (!d)
        return;
    mem_free(d->column);
    mem_free(d->numbers);
    mem_free(d->begin);
    mem_free(d->list);
    mem_free(d->room);
    mem_free(d);
}
