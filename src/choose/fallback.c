/* fallback.c - see select.h: a GPU that cannot be opened, or that fails. A training whose GPU
 * fails executes its command again (reexec.h), as a hung driver or a broken context ends with its
 * program. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "base/process/warnings.h"
#include "choose/select.h"

static const double GIB = 1024.0 * 1024.0 * 1024.0;
static const double FULL = 0.8, SMALL_CARD = 4; /* of a device's memory; GiB: worth a warning */

/* --- opening --- */

/* Sets the precision of products. A wish that cannot be met is a note: fp32 is the same or
 * better. */
static void say_precision(struct selection *s, const struct machine_info *info, bool gpu)
{
    const char *wish = s->precision_wish;
    bool other = *wish && strcmp(wish, "auto") != 0 && strcmp(wish, "fp32") != 0;
    snprintf(s->precision, sizeof s->precision, "%s", info->precision);
    if (!gpu && other && strcmp(wish, "bf16") != 0)
        log_note("backend.precision \"%s\" is for GPUs; the CPU computes in fp32",
                 text_quote_z(wish));
    else if (other && strcmp(wish, info->precision) != 0)
        log_note("backend.precision \"%s\": %s; computing in %s", text_quote_z(wish),
                 info->precision_why, info->precision);
}

void select_say_products(const struct machine *m, bool rounds)
{
    struct machine_info info;
    machine_describe(m, &info);
    if (strcmp(info.precision, "fp32") != 0)
        log_line(rounds ? "%s: large products in %s (%s)"
                        : "%s: no layer is large enough for %s (%s): all in fp32",
                 machine_in_place(m) ? "dnn_cpu" : "dnn_gpu", info.precision, info.precision_why);
}

static void become_cpu(struct selection *s)
{
    s->used = "dnn_cpu";
    s->machine = "cpu";
    snprintf(s->device, sizeof s->device, "cpu");
    s->driver[0] = '\0';
}

static struct machine *open_cpu(struct selection *s, const struct backend_options *b, bool blas,
                                struct err *e)
{
    struct machine_options o = {.backend = "cpu", .blas = blas,
                                .precision = s->trains ? b->precision : NULL};
    struct machine *m = machine_open(&o, e);
    struct machine_info info;
    become_cpu(s);
    if (!m)
        return NULL;
    machine_describe(m, &info);
    say_precision(s, &info, false);
    return m;
}

static struct machine *unavailable(struct selection *s, const struct backend_options *b, bool blas,
                                   struct err *e)
{
    char why[256], there[sizeof e->expected + 16] = "";
    bool nobody_asked = strcmp(s->requested, "auto") == 0; /* auto: the faster machine */
    snprintf(why, sizeof why, "%.250s", e->what);
    if (e->cause == REFUSAL_DEVICE) {
        snprintf(why, sizeof why, "%s: %.200s", s->device_from, e->what);
        snprintf(there, sizeof there, "; expected %s", e->expected);
    }
    if (b->fallback && !nobody_asked) { /* 69 or 75 */
        snprintf(e->what, sizeof e->what, "dnn_gpu: requested (%s) but unavailable (%s)",
                 text_quote_z(s->from), why);
        char help[sizeof e->help];
        snprintf(help, sizeof help, "%.400s%sthe CPU serves with --backend dnn_cpu", e->help,
                 e->help[0] ? "; " : "");
        snprintf(e->help, sizeof e->help, "%s", help);
        return NULL;
    }
    err_clear(e);
    snprintf(s->reason, sizeof s->reason, "%s", why);
    if (nobody_asked)
        log_note("auto: GPU unavailable (%s%s); using CPU", why, there);
    else
        log_warning("dnn_gpu: requested but unavailable (%s%s); using CPU", why, there);
    return open_cpu(s, b, blas, e);
}

