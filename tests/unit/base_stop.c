/* base_stop.c - signals: what they ask for, when the second one ends at once, what is cleaned up,
 * what stays ignored. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exitcode.h"
#include "base/file/lock.h"
#include "base/file/outfile.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "scratch.h"
#include "tap.h"

/* Runs `child` in a process of its own; its wait status. */
static int forked(int (*child)(void))
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0)
        _exit(child());
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

static int twice_together(void)
{
    stop_install();
    raise(SIGTERM);
    raise(SIGTERM); /* as timeout(1) does it: to the process, then to its group */
    return stop_wanted() && stop_exit() == EXIT_TRYLATER ? 7 : 1;
}

static int one_press(void) /* the terminal tells everybody, and timeout(1) tells us again */
{
    stop_key();
    stop_request(SIGINT);
    return stop_wanted() && stop_exit() == EXIT_SIGINT ? 7 : 1;
}

static int two_presses(void)
{
    stop_key();
    stop_key();
    return 2; /* not reached */
}

static const char waits[] =
    "dnn: stopping: the work at hand is finished first; a second signal ends at once\n";

/* What a process says that cannot stop at once; noticed: it looks for the signal in time; within:
 * its phase could stop, what is around it not. */
static int says_that_it_waits(bool noticed, bool within)
{
    FILE *said = freopen(scratch("waits.txt"), "w", stderr);
    stop_install();
    stop_hold(within);
    stop_phase(within ? "reading the data" : "training", within);
    raise(SIGTERM);
    if (noticed)
        stop_wanted();
    for (double until = clock_now() + STOP_PATIENCE_S + 0.5; clock_now() < until;)
        usleep(10000);
    fflush(said);
    return stop_wanted() && stop_exit() == EXIT_TRYLATER ? 7 : 1;
}

static int busy(void)
{
    return says_that_it_waits(false, false);
}

static int attentive(void)
{
    return says_that_it_waits(true, false);
}

static int within_another(void)
{
    return says_that_it_waits(false, true);
}

/* What comes while signals are blocked waits for the end of it. */
static int waits_blocked(void)
{
    sigset_t pending;
    stop_install();
    stop_block();
    raise(SIGTERM);
    sigpending(&pending);
    if (stop_exit() || !sigismember(&pending, SIGTERM))
        return 2;
    stop_unblock();
    return stop_wanted() && stop_exit() == EXIT_TRYLATER ? 7 : 3;
}

/* What main does: signals that come before the handlers wait for them. */
static int early(void)
{
    stop_block();
    raise(SIGUSR1);
    raise(SIGUSR2);
    raise(SIGTERM);
    stop_install();
    return stop_checkpoint() && stop_status() && stop_exit() == EXIT_TRYLATER ? 7 : 1;
}

static int used_up(void)
{
    stop_install();
    for (int i = 0; i < 3; i++) {
        raise(SIGXCPU);
        usleep((useconds_t)(STOP_TOGETHER_S * 1e6 * 1.3));
    }
    return stop_wanted() && stop_exit() == EXIT_TRYLATER ? 7 : 1;
}

static int second(int number)
{
    struct outfile o;
    struct lock l;
    struct err e = {0};
    stop_install();
    const char *path = scratch("second.dnn");
    if (!lock_take(&l, path, &e) || !outfile_open(&o, path, &e) || !outfile_write(&o, "x", 1, &e))
        return 1;
    raise(number);
    usleep((useconds_t)(STOP_TOGETHER_S * 1e6 * 1.3));
    raise(number);
    return 2; /* not reached */
}

static int second_term(void)
{
    return second(SIGTERM);
}

static int second_int(void)
{
    return second(SIGINT);
}

static int nohup(void)
{
    signal(SIGHUP, SIG_IGN);
    stop_install();
    raise(SIGHUP);
    return stop_wanted() ? 1 : 7;
}

static int broken_pipe(void)
{
    int ends[2];
    stop_install();
    if (pipe(ends) != 0)
        return 1;
    close(ends[0]);
    return write(ends[1], "x", 1) < 0 && errno == EPIPE ? 7 : 2;
}

/* Nobody polls: a read that never returns. */
static int read_for_ever(void)
{
    int ends[2];
    char byte;
    if (pipe(ends) != 0)
        return 1;
#if defined(__SANITIZE_THREAD__)
    /* This sanitizer holds a signal back until a call ends, but for a few that it knows to wait;
     * read is none of them. */
    for (;;)
        pause();
#endif
    for (;;)
        if (read(ends[0], &byte, 1) == 0)
            return 2;
}

static int stalled(void)
{
    stop_install();
    stop_phase("reading", true);
    kill(getpid(), SIGTERM);
    return read_for_ever();
}

static int stalled_at_start(void)
{
    stop_install();
    kill(getpid(), SIGTERM);
    return read_for_ever();
}

