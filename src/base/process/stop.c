/* stop.c - see stop.h. Everything that a handler touches is a lock-free atomic; what it calls is
 * async-signal-safe. */
#include "base/process/stop.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/exitcode.h"
#include "base/file/lock.h"
#include "base/file/outfile.h"
#include "base/process/profile.h"

static _Atomic int first; /* the signal that asked to end */
static _Atomic double first_at;
static _Atomic bool first_key; /* it came from a key */
static _Atomic bool noticed_by_work;
static _Atomic bool checkpoint_asked, status_asked;
static const char *_Atomic phase = "start";
static _Atomic bool phase_disposable = true; /* an end loses nothing */
static _Atomic bool held; /* stop_hold */

static const struct ending {
    int number;
    const char *name;
    int exit, at_once;
} endings[] = {
    {SIGTERM, "SIGTERM", EXIT_TRYLATER, EXIT_SIGTERM},
    {SIGHUP, "SIGHUP", EXIT_TRYLATER, EXIT_SIGTERM},
    {SIGXCPU, "SIGXCPU", EXIT_TRYLATER, EXIT_SIGTERM},
    {SIGINT, "SIGINT", EXIT_SIGINT, EXIT_SIGINT},
};
#define ENDINGS (sizeof endings / sizeof endings[0])

static const struct ending *ending_of(int number)
{
    for (size_t i = 0; i < ENDINGS; i++)
        if (endings[i].number == number)
            return &endings[i];
    return NULL;
}

static void say(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

void stop_cleanup(void)
{
    outfile_abort_all();
    lock_abort();
}

_Noreturn static void leave(int code)
{
    stop_cleanup();
    _exit(code);
}

static void end_asked(int number, bool key)
{
    int none = 0;
    double now = clock_now();
    if (atomic_compare_exchange_strong(&first, &none, number)) {
        atomic_store(&first_at, now);
        atomic_store(&first_key, key);
        alarm(STOP_PATIENCE_S);
        return;
    }
    bool again =
        (key && atomic_load(&first_key)) || now - atomic_load(&first_at) >= STOP_TOGETHER_S;
    if (again && number != SIGXCPU) {
        const struct ending *e = ending_of(number);
        leave(e ? e->at_once : EXIT_SIGTERM);
    }
}

static void handle(int number, bool key)
{
    if (number == SIGUSR1) {
        atomic_store(&checkpoint_asked, true);
    } else if (number == SIGUSR2) {
        atomic_store(&status_asked, true);
    } else if (number == SIGALRM) {
        int asked = atomic_load(&first);
        if (!asked || atomic_load(&noticed_by_work))
            return;
        if (!atomic_load(&phase_disposable) || atomic_load(&held)) {
            say("dnn: stopping: the work at hand is finished first; a second signal ends at "
                "once\n");
            return;
        }
        const struct ending *e = ending_of(asked);
        say(e->exit == EXIT_SIGINT ? "dnn: error[E1903]" : "dnn: error[E1902]");
        say(": stopped by ");
        say(e->name);
        say(", which was not noticed for two seconds (a wait for data?): nothing had been begun; "
            "the same command starts as this one did\n");
        leave(e->exit);
    } else {
        end_asked(number, key);
    }
}

/* The terminal sends SIGINT itself, once a key press. */
static void handle_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    handle(number, number == SIGINT && info->si_code == SI_KERNEL);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
static const struct {
    int number;
    const char *name;
} crashes[] = {
    {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
    {SIGILL, "SIGILL"},   {SIGABRT, "SIGABRT"},
};

/* A bug: one line, and then the signal's own end (a core file, if the user wants one). No
 * checkpoint is attempted: memory may be damaged, and the last good one is on the disk. */
static void crash(int number)
{
    say("dnn: error[E9901]: a bug of dnn " DNN_VERSION " (");
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        if (crashes[i].number == number)
            say(crashes[i].name);
    say(") during: ");
    say(atomic_load(&phase));
    say("; please report it with the command line\n");
    stop_cleanup();
    raise(number); /* SA_RESETHAND has put the default action back */
}

static void install_crashes(void)
{
    static char stack[64 << 10]; /* a crash may be an overflow of the ordinary stack */
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, NULL);
    struct sigaction a = {.sa_handler = crash,
                          .sa_flags = SA_ONSTACK | (int)SA_RESETHAND | SA_NODEFER};
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i].number, &a, NULL);
}
#else
static void install_crashes(void) /* the sanitizer's own report is better */
{
}
#endif

