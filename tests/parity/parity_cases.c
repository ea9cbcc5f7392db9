/* parity_cases.c - every case of every operation, on the device and on the CPU. */
#include <string.h>

#include "backend/cases/opcase.h"
#include "parity.h"

enum { SEED = 42 };
static const double patience = 30;

static void issue_case(void *data, struct machine *m)
{
    const struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

/* Recorded as well: with the bits of `twice`, which was issued two times, by the graph that two
 * rounds have when they are asked for again, and with those of `once` by that of one round. The
 * first round of a routine is issued as it is, which makes no graph. */
static bool same_recorded(const struct opcase *c, struct machine *device, const struct opdata *once,
                          const struct opdata *twice, const char **where)
{
    struct opdata *d = opcase_make(c, device, SEED), *fresh = opcase_make(c, device, SEED);
    struct routine *r = machine_record(device, issue_case, d);
    bool same = true;
    machine_play(device, r, 2);
    for (uint32_t rounds = 2; same && rounds; rounds--) {
        opcase_refill(d, fresh);
        machine_play(device, r, rounds);
        same = opcase_same(d, rounds == 2 ? twice : once, where);
    }
    routine_drop(device, r);
    opcase_free(fresh);
    opcase_free(d);
    return same;
}

static void run_case(struct parity *p, const struct opcase *c, struct machine *device,
                     struct machine *cpu)
{
    char name[128], bad[256] = "";
    const char *where = "";
    struct opdata *d = opcase_make(c, device, SEED);
    if (d->flops > (double)p->most) {
        p->left_out++;
        opcase_free(d);
        return;
    }
    opcase_name(c, name, sizeof name);
    issue_case(d, device);
    if (!opcase_inside(d, &where))
        snprintf(bad, sizeof bad, "writes outside %s", where);
    struct opdata *again = opcase_make(c, device, SEED);
    issue_case(again, device);
    if (!*bad && !opcase_same(again, d, &where))
        snprintf(bad, sizeof bad, "other bits at the second time: %s", where);
    issue_case(again, device);
    if (!*bad && !same_recorded(c, device, d, again, &where))
        snprintf(bad, sizeof bad, "other bits when recorded: %s", where);
    opcase_free(again);
    struct opdata *want = opcase_make(c, cpu, SEED);
    issue_case(want, cpu);
    double worst = opcase_difference(d, want, &where);
    if (!*bad && !(worst <= c->gate))
        snprintf(bad, sizeof bad, "differs from the CPU: %s", where);
    opcase_free(want);
    opcase_free(d);
    parity_result(p, name, worst, c->gate, bad);
}

bool parity_cases(struct parity *p, struct machine *device, struct machine *cpu, struct err *e)
{
    const struct opcase *c;
    for (size_t i = 0; (c = opcase_at(i)); i++) {
        if (p->only && strcmp(p->only, op_name(c->op)) != 0)
            continue;
        run_case(p, c, device, cpu);
        if (!machine_wait(device, patience, e))
            return false; /* it stays broken: the case named last is the one */
    }
    return true;
}
