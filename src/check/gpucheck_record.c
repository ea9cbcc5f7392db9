/* gpucheck_record.c - the record of checks, and how it is told: as text, JSON, Prometheus' text
 * file and Spark's discovery. */
#include <stdio.h>
#include <string.h>

#include "check/gpucheck_parts.h"

struct gpu_check *gpucheck_add(struct gpucheck *g, const char *id)
{
    unsigned i = 0;
    while (i < g->count && strcmp(g->checks[i].id, id) != 0)
        i++;
    if (i == GPU_CHECKS)
        i--;
    if (i == g->count)
        g->count++;
    g->at_hand = i;
    struct gpu_check *c = &g->checks[i];
    *c = (struct gpu_check){.status = GPU_PASS};
    snprintf(c->id, sizeof c->id, "%s", id);
    return c;
}

#define FILL(member)                                                                               \
    va_list list;                                                                                  \
    va_start(list, format);                                                                        \
    vsnprintf(c->member, sizeof c->member, format, list);                                          \
    va_end(list)
void gpucheck_measured(struct gpu_check *c, const char *format, ...) { FILL(measured); }
void gpucheck_threshold(struct gpu_check *c, const char *format, ...) { FILL(threshold); }
void gpucheck_reason(struct gpu_check *c, const char *format, ...) { FILL(reason); }
void gpucheck_fix(struct gpu_check *c, const char *format, ...) { FILL(fix); }

void gpucheck_fail(struct gpu_check *c, enum gpu_verdict verdict)
{
    c->status = GPU_FAIL;
    c->verdict = verdict;
}

void gpucheck_faulty(struct gpu_check *c, const char *mend, const char *format, ...)
{
    FILL(reason);
    gpucheck_fail(c, GPU_FAULTY);
    gpucheck_fix(c, "%s", mend);
}

bool gpucheck_blame(struct gpu_check *c, const struct err *e)
{
    if ((int)e->id / 100 != 18)
        return false;
    int code = (int)err_exit(e);
    gpucheck_fail(c, code == EXIT_GPUFAULT ? GPU_FAULTY : code == EXIT_TRYLATER ? GPU_BUSY
                                                                               : GPU_NONE);
    gpucheck_reason(c, "%.600s", e->what);
    if (e->expected[0] && e->help[0])
        gpucheck_fix(c, "%.300s; %.300s", e->expected, e->help);
    else
        gpucheck_fix(c, "%.600s", e->expected[0] ? e->expected : e->help);
    return true;
}

/* nvml and libraries are at most warnings. */
const struct gpu_check *gpucheck_failure(const struct gpucheck *g)
{
    for (unsigned i = 0; i < g->count; i++)
        if (g->checks[i].status == GPU_FAIL)
            return &g->checks[i];
    return NULL;
}

bool gpucheck_good(const struct gpucheck *g)
{
    return !gpucheck_failure(g);
}

void gpucheck_skip(struct gpucheck *g, const char *id, const char *needs)
{
    for (unsigned i = 0; i < g->count; i++)
        if (strcmp(g->checks[i].id, id) == 0)
            return;
    struct gpu_check *c = gpucheck_add(g, id);
    c->status = GPU_SKIP;
    gpucheck_reason(c, "%s", needs);
}

int gpucheck_exit(const struct gpucheck *g)
{
    return g->verdict == GPU_READY    ? EXIT_DONE
           : g->verdict == GPU_BUSY   ? EXIT_TRYLATER
           : g->verdict == GPU_FAULTY ? EXIT_GPUFAULT
                                      : EXIT_UNAVAILABLE;
}

/* --- how it is told --- */

static const char *const statuses[] = {"pass", "warn", "fail", "skip"};
static const char *const verdicts[] = {"ready", "none", "busy", "faulty", "emulated"};

static const char *meaning(const struct gpucheck *g)
{
    switch (g->verdict) {
    case GPU_READY: return "this machine trains correctly on its GPU";
    case GPU_BUSY: return "the GPU is in use or full; try again later";
    case GPU_FAULTY: return "do not use this GPU";
    case GPU_EMULATED: return "everything works on the emulated card, which is not a GPU";
    case GPU_NONE: break;
    }
    return "no GPU can be used; the CPU serves (--backend dnn_cpu)";
}

static void row(const struct gpu_check *c, struct text *out)
{
    text_printf(out, "%-19s %s  %s\n", c->id, statuses[c->status], c->reason);
    if (c->measured[0] && c->threshold[0])
        text_printf(out, "%25s measured: %s (wanted: %s)\n", "", c->measured, c->threshold);
    else if (c->measured[0])
        text_printf(out, "%25s measured: %s\n", "", c->measured);
    if (c->fix[0])
        text_printf(out, "%25s fix: %s\n", "", c->fix);
}

