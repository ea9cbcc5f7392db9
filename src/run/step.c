/* step.c - see step.h. */
#include "run/step.h"

#include <assert.h>

#include "base/mem.h"

enum { ROUTINES_MOST = 8 };

struct stepper {
    struct network *network;
    struct machine *machine;
    struct entry {
        machine_issuer *issuer; /* the key: what is called, and with what */
        void *context;
        bool seen; /* it has been run once */
        struct routine *routine;
    } entries[ROUTINES_MOST];
};

struct stepper *step_open(struct network *n, struct machine *m)
{
    struct stepper *s = mem_zero(1, sizeof *s);
    s->network = n;
    s->machine = m;
    return s;
}

void step_close(struct stepper *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < ROUTINES_MOST; i++)
        routine_drop(s->machine, s->entries[i].routine);
    mem_free(s);
}

static struct entry *entry_of(struct stepper *s, machine_issuer *issuer, void *context)
{
    unsigned i = 0;
    while (s->entries[i].issuer &&
           (s->entries[i].issuer != issuer || s->entries[i].context != context))
        i++;
    assert(i < ROUTINES_MOST - 1);
    s->entries[i].issuer = issuer;
    s->entries[i].context = context;
    return &s->entries[i];
}

static void run(struct stepper *s, machine_issuer *issuer, void *context, uint32_t times)
{
    struct entry *entry = entry_of(s, issuer, context);
    if (!entry->seen && times) {
        issuer(context, s->machine); /* what is loaded at first use, is now */
        entry->seen = true;
        times--;
    }
    if (times && !entry->routine)
        entry->routine = machine_record(s->machine, issuer, context);
    machine_play(s->machine, entry->routine, times);
}

bool step_train(struct stepper *s, uint32_t steps, struct err *e)
{
    run(s, network_issue_step, s->network, steps);
    return machine_wait(s->machine, MACHINE_PATIENCE, e);
}

static bool answer(struct stepper *s, uint64_t row0, uint64_t count, real *logits, struct err *e)
{
    uint32_t outputs = network_model(s->network)->outputs, most;
    for (uint64_t done = 0, rows; done < count; done += rows) {
        struct netshape *shape = network_shape(s->network, count - done, &most);
        network_answer_from(s->network, row0 + done);
        run(s, network_issue_answer, shape, 1);
        rows = count - done < most ? count - done : most;
        network_logits(shape, (uint32_t)rows, logits + done * outputs);
        if (!machine_wait(s->machine, MACHINE_PATIENCE, e)) /* on the way back as well */
            return false;
    }
    return true;
}

bool step_answer(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                 real *logits, struct err *e)
{
    bool good = network_answer_source(s->network, from, e) && answer(s, row0, count, logits, e);
    network_answer_end(s->network);
    return good;
}
