/* anew.c - see anew.h. */
#include "base/anew.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/sys.h"
#include "base/text.h"

static const char variable[] = "DNN_FALLBACK";
static const char resuming[] = "resume: ", afresh[] = "afresh: ";
static const char config_variable[] = "DNN_FALLBACK_CONFIG";
enum { MOST_HANDED = 64 << 10 }; /* bytes; a variable may have 128 KiB */

struct anew {
    struct text line;
    char **words;
    int config; /* descriptor; -1: none */
};

/* --- by the program that goes --- */

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

/* The file of the config may be a pipe, or another one by now. False: it cannot be handed over, and
 * not be read again. */
static bool hand_config(const char *config, size_t length, const char *path, int *fd)
{
    char number[16];
    size_t done;
    *fd = -1;
    if (!config || sys_memory("config", fd) != 0)
        return file_lasts(path);
    snprintf(number, sizeof number, "%d", *fd);
    if (sys_write(*fd, config, length, SYS_HERE, &done) == 0 &&
        setenv(config_variable, number, 1) == 0)
        return true;
    sys_close(*fd);
    *fd = -1;
    return file_lasts(path);
}

static void drop(struct anew *a)
{
    if (a->words) {
        unsetenv(variable);
        unsetenv(config_variable);
    }
    if (a->config >= 0)
        sys_close(a->config);
    mem_free(a->words);
    text_free(&a->line);
    mem_free(a);
}

struct anew *anew_ready(const char *config, size_t length, const char *path)
{
    struct anew *a = mem_zero(1, sizeof *a);
    a->config = -1;
    a->words = anew_is() ? NULL : command_line(&a->line); /* once */
    if (a->words && hand_config(config, length, path, &a->config) && stop_hand_on())
        return a;
    drop(a);
    return NULL;
}

/* DNN_FALLBACK is "resume: 12.5 12.5: why", and the warnings so far below, one a line. */
static bool hand_over(bool resume, const char *why, struct anew_spent spent,
                      const struct text *warned)
{
    struct text word = {0};
    text_printf(&word, "%s%.3f %.3f: %.280s\n", resume ? resuming : afresh, spent.here, spent.all,
                why);
    text_add(&word, warned->data ? warned->data : "", warned->length);
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

void anew_execute(struct anew *a, bool resume, const char *why, struct anew_spent spent,
                  const struct text *warned)
{
    if (hand_over(resume, why, spent, warned))
        execv("/proc/self/exe", a->words);
    int error = errno;
    stop_hand_off();
    log_note("the program cannot be executed anew: %s", strerror(error));
    drop(a);
}

/* --- by the one that comes --- */

/* What the variable says: seconds spent, why in bytes *length, and what follows it; NULL: it does
 * not stand. */
static const char *handed(struct anew_spent *spent, size_t *length)
{
    const char *word = getenv(variable);
    *spent = (struct anew_spent){0};
    *length = 0;
    if (!word || strlen(word) < strlen(resuming))
        return NULL;
    word += strlen(resuming);
    char here[32], all[32];
    int used = 0;
    struct anew_spent told;
    if (sscanf(word, "%31[0-9.] %31[0-9.]: %n", here, all, &used) == 2 && used &&
        text_to_double(here, &told.here) && text_to_double(all, &told.all)) {
        *spent = told;
        word += used;
    }
    *length = strcspn(word, "\n");
    return word;
}

bool anew_is(void)
{
    return getenv(variable) != NULL;
}

bool anew_resumes(void)
{
    const char *word = getenv(variable);
    return word && strncmp(word, resuming, strlen(resuming)) == 0;
}

bool anew_why(char *to, size_t room)
{
    struct anew_spent spent;
    size_t length;
    const char *why = handed(&spent, &length);
    if (why)
        snprintf(to, room, "%.250s", text_quote(why, length));
    return why != NULL;
}

struct anew_spent anew_spent(void)
{
    struct anew_spent spent;
    size_t length;
    handed(&spent, &length);
    return spent;
}

const char *anew_warnings(void)
{
    struct anew_spent spent;
    size_t length;
    const char *why = handed(&spent, &length);
    return why && why[length] ? why + length + 1 : "";
}

char *anew_config(size_t *length)
{
    const char *word = anew_is() ? getenv(config_variable) : NULL;
    char path[48], *bytes = NULL;
    int64_t fd;
    struct err e = {0};
    if (!word || !text_to_int(word, &fd) || fd <= STDERR_FILENO || fd > INT_MAX)
        return NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", (int)fd);
    if (!file_slurp(path, JSON_MOST_BYTES, ERR_JSON_LIMIT, &bytes, length, &e))
        bytes = NULL;
    else
        sys_close((int)fd);
    unsetenv(config_variable);
    return bytes;
}
