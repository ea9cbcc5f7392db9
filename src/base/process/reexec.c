/* reexec.c - see reexec.h. argv[0] is "dnn:reexec CONFIG WARNINGS RESUME HERE ALL", where the first
 * two are descriptors, and the reason on a second line: other users of the machine can read it, so
 * the warnings, which quote the data, stand in a file. */
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

/* Written by reexec_begin alone. */
static struct {
    char **argv;
    char *why; /* in argv[0]; NULL: this program is the first */
    char config[32], warnings[32];
    int resumes;
    struct reexec_spent spent;
} self;

void reexec_begin(char **argv)
{
    char *name = argv[0];
    int config, warnings, length = 0;
    self.argv = argv;
    if (!name || strncmp(name, marker, sizeof marker - 1) != 0 ||
        sscanf(name, "%*s %d %d %d %lf %lf%n", &config, &warnings, &self.resumes, &self.spent.here,
               &self.spent.all, &length) != 5 || name[length] != '\n')
        return;
    snprintf(self.config, sizeof self.config, "/proc/self/fd/%d", config);
    snprintf(self.warnings, sizeof self.warnings, "/proc/self/fd/%d", warnings);
    self.why = name + length + 1;
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

/* Makes a file without a name that holds these bytes. Returns 0 or an errno; *fd: -1 without it. */
static int hand_over(const char *name, const char *bytes, size_t length, int *fd)
{
    size_t done;
    int error = sys_memory(name, fd);
    return error || !length ? error : sys_write(*fd, bytes, length, SYS_HERE, &done);
}

void reexec_now(const char *config, size_t length, bool resume, const char *why,
                struct reexec_spent spent, const struct text *warned)
{
    struct text name = {0};
    char *first = self.argv[0];
    int text = -1, warnings = -1, error = hand_over("dnn-config", config, length, &text);
    if (!error)
        error = hand_over("dnn-warnings", warned->data, warned->length, &warnings);
    text_printf(&name, "%s%d %d %d %.3f %.3f\n%s", marker, text, warnings, resume, spent.here,
                spent.all, text_quote_z(why));
    self.argv[0] = name.data;
    if (!error) {
        execv("/proc/self/exe", self.argv);
        error = errno;
    }
    self.argv[0] = first;
    stop_unblock();
    log_note("the program cannot be executed anew: %s", strerror(error));
    text_free(&name);
    if (text >= 0)
        sys_close(text);
    if (warnings >= 0)
        sys_close(warnings);
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
    return self.why ? self.warnings : NULL;
}

const char *reexec_config(void)
{
    return self.why ? self.config : NULL;
}
