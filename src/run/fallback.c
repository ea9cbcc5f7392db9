/* fallback.c - a GPU that cannot be had, or does not serve any more: see select.h. Where a training
 * loses its GPU, a driver that hangs or holds a broken context stays behind with the old program:
 * the same command is executed anew, and the environment variable DNN_FALLBACK tells it why. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/sys.h"
#include "base/text.h"
#include "run/select.h"
#include "run/stop.h"
#include "run/warnings.h"

bool select_is_gpu(const struct selection *s)
{
    return strcmp(s->used, "dnn_gpu") == 0;
}

bool select_wants_gpu(const struct selection *s)
{
    return s->machine && strcmp(s->machine, "cpu") != 0;
}

static const char variable[] = "DNN_FALLBACK";
static const char resuming[] = "resume: ", afresh[] = "afresh: ";
/* the descriptor of the config's text */
static const char config_variable[] = "DNN_FALLBACK_CONFIG";
enum { MOST_HANDED = 64 << 10 }; /* bytes; a variable may have 128 KiB */
static const double GIB = 1024.0 * 1024.0 * 1024.0;
static const double FULL = 0.8, SMALL_CARD = 4; /* of a device's memory; GiB: worth a warning */

/* --- opening --- */

/* What products are computed in. What was asked for and is not to be had is a note: fp32 is the
 * same or better. */
static void say_precision(struct selection *s, const struct machine_info *gpu)
{
    const char *wish = s->precision_wish;
    bool other = *wish && strcmp(wish, "auto") != 0 && strcmp(wish, "fp32") != 0;
    snprintf(s->precision, sizeof s->precision, "%s", gpu ? gpu->precision : "fp32");
    if (!gpu && other)
        log_note("backend.precision \"%s\" is for GPUs; the CPU computes in fp32",
                 text_quote_z(wish));
    else if (gpu && other && strcmp(wish, gpu->precision) != 0)
        log_note("backend.precision \"%s\": %s; computing in %s", text_quote_z(wish),
                 gpu->precision_why, gpu->precision);
}

void select_say_products(const struct machine *m, bool rounds)
{
    struct machine_info gpu;
    machine_describe(m, &gpu);
    if (strcmp(gpu.precision, "fp32") != 0)
        log_line(rounds ? "dnn_gpu: large products in %s (%s)"
                        : "dnn_gpu: no layer is large enough for %s (%s): all in fp32",
                 gpu.precision, gpu.precision_why);
}

static struct machine *open_cpu(struct selection *s, bool blas, struct err *e)
{
    struct machine_options o = {.backend = "cpu", .blas = blas};
    s->used = "dnn_cpu";
    s->machine = "cpu";
    snprintf(s->device, sizeof s->device, "cpu");
    s->driver[0] = '\0';
    say_precision(s, NULL);
    return machine_open(&o, e);
}

static struct machine *unavailable(struct selection *s, const struct backend_options *b, bool blas,
                                   struct err *e)
{
    char why[256], there[sizeof e->expected + 16] = "";
    bool nobody_asked = strcmp(s->requested, "auto") == 0; /* the faster one that is there */
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
        log_loud("dnn_gpu: requested but unavailable (%s%s); using CPU", why, there);
    return open_cpu(s, blas, e);
}

struct machine *select_open(struct selection *s, const struct backend_options *b, bool blas,
                            struct err *e)
{
    if (strcmp(s->machine, "cpu") == 0)
        return open_cpu(s, blas, e);
    struct machine_options o = {.backend = s->machine,
                                .device = b->device,
                                .memory_limit_gb = b->memory_limit_gb,
                                .memory_fraction = b->memory_fraction,
                                .blas = blas,
                                .timed = !b->deterministic && b->autotune,
                                .precision = s->trains ? b->precision : NULL};
    double began = clock_now();
    s->used = "dnn_gpu";
    struct machine *m = machine_open(&o, e);
    if (!m)
        return e->id == ERR_MACHINE_FAULT || stop_is(e) ? NULL : unavailable(s, b, blas, e);
    if (!select_stays(s, m, clock_now() - began)) {
        machine_close(m);
        return open_cpu(s, blas, e);
    }
    struct machine_info info;
    machine_describe(m, &info);
    snprintf(s->device, sizeof s->device, "%s", info.device);
    snprintf(s->driver, sizeof s->driver, "%s", info.driver);
    log_line("dnn_gpu: using GPU acceleration (%u GPU(s) detected: %s)", info.count,
             text_quote_z(info.device));
    say_precision(s, &info);
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

bool select_falls_back(const struct selection *s, const struct backend_options *b,
                       const struct err *e)
{
    return select_is_gpu(s) && !b->fallback &&
           (e->id == ERR_MACHINE_FAULT || e->id == ERR_GPU_MEMORY);
}

static char lost[256]; /* why a GPU of this process serves no more */

static void become_cpu(struct selection *s)
{
    s->used = "dnn_cpu";
    s->machine = "cpu";
    snprintf(s->device, sizeof s->device, "cpu");
    s->driver[0] = '\0';
}

bool select_lost(struct selection *s, const struct backend_options *b)
{
    if (!*lost || b->fallback)
        return false;
    s->fell_back = true;
    snprintf(s->reason, sizeof s->reason, "%s", lost);
    become_cpu(s);
    log_line("dnn_cpu: using CPU (%s)", lost);
    return true;
}

static void say(struct selection *s, const struct err *e, const char *then)
{
    s->fell_back = true;
    snprintf(s->reason, sizeof s->reason, "%.250s", e->what);
    log_loud("dnn_gpu: %s; %s", e->what, then);
    if (e->id == ERR_MACHINE_FAULT && *e->help) /* of a hang: that the process may not end */
        log_line("dnn_gpu: %s", e->help);
}

void select_fall_back(struct selection *s, const struct err *e, const char *then)
{
    say(s, e, then);
    if (e->id == ERR_MACHINE_FAULT)
        snprintf(lost, sizeof lost, "%.250s", e->what);
    become_cpu(s);
}

/* The words of /proc/self/cmdline, NULL behind the last, in the memory of *line; NULL: it cannot be
 * read. */
static char **command_line(struct text *line)
{
    char piece[4096];
    size_t got = 0, count = 0;
    int fd;
    if (sys_open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC, 0, &fd) != 0)
        return NULL;
    while (sys_read(fd, piece, sizeof piece, SYS_HERE, &got) == 0 && got > 0)
        text_add(line, piece, got);
    sys_close(fd);
    for (size_t i = 0; i < line->length; i++)
        count += line->data[i] == '\0';
    if (!count)
        return NULL;
    char **words = mem_zero(count + 1, sizeof *words);
    for (size_t i = 0, at = 0; i < count; at += strlen(words[i++]) + 1)
        words[i] = line->data + at;
    return words;
}

