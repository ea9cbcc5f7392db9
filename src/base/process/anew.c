/* anew.c - see anew.h. */
#include "base/process/anew.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/sys.h"
#include "base/text.h"

static const char marker[] = "dnn:anew:", label[] = "dnn-anew", magic[] = "dnn anew 1";
enum { MOST_WARNED = 64 << 10, MOST_HEAD = 256 };

struct anew {
    struct text line;
    char **words;
    char name[32];
    const char *config;
    size_t config_length;
    int fd; /* -1: none */
};

/* --- the old program --- */

/* The words of /proc/self/cmdline, NULL after the last, in the memory of *line. NULL: not
 * readable. */
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

static void drop(struct anew *a)
{
    if (a->fd >= 0)
        sys_close(a->fd);
    mem_free(a->words);
    text_free(&a->line);
    mem_free(a);
}

struct anew *anew_ready(const char *config, size_t length)
{
    struct anew *a = mem_zero(1, sizeof *a);
    a->fd = -1;
    a->config = config;
    a->config_length = length;
    a->words = config && !anew_is() ? command_line(&a->line) : NULL;
    if (a->words && sys_memory(label, &a->fd) == 0 && stop_hand_on())
        return a;
    drop(a);
    return NULL;
}

/* Bytes of the warnings that fit, in whole lines. */
static size_t warned_length(const struct text *warned)
{
    size_t length = warned->length < MOST_WARNED ? warned->length : MOST_WARNED;
    while (length > 0 && warned->data[length - 1] != '\n')
        length--;
    return length;
}

static bool hand_over(const struct anew *a, bool resume, const char *why, struct anew_spent spent,
                      const struct text *warned)
{
    struct text all = {0};
    size_t done, reason = strlen(why), lines = warned_length(warned);
    text_printf(&all, "%s %d %.3f %.3f %zu %zu %zu\n", magic, resume, spent.here, spent.all, reason,
                lines, a->config_length);
    text_add(&all, why, reason);
    text_add(&all, warned->data ? warned->data : "", lines);
    text_add(&all, a->config, a->config_length);
    bool good = sys_write(a->fd, all.data, all.length, SYS_HERE, &done) == 0;
    text_free(&all);
    return good;
}

void anew_execute(struct anew *a, bool resume, const char *why, struct anew_spent spent,
                  const struct text *warned)
{
    snprintf(a->name, sizeof a->name, "%s%d", marker, a->fd);
    a->words[0] = a->name;
    if (hand_over(a, resume, why, spent, warned))
        execv("/proc/self/exe", a->words);
    int error = errno;
    stop_hand_off();
    log_note("the program cannot be executed anew: %s", strerror(error));
    drop(a);
}

/* --- the new program --- */

/* Written once, by anew_receive. */
static struct {
    bool is, resumes;
    struct anew_spent spent;
    char why[256], *warnings, *config;
    size_t config_length;
} received;

/* The descriptor in the name; -1: none. */
static int descriptor_of(const char *name)
{
    char path[48], target[64];
    int64_t fd;
    if (!name || strncmp(name, marker, sizeof marker - 1) != 0 ||
        !text_to_int(name + sizeof marker - 1, &fd) || fd <= STDERR_FILENO || fd > INT_MAX)
        return -1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    return strncmp(target, "/memfd:", 7) == 0 && strstr(target, label) ? (int)fd : -1;
}

/* Takes the parts out of bytes [length]. */
static bool parse(char *bytes, size_t length)
{
    char head[MOST_HEAD], here[32], all[32];
    size_t line = strcspn(bytes, "\n"), why, warned, config, at = line + 1;
    struct anew_spent spent;
    int resume;
    if (line >= sizeof head || strncmp(bytes, magic, sizeof magic - 1) != 0)
        return false;
    memcpy(head, bytes, line);
    head[line] = '\0';
    if (sscanf(head + sizeof magic - 1, " %d %31[0-9.] %31[0-9.] %zu %zu %zu", &resume, here, all,
               &why, &warned, &config) != 6 ||
        !text_to_double(here, &spent.here) || !text_to_double(all, &spent.all) ||
        at > length || why > length - at || warned > length - at - why ||
        config != length - at - why - warned)
        return false;
    snprintf(received.why, sizeof received.why, "%.250s", text_quote(bytes + at, why));
    mem_free(received.warnings);
    mem_free(received.config);
    received.spent = spent;
    received.warnings = mem_string_n(bytes + at + why, warned);
    received.config = mem_string_n(bytes + at + why + warned, config);
    received.config_length = config;
    received.resumes = resume != 0;
    return true;
}

void anew_receive(const char *name)
{
    char path[48], *bytes = NULL;
    size_t length;
    struct err e = {0};
    int fd = descriptor_of(name);
    if (fd < 0)
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (file_slurp(path, JSON_MOST_BYTES + 2 * MOST_WARNED, ERR_JSON_LIMIT, &bytes, &length, &e))
        received.is = parse(bytes, length);
    mem_free(bytes);
    sys_close(fd);
}

bool anew_is(void)
{
    return received.is;
}

bool anew_resumes(void)
{
    return received.resumes;
}

bool anew_why(char *to, size_t room)
{
    if (received.is)
        snprintf(to, room, "%s", received.why);
    return received.is;
}

struct anew_spent anew_spent(void)
{
    return received.spent;
}

const char *anew_warnings(void)
{
    return received.warnings ? received.warnings : "";
}

char *anew_config(size_t *length)
{
    char *text = received.config;
    *length = received.config_length;
    received.config = NULL;
    return text;
}
