/* base_worst.c - the worst of many differences. */
#include "base/worst.h"
#include "tap.h"

int main(void)
{
    ok(worst_of(1, 2) == 2 && worst_of(2, 1) == 2 && worst_of(1, 1) == 1, "the larger one");
    ok(isinf(worst_of(1, (double)INFINITY)), "infinity is larger");
    ok(isnan(worst_of((double)NAN, 0)), "no number, then 0, is no number");
    ok(isnan(worst_of(0, (double)NAN)) && isnan(worst_of((double)INFINITY, (double)NAN)),
       "nor in the other order");
    return done();
}
