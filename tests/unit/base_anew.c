/* base_anew.c - what a program hands to the one that it executes in its place, and that nothing
 * else is taken for it. */
#include "base/process/anew.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/text.h"
#include "tap.h"

static const char config[] = "{\"task\": \"binary\"}";

/* The new program: what it received. */
static int receives(void)
{
    char why[256];
    size_t length;
    struct anew_spent spent = anew_spent();
    char *text = anew_config(&length), *again = anew_config(&length);
    bool good = anew_is() && anew_resumes() && anew_why(why, sizeof why) &&
                strcmp(why, "the GPU\\x0afailed") == 0 && text && strcmp(text, config) == 0 &&
                !again && strcmp(anew_warnings(), "one\ntwo\n") == 0 && spent.here > 1.4 &&
                spent.here < 1.6 && spent.all > 2.4 && spent.all < 2.6;
    mem_free(text);
    return good && !anew_ready(config, sizeof config - 1) ? 0 : 1;
}

static int executes(void)
{
    struct text warned = {0};
    text_put(&warned, "one\ntwo\ncut in its mi");
    struct anew *a = anew_ready(config, sizeof config - 1);
    if (!a)
        return 2;
    anew_execute(a, true, "the GPU\nfailed", (struct anew_spent){1.5, 2.5}, &warned);
    return 3;
}

static int of_child(int (*run)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(run());
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Nothing of ours under this name: nothing was received. */
static void refuses(const char *name, const char *what)
{
    anew_receive(name);
    ok(!anew_is() && !anew_resumes() && !*anew_warnings(), "%s", what);
}

static void damaged(const char *text, const char *what)
{
    char name[32];
    int fd = memfd_create("dnn-anew", 0);
    bool written = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    snprintf(name, sizeof name, "dnn:anew:%d", fd);
    if (written)
        refuses(name, what);
}

int main(int argc, char **argv)
{
    (void)argc;
    anew_receive(argv[0]);
    if (anew_is())
        return receives();
    setenv("DNN_FALLBACK", "resume: 1 1: because", 1);
    setenv("DNN_FALLBACK_CONFIG", "0", 1);
    refuses(argv[0], "the environment hands over nothing");
    refuses("dnn:anew:0", "nor does standard input");
    refuses("dnn:anew:999", "nor a descriptor that is not open");
    refuses("dnn:anew:x", "nor a word");
    char name[32];
    int fd = open("/dev/null", O_RDONLY);
    snprintf(name, sizeof name, "dnn:anew:%d", fd);
    refuses(name, "nor another file");
    damaged("", "nor an empty one");
    damaged("dnn anew 1 1 1 1 3 0 9999999\nwhy", "nor lengths beyond the end");
    damaged("dnn anew 1 1 1 1 18446744073709551615 1 1\nwhy", "nor such that wrap");
    damaged("dnn anew 1 1 x 1 3 0 0\nwhy", "nor what is no number");
    is_int(of_child(executes), 0, "reason, seconds, whole warnings and config arrive, once");
    return done();
}
