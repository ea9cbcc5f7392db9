/* Every case of every operation: against the reference in double, with every vector code, plain and
 * recorded, with 1, 2, 3 and 8 threads. */
#include "tap.h"

#include <stdlib.h>

#include "backend/cpu.h"
#include "backend/opcase.h"
#include "base/mem.h"
#include "base/thread.h"
#include "reference_op.h"

static struct machine *open_with(const char *core)
{
    struct err e = {0};
    setenv("DNN_CPU", core, 1);
    struct machine_options o = {.backend = "cpu"};
    struct machine *m = machine_open(&o, &e);
    unsetenv("DNN_CPU");
    return m;
}

/* Steps are compared by their members; the parts of a loss by their sums. */
static double sum_of(const struct opdata *d, const char *name)
{
    double sum = 0;
    for (unsigned i = 0; i < d->count; i++)
        for (size_t k = 0; k < d->buffers[i].width && strcmp(d->buffers[i].name, name) == 0; k++)
            sum += ((const double *)d->buffers[i].memory)[k];
    return sum;
}

static double parts_difference(struct opdata *a, struct opdata *b)
{
    double worst = 0;
    static const char *const names[] = {"part_loss", "part_weight"};
    for (int i = 0; i < 2; i++) {
        double x = sum_of(a, names[i]), y = sum_of(b, names[i]);
        double d = x == y ? 0 : fabs(x - y) / fmax(fabs(y), 1e-30);
        if (!(d <= worst))
            worst = isnan(d) ? (double)INFINITY : d; /* fmax would drop what is no number */
    }
    for (unsigned i = 0; i < a->count; i++)
        if (a->buffers[i].type == BUFFER_DOUBLE)
            a->buffers[i].written = b->buffers[i].written = false;
    return worst;
}

static double step_difference(const struct opdata *a, const struct opdata *b)
{
    for (unsigned i = 0; i < a->count; i++)
        if (strcmp(a->buffers[i].name, "now") == 0 && a->buffers[i].written) {
            struct step x, y;
            memcpy(&x, a->buffers[i].memory, sizeof x);
            memcpy(&y, b->buffers[i].memory, sizeof y);
            double worst = isfinite(y.gnorm) ? fabs(x.gnorm - y.gnorm) / fmax(y.gnorm, 1e-30) : 0;
            x.gnorm = y.gnorm = 0;
            return memcmp(&x, &y, sizeof x) || isnan(worst) ? (double)INFINITY : worst;
        }
    return 0;
}

static void against_reference(struct machine *m, const struct opcase *c, const char *core)
{
    char name[128];
    const char *where;
    struct opdata *ours = opcase_make(c, m, 42), *theirs = opcase_make(c, m, 42);
    machine_issue(m, c->op, &ours->arguments);
    reference_op(c->op, &theirs->arguments);
    opcase_name(c, name, sizeof name);
    double parts = c->op == OP_loss_class || c->op == OP_loss_value ? parts_difference(ours,
            theirs) : 0;
    double worst = fmax(fmax(parts, step_difference(ours, theirs)), opcase_difference(ours, theirs,
            &where));
    double gate = sizeof(real) == sizeof(double) && c->gate > 0 ? 1e-12 : c->gate;
    ok(worst <= gate, "%s, %s: %.2g within %.2g %s", core, name, worst, gate, where);
    if (!opcase_inside(ours, &where))
        ok(false, "%s, %s: nothing is written outside %s", core, name, where);
    opcase_free(ours);
    opcase_free(theirs);
}

static void issue_case(void *data, struct machine *m)
{
    struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

/* One case on one machine, recorded or not; the caller frees. */
static struct opdata *issued(struct machine *m, const struct opcase *c, bool recorded)
{
    struct opdata *d = opcase_make(c, m, 43);
    if (!recorded)
        issue_case(d, m);
    if (recorded) {
        struct routine *r = machine_record(m, issue_case, d);
        uint64_t before = mem_in_use();
        machine_play(m, r, 1);
        if (mem_in_use() != before)
            ok(false, "playing takes no memory");
        routine_drop(m, r);
    }
    return d;
}

static size_t compared, mismatches;

static void same_bits(struct machine *m, const struct opcase *c, const struct opdata *want,
                      bool recorded, const char *how)
{
    const char *where = "";
    char name[128];
    opcase_name(c, name, sizeof name);
    struct opdata *d = issued(m, c, recorded);
    bool same = opcase_same(d, want, &where);
    compared++;
    mismatches += !same;
    if (!same)
        ok(false, "%s: the same bits %s (%s differs)", name, how, where);
    opcase_free(d);
}

int main(void)
{
    static const char *const cores[] = {"c", "avx2", "avx512"};
    struct machine *machines[3];
    size_t cases = 0;
    while (opcase_at(cases))
        cases++;
    threads_start(1);
    for (int i = 0; i < 3; i++) {
        machines[i] = open_with(cores[i]);
        if (!machines[i])
            tap_skip(cores[i], "this processor or build has no such code");
        for (size_t k = 0; machines[i] && k < cases; k++)
            against_reference(machines[i], opcase_at(k), cores[i]);
    }
    struct opdata **want = mem_zero(cases, sizeof *want);
    for (size_t k = 0; k < cases; k++)
        want[k] = issued(machines[0], opcase_at(k), false);
    for (int i = 0; i < 3; i++)
        for (size_t k = 0; machines[i] && k < cases; k++) {
            if (i)
                same_bits(machines[i], opcase_at(k), want[k], false, cores[i]);
            same_bits(machines[i], opcase_at(k), want[k], true, "recorded");
        }
    struct machine *m = machines[2] ? machines[2] : machines[1] ? machines[1] : machines[0];
    static const unsigned counts[] = {2, 3, 8};
    for (int t = 0; t < 3; t++) {
        threads_stop();
        threads_start(counts[t]);
        is_int(threads_count(), counts[t], "threads");
        for (size_t k = 0; k < cases; k++)
            same_bits(m, opcase_at(k), want[k], true, "with threads");
    }
    threads_stop();
    ok(mismatches == 0 && compared >= 4 * cases,
       "%zu cases have the same bits in every way: %zu comparisons, %zu differ", cases, compared,
       mismatches);
    for (size_t k = 0; k < cases; k++)
        opcase_free(want[k]);
    mem_free(want);
    for (int i = 0; i < 3; i++)
        machine_close(machines[i]);
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
