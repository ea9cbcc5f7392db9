/* base_reexec.c - what a program hands to the one that it executes in its place, and that nothing
 * else is taken for it. */
#include "base/process/reexec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "tap.h"

static const char config[] = "{\"task\": \"binary\"}";

/* The new program: what it received. */
static int receives(void)
{
    struct reexec_spent spent = reexec_spent();
    char *text = file_small(reexec_config()), *again = file_small(reexec_config());
    char *warned = file_small(reexec_warnings());
    bool good = reexec_resumes() && strcmp(reexec_why(), "the GPU\\x0afailed") == 0 && text &&
                again && strcmp(text, config) == 0 && strcmp(again, config) == 0 &&
                warned && strcmp(warned, "one\ntwo\n") == 0 && spent.here > 1.4 &&
                spent.here < 1.6 && spent.all > 2.4 && spent.all < 2.6;
    mem_free(text);
    mem_free(again);
    mem_free(warned);
    return good && !reexec_ready() ? 0 : 1;
}

static int executes(void)
{
    struct text warned = {0};
    text_put(&warned, "one\ntwo\n");
    if (!reexec_ready())
        return 2;
    reexec_now(config, sizeof config - 1, true, "the GPU\nfailed", (struct reexec_spent){1.5, 2.5},
               &warned);
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
    char copy[64], *argv[] = {copy, NULL};
    snprintf(copy, sizeof copy, "%s", name);
    reexec_begin(argv);
    ok(!reexec_why() && !reexec_resumes() && !reexec_warnings() && !reexec_config(), "%s", what);
}

int main(int argc, char **argv)
{
    (void)argc;
    reexec_begin(argv);
    if (reexec_why())
        return receives();
    refuses(argv[0], "a program's own name hands over nothing");
    refuses("dnn:reexec 7 8 1 1 1", "nor does a name without a reason");
    refuses("dnn:reexec 7 8 1 x 1\nwhy\n", "nor a word in the place of a number");
    char *none[] = {NULL};
    reexec_begin(none);
    ok(!reexec_why(), "nor a program without a name");
    reexec_begin(argv);
    is_int(of_child(executes), 0, "reason, seconds, warnings and config arrive, once");
    return done();
}
