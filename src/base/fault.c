/* fault.c - counting the fallible calls, and failing the one that DNN_FAULT names. */
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

#include "base/log.h"
#include "base/text.h"

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

static bool errno_named(const char *name, int *errnum)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strcmp(errors[i].name, name) == 0) {
            *errnum = errors[i].errnum;
            return true;
        }
    int64_t number;
    if (!text_to_int(name, &number) || number < 1 || number > 4095)
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
    int64_t from;
    if (!text_to_int(number, &from) || from < 1)
        return false;
    r->from = (uint64_t)from;
    return true;
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

static void setup(void)
{
    const char *text = getenv("DNN_FAULT");
    if (!text || !*text)
        return;
    char copy[1024];
    if (strlen(text) >= sizeof copy) {
        log_note("DNN_FAULT is longer than %zu bytes: ignored", sizeof copy - 1);
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
        char shown[128];
        text_escape(shown, sizeof shown, item, strlen(item));
        if (rule_count == RULES_MOST || !rule_read(item, &rules[rule_count]))
            log_note("DNN_FAULT: \"%s\" is not [kill:]KIND:N[+][:ERRNO]: ignored", shown);
        else
            rule_count++;
    }
}

int fault_hit(enum fault_kind kind)
{
    return fault_hit_call(kind, "");
}

/* all: which call of its kind it is; 0: none of those that are counted. */
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

int fault_hit_call(enum fault_kind kind, const char *call)
{
    pthread_once(&once, setup);
    return rules_hit(kind, call,
                     atomic_fetch_add_explicit(&counts[kind], 1, memory_order_relaxed) + 1);
}

int fault_hit_poll(enum fault_kind kind, const char *call)
{
    pthread_once(&once, setup);
    return rules_hit(kind, call, 0);
}
