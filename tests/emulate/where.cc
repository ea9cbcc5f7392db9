/* where.cc - the line of an address of the program, for findings. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.cuh"
#include "emulate.h"

/* By addr2line, where it is installed. */
const char *emulate_where(const void *code)
{
    static char line[256];
    extern const char __executable_start[];
    char address[32], exe[64];
    snprintf(address, sizeof address, "0x%zx",
             (size_t)((const char *)code - __executable_start) - 1);
    snprintf(exe, sizeof exe, "/proc/%d/exe", (int)getpid());
    snprintf(line, sizeof line, "code %s", address);
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0)
        return line;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        execlp("addr2line", "addr2line", "-s", "-e", exe, address, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char text[200] = "";
    ssize_t n = child > 0 ? read(ends[0], text, sizeof text - 1) : 0;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
    if (n > 1 && text[0] != '?') {
        text[strcspn(text, "\n ")] = 0;
        snprintf(line, sizeof line, "%s", text);
    }
    return line;
}