/* DNN_FALLBACK is "resume: 12.5 12.5: why", and the warnings so far below, one a line. */
static bool hand_over(const struct err *e, bool resume, struct select_spent spent)
{
    struct text word = {0};
    text_printf(&word, "%s%.3f %.3f: %.280s\n", resume ? resuming : afresh, spent.here, spent.all,
                e->what);
    warnings_lines(&word);
    if (word.length > MOST_HANDED) { /* whole lines */
        size_t most = MOST_HANDED;
        while (most > 0 && word.data[most - 1] != '\n')
            most--;
        word.data[most] = '\0';
    }
    bool good = setenv(variable, word.data, 1) == 0;
    text_free(&word);
    return good;
}

/* The file of the config may be a pipe, or another one by now. False: it cannot be handed over, and
 * not be read again. */
static bool hand_config(const struct config *c, int *fd)
{
    char number[16];
    size_t done;
    *fd = -1;
    if (!c->text || sys_memory("config", fd) != 0)
        return file_lasts(c->path);
    snprintf(number, sizeof number, "%d", *fd);
    if (sys_write(*fd, c->text, c->text_length, SYS_HERE, &done) == 0 &&
        setenv(config_variable, number, 1) == 0)
        return true;
    sys_close(*fd);
    *fd = -1;
    return file_lasts(c->path);
}

void select_restart(struct selection *s, const struct config *c, const struct err *e, bool resume,
                    const char *then, struct select_spent spent)
{
    struct text line = {0};
    char **words = getenv(variable) ? NULL : command_line(&line); /* once */
    int fd = -1;
    if (words && hand_config(c, &fd) && stop_hand_on()) {
        say(s, e, then);
        if (hand_over(e, resume, spent))
            execv("/proc/self/exe", words);
        int error = errno;
        stop_hand_off();
        log_note("the program cannot be executed anew: %s", strerror(error));
    }
    if (words) {
        unsetenv(variable);
        unsetenv(config_variable);
    }
    if (fd >= 0)
        sys_close(fd);
    mem_free(words);
    text_free(&line);
}

bool select_is_anew(void)
{
    return getenv(variable) != NULL;
}

char *select_config(size_t *length)
{
    const char *word = select_is_anew() ? getenv(config_variable) : NULL;
    char path[48], *bytes = NULL;
    int64_t fd;
    struct err e = {0};
    if (!word || !text_to_int(word, &fd) || fd <= STDERR_FILENO || fd > INT_MAX)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)fd);
    if (!file_slurp(path, JSON_MOST_BYTES, ERR_JSON_LIMIT, &bytes, length, &e))
        bytes = NULL; /* a user's own word may be anything */
    else
        sys_close((int)fd);
    unsetenv(config_variable);
    return bytes;
}

/* What the variable says: seconds spent, why in bytes *length, and what follows it; NULL: it does
 * not stand. A user's own word may be anything. */
static const char *handed(struct select_spent *spent, size_t *length)
{
    const char *word = getenv(variable);
    *spent = (struct select_spent){0};
    *length = 0;
    if (!word || strlen(word) < strlen(resuming))
        return NULL;
    word += strlen(resuming);
    char here[32], all[32];
    int used = 0;
    struct select_spent told;
    if (sscanf(word, "%31[0-9.] %31[0-9.]: %n", here, all, &used) == 2 && used &&
        text_to_double(here, &told.here) && text_to_double(all, &told.all)) {
        *spent = told;
        word += used;
    }
    *length = strcspn(word, "\n");
    return word;
}

bool select_fell_back(struct selection *s)
{
    struct select_spent spent;
    size_t length;
    const char *why = handed(&spent, &length);
    if (!why)
        return false;
    s->fell_back = true;
    snprintf(s->reason, sizeof s->reason, "%.250s", text_quote(why, length));
    return true;
}

struct select_spent select_spent(void)
{
    struct select_spent spent;
    size_t length;
    handed(&spent, &length);
    return spent;
}

const char *select_warnings(void)
{
    struct select_spent spent;
    size_t length;
    const char *why = handed(&spent, &length);
    return why && why[length] ? why + length + 1 : "";
}

bool select_resumes(void)
{
    const char *word = getenv(variable);
    return word && strncmp(word, resuming, strlen(resuming)) == 0;
}