/* One line lists the checks that did not run. */
static void skipped(const struct gpucheck *g, struct text *out)
{
    unsigned count = 0, kernels = 0;
    for (unsigned i = 0; i < g->count; i++) {
        const struct gpu_check *c = &g->checks[i];
        if (c->status != GPU_SKIP)
            continue;
        bool kernel = strncmp(c->id, "kernel.", 7) == 0;
        if (kernel && kernels++)
            continue;
        text_printf(out, "%s%s", count++ ? ", " : "not run: ", kernel ? "kernel.*" : c->id);
    }
    if (count)
        text_char(out, '\n');
}

void gpucheck_text(const struct gpucheck *g, struct text *out)
{
    for (unsigned i = 0; i < g->count; i++)
        if (g->checks[i].status != GPU_SKIP)
            row(&g->checks[i], out);
    skipped(g, out);
    if (g->rounds > 1)
        text_printf(out, "rounds: %u\n", g->rounds);
    text_printf(out, "verdict: %s (exit %d): %s\n", verdicts[g->verdict], gpucheck_exit(g),
                meaning(g));
}

static void string_or_null(struct json_out *o, const char *key, const char *value)
{
    json_put_string(o, key, value[0] ? value : NULL);
}

void gpucheck_devices_json(const struct gpucheck *g, struct json_out *o)
{
    json_open(o, "devices", '[');
    for (unsigned i = 0; i < g->device_count; i++) {
        const struct gpu_device *d = &g->devices[i];
        json_open(o, NULL, '{');
        json_put_string(o, "id", d->id);
        string_or_null(o, "name", d->name);
        string_or_null(o, "uuid", d->uuid);
        json_put_string(o, "backend", "cuda");
        string_or_null(o, "compute_capability", d->capability);
        json_put_int(o, "total_bytes", (int64_t)d->total);
        json_put_int(o, "used_bytes", (int64_t)d->used);
        json_put_int(o, "free_bytes", (int64_t)d->free);
        json_close(o, '}');
    }
    json_close(o, ']');
}

void gpucheck_json(const struct gpucheck *g, struct json_out *o)
{
    json_open(o, NULL, '{');
    json_put_string(o, "schema", "dnn.gpucheck/1");
    json_put_string(o, "verdict", verdicts[g->verdict]);
    json_put_int(o, "exit", gpucheck_exit(g));
    json_open(o, "checks", '[');
    for (unsigned i = 0; i < g->count; i++) {
        const struct gpu_check *c = &g->checks[i];
        json_open(o, NULL, '{');
        json_put_string(o, "id", c->id);
        json_put_string(o, "status", statuses[c->status]);
        string_or_null(o, "measured", c->measured);
        string_or_null(o, "threshold", c->threshold);
        string_or_null(o, "reason", c->reason);
        string_or_null(o, "fix", c->fix);
        json_close(o, '}');
    }
    json_close(o, ']');
    gpucheck_devices_json(g, o);
    json_open(o, "versions", '{');
    string_or_null(o, "driver", g->versions.driver);
    string_or_null(o, "cuda_runtime", g->versions.runtime);
    string_or_null(o, "cudnn", g->versions.cudnn);
    string_or_null(o, "cublas", g->versions.cublas);
    string_or_null(o, "nccl", g->versions.nccl);
    json_close(o, '}');
    json_close(o, '}');
}

void gpucheck_prom(const struct gpucheck *g, int code, struct text *out)
{
    text_printf(out,
                "# HELP dnn_gpucheck_exit What dnn gpucheck ended with: 0 ready, 69 none, 75 busy "
                "or stopped, 81 faulty.\n# TYPE dnn_gpucheck_exit gauge\ndnn_gpucheck_exit %d\n"
                "# HELP dnn_gpucheck_check One check and how it ended.\n"
                "# TYPE dnn_gpucheck_check gauge\n",
                code);
    for (unsigned i = 0; i < g->count; i++)
        text_printf(out, "dnn_gpucheck_check{id=\"%s\",status=\"%s\"} 1\n", g->checks[i].id,
                    statuses[g->checks[i].status]);
}

void gpucheck_spark(const unsigned *ready, unsigned count, struct text *out)
{
    text_put(out, "{\"name\":\"gpu\",\"addresses\":[");
    for (unsigned i = 0; i < count; i++)
        text_printf(out, "%s\"%u\"", i ? "," : "", ready[i]);
    text_put(out, "]}\n");
}
