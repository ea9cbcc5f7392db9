/* stuck.c - a call to a device does not come back, and the thread that made it never will: another
 * one tells whoever waits for that thread, hands the training over, or says so as the command
 * would have, its report with --json too, and ends the process. */
#include <unistd.h>

#include "cli/cli.h"
#include "run/aside.h"
#include "run/stop.h"
#include "run/train.h"

void cli_stuck(const struct err *why)
{
    struct err e = *why;
    if (aside_give_up(why))
        return;
    const struct args *a = cli_running();
    int code;
    if (a && a->command->stuck) {
        code = a->command->stuck(a, why);
    } else {
        train_stuck(&e);
        code = cli_fail(a, &e, NULL);
    }
    stop_cleanup();
    _exit(code);
}
