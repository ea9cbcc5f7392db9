/* gpucheck_write.c - the record as text, JSON, Prometheus' text file and Spark's discovery. */
#include <string.h>

#include "check/gpucheck.h"

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