static void install_one(int number)
{
    struct sigaction before, a = {.sa_sigaction = handle_signal,
                                  .sa_flags = SA_RESTART | SA_SIGINFO};
    sigfillset(&a.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler == SIG_IGN)
        return; /* nohup, or a background job of a shell without job control */
    sigaction(number, &a, NULL);
}

static sigset_t unblocked; /* the mask before stop_block */
static bool blocked;

void stop_block(void)
{
    sigset_t all;
    sigemptyset(&all);
    for (size_t i = 0; i < ENDINGS; i++)
        sigaddset(&all, endings[i].number);
    sigaddset(&all, SIGUSR1);
    sigaddset(&all, SIGUSR2);
    blocked = pthread_sigmask(SIG_BLOCK, &all, &unblocked) == 0;
}

void stop_unblock(void)
{
    if (blocked)
        pthread_sigmask(SIG_SETMASK, &unblocked, NULL);
    blocked = false;
}

void stop_install(void)
{
    for (size_t i = 0; i < ENDINGS; i++)
        install_one(endings[i].number);
    install_one(SIGUSR1);
    install_one(SIGUSR2);
    install_one(SIGALRM);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    install_crashes();
    stop_unblock();
}

bool stop_wanted(void)
{
    if (!atomic_load_explicit(&first, memory_order_relaxed))
        return false;
    atomic_store(&noticed_by_work, true);
    return true;
}

int stop_exit(void)
{
    const struct ending *e = ending_of(atomic_load(&first));
    return e ? e->exit : 0;
}

const char *stop_name(void)
{
    const struct ending *e = ending_of(atomic_load(&first));
    return e ? e->name : "";
}

enum err_id stop_id(void)
{
    return stop_exit() == EXIT_SIGINT ? ERR_INTERRUPTED : ERR_STOPPED;
}

bool stop_error(const char *what, struct err *e)
{
    return err_set(e, stop_id(), "stopped by %s before %s", stop_name(), what);
}

bool stop_checkpoint(void)
{
    return atomic_load_explicit(&checkpoint_asked, memory_order_relaxed) &&
           atomic_exchange(&checkpoint_asked, false);
}

bool stop_status(void)
{
    return atomic_load_explicit(&status_asked, memory_order_relaxed) &&
           atomic_exchange(&status_asked, false);
}

void stop_request(int signal_number)
{
    handle(signal_number, false);
}

void stop_key(void)
{
    handle(SIGINT, true);
}

void stop_forget(void)
{
    atomic_store(&first, 0);
    atomic_store(&first_at, 0);
    atomic_store(&noticed_by_work, false);
    atomic_store(&checkpoint_asked, false);
    atomic_store(&status_asked, false);
    alarm(0);
}

void stop_hold(bool hold)
{
    atomic_store(&held, hold);
}

/* The program inherits the mask of the thread that executed it. */
void stop_take_on(void)
{
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

void stop_phase(const char *name, bool disposable)
{
    profile_phase(name);
    atomic_store(&phase, name);
    atomic_store(&phase_disposable, disposable);
    /* A signal of the phase before that was not polled yet. */
    if (disposable && atomic_load(&first) && !atomic_load(&noticed_by_work))
        alarm(STOP_PATIENCE_S);
}
