/* training_read.c - how a training gets its data and its machine: a GPU opens while the data are
 * read. */
#include <pthread.h>

#include "base/aside.h"
#include "base/clock.h"
#include "base/stop.h"
#include "train/training.h"

bool training_open_machine(struct training *t, struct err *e)
{
    double began = clock_now();
    t->machine = select_open(&t->backend, &t->config->backend, true, e);
    t->opening_s = clock_now() - began;
    return t->machine != NULL;
}

static _Atomic bool in_vain; /* there is no machine to train on */

static bool stop_reading(void)
{
    return in_vain || stop_wanted();
}

struct reading {
    struct training *t;
    struct err e;
    double ended; /* clock_now() */
};

static void *read_data(void *reading)
{
    struct reading *r = reading;
    struct training *t = r->t;
    const struct config *c = t->config;
    t->schema = schema_declare(&c->data, c->task, c->doc, &r->e);
    if (t->schema)
        t->table = table_load(t->schema, &c->data, stop_reading, &r->e);
    r->ended = clock_now();
    return NULL;
}

/* A GPU takes some tenths of a second to open: meanwhile the data are read. Its calls are made by
 * this thread, which is to train; what goes wrong with it comes first. */
bool training_read(struct training *t, struct err *e)
{
    struct reading r = {.t = t};
    pthread_t thread;
    if (t->lender) {
        t->schema = t->lender->schema;
        t->table = t->lender->table;
        return !t->backend.machine || training_open_machine(t, e);
    }
    in_vain = false;
    bool beside = select_wants_gpu(&t->backend) && aside_thread(read_data, &r, &thread);
    if (t->backend.machine && !training_open_machine(t, e))
        in_vain = true;
    double opened = clock_now();
    if (beside)
        pthread_join(thread, NULL);
    else if (!in_vain)
        read_data(&r);
    if (beside && r.ended > opened - t->opening_s) /* what it hid is no time of its own */
        t->opening_s = opened > r.ended ? opened - r.ended : 0;
    if (in_vain)
        return false;
    *e = r.e;
    return t->table || (e->id == ERR_NONE && training_stopped(t, e));
}
