/* Every case of every operation: against the reference in double, with every vector code, plain and
 * recorded, with 1, 2, 3 and 8 threads. */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "backend/cases/opcase.h"
#include "base/mem.h"
#include "base/process/thread.h"
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

/* One case on every machine beside the reference, which is slow and runs once. */
static void against_reference(struct machine *const machines[3], const char *const cores[3],
                              const struct opcase *c)
{
    char name[128];
    const char *where;
    struct opdata *theirs = opcase_make(c, machines[0], 42);
    reference_op(c->op, &theirs->arguments);
    opcase_name(c, name, sizeof name);
    double gate = sizeof(real) == sizeof(double) && c->gate > 0 ? 1e-12 : c->gate;
    for (int i = 0; i < 3; i++) {
        if (!machines[i])
            continue;
        struct opdata *ours = opcase_make(c, machines[i], 42);
        machine_issue(machines[i], c->op, &ours->arguments);
        double worst = opcase_difference(ours, theirs, &where);
        ok(worst <= gate, "%s, %s: %.2g within %.2g %s", cores[i], name, worst, gate, where);
        if (!opcase_inside(ours, &where))
            ok(false, "%s, %s: nothing is written outside %s", cores[i], name, where);
        opcase_free(ours);
    }
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

/* What differs at `at` bytes of that buffer of the first case that writes it, by a double that is
 * put there, or by one bit: infinitely far, whichever of the two has it. */
static void notices(struct machine *m, const char *name, size_t at, const double *spoilt)
{
    const struct opcase *c;
    for (size_t i = 0; (c = opcase_at(i)); i++) {
        struct opdata *good = issued(m, c, false), *bad = issued(m, c, false);
        unsigned k = 0;
        while (k < bad->count && !(bad->buffers[k].written && !strcmp(bad->buffers[k].name, name)))
            k++;
        bool found = k < bad->count;
        if (found) {
            unsigned char *there = (unsigned char *)bad->buffers[k].memory + at;
            const char *where, *other;
            ok(opcase_difference(bad, good, &where) == 0, "%s: the same as itself", name);
            if (spoilt)
                memcpy(there, spoilt, sizeof *spoilt);
            else
                *there ^= 1;
            double one = opcase_difference(bad, good, &where);
            double two = opcase_difference(good, bad, &other);
            ok(isinf(one) && isinf(two), "%s + %zu: %g, and %g the other way round", name, at, one,
               two);
            is_string(where, name, "where it is");
            is_string(other, name, "from either side");
        }
        opcase_free(good);
        opcase_free(bad);
        if (found)
            return;
    }
    ok(false, "no case writes %s", name);
}

/* fmax and a comparison let pass what is no number. */
static void nothing_passes(struct machine *m)
{
    const double nan = (double)NAN, far = (double)INFINITY;
    notices(m, "part_loss", 0, &nan);
    notices(m, "part_loss", 0, &far);
    notices(m, "part_weight", 0, &nan);
    notices(m, "now", offsetof(struct step, gnorm), &nan);
    notices(m, "now", offsetof(struct step, tried), NULL);
    notices(m, "kept", 0, NULL);
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
    }
    for (size_t k = 0; k < cases; k++)
        against_reference(machines, cores, opcase_at(k));
    nothing_passes(machines[0]);
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
