/* cost.c - see cost.h. Only the order of two estimates matters, so rough constants are enough. */
#include "choose/cost.h"

#include <math.h>
#include <string.h>

#include "backend/cases/opcase.h"
#include "base/clock.h"

/* Operations a second of one thread, by vector code. */
static const struct {
    const char *core;
    double product;
} cores[] = {{"avx512", 1.4e11}, {"avx2", 7e10}, {"", 5e9}};

struct cost_rates cost_of_cpu(const char *core, unsigned threads)
{
    double count = threads ? threads : 1;
    int i = 0;
    while (cores[i].core[0] && strcmp(cores[i].core, core) != 0)
        i++;
    return (struct cost_rates){.product = cores[i].product * count,
                               .share = 0.6,
                               .node_s = threads > 1 ? 1e-6 : 2e-7,
                               .nodes = 8,
                               .row_s = 1.5e-7 / count,
                               .threads = count,
                               .grain = 32};
}

struct cost_rates cost_of_card(const struct card_figures *f, const char *precision)
{
    double rate = card_rate(f, precision);
    return (struct cost_rates){.start_s = f->start_s,
                               .product = rate > 0 ? rate : 1e12,
                               .share = rate > f->fp32 ? 0.3 : 0.4, /* tensor cores wait for data */
                               .node_s = f->launch_s,
                               .nodes = 8,
                               .bytes = f->copy > 0 ? f->copy : 5e9};
}

/* The slowdown of a batch that is too small for all threads. */
static double idle(const struct cost_rates *r, const struct select_work *work)
{
    double strips = work->steps > 0 && r->grain > 0 ? work->rows / work->steps / r->grain : 0;
    return strips > 0 && strips < r->threads ? r->threads / fmax(strips, 1) : 1;
}

double cost_seconds(const struct cost_rates *r, const struct select_work *work)
{
    double row = work->flops / (r->product * r->share) + r->row_s;
    return r->start_s + work->rows * row * idle(r, work) + work->steps * r->nodes * r->node_s +
           (r->bytes > 0 ? work->bytes / r->bytes : 0);
}

bool cost_prefers_gpu(double cpu_s, double gpu_s)
{
    return cpu_s >= COST_SMALL && gpu_s < cpu_s;
}

/* --- the probe --- */

static void issue(void *data, struct machine *m)
{
    const struct opdata *d = data;
    machine_issue(m, d->of->op, &d->arguments);
}

/* Seconds of one replay, the best of three. *flops: its operations. Negative: it failed. */
static double replay(struct machine *m, const struct opcase *of, uint32_t times, double *flops,
                     struct err *e)
{
    struct opcase c = *of;
    opcase_keep(&c, m);
    struct opdata *d = opcase_make(&c, m, 1);
    if (!opcase_ready(d, e)) {
        opcase_free(d);
        return -1;
    }
    if (c.op == OP_dense)
        d->arguments.dense.exact = 0; /* as training does it */
    struct routine *r = machine_record(m, issue, d);
    double best = (double)INFINITY;
    machine_play(m, r, 1); /* the first replay also prepares the routine */
    bool good = machine_wait(m, MACHINE_PATIENCE, e);
    for (int i = 0; good && i < 3; i++) {
        double began = clock_now();
        machine_play(m, r, times);
        good = machine_wait(m, MACHINE_PATIENCE, e);
        best = fmin(best, (clock_now() - began) / times);
    }
    *flops = d->flops;
    routine_drop(m, r);
    opcase_free(d);
    return good && r ? fmax(best, 1e-9) : -1;
}

static double copies(struct machine *m, struct err *e)
{
    const size_t bytes = (size_t)1 << 20;
    void *host = machine_host_alloc(m, bytes, e), *there = host ? machine_alloc(m, bytes, e) : NULL;
    double best = (double)INFINITY;
    bool good = there != NULL;
    for (int i = 0; good && i < 4; i++) {
        double began = clock_now();
        machine_upload(m, there, host, bytes);
        good = machine_wait(m, MACHINE_PATIENCE, e);
        best = fmin(best, clock_now() - began);
    }
    machine_release(m, there);
    machine_host_release(m, host);
    return good ? (double)bytes / fmax(best, 1e-9) : -1;
}

bool cost_probe(struct machine *m, bool device, struct cost_probe *p, struct err *e)
{
    static const struct opcase nothing = {.op = OP_add, .rows = 1, .in = 32};
    static const struct opcase products[] = {{.op = OP_dense, .rows = 256, .in = 128, .out = 128},
                                             {.op = OP_dense, .rows = 2048, .in = 512, .out = 512}};
    static const double SLOW = 2e-4; /* no larger one follows */
    double flops, seconds;
    if (device && (p->bytes = copies(m, e)) < 0)
        return false;
    if ((p->node_s = replay(m, &nothing, 16, &flops, e)) < 0)
        return false;
    for (int i = 0; i < 2; i++) {
        if ((seconds = replay(m, &products[i], 4, &flops, e)) < 0)
            return false;
        p->product = fmax(p->product, flops / seconds);
        if (seconds > SLOW || !device)
            break;
    }
    return true;
}

static void refine(double *constant, double measured)
{
    if (measured > 0 && !(measured > *constant / 2 && measured < *constant * 2))
        *constant = measured;
}

void cost_refine(struct cost_rates *r, const struct cost_probe *p)
{
    refine(&r->start_s, p->start_s);
    refine(&r->product, p->product);
    refine(&r->node_s, p->node_s);
    if (r->bytes > 0)
        refine(&r->bytes, p->bytes);
}
