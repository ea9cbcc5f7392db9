/* stop.h - why work ends early. Handlers only set flags; every loop polls. SIGTERM, SIGHUP, SIGXCPU: stop with checkpoint (75);
 * SIGINT: the same, 130; a second one: at once, temporary files removed. SIGUSR1: checkpoint now; SIGUSR2: a status line.
 * SIGPIPE: 141, quiet. A signal ignored at start (nohup) stays ignored. */
#ifndef DNN_RUN_STOP_H
#define DNN_RUN_STOP_H

#include <stdbool.h>

void stop_install(void);
bool stop_wanted(void);        /* a signal asked to end */
int stop_exit(void);           /* 75 or 130; 0 when none */
bool stop_checkpoint(void);    /* SIGUSR1 since the last call */
bool stop_status(void);        /* SIGUSR2 since the last call */
void stop_request(int signal_number); /* for tests */

#endif
