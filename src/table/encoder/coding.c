/* coding.c - see coding.h. */
#include "table/encoder/coding.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "table/encoder/quantile.h"

const char *const target_transform_names[] = {"none", "log", "cbrt", "quantile", "auto", NULL};

#define LOG_MOST 700.0 /* exp of it is finite */

bool coding_takes(int transform, double y)
{
    return transform != TARGET_LOG || y > 0;
}

/* --- quantile: knot k of n stands at the share (k + 1/2) / n of the training rows --- */

/* Knots below y; with `equal` also knots equal to it. */
static uint32_t knots_below(const struct target_coding *c, double y, bool equal)
{
    uint32_t low = 0, high = c->knot_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (c->knots[middle] < y || (equal && c->knots[middle] == y))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The place of y among the knots, from 0 to their number - 1; of equal knots the middle. */
static double place_of(const struct target_coding *c, double y)
{
    uint32_t below = knots_below(c, y, false), up_to = knots_below(c, y, true);
    if (up_to > below)
        return (below + up_to - 1) / 2.0;
    if (!below)
        return 0;
    if (below == c->knot_count)
        return c->knot_count - 1;
    double low = c->knots[below - 1], high = c->knots[below];
    return below - 1 + (y - low) / (high - low);
}

static double value_at(const struct target_coding *c, double place)
{
    const double last = c->knot_count - 1;
    place = place > 0 ? place < last ? place : last : 0;
    uint32_t i = (uint32_t)place, next = i + 1 < c->knot_count ? i + 1 : i;
    double part = place - i;
    return c->knots[i] * (1 - part) + c->knots[next] * part;
}

void coding_fit_knots(struct target_coding *c, const double *sorted, uint64_t count)
{
    c->knot_count = count < CODING_KNOTS_MOST ? (uint32_t)count : CODING_KNOTS_MOST;
    c->knots = mem_alloc(c->knot_count, sizeof *c->knots);
    for (uint32_t k = 0; k < c->knot_count; k++) {
        double place = k ? (double)k * (double)(count - 1) / (c->knot_count - 1) : 0;
        uint64_t i = (uint64_t)place, next = i + 1 < count ? i + 1 : i;
        double part = place - (double)i;
        c->knots[k] = sorted[i] * (1 - part) + sorted[next] * part;
    }
}

/* --- encoding and decoding --- */

static double transform(const struct target_coding *c, double y)
{
    switch ((enum target_transform)c->transform) {
    case TARGET_NONE:
    case TARGET_AUTO: break;
    case TARGET_LOG: return log(y < DBL_MIN ? DBL_MIN : y);
    case TARGET_CBRT: return cbrt(y);
    case TARGET_QUANTILE: return quantile_normal((place_of(c, y) + 0.5) / c->knot_count);
    }
    return y;
}

double coding_encode(const struct target_coding *c, double y)
{
    return y == y ? (transform(c, y) - c->center) / c->scale : y;
}

double coding_decode(const struct target_coding *c, double z)
{
    double t = z * c->scale + c->center;
    switch ((enum target_transform)c->transform) {
    case TARGET_NONE:
    case TARGET_AUTO: break;
    case TARGET_LOG: return t == t ? exp(fmin(fmax(t, -LOG_MOST), LOG_MOST)) : t;
    case TARGET_CBRT: return t * t * t;
    case TARGET_QUANTILE:
        return t == t ? value_at(c, erfc(-t / sqrt(2)) / 2 * c->knot_count - 0.5) : t;
    }
    return t;
}
