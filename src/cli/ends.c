/* ends.c - ends a process in which no command returns. A call to a device does not come back:
 * another thread reports it to the waiting thread, hands the training over, or prints the command's
 * report (with --json too) and ends the process. Or there is no memory: the message needs the stack
 * alone. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process/device_thread.h"
#include "base/log.h"
#include "base/process/stop.h"
#include "cli/cli.h"

void cli_stuck(const struct err *why)
{
    if (device_thread_give_up(why))
        return;
    const struct args *a = cli_running();
    int code = a && a->command->stuck ? a->command->stuck(a, why) : -1;
    if (code < 0)
        code = cli_fail(a, why, NULL);
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
    char room[512];
    struct json_out out = {.text = {.data = room, .room = sizeof room}};
    struct err e = {0};
    stop_cleanup();
    err_set(&e, ERR_MEMORY, "out of memory (%zu bytes requested)", bytes);
    if (object || log_json())
        cli_error_json(&e, &out);
    else
        text_printf(&out.text, "dnn: error[E%d]: %s", (int)e.id, e.what);
    text_char(&out.text, '\n');
    put_out(object && !cli_rows_out(a) ? STDOUT_FILENO : STDERR_FILENO, out.text.data,
            out.text.length);
    _exit(EXIT_OS);
}
