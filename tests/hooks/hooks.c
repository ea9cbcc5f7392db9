/* hooks.c - the test hooks of base/fault.h, filled from the environment. It needs nothing but libc,
 * so that every test program can link it.
 *
 * DNN_FAULT is a comma list of
 *   KIND:N[:ERRNO]   the Nth call (from 1) of that kind fails with that errno (default: a fitting
 *                    one)
 *   KIND:N+[:ERRNO]  that call and all later ones
 *   kill:KIND:N      the process gets SIGKILL in place of the Nth call of that kind
 *   count            the counts of all kinds are printed on standard error at exit
 * KINDs: alloc, open, read, write, fsync, rename, close, unlink, thread, play, fetch, cuda;
 * cuda.Malloc: only calls of that name. The ERRNO of a CUDA call is CUDA's number.
 *
 * Settings: DNN_PATIENCE=SECONDS until a silent GPU counts as hung; DNN_CPU=c|avx2|avx512, the
 * vector code; DNN_BLAS=none|always; DNN_WGMMA; DNN_GUESTS=always|cuBLASLt|cuDNN; DNN_GPUCHECK_ROOT
 * (a folder in place of /). */
#include "base/fault.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES_MOST 32

struct rule {
    enum fault_kind kind;
    uint64_t from;
    bool onwards, kill;
    int errnum;
    char call[32];          /* "": every one */
    _Atomic uint64_t calls; /* of that name */
};

static const struct {
    const char *name;
    int errnum; /* what such a call most likely fails with */
} kinds[FAULT_KINDS] = {
    [FAULT_ALLOC] = {"alloc", ENOMEM}, [FAULT_OPEN] = {"open", EMFILE},
    [FAULT_READ] = {"read", EIO},      [FAULT_WRITE] = {"write", ENOSPC},
    [FAULT_FSYNC] = {"fsync", EIO},    [FAULT_RENAME] = {"rename", EIO},
    [FAULT_CLOSE] = {"close", EIO},    [FAULT_UNLINK] = {"unlink", EIO},
    [FAULT_THREAD] = {"thread", EAGAIN}, [FAULT_PLAY] = {"play", EIO},
    [FAULT_FETCH] = {"fetch", EIO},
    [FAULT_CUDA] = {"cuda", 719}, /* cudaErrorLaunchFailure */
};

static const struct {
    const char *name;
    int errnum;
} errors[] = {
    {"EACCES", EACCES}, {"EAGAIN", EAGAIN}, {"EBUSY", EBUSY},   {"EDQUOT", EDQUOT},
    {"EEXIST", EEXIST}, {"EFBIG", EFBIG},   {"EINVAL", EINVAL}, {"EIO", EIO},
    {"EISDIR", EISDIR}, {"EMFILE", EMFILE}, {"ENFILE", ENFILE}, {"ENOENT", ENOENT},
    {"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EPERM", EPERM},   {"EPIPE", EPIPE},
    {"EROFS", EROFS},   {"EXDEV", EXDEV},
};

static struct rule rules[RULES_MOST];
static size_t rule_count;
static _Atomic uint64_t counts[FAULT_KINDS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* A whole number from 1. */
static bool number_read(const char *text, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    *number = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    return *number > 0 && end && !*end && errno == 0;
}

static bool errno_named(const char *name, int *errnum)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, name) == 0) {
            *errnum = errors[i].errnum;
            return true;
        }
    uint64_t number;
    if (!number_read(name, &number) || number > 4095)
        return false;
    *errnum = (int)number;
    return true;
}

/* [kill:]KIND[.CALL]:N[+][:ERRNO]; item is cut into pieces. */
static bool rule_read(char *item, struct rule *r)
{
    *r = (struct rule){0};
    if (strncmp(item, "kill:", 5) == 0) {
        r->kill = true;
        item += 5;
    }
    char *number = strchr(item, ':');
    if (!number)
        return false;
    *number++ = '\0';
    char *call = strchr(item, '.');
    if (call) {
        *call++ = '\0';
        if (strncmp(call, "cuda", 4) == 0) /* as the runtime calls it, or without */
            call += 4;
        if (strlen(call) >= sizeof r->call)
            return false;
        memcpy(r->call, call, strlen(call) + 1);
    }
    size_t k = 0;
    while (k < FAULT_KINDS && strcmp(kinds[k].name, item) != 0)
        k++;
    if (k == FAULT_KINDS)
        return false;
    r->kind = (enum fault_kind)k;
    r->errnum = kinds[k].errnum;
    char *errnum = strchr(number, ':');
    if (errnum) {
        *errnum++ = '\0';
        if (!errno_named(errnum, &r->errnum))
            return false;
    }
    size_t length = strlen(number);
    if (length && number[length - 1] == '+') {
        r->onwards = true;
        number[length - 1] = '\0';
    }
    return number_read(number, &r->from);
}

static void print_counts(void)
{
    char line[512];
    size_t n = (size_t)snprintf(line, sizeof line, "dnn: fault counts");
    for (size_t k = 0; k < FAULT_KINDS; k++)
        n += (size_t)snprintf(line + n, sizeof line - n, " %s=%llu", kinds[k].name,
                              (unsigned long long)atomic_load(&counts[k]));
    line[n++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, n);
    (void)ignored;
}

static void note(const char *text)
{
    dprintf(STDERR_FILENO, "dnn: note: %s: ignored\n", text);
}

static void setup(void)
{
    const char *text = getenv("DNN_FAULT");
    char copy[1024], why[sizeof copy + 64];
    if (!text || !*text)
        return;
    if (strlen(text) >= sizeof copy) {
        note("DNN_FAULT is too long");
        return;
    }
    memcpy(copy, text, strlen(text) + 1);
    char *rest = copy;
    while (rest) {
        char *item = rest;
        rest = strchr(item, ',');
        if (rest)
            *rest++ = '\0';
        if (strcmp(item, "count") == 0) {
            atexit(print_counts);
            continue;
        }
        snprintf(why, sizeof why, "DNN_FAULT: \"%s\" is not [kill:]KIND:N[+][:ERRNO]", item);
        if (rule_count == RULES_MOST || !rule_read(item, &rules[rule_count]))
            note(why);
        else
            rule_count++;
    }
}

/* all: the number of the call among all of its kind; 0: it is not counted. */
static int rules_hit(enum fault_kind kind, const char *call, uint64_t all)
{
    for (size_t i = 0; i < rule_count; i++) {
        struct rule *r = &rules[i];
        if (r->kind != kind || (*r->call ? strcmp(r->call, call) != 0 : !all))
            continue;
        uint64_t nth =
            *r->call ? atomic_fetch_add_explicit(&r->calls, 1, memory_order_relaxed) + 1 : all;
        if (nth < r->from || (nth > r->from && !r->onwards))
            continue;
        if (r->kill)
            kill(getpid(), SIGKILL);
        return r->errnum;
    }
    return 0;
}

static int fail(enum fault_kind kind, const char *call, bool counted)
{
    pthread_once(&once, setup);
    uint64_t all = 0;
    if (counted)
        all = atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed) + 1;
    return rules_hit(kind, call, all);
}

static const char *setting(const char *name)
{
    char variable[64];
    snprintf(variable, sizeof variable, "DNN_%s", name);
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

const struct fault_hooks fault_hooks = {fail, setting};
