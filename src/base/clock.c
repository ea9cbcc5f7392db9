/* clock.c - see clock.h. The call cannot fail on Linux. */
#include "base/clock.h"

#include <time.h>

double clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
