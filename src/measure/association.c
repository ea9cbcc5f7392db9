/* association.c - see association.h. */
#include "measure/association.h"

#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/sort.h"

/* --- traits --- */

struct trait trait_numbers(const float *values, uint32_t rows)
{
    struct trait t = {.rows = rows, .rank = mem_alloc((size_t)rows + 1, sizeof *t.rank)};
    uint32_t *row = mem_alloc((size_t)rows + 1, sizeof *row), count = 0;
    uint32_t *order = mem_alloc((size_t)rows + 1, sizeof *order);
    float *keys = mem_alloc((size_t)rows + 1, sizeof *keys);
    for (uint32_t i = 0; i < rows; i++) {
        t.rank[i] = NAN;
        if (isnan(values[i]))
            continue;
        keys[count] = values[i] + 0.0f; /* no minus 0 */
        row[count++] = i;
    }
    sort_order_floats(order, keys, count);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && !(keys[order[end]] > keys[order[first]]);)
            end++;
        for (uint32_t k = first; k < end; k++)
            t.rank[row[order[k]]] = (float)(first + end - 1) / 2;
        t.tells = t.tells || end - first < count;
    }
    mem_free(keys);
    mem_free(order);
    mem_free(row);
    return t;
}

static int by_value(const void *a, const void *b, const void *context)
{
    const int32_t *values = context, x = values[*(const uint32_t *)a],
                  y = values[*(const uint32_t *)b];
    return x < y ? -1 : x > y;
}

struct trait trait_categories(const int32_t *values, uint32_t rows)
{
    struct trait t = {.rows = rows};
    t.code = mem_alloc((size_t)rows + 1, sizeof *t.code);
    t.order = mem_alloc((size_t)rows + 1, sizeof *t.order);
    t.first = mem_alloc((size_t)rows + 2, sizeof *t.first);
    for (uint32_t i = 0; i < rows; i++)
        t.order[i] = i;
    sort_stable(t.order, rows, sizeof *t.order, by_value, values);
    for (uint32_t k = 0; k < rows; k++) {
        if (!k || values[t.order[k]] != values[t.order[k - 1]])
            t.first[t.codes++] = k;
        t.code[t.order[k]] = t.codes - 1;
    }
    t.first[t.codes] = rows;
    t.tells = t.codes > 1;
    return t;
}

void trait_free(struct trait *t)
{
    mem_free(t->rank);
    mem_free(t->code);
    mem_free(t->order);
    mem_free(t->first);
    *t = (struct trait){0};
}

/* --- pairs --- */

/* Too few rows tell nothing. */
static bool enough(uint32_t count, uint32_t rows)
{
    return count > 2 && 2 * count >= rows;
}

static double spearman(const struct trait *a, const struct trait *b)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    const double middle = a->rows / 2.0; /* near the means: the sums keep their digits */
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->rows; i++) {
        if (isnan(a->rank[i]) || isnan(b->rank[i]))
            continue;
        const double u = (double)a->rank[i] - middle, v = (double)b->rank[i] - middle;
        x += u;
        y += v;
        xx += u * u;
        yy += v * v;
        xy += u * v;
        n++;
    }
    if (!enough(n, a->rows))
        return 0;
    const double cov = xy - x * y / n, va = xx - x * x / n, vb = yy - y * y / n;
    return va > 0 && vb > 0 ? fmin(fabs(cov) / sqrt(va * vb), 1) : 0;
}

/* a: numbers, b: categories. */
static double ratio(const struct trait *a, const struct trait *b)
{
    double sum = 0, square = 0, between = 0;
    uint32_t n = 0, groups = 0;
    for (uint32_t c = 0; c < b->codes; c++) {
        double own = 0;
        uint32_t count = 0;
        for (uint32_t k = b->first[c]; k < b->first[c + 1]; k++) {
            const double v = (double)a->rank[b->order[k]];
            if (isnan(v))
                continue;
            own += v;
            square += v * v;
            count++;
        }
        sum += own;
        n += count;
        groups += count > 0;
        between += count ? own * own / count : 0;
    }
    if (!enough(n, a->rows) || groups < 2 || n <= groups)
        return 0;
    const double all = square - sum * sum / n, within = square - between;
    const double explained = 1 - within / (n - groups) / (all / (n - 1));
    return all > 0 && explained > 0 ? sqrt(explained) : 0;
}

static double cramer(const struct trait *a, const struct trait *b, uint32_t *scratch)
{
    const double n = a->rows;
    double sum = 0;
    for (uint32_t c = 0; c < a->codes; c++) {
        const double own = a->first[c + 1] - a->first[c];
        for (uint32_t k = a->first[c]; k < a->first[c + 1]; k++)
            scratch[b->code[a->order[k]]]++;
        for (uint32_t k = a->first[c]; k < a->first[c + 1]; k++) {
            const uint32_t code = b->code[a->order[k]];
            const double both = scratch[code], other = b->first[code + 1] - b->first[code];
            sum += both * both / (own * other);
            scratch[code] = 0;
        }
    }
    const double r = a->codes - 1, k = b->codes - 1;
    const double phi = fmax(0, sum - 1 - r * k / (n - 1));
    const double least = fmin(r - r * r / (n - 1), k - k * k / (n - 1));
    return least > 1e-9 ? sqrt(fmin(phi / least, 1)) : 0;
}

double association(const struct trait *a, const struct trait *b, uint32_t *scratch)
{
    if (!a->tells || !b->tells)
        return 0;
    if (a->rank && b->rank)
        return spearman(a, b);
    if (!a->rank && !b->rank)
        return cramer(a, b, scratch);
    return a->rank ? ratio(a, b) : ratio(b, a);
}
