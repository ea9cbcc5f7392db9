/* stuck.c - a call to a device does not come back, and the thread that made it never will: another
 * one tells whoever waits for that thread, hands the training over, or says so and ends the
 * process. */
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
    train_stuck(&e);
    int code = cli_fail(NULL, &e, NULL);
    stop_cleanup();
    _exit(code);
}
