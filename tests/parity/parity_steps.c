/* parity_steps.c - steps of the benchmark's networks as a training plays them, and nothing else:
 * the difference between two numbers of steps is what a step costs in calls and kernels. */
#include <string.h>

#include "netcase.h"
#include "parity.h"
#include "model/network/step.h"

static const struct { const char *name, *model; uint32_t numbers, rows; } nets[] = {
    {"small", "{\"preset\": \"mlp\", \"hidden\": [128, 128], \"dropout\": 0}", 14, 256},
    {"preset", "{\"preset\": \"mlp\"}", 14, 256},
    {"large", "{\"preset\": \"mlp\", \"hidden\": [512, 512, 512], \"dropout\": 0}", 28, 4096}};

bool parity_steps(const struct parity *p, const char *backend, uint32_t steps, uint32_t epochs,
                  struct err *e)
{
    enum { WARM = 192 }; /* plain, recorded, and a graph of each size */
    size_t i = 0;
    while (p->only && i < 2 && strcmp(p->only, nets[i].name) != 0)
        i++;
    struct netcase c = {.model = nets[i].model, .numbers = nets[i].numbers, .outputs = 2,
                        .rows = nets[i].rows, .micro = 1, .count = nets[i].rows, .seed = 11,
                        .shuffle = true, .backend = backend};
    bool good = case_ready(&c) &&
                network_epoch(c.network, 0, &(struct hyper){0.001, 0, 0}, 1, &c.e);
    struct stepper *s = good ? step_open(c.network, c.machine) : NULL;
    good = good && step_train(s, WARM, &c.e);
    for (uint32_t done = 0; done < epochs; done++)
        good = good && step_train(s, steps, &c.e);
    step_close(s);
    *e = c.e;
    case_close(&c);
    return good;
}
