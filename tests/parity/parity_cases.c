/* parity_cases.c - every case of every operation, on the device and on the CPU. */
#include <math.h>
#include <string.h>

#include "backend/opcase.h"
#include "base/mem.h"
#include "parity.h"

enum { SEED = 42 };
static const double patience = 30;

static struct opbuffer *buffer_of(struct opdata *d, const char *name)
{
    for (unsigned i = 0; i < d->count; i++)
        if (strcmp(d->buffers[i].name, name) == 0 && d->buffers[i].written)
            return &d->buffers[i];
    return NULL;
}

static double sum_of(const struct opdata *d, const struct opbuffer *b)
{
    double *host = mem_alloc(b->width + 1, sizeof *host), sum = 0;
    machine_download(d->machine, host, b->memory, b->width * sizeof *host);
    for (size_t i = 0; i < b->width; i++)
        sum += host[i];
    mem_free(host);
    return sum;
}

/* Only the sum over the shards counts; what is compared here is not compared again. */
static double parts_difference(struct opdata *a, struct opdata *b, const char *name)
{
    struct opbuffer *x = buffer_of(a, name), *y = buffer_of(b, name);
    if (!x || !y)
        return 0;
    double of_x = sum_of(a, x), of_y = sum_of(b, y);
    x->written = y->written = false;
    return of_x == of_y ? 0 : fabs(of_x - of_y) / fmax(fabs(of_y), 1e-30);
}

/* A step by its members: its norm is a sum, all else is exact. */
static double step_difference(struct opdata *a, struct opdata *b)
{
    const struct opbuffer *x = buffer_of(a, "now"), *y = buffer_of(b, "now");
    struct step s, t;
    if (!x || !y)
        return 0;
    machine_download(a->machine, &s, x->memory, sizeof s);
    machine_download(b->machine, &t, y->memory, sizeof t);
    double d = isfinite(t.gnorm) ? fabs(s.gnorm - t.gnorm) / fmax(t.gnorm, 1e-30) : 0;
    s.gnorm = t.gnorm = 0;
    return memcmp(&s, &t, sizeof s) == 0 ? d : (double)INFINITY;
}

/* What dropout kept, by its bits. */
static double kept_difference(struct opdata *a, struct opdata *b)
{
    const struct opbuffer *x = buffer_of(a, "kept"), *y = buffer_of(b, "kept");
    if (!x || !y)
        return 0;
    unsigned char *of_x = mem_alloc(x->width + 1, 1), *of_y = mem_alloc(x->width + 1, 1);
    machine_download(a->machine, of_x, x->memory, x->width);
    machine_download(b->machine, of_y, y->memory, x->width);
    bool same = memcmp(of_x, of_y, x->width) == 0;
    mem_free(of_x);
    mem_free(of_y);
    return same ? 0 : (double)INFINITY;
}

static double difference(struct opdata *a, struct opdata *b, const char **where)
{
    double worst = fmax(parts_difference(a, b, "part_loss"), parts_difference(a, b, "part_weight"));
    worst = fmax(worst, fmax(step_difference(a, b), kept_difference(a, b)));
    return fmax(worst, opcase_difference(a, b, where));
}

static void issue_case(void *data, struct machine *m)
{
    const struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

static bool same_bits(const struct opcase *c, struct machine *device, struct opdata *first,
                      bool recorded, const char **where)
{
    struct opdata *d = opcase_make(c, device, SEED);
    struct routine *r = recorded ? machine_record(device, issue_case, d) : NULL;
    if (recorded)
        machine_play(device, r, 1);
    else
        issue_case(d, device);
    bool same = opcase_same(d, first, where);
    routine_drop(device, r);
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
    else if (!same_bits(c, device, d, false, &where))
        snprintf(bad, sizeof bad, "other bits at the second time: %s", where);
    else if (!same_bits(c, device, d, true, &where))
        snprintf(bad, sizeof bad, "other bits when recorded: %s", where);
    struct opdata *want = opcase_make(c, cpu, SEED);
    issue_case(want, cpu);
    double worst = difference(d, want, &where);
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
