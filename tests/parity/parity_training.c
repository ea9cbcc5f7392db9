/* parity_training.c - small networks on the device and on the CPU: the gradient of the first step,
 * the loss after some epochs of something a linear model cannot learn, the same bits at the second
 * time and step by step. */
#include <math.h>

#include "netcase.h"
#include "parity.h"

struct problem {
    const char *name, *model;
    uint32_t numbers, outputs, rows, micro, epochs;
    double rate;
    double gate;  /* of the loss at the end, relative */
    double share; /* of the first epoch's loss that may be left */
    uint32_t steps; /* above 0: the numbers are sequences of so many steps or fewer */
};
static const struct problem problems[] = {
    {"mlp 128-128, batch 256", "{\"preset\": \"mlp\", \"hidden\": [128, 128], \"dropout\": 0}", 14,
     2, 256, 1, 30, 0.005, 2e-2, 0.7, 0},
    {"every kind of layer, 2 micro-batches",
     "{\"layers\": [{\"type\": \"dense\", \"units\": 32}, {\"type\": \"batch_norm\"}, "
     "{\"type\": \"gelu\"}, {\"type\": \"dropout\", \"p\": 0.1}, {\"type\": \"residual\", "
     "\"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 32}, "
     "{\"type\": \"silu\"}]}]}", 6, 3, 64, 2, 20, 0.005, 5e-2, 0.9, 0},
    {"tanh, a number to learn", "{\"preset\": \"mlp\", \"hidden\": [64], \"activation\": \"tanh\", "
     "\"dropout\": 0}", 5, 1, 128, 1, 30, 0.005, 2e-2, 0.8, 0},
    {"the default preset, batch 256", "{\"preset\": \"mlp\"}", 14, 2, 256, 1, 30, 0.002, 2e-2,
     0.7, 0},
    {"dropout, 2 micro-batches", "{\"preset\": \"mlp\", \"hidden\": [48, 19], \"dropout\": 0.1}",
     6, 2, 44, 2, 6, 0.01, 5e-2, 0.9, 0},
    {"layer_norm and dropout", "{\"preset\": \"mlp\", \"hidden\": [40, 19], \"norm\": \"layer\", "
     "\"activation\": \"silu\", \"dropout\": 0.1}", 6, 3, 96, 1, 6, 0.01, 5e-2, 0.9, 0},
    /* graphs of 64, 8 and 1 in the first epoch, then one of all 84 */
    {"84 steps an epoch", "{\"preset\": \"mlp\", \"hidden\": [16], \"dropout\": 0}", 4, 2, 24, 1, 4,
     0.01, 2e-2, 0.9, 0},
    /* ragged, from no step on; the second layer wants the gradient of its inputs */
    {"lstm of two directions", "{\"layers\": [{\"type\": \"lstm\", \"units\": 6, "
     "\"bidirectional\": true}, {\"type\": \"lstm\", \"units\": 5}, {\"type\": \"pool\"}]}", 14, 2,
     72, 2, 2, 0.02, 2e-2, 1, 7},
    {"gru of two directions", "{\"layers\": [{\"type\": \"gru\", \"units\": 5, "
     "\"bidirectional\": true}, {\"type\": \"residual\", \"layers\": [{\"type\": \"gru\", "
     "\"units\": 10}]}, {\"type\": \"pool\", \"kind\": \"last\"}]}", 14, 2, 144, 1, 2, 0.02,
     2e-2, 1, 7},
    {"a pool before the last layer of a block", "{\"layers\": [{\"type\": \"dense\", \"units\": "
     "8}, {\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", "
     "\"units\": 20}, {\"type\": \"gelu\"}, {\"type\": \"dense\", \"units\": 8}]}, {\"type\": "
     "\"pool\"}]}", 14, 2, 72, 2, 2, 0.02, 2e-2, 1, 7},
};
enum { ROWS = 2000 };

struct trained {
    uint64_t params;
    real *p;
    double first, last; /* mean loss of an epoch */
    char why[160];      /* "": it went through */
};

/* A product of two numbers decides, which no plane does. */
static void label(struct netcase *c)
{
    for (uint64_t row = 0; row < c->count; row++) {
        double x = (double)*case_number(c, row, 0) * (double)*case_number(c, row, 1);
        if (c->outputs > 1)
            case_target(c, row, x > 0 ? 1 : 0);
        else
            case_target(c, row, x);
    }
}

static double mean_loss(const struct netcase *c)
{
    struct step now;
    network_step(c->network, &now);
    return now.epoch_loss / now.epoch_weight;
}