/* The signal came while something could have been lost, and the wait begins after it. */
static int stalled_later(void)
{
    stop_install();
    stop_phase("preparing", false);
    kill(getpid(), SIGTERM);
    stop_phase("reading", true);
    return read_for_ever();
}

/* The same, but the work noticed and is busy with its checkpoint. */
static int noticed(void)
{
    stop_install();
    stop_phase("reading", true);
    raise(SIGTERM);
    if (!stop_wanted())
        return 1;
    sleep(STOP_PATIENCE_S + 1);
    return 7;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static int crash(void)
{
    if (!freopen(scratch("crash.txt"), "w", stderr))
        return 1;
    stop_install();
    stop_phase("a test", false);
    raise(SIGSEGV);
    return 2;
}

static void crash_elsewhere(void *context, unsigned tile, unsigned thread)
{
    (void)context;
    (void)tile;
    if (thread)
        raise(SIGSEGV);
    usleep(1000);
}

/* The worker's crash is told of as the caller's would be. */
static int crash_of_a_worker(void)
{
    if (!freopen(scratch("crash.txt"), "w", stderr))
        return 1;
    stop_install();
    stop_phase("a worker's tile", false);
    threads_start(2);
    for (int i = 0; i < 5000; i++)
        threads_run(16, crash_elsewhere, NULL);
    return 2;
}
#endif

static void flags(void)
{
    ok(!stop_wanted() && stop_exit() == 0 && strcmp(stop_name(), "") == 0,
       "at first nobody asks for anything");
    stop_request(SIGUSR1);
    ok(stop_checkpoint() && !stop_checkpoint(), "SIGUSR1 asks for one checkpoint");
    stop_request(SIGUSR2);
    ok(stop_status() && !stop_status(), "SIGUSR2 asks for one status line");
    ok(!stop_wanted(), "neither ends anything");
    static const struct {
        int number, exit;
        const char *name;
    } rows[] = {{SIGTERM, 75, "SIGTERM"},
                {SIGHUP, 75, "SIGHUP"},
                {SIGXCPU, 75, "SIGXCPU"},
                {SIGINT, 130, "SIGINT"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        stop_request(rows[i].number);
        ok(stop_wanted() && stop_exit() == rows[i].exit && strcmp(stop_name(), rows[i].name) == 0,
           "%s ends with %d", rows[i].name, rows[i].exit);
        stop_forget();
    }
    stop_request(SIGINT);
    stop_request(SIGTERM);
    ok(stop_exit() == 130, "the first signal decides");
    stop_forget();
}

int main(void)
{
    scratch_make();
    flags();
    int status = forked(twice_together);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7,
       "one request that is delivered twice is one request");
    status = forked(one_press);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7,
       "one press of a key that two tell of is one request");
    status = forked(two_presses);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 130, "two presses are two, however fast");
    status = forked(early);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "no signal is too early");
    status = forked(waits_blocked);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a signal that is blocked waits");
    status = forked(used_up);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "SIGXCPU again and again is one request");
    status = forked(second_term);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 143, "a second SIGTERM ends at once with 143");
    ok(scratch_count() == 0, "temporary file and lock are gone");
    status = forked(second_int);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 130, "a second SIGINT ends at once with 130");
    ok(scratch_count() == 0, "temporary file and lock are gone");
    status = forked(nohup);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "SIGHUP that nohup ignores stays ignored");
    status = forked(broken_pipe);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "a broken pipe is an error of write");
    status = forked(stalled);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 75, "a read that waits for ever ends with 75");
    status = forked(stalled_at_start);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 75, "and so does one before any phase");
    status = forked(stalled_later);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 75, "and one behind the phase of the signal");
    status = forked(noticed);
    ok(WIFEXITED(status) && WEXITSTATUS(status) == 7, "work that has noticed is left alone");
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    status = forked(crash);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a crash ends by its own signal");
    size_t length;
    char *text = scratch_get("crash.txt", &length);
    ok(text && strstr(text, "SIGSEGV") && strstr(text, "a test") && strstr(text, DNN_VERSION),
       "it says signal, phase and version");
    free(text);
    status = forked(crash_of_a_worker);
    ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "and so does a worker's");
    text = scratch_get("crash.txt", &length);
    ok(text && strstr(text, "SIGSEGV") && strstr(text, "a worker's tile"), "it says the same");
    free(text);
#else
    tap_skip("a crash ends by its own signal", "the sanitizer reports it");
#endif
    ok(WEXITSTATUS(forked(busy)) == 7 && scratch_holds("waits.txt", waits, sizeof waits - 1),
       "work that goes on for long says that it is waited for");
    ok(WEXITSTATUS(forked(attentive)) == 7 && scratch_holds("waits.txt", "", 0),
       "work that noticed says nothing");
    ok(WEXITSTATUS(forked(within_another)) == 7 &&
           scratch_holds("waits.txt", waits, sizeof waits - 1),
       "a phase within work that has to tidy up is not left");
    return done();
}
