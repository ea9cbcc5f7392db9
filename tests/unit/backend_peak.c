/* backend_peak.c - the limits of this processor are measured, and a sized case of each operation
 * runs again and again on finite numbers. */
#include <math.h>

#include "backend/cases/opcase.h"
#include "backend/peak.h"
#include "base/process/thread.h"
#include "tap.h"

static void issue(void *data, struct machine *m)
{
    const struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

static bool all_finite(const struct opdata *d)
{
    const char *where;
    return isfinite(opcase_difference(d, d, &where)) && opcase_inside(d, &where);
}

int main(void)
{
    struct err e = {0};
    threads_start(2);
    struct machine *m = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
    double all = peak_measure(m, PEAK_FMA, 0, 0.02), one = peak_measure(m, PEAK_FMA_ONE, 0, 0.02);
    ok(one > 1e8 && one < 1e13, "multiply-adds of one core: %.3g", one);
    ok(all > one / 3, "and of all: %.3g", all);
    ok(peak_measure(m, PEAK_COPY, 1 << 16, 0.02) > 1e8, "a near copy");
    ok(peak_measure(m, PEAK_COPY, 1 << 24, 0.02) > 1e7, "a far one");
    ok(peak_measure(m, PEAK_TF32, 0, 0.02) <= 0 && peak_measure(m, PEAK_BF16, 0, 0.02) <= 0 &&
           peak_measure(m, PEAK_FP16, 0, 0.02) <= 0, "a CPU has no tensor cores");
    ok(peak_measure(m, PEAK_COPY, 64, 0.001) <= 0, "nothing to copy");
    for (int op = 0; op < (int)OP_COUNT; op++) {
        struct opcase c = opcase_sized((enum op_id)op, 70, 40);
        struct opdata *d = opcase_make(&c, m, 1);
        struct routine *r = machine_record(m, issue, d);
        machine_play(m, r, 20);
        ok(machine_wait(m, 10, &e) && all_finite(d) && opcase_items(&c) > 0 && d->bytes > 0,
           "%s, as large as wanted", op_name((enum op_id)op));
        routine_drop(m, r);
        opcase_free(d);
    }
    machine_close(m);
    return done();
}
