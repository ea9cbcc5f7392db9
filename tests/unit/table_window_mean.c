/* table_window_mean.c - the mean of overlapping windows: in double, by member and line. */
#include "table/sequence/windows.h"
#include "tap.h"

static void members(void)
{
    /* [2 members][3 answers][2 outputs] */
    const real logits[] = {1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6};
    real to[2 * 4 * 2] = {0};
    struct window_mean m = {0};
    window_mean_begin(&m, 2, 2, 2);
    const uint32_t line[] = {0, 1, 0}, none[] = {UINT32_MAX, UINT32_MAX};
    window_mean_add(&m, line, logits, 3, 0, 3);
    window_mean_add(&m, none, logits, 3, 1, 2);
    window_mean_put(&m, to, 4, 1);
    const real want[] = {0, 0, 3, 4, 3, 4, 0, 0, 0, 0, -3, -4, -3, -4, 0, 0};
    for (int i = 0; i < 16; i++)
        ok(to[i] >= want[i] && to[i] <= want[i], "number %d: %g", i, (double)to[i]);
    window_mean_begin(&m, 2, 1, 2);
    window_mean_put(&m, to, 4, 1);
    ok(to[2] >= 3 && to[2] <= 3, "a line without windows stays");
    window_mean_free(&m);
}

/* In float 1e8 + 1 is 1e8, and the mean of the three would be 0. */
static void digits(void)
{
    const real logits[] = {(real)1e8, 1, (real)-1e8};
    real to = 0;
    struct window_mean m = {0};
    window_mean_begin(&m, 1, 1, 1);
    window_mean_add(&m, NULL, logits, 3, 0, 2);
    window_mean_add(&m, NULL, logits, 3, 2, 1);
    window_mean_put(&m, &to, 1, 0);
    ok(to > (real)0.333333 && to < (real)0.333334, "summed in double: %.9g", (double)to);
    window_mean_free(&m);
}

int main(void)
{
    members();
    digits();
    return done();
}
