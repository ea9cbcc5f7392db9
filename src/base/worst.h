/* worst.h - max that propagates NaN: a comparison alone forgets a NaN as soon as a number
 * follows. */
#ifndef DNN_BASE_WORST_H
#define DNN_BASE_WORST_H

#include <math.h>

static inline double worst_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

#endif
