/* gpucheck.c - the order of the checks, and the verdict. See gpucheck.h. */
#include "check/gpucheck.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "check/gpucheck_parts.h"
#include "config/variable.h"

/* Marks checks that did not run because of another one. */
static void skip_each(struct gpucheck *g, const char *const *ids, const char *cause)
{
    char needs[48];
    snprintf(needs, sizeof needs, "needs %s", cause);
    for (; *ids; ids++)
        gpucheck_skip(g, *ids, needs);
}

static void skip_rest(struct gpucheck *g)
{
    static const char *const memory[] = {"alloc", "copy", NULL};
    static const char *const after[] = {"gradient", "train", "portable", "repeat", "health", NULL};
    const struct gpu_check *cause = gpucheck_failure(g);
    char id[32];
    if (!cause)
        return;
    skip_each(g, memory, cause->id);
    for (int op = 0; op < (int)OP_COUNT; op++) {
        snprintf(id, sizeof id, "kernel.%s", op_name((enum op_id)op));
        skip_each(g, (const char *const[]){id, NULL}, cause->id);
    }
    skip_each(g, after, cause->id);
}

static enum gpu_verdict verdict_of(const struct gpu_job *j)
{
    const struct gpucheck *g = j->g;
    const struct gpu_check *bad = gpucheck_failure(g);
    if (bad)
        return bad->verdict;
    for (unsigned i = 0; i < g->count; i++) /* a required check that did not run is no pass */
        if (g->checks[i].status == GPU_SKIP && strcmp(g->checks[i].id, "nvml") != 0 &&
            strcmp(g->checks[i].id, "libraries") != 0)
            return GPU_NONE;
    return j->emulated ? GPU_EMULATED : GPU_READY;
}

static bool one_round(struct gpu_job *j, struct err *e)
{
    bool (*const parts[])(struct gpu_job *, struct err *) = {gpucheck_memory, gpucheck_kernels,
                                                             gpucheck_gradient, gpucheck_learn};
    for (size_t i = 0; i < sizeof parts / sizeof *parts && gpucheck_good(j->g); i++) {
        bool good = parts[i](j, e);
        if (stop_wanted()) { /* a training inside speaks of its checkpoint, which is gone */
            err_clear(e);
            return stop_error("the checks were done", e);
        }
        if (!good)
            return false;
    }
    if (gpucheck_good(j->g))
        gpucheck_health(j);
    j->g->rounds++;
    return true;
}

bool gpucheck_stuck(struct gpucheck *g, const struct err *why)
{
    static const char *const before[] = {"driver",  "nvml",      "device",
                                         "runtime", "libraries", "architecture", NULL};
    struct gpu_job *j = g->job;
    if (!j)
        return false;
    if (j->g->count == 0) { /* it never opened: the driver may hold any lock that a look takes */
        skip_each(j->g, before, "context");
        gpucheck_add(j->g, "context");
    }
    if (gpucheck_good(j->g)) {
        struct gpu_check *c = &j->g->checks[j->g->at_hand];
        c->measured[0] = c->threshold[0] = '\0';
        gpucheck_blame(c, why);
    }
    skip_rest(j->g);
    j->g->verdict = verdict_of(j);
    stop_cleanup(); /* locks of a training inside */
    gpucheck_learn_drop(j);
    return true;
}

/* Which machine, and whether it may be looked for at all. */
static bool wishes(struct gpu_job *j, struct setting **settings, size_t *count, struct err *e)
{
    const char *from = NULL;
    if (!backend_settings(NULL, JOB_TRAIN, &j->o->command, &j->backend, settings, count, e))
        return false;
    if (config_backend(&j->backend, JOB_TRAIN, *settings, *count, &from) == BACKEND_CPU)
        j->disabled = from;
    if (j->backend.kind && strcmp(j->backend.kind, "cuda") != 0)
        j->other_kind = j->backend.kind;
    return true;
}

static void open_machine(struct gpu_job *j)
{
    struct machine_options o = {.backend = "cuda", .device = j->backend.device,
                                .memory_limit_gb = j->backend.memory_limit_gb,
                                .memory_fraction = j->backend.memory_fraction};
    if (j->disabled || j->other_kind || !machine_known("cuda"))
        return;
    j->machine = machine_open(&o, &j->refused);
    if (!j->machine)
        return;
    machine_describe(j->machine, &j->info);
    machine_plan(j->machine, 64, 1, &j->plan);
    card_find(j->info.device, j->plan.core, &j->card);
    j->emulated = strcmp(j->plan.core, "emulated") == 0;
    j->g->visible = j->info.count;
    j->g->index = j->info.index;
    snprintf(j->g->versions.runtime, sizeof j->g->versions.runtime, "%s", j->info.runtime);
}

/* Without NVML the card that was opened is all that is known. */
static void describe_opened(struct gpu_job *j)
{
    struct gpu_device *d = &j->g->devices[j->g->device_count++];
    unsigned sm;
    snprintf(d->id, sizeof d->id, "%u", j->info.index);
    snprintf(d->name, sizeof d->name, "%s", j->info.device);
    snprintf(d->uuid, sizeof d->uuid, "%s", j->info.uuid);
    if (sscanf(j->plan.core, "sm_%u", &sm) == 1)
        snprintf(d->capability, sizeof d->capability, "%u.%u", sm / 10, sm % 10);
    d->total = j->info.total;
    d->free = j->info.free;
    d->used = d->total - d->free;
}

static bool checks(struct gpu_job *j, struct err *e)
{
    double until = clock_now() + 60 * j->o->minutes;
    stop_phase("gpucheck", false);
    stop_hold(true); /* trainings inside have phases too; a stop would leave a folder */
    gpucheck_host(&j->host);
    if (!j->disabled)
        gpucheck_cuda_library(&j->libraries);
    open_machine(j);
    if (!j->disabled)
        gpucheck_nvml(&j->libraries, j->g, j->machine ? j->info.uuid : NULL);
    if (j->machine && j->g->device_count == 0)
        describe_opened(j);
    gpucheck_look(j);
    bool good = !gpucheck_good(j->g) || one_round(j, e);
    while (good && j->o->level == GPU_SOAK && gpucheck_good(j->g) && clock_now() < until)
        good = one_round(j, e);
    skip_rest(j->g);
    j->g->verdict = verdict_of(j);
    machine_close(j->machine);
    stop_hold(false);
    return good;
}

bool gpucheck_run(const struct gpucheck_options *o, struct gpucheck *g, struct err *e)
{
    struct gpu_job j = {.o = o, .g = g};
    struct setting *settings = NULL;
    size_t count = 0;
    *g = (struct gpucheck){.verdict = GPU_NONE, .cards = o->cards};
    if (!wishes(&j, &settings, &count, e))
        return false;
    const int level = log_mute(); /* the report says all */
    g->job = &j;
    bool good = checks(&j, e);
    g->job = NULL;
    log_setup(level, log_json());
    settings_free(settings, count);
    backend_release(&j.backend);
    return good;
}
