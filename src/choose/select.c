/* select.c - see select.h. A build without GPU kernels uses the CPU; the request still decides the
 * message, and whether it is an error. No GPU library is opened for that. fallback.c has the
 * failures of a GPU. */
#include "choose/select.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "base/process/thread.h"

const char *select_other_kind(const char *kind)
{
    return strcmp(kind, "mps") == 0 ? "this platform has no Metal"
                                    : "this build has no kernels for AMD GPUs";
}

/* The reason why there is no GPU: the machine, the build, or both; with the variable that may hide
 * it. */
static void why_not(const struct backend_options *b, char *out, size_t room)
{
    const char *kind = b->kind, *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool card = card_present(), kernels = machine_known("cuda");
    if (kind && strcmp(kind, "cuda") != 0)
        snprintf(out, room, "%s \"%s\" is not supported: %s", b->kind_from, kind,
                 select_other_kind(kind));
    else
        snprintf(out, room, "%s%s%s%.200s%s", card ? "" : "no GPU is visible",
                 kernels ? "" : card ? "this build has no GPU kernels"
                                     : ", and this build has no GPU kernels",
                 visible ? "; CUDA_VISIBLE_DEVICES=\"" : "", visible ? text_quote_z(visible) : "",
                 visible ? "\"" : "");
}

/* Logs the keys of the config that have no effect on a CPU. */
static void say_unused(const struct backend_options *b)
{
    double fraction = 0;
    text_to_double(MEMORY_FRACTION, &fraction);
    const struct {
        const char *key;
        bool set;
    } keys[] = {{"device", b->device && strcmp(b->device, "auto") != 0},
                {"guests", backend_guests(b) != GUESTS_BY_TABLE},
                {"deterministic", !b->deterministic},
                {"memory_limit_gb", b->memory_limit_gb > 0},
                {"memory_fraction",
                 b->memory_fraction < fraction || b->memory_fraction > fraction}};
    struct text names = {0};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].set)
            text_printf(&names, "%sbackend.%s", names.length ? ", " : "", keys[i].key);
    if (names.length)
        log_note("for GPUs alone, without effect on the CPU: %s", names.data);
    text_free(&names);
}

/* The place that asked for one card: an option, a variable, or the key of the config. */
static const char *device_from(const struct setting *settings, size_t count)
{
    static const char key[] = "backend.device";
    for (size_t i = 0; i < count; i++)
        if (strcmp(settings[i].key, key) == 0 && strcmp(settings[i].from, "default") != 0 &&
            strcmp(settings[i].from, "config") != 0)
            return settings[i].from;
    return key;
}

bool select_backend(const struct backend_options *b, enum job job, const struct setting *settings,
                    size_t count, struct selection *s, struct err *e)
{
    const bool trains = job == JOB_TRAIN || job == JOB_TUNE;
    const char *from = "default", *kind = b->kind;
    enum backend_word word = config_backend(b, job, settings, count, &from);
    *s = (struct selection){.requested = backend_names[word],
                            .from = from,
                            .device_from = device_from(settings, count),
                            .used = backend_names[BACKEND_CPU],
                            .machine = "cpu",
                            .device = "cpu",
                            .threads = threads_count(),
                            .deterministic = b->deterministic,
                            .blas_core = "none",
                            .trains = trains,
                            .precision = "fp32",
                            .cpu_s = -1,
                            .gpu_s = -1};
    if (trains)
        snprintf(s->precision_wish, sizeof s->precision_wish, "%s",
                 b->precision ? b->precision : "auto");
    if (trains && !b->autotune)
        log_note("backend.autotune has no effect, true or false: a table by shape and architecture "
                 "chooses the kernels of a GPU");
    if (trains && backend_guests(b) & GUESTS_CUDNN) /* with it NVIDIA calls sums repeatable */
        setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", 0);
    bool other_kind = kind && strcmp(kind, "cuda") != 0, kernels = machine_known("cuda");
    if (other_kind && word == BACKEND_AUTO)
        s->requested = kind;
    if (word != BACKEND_CPU && select_was_restarted(s)) {
        log_line("dnn_cpu: Using CPU (%s)", s->reason);
    } else if (word == BACKEND_AUTO && !other_kind && !card_present()) {
        why_not(b, s->reason, sizeof s->reason); /* no estimate, no message */
    } else if (word != BACKEND_CPU && !other_kind && kernels) {
        s->machine = word == BACKEND_GPU ? "cuda" : NULL; /* opened, or decided, later */
        snprintf(s->reason, sizeof s->reason, "asked for by %s", text_quote_z(from));
        return true;
    } else if (word == BACKEND_CPU) {
        snprintf(s->reason, sizeof s->reason, "GPU disabled");
        log_line("dnn_cpu: Using CPU (%s)", s->reason);
    } else if (word == BACKEND_GPU || other_kind) {
        why_not(b, s->reason, sizeof s->reason);
        if (b->fallback) {
            err_set(e, ERR_NO_GPU, "dnn_gpu: requested (%s) but unavailable (%s)",
                    text_quote_z(word == BACKEND_GPU ? from : b->kind_from), s->reason);
            return err_help(e, trains
                                   ? "set \"fallback\": \"cpu\" in the section backend to go on on "
                                     "the CPU, or ask for dnn_cpu"
                                   : "the model's config says \"fallback\": \"none\"; ask for the "
                                     "CPU with --backend dnn_cpu");
        }
        log_warning("dnn_gpu: requested but unavailable (%s); using CPU", s->reason);
    } else {
        why_not(b, s->reason, sizeof s->reason);
        log_line("auto: using CPU (%s)", s->reason);
    }
    if (trains) /* later it is the model's config: nobody asks any more */
        say_unused(b);
    return true;
}

void select_write(const struct selection *s, const char *key, struct json_out *out)
{
    json_open(out, key, '{');
    json_put_string(out, "requested", s->requested);
    json_put_string(out, "used", s->used);
    json_put_string(out, "reason", s->reason);
    json_put_string(out, "device", s->device);
    json_put_string(out, "driver", *s->driver ? s->driver : NULL);
    json_put_int(out, "threads", s->threads);
    json_put_string(out, "blas_core", s->blas_core);
    json_put_string(out, "precision_requested", *s->precision_wish ? s->precision_wish : NULL);
    json_put_string(out, "precision", s->precision);
    json_open(out, "estimates", '{');
    const double estimates[] = {s->cpu_s, s->gpu_s};
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "gpu_s" : "cpu_s";
        if (estimates[i] >= 0)
            json_put_number(out, name, estimates[i]);
        else
            json_put_null(out, name);
    }
    json_close(out, '}');
    json_close(out, '}');
}
