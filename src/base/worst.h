/* worst.h - the larger of two differences, where one that is no number is the worst there is: a
 * comparison alone forgets it as soon as the next one is smaller. */
#ifndef DNN_BASE_WORST_H
#define DNN_BASE_WORST_H

#include <math.h>

static inline double worst_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

#endif
