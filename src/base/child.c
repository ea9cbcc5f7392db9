/* child.c - see child.h. Between fork and exec nothing is called that is not async-signal-safe. */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exitcode.h"
#include "base/fault.h"
#include "base/sys.h"

static const char program[] = "/proc/self/exe";
static const double AT_MOST_S = 2; /* that the kernel takes to end what was killed */

/* What came in the meantime ends the new process as it would end any: the caller's handlers know
 * nothing of it. What the caller was told to ignore stays ignored. */
static void signals_of_its_own(const sigset_t *mask)
{
    struct sigaction now, none = {.sa_handler = SIG_DFL};
    for (int number = 1; number < 32; number++)
        if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(number, &none, NULL);
    signal(SIGTTOU, SIG_IGN); /* its group is not the terminal's, and may speak there */
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

_Noreturn static void become(const char *const *words, int out, pid_t parent, const sigset_t *mask)
{
    setpgid(0, 0);
    signals_of_its_own(mask);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
        dup2(out, STDOUT_FILENO) == STDOUT_FILENO)
        execv(program, (char *const *)(uintptr_t)words);
    _exit(EXIT_OS);
}

static int cannot(const int ends[2], int error)
{
    sys_close(ends[0]);
    sys_close(ends[1]);
    return error;
}

int child_begin(struct child *c, const char *const *words)
{
    int ends[2], error = fault_hit(FAULT_OPEN);
    sigset_t all, before;
    if (!error && access(program, X_OK) != 0)
        error = errno;
    if (error)
        return error;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    error = fault_hit(FAULT_THREAD);
    if (error)
        return cannot(ends, error);
    pid_t parent = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t id = fork();
    if (id == 0)
        become(words, ends[1], parent, &before);
    error = id < 0 ? errno : 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error)
        return cannot(ends, error);
    sys_close(ends[1]);
    *c = (struct child){.id = id, .out = ends[0]};
    return 0;
}

void child_tell(const struct child *c, int signal_number)
{
    kill(c->id, signal_number);
}

static bool ended(const struct child *c, double patience_s, int *status)
{
    double until = clock_now() + patience_s;
    for (;;) {
        if (waitpid(c->id, status, WNOHANG) == c->id)
            return true;
        if (clock_now() >= until)
            return false;
        poll(NULL, 0, 5);
    }
}

int child_end(struct child *c, double patience_s)
{
    int status = 0;
    sys_close(c->out);
    if (!ended(c, patience_s, &status)) {
        kill(c->id, SIGKILL);
        if (!ended(c, AT_MOST_S, &status))
            return CHILD_LOST;
    }
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
