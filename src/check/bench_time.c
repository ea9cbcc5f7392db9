/* bench_time.c - the time of a row: the median of some repeats, held against the limit. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/process/stop.h"
#include "base/sort.h"
#include "check/bench_parts.h"

enum { REPEATS = 5 };
static const double REPEAT_S = 0.012; /* least seconds of a repeat: short iterations are repeated */
static const double LONGEST_S = 1.0;  /* most seconds of all repeats of a long iteration */
static const double SLICE_S = 0.25;   /* without a look for signals */

/* slice: iterations between two looks for signals. */
static bool timed(struct machine *m, bench_work *work, void *context, uint32_t times,
                  uint32_t slice, double *seconds, struct err *e)
{
    double began = clock_now();
    for (uint32_t left = times; left > 0;) {
        uint32_t now = left < slice ? left : slice;
        if (stop_wanted())
            return stop_error("the benchmark was done", e);
        if (!work(context, now, e) || !machine_wait(m, MACHINE_PATIENCE, e))
            return false;
        left -= now;
    }
    *seconds = (clock_now() - began) / times;
    return true;
}

/* The least time that the limit allows, for arithmetic or for bytes, whichever is longer, in
 * percent of the time taken. */
static double percent(const struct bench_limits *l, const struct bench_size_of *of,
                      const char *precision, double seconds)
{
    double rate = l->peaks[PEAK_FMA], least = 0;
    for (int i = PEAK_TF32; i <= PEAK_FP16; i++)
        if (strcmp(precision, peak_names[i]) == 0 && l->peaks[i] > 0)
            rate = l->peaks[i];
    int i = 0;
    while (i < BENCH_COPIES - 1 && of->bytes > l->copy_bytes[i])
        i++;
    while (i > 0 && l->copies[i] <= 0)
        i--;
    if (rate > 0)
        least = of->flops / rate;
    if (l->copies[i] > 0)
        least = fmax(least, of->bytes / l->copies[i]);
    return least > 0 && seconds > 0 ? 100 * least / seconds : -1;
}

bool bench_time(struct bench_task *t, enum bench_side side, bench_work *work, void *context,
                const struct bench_size_of *of, const char *precision, struct bench_figure *f,
                struct err *e)
{
    struct machine *m = t->machines[side];
    double first, took[REPEATS];
    uint32_t repeats = REPEATS, each = 1;
    machine_expect(m, MACHINE_PATIENCE); /* forget the limit of the row before */
    /* the first one meets cold memory, the second records the routine */
    for (int i = 0; i < 2; i++)
        if (!timed(m, work, context, 1, 1, &first, e))
            return false;
    if (t->q->iterations > 0) {
        repeats = t->q->iterations < REPEATS ? (uint32_t)t->q->iterations : REPEATS;
        each = ((uint32_t)t->q->iterations + repeats - 1) / repeats;
    } else if (first * REPEATS > LONGEST_S) {
        repeats = first * 3 > LONGEST_S ? 1 : 3;
    } else {
        each = (uint32_t)fmax(1, fmin(REPEAT_S / fmax(first, 1e-9), 1e6));
    }
    uint32_t slice = (uint32_t)fmax(1, fmin(SLICE_S / fmax(first, 1e-9), 1e6));
    for (uint32_t i = 0; i < repeats; i++)
        if (!timed(m, work, context, each, slice, &took[i], e))
            return false;
    sort_doubles(took, repeats);
    double seconds = took[repeats / 2];
    *f = (struct bench_figure){.made = true,
                               .seconds = seconds,
                               .throughput = seconds > 0 ? of->items / seconds : 0,
                               .success = 1,
                               .percent = bench_claims(t->b, side)
                                              ? percent(&t->b->limits[side], of, precision, seconds)
                                              : -1};
    return true;
}