/* One epoch as a routine, or every step issued by itself; dropout falls from epoch to epoch. */
static bool epoch(struct netcase *c, const struct problem *t, uint32_t i, bool recorded)
{
    uint64_t step = (uint64_t)t->rows * t->micro;
    uint32_t steps = (uint32_t)((c->count + step - 1) / step);
    const struct hyper now = {t->rate, 0.01, (uint64_t)(i % 8) << 29};
    if (!network_epoch(c->network, i, &now, 1, &c->e))
        return false;
    if (recorded)
        return case_steps(c, steps);
    for (uint32_t k = 0; k < steps; k++)
        network_issue_step(c->network, c->machine);
    return machine_wait(c->machine, 30, &c->e);
}

/* epochs 0: one step of plain descent at rate 1, whose change of p is the gradient. */
static struct trained train(const struct problem *t, const char *backend, uint32_t epochs,
                            bool recorded)
{
    struct netcase c = {.model = t->model, .numbers = t->numbers, .outputs = t->outputs,
                        .rows = t->rows, .micro = t->micro, .count = ROWS, .seed = 11,
                        .shuffle = true, .backend = backend, .steps = t->steps};
    struct trained r = {0};
    struct err e = {0};
    c.optim = epochs ? NULL : "{\"type\": \"sgd\", \"momentum\": 0}";
    bool good = case_make(&c);
    if (good) {
        case_fill(&c);
        label(&c);
        if (c.steps)
            case_cut_short(&c);
        good = case_open(&c);
    }
    if (good && !epochs)
        good = network_epoch(c.network, 0, &(struct hyper){1, 0, 0}, 1, &c.e) && case_steps(&c, 1);
    for (uint32_t i = 0; good && i < epochs; i++) {
        good = epoch(&c, t, i, recorded);
        *(i ? &r.last : &r.first) = good ? mean_loss(&c) : 0;
    }
    if (good) {
        r.params = network_model(c.network)->params;
        r.p = mem_zero(r.params + 1, sizeof *r.p);
        real *before = mem_zero(r.params + 1, sizeof *before);
        memcpy(before, c.state.params, r.params * sizeof *before);
        struct network_state s = {.params = r.p};
        good = network_get(c.network, &s, &e);
        for (uint64_t i = 0; !epochs && i < r.params; i++)
            r.p[i] -= before[i];
        mem_free(before);
    }
    if (!good)
        snprintf(r.why, sizeof r.why, "%s: %.100s", backend, c.e.what[0] ? c.e.what : e.what);
    case_close(&c);
    return r;
}

static double furthest(const struct trained *a, const struct trained *b)
{
    double worst = 0, largest = 1e-30;
    for (uint64_t i = 0; i < b->params; i++) {
        double d = fabs((double)a->p[i] - (double)b->p[i]);
        worst = d <= worst ? worst : d; /* not a number comes through */
        largest = fmax(largest, fabs((double)b->p[i]));
    }
    return worst / largest;
}

static void result(struct parity *p, const struct problem *t, const char *what, double worst,
                   double gate, const char *bad)
{
    char name[160];
    snprintf(name, sizeof name, "%s: %s", t->name, what);
    parity_result(p, name, worst, gate, bad);
}

static void gradient(struct parity *p, const struct problem *t, const char *backend)
{
    struct trained a = train(t, backend, 0, true), b = train(t, "cpu", 0, true);
    const char *bad = a.why[0] ? a.why : b.why;
    double worst = *bad ? (double)INFINITY : furthest(&a, &b);
    result(p, t, "gradient", worst, 1e-4,
           *bad ? bad : worst <= 1e-4 ? "" : "differs from the CPU's");
    mem_free(a.p);
    mem_free(b.p);
}

static bool equal(const struct trained *a, const struct trained *b)
{
    return !b->why[0] && memcmp(a->p, b->p, a->params * sizeof *a->p) == 0;
}

static void learning(struct parity *p, const struct problem *t, const char *backend)
{
    struct trained a = train(t, backend, t->epochs, true), b = train(t, "cpu", t->epochs, true);
    const char *bad = a.why[0] ? a.why : b.why;
    double worst = *bad ? (double)INFINITY : fabs(a.last - b.last) / b.last;
    if (!*bad && !(worst <= t->gate))
        bad = "another loss than the CPU's";
    else if (!*bad && !(a.last <= t->share * a.first))
        bad = "it does not learn";
    result(p, t, "loss after training", worst, t->gate, bad);
    if (!a.why[0]) {
        struct trained again = train(t, backend, t->epochs, true);
        result(p, t, "twice, bit for bit", 0, 0, equal(&a, &again) ? "" : "other bits");
        struct trained plain = train(t, backend, t->epochs, false);
        result(p, t, "step by step as recorded, bit for bit", 0, 0,
               equal(&a, &plain) ? "" : "other bits");
        mem_free(again.p);
        mem_free(plain.p);
    }
    mem_free(a.p);
    mem_free(b.p);
}

void parity_trainings(struct parity *p, const char *backend)
{
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        if (p->only && strcmp(p->only, problems[i].name) != 0)
            continue;
        gradient(p, &problems[i], backend);
        learning(p, &problems[i], backend);
    }
}
