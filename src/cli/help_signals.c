/* help_signals.c - `dnn help signals`: what each signal does. */
#include <ctype.h>
#include <string.h>

#include "base/process/stop.h"
#include "cli/help.h"

static const struct { const char *names, *words; } signals[] = {
    {"SIGTERM SIGHUP SIGXCPU",
     "Stop. A training writes a checkpoint, and --resume continues it; other commands leave no "
     "part of an output. Exit 75."},
    {"SIGINT", "Ctrl-C: the same, exit 130."},
    {"SIGUSR1", "A training writes a checkpoint and continues."},
    {"SIGUSR2", "A training prints its progress on standard error."},
    {"SIGPIPE", "The reader of the output has closed it: exit 141, without a message."},
    {"SIGXFSZ", "A file has reached the limit of ulimit -f: the write fails, exit 74."}};

static bool listed(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *p = length ? strstr(names, name) : NULL; p; p = strstr(p + 1, name))
        if ((p == names || p[-1] == ' ') && (p[length] == ' ' || !p[length]))
            return true;
    return false;
}

bool help_signals(const char *word, struct text *out)
{
    char name[16] = ""; /* sigterm: the word in capitals */
    bool all = strcmp(word, "signals") == 0 || strcmp(word, "signal") == 0, found = false;
    if (strlen(word) < sizeof name)
        for (size_t i = 0; word[i]; i++)
            name[i] = (char)toupper((unsigned char)word[i]);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (!all && !listed(signals[i].names, name))
            continue;
        text_printf(out, "%s\n    ", signals[i].names);
        help_wrapped(out, signals[i].words, 4, 4);
        found = true;
    }
    if (found)
        text_printf(out,
                    "\nA second such signal, %g seconds or more after the first, or a second "
                    "Ctrl-C, ends at once (143, 130)\nand removes temporary files. A signal that "
                    "is ignored at the start (nohup) stays ignored. In its first millisecond, "
                    "before dnn\nhas control, the system's own action applies: SIGUSR1 and SIGUSR2 "
                    "end the process.\n",
                    STOP_TOGETHER_S);
    return found;
}
