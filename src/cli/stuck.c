/* stuck.c - a call to a device does not come back, and the thread that made it never will: another
 * one says so and ends the process, or hands the training over. */
#include <unistd.h>

#include "cli/cli.h"
#include "run/stop.h"
#include "run/train.h"

void cli_stuck(const struct err *why)
{
    struct err e = *why;
    train_stuck(&e);
    int code = cli_fail(NULL, &e, NULL);
    stop_cleanup();
    _exit(code);
}
