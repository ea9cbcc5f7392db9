/* job_read.c - the data and the machine of a job: a GPU opens while the data are read. And what
 * target_transform "auto" chose by them. */
#include <pthread.h>

#include "base/process/thread.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/process/stop.h"
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
    o.limit = j->request->limit;
    o.fingerprint = j->request->output && c->output.fingerprint;
    o.start = j->warm ? j->warm->file->known : NULL;
    o.progress = j->request->progress;
    struct schema *declared = schema_declare(&c->data, c->task, c->doc, &r->e);
    if (declared)
        j->table = table_load(declared, &o, j->folds, &stop, &r->e);
    schema_free(declared);
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

/* --- what target_transform "auto" chose --- */

static void say_one(const struct target_choice *c, struct text *line)
{
    text_printf(line, "%s", target_transform_names[c->transform]);
    if (!c->judged)
        text_printf(line, ": rows or columns are too few to choose by");
    for (int k = TARGET_NONE; c->judged && k < TARGET_AUTO; k++)
        if (c->error[k] == c->error[k])
            text_printf(line, "%s%s %s", k ? ", " : " (rmse of a quick model: ",
                        target_transform_names[k], text_figure(c->error[k], 4));
    if (c->judged)
        text_printf(line, ")");
}

void transforms_say(const struct train_job *jobs, uint32_t count, uint32_t runs)
{
    uint32_t of[TARGET_AUTO] = {0}, all = 0; /* networks by function */
    const struct target_choice *first = NULL;
    struct text line = {0};
    const char *and = "";
    for (uint32_t i = 0; i < count * runs; i++) {
        const struct train_job *j = &jobs[i / runs];
        const struct encoder *own = j->ensemble->encoders[i % runs];
        const struct target_choice *c = own ? &own->choice : &j->table->encoder->choice;
        if (!c->made)
            continue;
        first = first ? first : c;
        of[c->transform]++;
        all++;
    }
    if (!all)
        return;
    text_printf(&line, "target_transform auto: ");
    if (all == 1)
        say_one(first, &line);
    for (int k = TARGET_NONE; all > 1 && k < TARGET_AUTO; k++)
        if (of[k]) {
            text_printf(&line, "%s%s in %u of %u networks", and, target_transform_names[k], of[k],
                        all);
            and = ", ";
        }
    log_note("%s", line.data);
    text_free(&line);
}
