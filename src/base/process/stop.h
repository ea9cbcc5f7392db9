/* stop.h - signals. Handlers only set flags; every loop polls them. SIGTERM, SIGHUP and SIGXCPU
 * stop with a checkpoint (75), SIGINT the same (130). A second one ends at once; temporary files
 * are removed. SIGUSR1 asks for a checkpoint, SIGUSR2 for a status line. SIGPIPE and SIGXFSZ are
 * ignored: the write fails (141, or EFBIG). A signal that is ignored at the start (nohup) stays
 * ignored.
 *
 * timeout(1), schedulers and shells deliver one request twice, to the process and to its group. So
 * a signal within STOP_TOGETHER_S seconds of the first is the same request. Two presses of Ctrl-C
 * are always two requests: the terminal sends each once. SIGXCPU is never a second request: the
 * kernel repeats it every second. */
#ifndef DNN_BASE_STOP_H
#define DNN_BASE_STOP_H

#include <stdbool.h>

#include "base/err.h"

#define STOP_TOGETHER_S 0.1

/* Asked now and then by long work, from any thread: true ends it. */
struct stopper {
    bool (*wanted)(const void *context);
    const void *context;
};
/* NULL: never. */
static inline bool stopper_asked(const struct stopper *s)
{
    return s && s->wanted(s->context);
}

void stop_block(void);                /* signals wait; any time in start-up */
void stop_unblock(void);              /* ends stop_block */
void stop_install(void);              /* handles signals, and ends stop_block */
bool stop_wanted(void);               /* a signal asked to end */
int stop_exit(void);                  /* 75 or 130; 0 when none */
const char *stop_name(void);          /* "SIGTERM"; "" when none */
enum err_id stop_id(void);            /* STOPPED or INTERRUPTED */
/* Fills e with that id: stopped by the signal before `what`. False. */
bool stop_error(const char *what, struct err *e);
bool stop_checkpoint(void);           /* SIGUSR1 since the last call */
bool stop_status(void);               /* SIGUSR2 since the last call */
void stop_request(int signal_number); /* for tests: as if that signal had come */
void stop_key(void);                  /* for tests: as if Ctrl-C had been pressed */
void stop_forget(void);               /* for tests: no signal has come */

/* Names the work of now, for the line of a crash; name is a literal. disposable: nothing would be
 * lost by an end. If a signal is not polled within STOP_PATIENCE_S (a read waits for a pipe), a
 * disposable phase ends by the handler itself; in any other phase a line says that the work is
 * finished first. */
#define STOP_PATIENCE_S 2
void stop_phase(const char *name, bool disposable);
/* While held no phase is disposable: the work around the phases has something to tidy up. */
void stop_hold(bool hold);
/* In a program that was executed again, after stop_install: handles the signals that waited. */
void stop_take_on(void);
/* Removes temporary files and the lock. Async-signal-safe: for handlers that end the process. */
void stop_cleanup(void);

#endif