struct machine *select_open(struct selection *s, const struct backend_options *b, bool blas,
                            struct err *e)
{
    if (strcmp(s->machine, "cpu") == 0)
        return open_cpu(s, b, blas, e);
    struct machine_options o = {.backend = s->machine,
                                .device = b->device,
                                .memory_limit_gb = b->memory_limit_gb,
                                .memory_fraction = b->memory_fraction,
                                .blas = blas,
                                .precision = s->trains ? b->precision : NULL,
                                .guests = s->trains ? backend_guests(b) : 0};
    double began = clock_now();
    s->used = "dnn_gpu";
    struct machine *m = machine_open(&o, e);
    if (!m)
        return e->id == ERR_MACHINE_FAULT ? NULL : unavailable(s, b, blas, e);
    if (!select_stays(s, m, clock_now() - began)) {
        machine_close(m);
        return open_cpu(s, b, blas, e);
    }
    struct machine_info info;
    machine_describe(m, &info);
    snprintf(s->device, sizeof s->device, "%s", info.device);
    snprintf(s->driver, sizeof s->driver, "%s", info.driver);
    log_line("dnn_gpu: Using GPU acceleration (%u GPU(s) detected): %s", info.count,
             text_quote_z(info.device));
    say_precision(s, &info, true);
    return m;
}

void select_say_loaded(const struct selection *s, const struct machine *m)
{
    struct machine_info info;
    if (!select_is_gpu(s))
        return;
    machine_describe(m, &info);
    log_line("dnn_gpu: model loaded on GPU %u (%s, %.1f of %.1f GiB used)", info.index,
             text_quote_z(info.device), (double)(info.total - info.free) / GIB,
             (double)info.total / GIB);
    double used = (double)(info.total - info.free) / (double)info.total;
    if (info.free && used >= FULL)
        log_warning("dnn_gpu: %.0f %% of the memory of GPU %u is in use: another program on it may "
                    "find no room", 100 * used, info.index);
    else if ((double)info.total < SMALL_CARD * GIB)
        log_warning("dnn_gpu: GPU %u has %.1f GiB of memory, less than %.0f GiB: large networks, "
                    "batches and tables may find no room", info.index, (double)info.total / GIB,
                    SMALL_CARD);
}

/* --- the GPU fails --- */

bool select_may_use_cpu(const struct selection *s, const struct backend_options *b,
                        const struct err *e)
{
    return select_is_gpu(s) && !b->fallback &&
           (e->id == ERR_MACHINE_FAULT || e->id == ERR_GPU_MEMORY);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lost[256]; /* why this process uses no GPU any more; "": it may */

bool select_lost(struct selection *s, const struct backend_options *b)
{
    char why[sizeof lost];
    pthread_mutex_lock(&lock);
    memcpy(why, lost, sizeof why);
    pthread_mutex_unlock(&lock);
    if (!*why || b->fallback)
        return false;
    s->fell_back = true;
    snprintf(s->reason, sizeof s->reason, "%s", why);
    become_cpu(s);
    log_line("dnn_cpu: Using CPU (%s)", why);
    return true;
}

static void say(struct selection *s, const struct err *e, const char *then)
{
    s->fell_back = true;
    snprintf(s->reason, sizeof s->reason, "%.250s", e->what);
    log_warning("dnn_gpu: %s; %s", e->what, then);
    if (e->id == ERR_MACHINE_FAULT && *e->help) /* a hang: the process may not end */
        log_line("dnn_gpu: %s", e->help);
}

void select_use_cpu(struct selection *s, const struct err *e, const char *then)
{
    say(s, e, then);
    if (e->id == ERR_MACHINE_FAULT) {
        pthread_mutex_lock(&lock);
        snprintf(lost, sizeof lost, "%.250s", e->what);
        pthread_mutex_unlock(&lock);
    }
    become_cpu(s);
}

void select_restart(struct selection *s, const struct config *c, const struct err *e, bool resume,
                    const char *then, struct reexec_spent spent)
{
    struct text warned = {0};
    if (!reexec_ready())
        return;
    say(s, e, then);
    warnings_lines(&warned);
    reexec_now(c->text, c->text_length, resume, e->what, spent, &warned);
    text_free(&warned);
}

bool select_was_restarted(struct selection *s)
{
    if (!reexec_why())
        return false;
    snprintf(s->reason, sizeof s->reason, "%s", reexec_why());
    s->fell_back = true;
    return true;
}
