/* fit_values.c - see fit_values.h. */
#include "table/fit/fit_values.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

double values_between(const float pair[2], double rank)
{
    double part = rank - floor(rank);
    return (double)pair[0] * (1 - part) + (double)pair[1] * part;
}

double values_at_rank(const struct values *s, double rank)
{
    uint32_t i = (uint32_t)rank;
    float pair[2];
    if (i + 1 >= s->count)
        return s->high;
    if (s->sorted)
        return values_between(s->v + i, rank);
    select_floats(s->v, s->count, &i, 1, &pair);
    return values_between(pair, rank);
}

double values_at_share(const struct values *s, double share)
{
    return values_at_rank(s, share * (double)(s->count - 1));
}

/* Mean and deviation of sorted values. Two passes in double: the second sums small deviations, not
 * large values. */
void values_spread(struct values *s)
{
    double sum = 0, second = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum += (double)s->v[i] - s->low;
    s->mean = s->low + sum / (double)s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        double d = (double)s->v[i] - s->mean;
        second += d * d;
    }
    if (s->low < s->high)
        s->deviation = sqrt(second / (double)s->count);
    else
        s->mean = s->low; /* exact, without rounding of the sum */
}

/* Returns the first place from `from` on with a value above `value`. */
static uint32_t first_above(const struct values *s, uint32_t from, float value)
{
    uint32_t end = s->count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (s->v[middle] > value)
            end = middle;
        else
            from = middle + 1;
    }
    return from;
}

uint32_t values_distinct(const struct values *s, uint32_t most)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < s->count && distinct < most; distinct++)
        i = first_above(s, i, s->v[i]);
    return distinct;
}

uint32_t values_often(const struct values *s)
{
    uint32_t step = s->count < 8 ? 1 : s->count / 8, often = 0, begin = 0;
    for (uint32_t i = 0; i < s->count; i += step) {
        uint32_t end = first_above(s, i, s->v[i]);
        uint32_t first = begin;
        for (uint32_t stop = i; first < stop;) {
            uint32_t middle = first + (stop - first) / 2;
            if (s->v[middle] < s->v[i])
                first = middle + 1;
            else
                stop = middle;
        }
        often = end - first > often ? end - first : often;
        begin = first;
    }
    return often;
}

#define FAR 3     /* ranges of the other values */
#define OTHERS 10 /* other values at least: among few ones a step may be as far */

/* Leaves out the outermost values at one end, at most three different ones, if they are far. */
static bool leave_end(struct values *s, bool top)
{
    const uint32_t count = s->count;
    uint32_t run = 0;
    for (int k = 0; k < 3 && 2 * (uint64_t)run <= count; k++) {
        const float value = s->v[top ? count - 1 - run : run];
        while (run < count && !(s->v[top ? count - 1 - run : run] < value) &&
               !(s->v[top ? count - 1 - run : run] > value))
            run++;
        if (2 * (uint64_t)run > count)
            return false;
        const double low = (double)s->v[top ? 0 : run],
                     high = (double)s->v[top ? count - 1 - run : count - 1],
                     gap = top ? (double)value - high : low - (double)value;
        const bool many = 100 * (uint64_t)run >= count && (double)run >= 10 * s->unit;
        struct values rest = *s;
        rest.v += top ? 0 : run;
        rest.count -= run;
        rest.low = low;
        rest.high = high;
        if (!many || gap <= FAR * (high - low) || values_distinct(&rest, OTHERS) < OTHERS)
            continue;
        *s = rest;
        return true;
    }
    return false;
}

void values_leave_far(struct values *s)
{
    for (int turn = 0; turn < 4 && s->count; turn++)
        leave_end(s, turn & 1);
}

/* --- the range --- */

/* -0 is below 0, as in sort_floats. */
static void sign_zeros(const float *v, uint64_t rows, float *low, float *high)
{
    bool minus = false, plus = false;
    for (uint64_t i = 0; i < rows; i++) {
        minus |= v[i] == 0 && signbit(v[i]);
        plus |= v[i] == 0 && !signbit(v[i]);
    }
    *low = *low == 0 ? (minus ? -0.0f : 0.0f) : *low;
    *high = *high == 0 ? (plus ? 0.0f : -0.0f) : *high;
}

#define LANES 4
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

/* Selects a if mask is set, else b. */
static inline floats choose(ints mask, floats a, floats b)
{
    return (floats)((mask & (ints)a) | (~mask & (ints)b));
}

uint32_t values_range(float *v, uint64_t rows, float *low, float *high)
{
    floats least = {INFINITY, INFINITY, INFINITY, INFINITY}, most = -least, x;
    ints lacking = {0};
    uint64_t whole = rows / LANES * LANES;
    uint32_t count = 0;
    for (uint64_t i = 0; i < whole; i += LANES) {
        memcpy(&x, v + i, sizeof x);
        least = choose(x < least, x, least);
        most = choose(x > most, x, most);
        lacking += x != x; /* -1 for NaN */
    }
    for (uint64_t i = whole; i < rows; i++) {
        least[0] = v[i] < least[0] ? v[i] : least[0];
        most[0] = v[i] > most[0] ? v[i] : most[0];
        lacking[0] -= v[i] != v[i];
    }
    for (int k = 1; k < LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
        most[0] = most[k] > most[0] ? most[k] : most[0];
        lacking[0] |= lacking[k];
    }
    *low = least[0];
    *high = most[0];
    if (*low == 0 || *high == 0)
        sign_zeros(v, rows, low, high);
    if (!lacking[0])
        return (uint32_t)rows;
    for (uint64_t i = 0; i < rows; i++)
        if (v[i] == v[i])
            v[count++] = v[i];
    return count;
}
