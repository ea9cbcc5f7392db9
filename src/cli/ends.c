/* ends.c - the ends of a process that no command comes back to tell of. A call to a device does
 * not come back, and the thread that made it never will: another one tells whoever waits for that
 * thread, hands the training over, or says so as the command would have, its report with --json
 * too, and ends the process. Or there is no memory: said from what stands on the stack. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"
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

static void put_out(int fd, const char *line, size_t length)
{
    while (length) {
        ssize_t n = write(fd, line, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return; /* the exit code tells it */
        line += n;
        length -= (size_t)n;
    }
}

void cli_out_of_memory(size_t bytes)
{
    const struct args *a = cli_running();
    bool object = a && a->json;
    char line[320], message[80];
    stop_cleanup();
    snprintf(message, sizeof message, "\"out of memory (%zu bytes asked for)\"", bytes);
    int length =
        object || log_json()
            ? snprintf(line, sizeof line, CLI_ERROR_FORM "\n", (int)ERR_MEMORY, EXIT_OS, "null",
                       "null", "null", message, "null", "null")
            : snprintf(line, sizeof line,
                       "dnn: error[E%d]: out of memory (%zu bytes asked for)\n", (int)ERR_MEMORY,
                       bytes);
    put_out(object && !cli_rows_out(a) ? STDOUT_FILENO : STDERR_FILENO, line, (size_t)length);
    _exit(EXIT_OS);
}
