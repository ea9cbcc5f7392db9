/* quantile_loop.h - the loops of quantile.h around quantile_search, which the including file
 * defines: one source for every kind of processor. With QUANTILE_LISTS it defines quantile_around,
 * quantile_tails and quantile_share too. Vectorised loops have no branches; rare values are listed
 * and handled afterwards. Private to quantile*.c. */
#include <math.h>
#include <string.h>

#include "table/encoder/quantile.h"

#ifndef QUANTILE_LISTS
/* Finds both knots around each value; the first or last knot twice outside. Lists the values at a
 * knot or outside; returns their number. */
static size_t quantile_around(const float *knots, uint32_t count, const float *v,
                              const uint32_t *below, float *low, float *high, uint32_t *listed,
                              size_t values)
{
    size_t found = 0;
    for (size_t i = 0; i < values; i++) {
        low[i] = knots[below[i] ? below[i] - 1 : 0];
        high[i] = knots[below[i] < count ? below[i] : count - 1];
        listed[found] = (uint32_t)i;
        found += below[i] == 0 || high[i] <= v[i];
    }
    return found;
}

/* Lists the ranks outside the middle. */
static size_t quantile_tails(const double *rank, uint32_t *listed, double *tail, size_t values)
{
    size_t found = 0;
    for (size_t i = 0; i < values; i++) {
        listed[found] = (uint32_t)i;
        tail[found] = rank[i];
        found += (size_t) !(fabs(rank[i] - 0.5) <= QUANTILE_MIDDLE);
    }
    return found;
}

static inline double quantile_share(double place, double last, double inverse)
{
    (void)inverse;
    return place / last;
}
#endif

/* --- the inverse of the normal distribution --- */

/* Natural logarithm of 2^-60 < x < 1 to 1e-11: x = m 2^k with m in [1/sqrt(2), sqrt(2)), then 2
 * atanh((m - 1) / (m + 1)). Not the library's: its last bit differs between machines. */
static inline double log_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    int64_t k = (int64_t)(bits >> 52) - 1022;
    bits = (bits & 0xFFFFFFFFFFFFFu) | (uint64_t)1022 << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    bool low = m < 0.70710678118654752440;
    m = low ? m * 2 : m;
    k -= low;
    double s = (m - 1) / (m + 1), z = s * s;
    double sum = 1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 +
                     z * (1.0 / 13))))));
    return 2 * s * sum + (double)k * 0.69314718055994530942;
}

/* Algorithm AS 241, routine PPND7 (M. J. Wichura, Applied Statistics 37, 1988): about seven digits.
 * Without its far tail, because the result is clipped to +-5.2. */
static inline bool in_middle(double p)
{
    return fabs(p - 0.5) <= QUANTILE_MIDDLE;
}

static inline double quantile_middle(double p)
{
    double q = p - 0.5, r = 0.180625 - q * q;
    return q *
           (((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179) /
           (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1);
}

static inline double quantile_tail(double p)
{
    double tail = p - 0.5 < 0 ? p : 1 - p;
    bool near = tail > 1e-8;
    double r = sqrt(-log_of(near ? tail : 0.25)) - 1.6;
    double z = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) /
               ((0.12021132975 * r + 0.73700164250) * r + 1);
    z = z > QUANTILE_MOST ? QUANTILE_MOST : z;
    z = near ? z : QUANTILE_MOST;
    return p - 0.5 < 0 ? -z : z;
}

/* --- ranks --- */

/* Returns the first knot greater than knots[from]. Usually the next one. */
static uint32_t run_end(const float *knots, uint32_t count, uint32_t from)
{
    uint32_t low = from + 1, high = count;
    if (low == count || knots[low] > knots[from])
        return low;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (knots[middle] <= knots[from])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Rank of a value equal to a knot or outside all knots. A value equal to several knots gets the
 * middle of their ranks: if half of a column is zero, zero is no outlier. */
static double rank_at_knot(const struct number_slot *n, float v, uint32_t below)
{
    uint32_t count = n->quantile_count;
    double last = count > 1 ? (double)(count - 1) : 1;
    if (below == count)
        return 1;
    if (!(n->quantiles[below] <= v))
        return 0;
    uint32_t end = run_end(n->quantiles, count, below);
    return count == 1 ? 0.5 : ((double)below + (double)(end - 1)) / 2 / last;
}

static inline void quantile_loop(const struct number_slot *n, float *restrict v, size_t values,
                                 struct quantile_room *restrict room)
{
    uint32_t *restrict below = room->below, *restrict listed = room->listed;
    float *restrict low = room->low, *restrict high = room->high;
    double *restrict rank = room->rank, *restrict tail = room->tail;
    const float *knots = n->quantiles;
    uint32_t count = n->quantile_count;
    const double last = count > 1 ? (double)(count - 1) : 1, inverse = 1 / last;
    quantile_search(knots, count, v, below, values);
    size_t found = quantile_around(knots, count, v, below, low, high, listed, values);
    for (size_t i = 0; i < values; i++) {
        double left = (double)low[i], right = (double)high[i];
        double part = ((double)v[i] - left) / (right - left);
        rank[i] = quantile_share((double)((int32_t)below[i] - 1) + part, last, inverse);
    }
    for (size_t i = 0; i < found; i++)
        rank[listed[i]] = rank_at_knot(n, v[listed[i]], below[listed[i]]);

    found = quantile_tails(rank, listed, tail, values);
    for (size_t i = 0; i < values; i++)
        v[i] = (float)quantile_middle(rank[i]);
    for (size_t i = 0; i < found; i++)
        tail[i] = quantile_tail(tail[i]);
    const double least = n->least, most = n->most;
    for (size_t i = 0; i < found; i++) {
        double z = tail[i] < most ? tail[i] : most;
        v[listed[i]] = (float)(z > least ? z : least);
    }
}
