/* job_read.c - the data and the machine of a job: a GPU opens while the data are read. */
#include <pthread.h>

#include "base/process/thread.h"
#include "base/clock.h"
#include "base/process/stop.h"
#include "train/ensemble.h"
#include "train/job.h"
#include "train/run/warm.h"

bool job_open_machine(struct train_job *j, struct err *e)
{
    double began = clock_now();
    j->machine = select_open(&j->backend, &j->config->backend, true, e);
    j->opening_s = clock_now() - began;
    return j->machine != NULL;
}

struct reading {
    struct train_job *j;
    _Atomic bool in_vain; /* no machine trains: the data need not be read to the end */
    struct err e;
    double ended; /* clock_now() */
};

static bool stop_reading(const void *reading)
{
    const struct reading *r = reading;
    return r->in_vain || stop_wanted();
}

static void *read_data(void *reading)
{
    struct reading *r = reading;
    const struct stopper stop = {stop_reading, r};
    struct train_job *j = r->j;
    const struct config *c = j->config;
    struct data_options o = c->data;
    o.limit = j->request ? j->request->limit : j->limit;
    o.fingerprint = j->request && j->request->output && c->output.fingerprint;
    o.start = j->warm ? j->warm->file->known : NULL;
    o.progress = j->request ? j->request->progress : j->progress_style;
    j->schema = schema_declare(&c->data, c->task, c->doc, &r->e);
    if (j->schema)
        j->table = table_load(j->schema, &o, j->folds, &stop, &r->e);
    r->ended = clock_now();
    return NULL;
}

/* A GPU takes some tenths of a second to open: another thread reads the data meanwhile. This thread
 * calls the GPU, as it will train; its errors come first. */
bool job_read(struct train_job *j, struct err *e)
{
    struct reading r = {.j = j};
    pthread_t thread;
    bool beside = select_wants_gpu(&j->backend) && thread_new(read_data, &r, &thread);
    bool opened = !j->backend.machine || job_open_machine(j, e);
    double now = clock_now();
    r.in_vain = !opened;
    if (beside)
        pthread_join(thread, NULL);
    else if (opened)
        read_data(&r);
    if (beside && r.ended > now - j->opening_s) /* the part that reading hid does not count */
        j->opening_s = now > r.ended ? now - r.ended : 0;
    if (!opened)
        return false;
    *e = r.e;
    return j->table || (e->id == ERR_NONE && job_stopped(j, e));
}
