/* stop.h - why work ends early. Handlers only set flags; every loop polls. SIGTERM, SIGHUP,
 * SIGXCPU: stop with checkpoint (75); SIGINT: the same, 130; a second one: at once, temporary files
 * removed. SIGUSR1: checkpoint now; SIGUSR2: a status line. SIGPIPE: 141, quiet (ignored as a
 * signal; the failing write says so). SIGXFSZ: the write fails with EFBIG. A signal ignored at
 * start (nohup) stays ignored.
 *
 * Which signal is the second one? timeout(1), schedulers and shells deliver one request twice, to
 * the process and to its group, and a press of Ctrl-C reaches dnn from the terminal and once more
 * from whoever started it: what follows the first within STOP_TOGETHER_S seconds is the same
 * request. Two presses never are, however fast: the terminal sends each once. SIGXCPU, which the
 * kernel repeats every second, is never a second one. */
#ifndef DNN_BASE_STOP_H
#define DNN_BASE_STOP_H

#include <stdbool.h>

#include "base/err.h"

#define STOP_TOGETHER_S 0.1

void stop_install(void);
bool stop_wanted(void);               /* a signal asked to end */
int stop_exit(void);                  /* 75 or 130; 0 when none */
const char *stop_name(void);          /* "SIGTERM"; "" when none */
enum err_id stop_id(void);            /* STOPPED or INTERRUPTED */
/* Of that id: stopped by the signal before `what`. False. */
bool stop_error(const char *what, struct err *e);
bool stop_is(const struct err *e);    /* one of those two */
bool stop_checkpoint(void);           /* SIGUSR1 since the last call */
bool stop_status(void);               /* SIGUSR2 since the last call */
void stop_request(int signal_number); /* for tests: as if that signal had come */
void stop_key(void);                  /* for tests: as if Ctrl-C had been pressed */
void stop_forget(void);               /* for tests: no signal has come */

/* What the program is doing, a string that lives for ever: shown by the line of a crash.
 * `disposable`, as the program begins: nothing would be lost; a signal, of this phase or one
 * before, that nobody has noticed after STOP_PATIENCE_S (a read that waits for a pipe) then ends
 * the process by itself. In any other phase a line says that the work at hand is waited for. */
#define STOP_PATIENCE_S 2
void stop_phase(const char *name, bool disposable);
/* Until it is let go, no phase is disposable: what is around them has to be tidied up. */
void stop_hold(bool hold);
/* Whether what has not answered for so many seconds, a device, is to be left, though it may not
 * hang: a signal asked to end STOP_GRACE_S ago, or the time limit was over STOP_GRACE_LIMIT_S ago
 * (then ERR_MACHINE_FAULT, as a hang is: no sound card takes so long for a batch, though a driver
 * that compiles may take some of it); e begins the message. Where steps would be lost, a limit
 * waits on, and a signal for STOP_GRACE_WORK_S. From any thread. */
#define STOP_GRACE_S 5
#define STOP_GRACE_LIMIT_S 60
#define STOP_GRACE_WORK_S 20
bool stop_leaves(double waited, struct err *e);
void stop_limit(double at);    /* clock_now() when the time is up; 0: never */
void stop_at_stake(bool there);
/* The program is executed anew: signals from here on wait for the new one. False: one has asked to
 * end before, and all is as it was. */
bool stop_hand_on(void);
void stop_hand_off(void);      /* it could not be executed */
void stop_take_on(void);       /* by the new one, behind stop_install */
/* Removes temporary files and the lock. Async-signal-safe: for handlers that end the process. */
void stop_cleanup(void);

#endif
