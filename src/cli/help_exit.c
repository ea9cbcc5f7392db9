/* help_exit.c - `dnn help exit`: the exit codes, which scripts depend on. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct {
    enum exit_code code;
    const char *words;
} codes[] = {
    {EXIT_DONE, "done, and what was written is durable"},
    {EXIT_USAGE, "usage: command line, environment"},
    {EXIT_DATA, "data: CSV content, or CSV does not fit the model"},
    {EXIT_NOINPUT, "no input: missing, a directory"},
    {EXIT_UNAVAILABLE, "unavailable: requested device or feature"},
    {EXIT_BUG, "a bug of dnn"},
    {EXIT_OS, "host memory, threads, descriptors"},
    {EXIT_CANTCREATE, "cannot create output"},
    {EXIT_IO, "I/O error while writing or reading"},
    {EXIT_TRYLATER,
     "try again later: stopped by SIGTERM with checkpoint, lock held, GPU busy or full"},
    {EXIT_FORMAT, "model or checkpoint damaged, foreign or newer"},
    {EXIT_PERMISSION, "permission"},
    {EXIT_CONFIG, "config JSON"},
    {EXIT_DIVERGED, "training diverged; the last good checkpoint is kept"},
    {EXIT_GPUFAULT, "GPU fault or hang with no fallback; the last checkpoint is kept"},
    {EXIT_GATE, "a gate (--require, --better-than) is not met"},
    {EXIT_SIGINT, "SIGINT"},
    {EXIT_SIGPIPE, "SIGPIPE: whoever read the output went away"},
    {EXIT_SIGTERM, "second SIGTERM"},
};

bool help_exit(const char *word, struct text *out)
{
    bool all = strcmp(word, "exit") == 0, found = false;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char number[16];
        snprintf(number, sizeof number, "%d", (int)codes[i].code);
        if (!all && strcmp(word, number) != 0)
            continue;
        text_printf(out, "  %3s  %s\n", number, codes[i].words);
        found = true;
    }
    return found;
}
