/* apply.c - column_apply: raw numbers become what the network sees. Column by column over a
 * block of records that fits the first cache, so that every loop is plain and the constants of a
 * column stay in registers. A record's result depends on that record alone. */
#include "data/cell.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "data/stats.h"

#define BLOCK 256u

/* --- the inverse of the normal distribution --- */

/* Natural logarithm of 2^-60 < x < 1 to 1e-11: x = m 2^k with m in [1/sqrt(2), sqrt(2)), then 2
 * atanh((m - 1) / (m + 1)). Our own, because the last bit of a library's differs between
 * machines. */
static double log_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t k = (int64_t)(bits >> 52) - 1022;
    bits = (bits & 0xFFFFFFFFFFFFFu) | (uint64_t)1022 << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    if (m < 0.70710678118654752440) {
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), z = s * s;
    double sum = 1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 +
                     z * (1.0 / 13))))));
    return 2 * s * sum + (double)k * 0.69314718055994530942;
}

/* Algorithm AS 241, routine PPND7 (M. J. Wichura, Applied Statistics 37, 1988): about seven
 * digits. Its far tail is left out: the result is clipped to +-5.2 before that. */
double stats_normal_quantile(double p)
{
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q *
               (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
               (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
    }
    double tail = q < 0 ? p : 1 - p;
    if (!(tail > 1e-8))
        return q < 0 ? -STATS_QUANTILE_MOST : STATS_QUANTILE_MOST;
    double r = sqrt(-log_of(tail)) - 1.6;
    double z = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
               ((0.12021132975 * r + 0.73700164250) * r + 1);
    z = z > STATS_QUANTILE_MOST ? STATS_QUANTILE_MOST : z;
    return q < 0 ? -z : z;
}

/* --- scales --- */

static void impute(const struct number_slot *n, float *v, size_t count)
{
    const float instead = n->impute;
    for (size_t i = 0; i < count; i++)
        v[i] = v[i] == v[i] ? v[i] : instead;
}

static void apply_plain(const struct number_slot *n, float *v, size_t count)
{
    const double center = n->center;
    for (size_t i = 0; i < count; i++)
        v[i] = (float)((double)v[i] - center);
}

static void apply_linear(const struct number_slot *n, float *v, size_t count)
{
    const double center = n->center, factor = n->factor;
    for (size_t i = 0; i < count; i++) {
        double x = ((double)v[i] - center) * factor;
        x = x < STATS_SCALED_MOST ? x : STATS_SCALED_MOST;
        v[i] = (float)(x > -STATS_SCALED_MOST ? x : -STATS_SCALED_MOST);
    }
}

/* Knots below x: the same halving for all values at once, without a branch that depends on one. */
static void search(const float *knots, uint32_t count, const float *v, uint32_t *below,
                   size_t values)
{
    memset(below, 0, values * sizeof *below);
    uint32_t left = count;
    for (; left > 1; left -= left / 2)
        for (size_t i = 0; i < values; i++)
            below[i] += (0u - (uint32_t)(knots[below[i] + left / 2 - 1] < v[i])) & left / 2;
    for (size_t i = 0; i < values; i++)
        below[i] += knots[below[i]] < v[i];
}

/* The first knot above x, given one that equals it. */
static uint32_t run_end(const float *knots, uint32_t count, uint32_t from)
{
    uint32_t low = from, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (knots[middle] <= knots[from])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* A value that several knots share stands at the middle of their ranks: half of a column being
 * zero is no outlier. */
static double rank_of(const struct number_slot *n, float v, uint32_t below)
{
    const float *knots = n->quantiles;
    uint32_t count = n->quantile_count;
    double last = count > 1 ? (double)(count - 1) : 1;
    if (below == count)
        return 1;
    if (knots[below] <= v) {
        uint32_t end = run_end(knots, count, below);
        return count == 1 ? 0.5 : ((double)below + (double)(end - 1)) / 2 / last;
    }
    if (below == 0)
        return 0;
    double left = (double)knots[below - 1], right = (double)knots[below];
    return ((double)(below - 1) + ((double)v - left) / (right - left)) / last;
}

static void apply_quantile(const struct number_slot *n, float *v, size_t count)
{
    uint32_t below[BLOCK];
    search(n->quantiles, n->quantile_count, v, below, count);
    for (size_t i = 0; i < count; i++)
        v[i] = (float)stats_normal_quantile(rank_of(n, v[i], below[i]));
}

static void apply_slot(const struct number_slot *n, float *v, size_t count)
{
    impute(n, v, count);
    if (n->scale == SCALE_QUANTILE)
        apply_quantile(n, v, count);
    else if (n->scale == SCALE_NONE)
        apply_plain(n, v, count);
    else
        apply_linear(n, v, count);
}

void column_apply(const struct schema *s, unsigned char *records, size_t count)
{
    assert(s->fitted);
    float v[BLOCK];
    size_t stride = s->format.stride, most = ((size_t)32 << 10) / stride;
    most = most > BLOCK ? BLOCK : most < 16 ? 16 : most;
    for (size_t done = 0; done < count; done += most) {
        size_t rows = count - done < most ? count - done : most;
        unsigned char *block = records + done * stride;
        for (uint32_t slot = 0; slot < s->number_count; slot++) {
            unsigned char *at = block + 4 * (size_t)slot;
            for (size_t i = 0; i < rows; i++)
                memcpy(&v[i], at + i * stride, sizeof *v);
            apply_slot(&s->numbers[slot], v, rows);
            for (size_t i = 0; i < rows; i++)
                memcpy(at + i * stride, &v[i], sizeof *v);
        }
    }
}
