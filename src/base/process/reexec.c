/* reexec.c - see reexec.h. argv[0] is "dnn:reexec FD RESUME HERE ALL", the reason, and a line for
 * each warning. */
#include "base/process/reexec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process/stop.h"
#include "base/sys.h"
#include "base/text.h"

static const char marker[] = "dnn:reexec ";
enum { MOST_WARNED = 64 << 10 }; /* Linux takes 128 KiB as an argument */

/* Written by reexec_begin alone. */
static struct {
    char **argv;
    char *why; /* in argv[0], like the warnings; NULL: this program is the first */
    const char *warnings;
    char config[32];
    int resumes;
    struct reexec_spent spent;
} self;

void reexec_begin(char **argv)
{
    char *name = argv[0];
    int fd, length = 0;
    self.argv = argv;
    if (!name || strncmp(name, marker, sizeof marker - 1) != 0 ||
        sscanf(name, "%*s %d %d %lf %lf%n", &fd, &self.resumes, &self.spent.here, &self.spent.all,
               &length) != 4 || name[length] != '\n')
        return;
    snprintf(self.config, sizeof self.config, "/proc/self/fd/%d", fd);
    self.why = name + length + 1;
    char *end = self.why + strcspn(self.why, "\n");
    self.warnings = *end ? end + 1 : end;
    *end = '\0';
}

bool reexec_ready(void)
{
    if (!self.argv || self.why)
        return false;
    stop_block();
    if (!stop_wanted())
        return true;
    stop_unblock();
    return false;
}

/* Bytes of the warnings that fit, in whole lines. */
static size_t warned_length(const struct text *warned)
{
    size_t length = warned->length < MOST_WARNED ? warned->length : MOST_WARNED;
    while (length > 0 && warned->data[length - 1] != '\n')
        length--;
    return length;
}

void reexec_now(const char *config, size_t length, bool resume, const char *why,
                struct reexec_spent spent, const struct text *warned)
{
    struct text name = {0};
    char *first = self.argv[0];
    size_t done;
    int fd = -1, error = sys_memory("dnn-config", &fd);
    error = error ? error : sys_write(fd, config, length, SYS_HERE, &done);
    text_printf(&name, "%s%d %d %.3f %.3f\n%s\n", marker, fd, resume, spent.here, spent.all,
                text_quote_z(why));
    text_add(&name, warned->data, warned_length(warned));
    self.argv[0] = name.data;
    if (!error) {
        execv("/proc/self/exe", self.argv);
        error = errno;
    }
    self.argv[0] = first;
    stop_unblock();
    log_note("the program cannot be executed anew: %s", strerror(error));
    text_free(&name);
    if (fd >= 0)
        sys_close(fd);
}

const char *reexec_why(void)
{
    return self.why;
}

bool reexec_resumes(void)
{
    return self.why && self.resumes;
}

struct reexec_spent reexec_spent(void)
{
    return self.why ? self.spent : (struct reexec_spent){0};
}

const char *reexec_warnings(void)
{
    return self.why ? self.warnings : "";
}

const char *reexec_config(void)
{
    return self.why ? self.config : NULL;
}
